package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A target is a server that is measured over HTTP.
type target struct {
	name, addr, token string
	*pipe
}

// serve starts a server of ours, which prints where it is as helve serve --json
// does.
func (b *bench) serve(ctx context.Context, w *proof.World, argv ...string) target {
	var said struct{ URL, TokenFile string }
	p := b.start(ctx, w, func(line string) bool { return json.Unmarshal([]byte(line), &said) == nil && said.URL != "" }, argv...)
	token, err := os.ReadFile(said.TokenFile)
	b.must(err)
	return target{"helve", strings.TrimPrefix(said.URL, "http://"), strings.TrimSpace(string(token)), p}
}

// serveHelve starts helve serve.
func (b *bench) serveHelve(ctx context.Context, w *proof.World) target {
	return b.serve(ctx, w, b.helve, "serve", "--addr", "127.0.0.1:0", "--json")
}

// A request is one that is sent again and again, ready for the wire.
type request struct {
	text   []byte
	expect string // in the body of a good answer
}

// request makes a request of a path; body is JSON, or empty for a GET.
func (s target) request(path, body, expect string, headers ...string) request {
	method := "GET"
	if body != "" {
		method = "POST"
		headers = append(headers, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body)))
	}
	if s.token != "" {
		headers = append(headers, "Authorization: Bearer "+s.token)
	}
	headers = append(headers, "Host: "+s.addr, "\r\n"+body)
	return request{fmt.Appendf(nil, "%s %s HTTP/1.1\r\n%s", method, path, strings.Join(headers, "\r\n")), expect}
}

// call is a request to call a tool.
func (s target) call(session, tool, args, expect string) request {
	return s.request("/v1/calls", fmt.Sprintf(`{"tool":%q,"session":%q,"input":%s}`, tool, session, args), expect)
}

// A wire is a connection that is kept, and costs the client little, which shares
// the machine with the server.
type wire struct {
	conn   net.Conn
	in     *bufio.Reader
	header http.Header // of the last answer
	body   bytes.Buffer
}

func (s target) dial(ctx context.Context) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReader(conn)}, nil
}

// ask sends a request and reads the answer.
func (w *wire) ask(r request, patience time.Duration) ([]byte, error) {
	if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := w.conn.Write(r.text); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return nil, err
	}
	w.body.Reset()
	w.header = res.Header
	_, err = w.body.ReadFrom(res.Body)
	_ = res.Body.Close() // all of it was read
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode/100 != 2:
		return nil, fmt.Errorf("answered %s: %.300s", res.Status, w.body.Bytes())
	case !bytes.Contains(w.body.Bytes(), []byte(r.expect)):
		return nil, fmt.Errorf("answered what was not asked for: %.300s", w.body.Bytes())
	}
	return w.body.Bytes(), nil
}

// once asks over a connection of its own.
func (s target) once(ctx context.Context, r request) ([]byte, error) {
	w, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = w.conn.Close() })() // who waits for it hears of that
	defer func() { _ = w.conn.Close() }()
	return w.ask(r, 10*time.Minute)
}

// A load is how requests are made, and what came of it.
type load struct {
	wires int           // connections
	rate  int           // requests a second; 0: each connection asks again as soon as it can
	last  time.Duration // for how long
	turns []request     // those of one connection each, taken in turn

	took   time.Duration
	times  []float64 // ms of good answers, from when the request was due
	failed int
	first  error       // of those that failed
	used   proof.Usage // by the server
}

// put carries a load out. With a rate, requests are due at their times, whatever
// became of those before them, and an answer's time counts from then: a server
// that cannot keep up does not make itself look better by that.
func (s target) put(ctx context.Context, l load) (load, error) {
	before, began := proof.UsageOf(s.pid()), time.Now()
	var next atomic.Int64
	var mu sync.Mutex
	drive := func(w *wire, turn request) {
		var times []float64
		for ctx.Err() == nil {
			due := time.Now()
			if l.rate > 0 {
				due = began.Add(time.Duration(next.Add(1)-1) * time.Second / time.Duration(l.rate))
			}
			// Where it is late, what was due is still asked for, but not for ever.
			if due.Sub(began) >= l.last || time.Since(began) > l.last+10*time.Second || sleepUntil(ctx, due) != nil {
				break
			}
			_, err := w.ask(turn, time.Minute)
			if err == nil {
				times = append(times, millis(time.Since(due)))
				continue
			}
			mu.Lock()
			if l.failed++; l.first == nil {
				l.first = err
			}
			mu.Unlock()
			_ = w.conn.Close() // what state it is in is not known
			if w, err = s.dial(ctx); err != nil {
				break
			}
		}
		if w != nil {
			_ = w.conn.Close()
		}
		mu.Lock()
		l.times = append(l.times, times...)
		mu.Unlock()
	}
	var wg sync.WaitGroup
	for i := range l.wires {
		w, err := s.dial(ctx)
		if err != nil {
			wg.Wait()
			return l, err
		}
		wg.Go(func() { drive(w, l.turns[i%len(l.turns)]) })
	}
	wg.Wait()
	l.took, l.used = time.Since(began), proof.UsageOf(s.pid())
	l.used.Work -= before.Work
	return l, ctx.Err()
}
