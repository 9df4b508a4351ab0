package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// piped leads every connection to serve, over a pipe, so that time can be the
// test's own.
func piped(serve func(net.Conn)) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				serve(theirs)
			}
		}()
		return ours, nil
	}
}

type lookup func(ctx context.Context, host string) ([]netip.Addr, error)

func (l lookup) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	return l(ctx, host)
}

func stuckLookup(ctx context.Context, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func stuckDial(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// drip sends a byte a second, for ever.
func drip(conn net.Conn) {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	for err == nil {
		_, err = conn.Write([]byte("x"))
		time.Sleep(time.Second)
	}
}

func silent(conn net.Conn) { io.Copy(io.Discard, conn) }

func TestTime(t *testing.T) {
	for name, tt := range map[string]struct {
		opts Options
		says string
	}{
		"resolver":  {Options{Resolver: lookup(stuckLookup)}, "slow.example"},
		"dial":      {Options{Dial: stuckDial}, "slow.example"},
		"no answer": {Options{Dial: piped(silent)}, "no answer from slow.example"},
		"body":      {Options{Dial: piped(drip)}, "30 bytes of the page had come"},
		"header": {Options{Dial: piped(func(conn net.Conn) {
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
			for err == nil {
				_, err = conn.Write([]byte("x"))
				time.Sleep(time.Second)
			}
		})}, "no answer from slow.example"},
		"redirects": {Options{Dial: piped(func(conn net.Conn) {
			time.Sleep(20 * time.Second)
			io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n")
		})}, "redirected from http://slow.example/"},
	} {
		if tt.opts.Resolver == nil {
			tt.opts.Resolver = lookup(func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("8.8.4.4")}, nil
			})
		}
		for _, mode := range []string{"deadline", "cancel"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begin := time.Now()
					gone := errors.New("gone")
					limit := 30*time.Second - time.Millisecond
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					defer cancel()
					if mode == "cancel" {
						var stop context.CancelCauseFunc
						ctx, stop = context.WithCancelCause(t.Context())
						time.AfterFunc(limit, func() { stop(gone) })
					}
					_, err := New(tt.opts).Get(ctx, Get{Address: mustRead(t, "http://slow.example/")})
					switch {
					case mode == "deadline":
						wantCode(t, err, CodeTimeout, "Request timed out", tt.says)
					case err != gone:
						t.Errorf("error %v, want the cause", err)
					}
					took := time.Since(begin)
					time.Sleep(time.Minute) // servers that sleep notice
					if mode == "cancel" && took != limit || took > limit {
						t.Errorf("took %s", took)
					}
				})
			})
		}
	}
}

// Without a deadline, addresses that do not answer have theirs.
func TestDialTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		two := func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("8.8.4.4")}, nil
		}
		_, err := New(Options{Resolver: lookup(two), Dial: stuckDial}).Get(t.Context(), Get{Address: mustRead(t, "http://slow.example/")})
		wantCode(t, err, CodeTimeout, "no connection to slow.example")
		if took := time.Since(begin); took != dialTimeout+lastDialTimeout {
			t.Errorf("took %s", took)
		}
	})
}

// A server that does not close the connection costs a moment, not the time of
// the caller.
func TestNotClosed(t *testing.T) {
	for name, after := range map[string]func(net.Conn){
		"silent": silent,
		"drips": func(conn net.Conn) {
			for {
				if _, err := conn.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				o := Options{Dial: piped(func(conn net.Conn) {
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					after(conn)
				})}
				p, err := New(o).Get(t.Context(), Get{Address: mustRead(t, "http://8.8.8.8/")})
				if err != nil || string(p.Body) != "ok" || p.Cut {
					t.Errorf("%+v, %v", p, err)
				}
				if took := time.Since(begin); took > surplusTime+surplusIdle {
					t.Errorf("took %s", took)
				}
				time.Sleep(time.Minute) // the server notices
			})
		})
	}
}

// Addresses that do not answer are passed over, the families in turns.
func TestNextAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialled []string
		answer := piped(func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n") })
		o := Options{
			Resolver: lookup(func(context.Context, string) (ips []netip.Addr, err error) {
				for s := range strings.FieldsSeq("2606::1 2606::2 2606::3 8.8.8.8 8.8.4.4") {
					ips = append(ips, netip.MustParseAddr(s))
				}
				return ips, nil
			}),
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				switch dialled = append(dialled, addr); addr {
				case "[2606::1]:80":
					return nil, errors.New("network is unreachable")
				case "[2606::3]:80":
					return answer(ctx, network, addr)
				}
				return stuckDial(ctx, network, addr)
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if p, err := New(o).Get(ctx, Get{Address: mustRead(t, "http://many.example/")}); err != nil || p.Status != 204 {
			t.Error(p, err)
		}
		if diff := cmp.Diff([]string{"[2606::1]:80", "8.8.8.8:80", "[2606::2]:80", "8.8.4.4:80", "[2606::3]:80"}, dialled); diff != "" {
			t.Error(diff)
		}
	})
}

// Over a real connection, cancelling ends reading and closes the connection.
func TestCancel(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		for _, path := range []string{"/header", "/body"} {
			started, left := make(chan struct{}), make(chan struct{})
			w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/body" {
					rw.Header().Set("Content-Length", "1000")
					io.WriteString(rw, "begin")
					http.NewResponseController(rw).Flush()
				}
				close(started)
				<-r.Context().Done()
				close(left)
			})
			gone := errors.New("gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			result := make(chan error, 1)
			go func() {
				_, err := New(w.options()).Get(ctx, Get{Address: mustRead(t, scheme+"://8.8.8.8"+path)})
				result <- err
			}()
			<-started
			cancel(gone)
			if err := <-result; err != gone {
				t.Errorf("%s%s: %v", scheme, path, err)
			}
			<-left
		}
	}
}

func TestCancelledBefore(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	w := newWorld(t, func(http.ResponseWriter, *http.Request) {})
	if _, err := New(w.options()).Get(ctx, Get{Address: mustRead(t, "http://8.8.8.8/")}); err != gone {
		t.Error(err)
	}
}

// Who watches is told how far a slow body has come.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
		var told []int64
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		_, err := New(Options{Resolver: lookup(one), Dial: piped(drip)}).Get(ctx, Get{
			Address:  mustRead(t, "http://slow.example/"),
			Progress: func(bytes int64) { told = append(told, bytes) },
		})
		wantCode(t, err, CodeTimeout)
		time.Sleep(time.Minute) // the server notices
		if !slices.Equal(told, []int64{2, 3, 4}) {
			t.Errorf("told %v", told)
		}
	})
}
