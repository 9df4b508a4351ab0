package auth

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The clock of these tests is a false one: hours pass at once, and figures are
// exact.

// A peer that sends its request byte by byte is dropped.
func TestSlowHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := serve(t, newGate(t, GuardOptions{}), new(reach))
		c := l.dial()
		drained := make(chan struct{})
		go func() { defer close(drained); _, _ = io.Copy(io.Discard, c) }()
		defer func() { _ = c.Close(); <-drained }()
		start := time.Now()
		for _, b := range []byte(request("GET /"+strings.Repeat("a", 100), here, bearer)) {
			if _, err := c.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(start); took > headerTime+time.Second {
			t.Errorf("dropped after %s", took)
		}
	})
}

// A peer that never sends its body is told, and dropped, after a minute with
// the token, and at once without.
func TestSlowBody(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		status int
		most   time.Duration
	}{
		"with the token": {bearer, 408, bodyTime + 2*refuseTime},
		"without":        {"X-A: b", 401, 2 * refuseTime},
	} {
		for kind, length := range map[string]string{"length": "Content-Length: 60", "chunked": "Transfer-Encoding: chunked"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := new(reach)
					l := serve(t, newGate(t, GuardOptions{}), h)
					conn := l.dial()
					defer conn.Close()
					start := time.Now()
					if got := postForm(t, conn, request("POST /mcp", here, c.header, js, length)); got != c.status {
						t.Errorf("status %d, want %d", got, c.status)
					}
					_, _ = io.Copy(io.Discard, conn)
					if took := time.Since(start); took > c.most {
						t.Errorf("dropped after %s", took)
					}
					if h.count() != 0 {
						t.Error("the handler was reached")
					}
				})
			})
		}
	}
}

// A body that drips in within the time is taken, and the answer to it may take
// as long as it likes.
func TestSlowButInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		l := serve(t, newGate(t, GuardOptions{}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Hour)
			err = r.Context().Err()
			_, _ = w.Write([]byte("x"))
		}))
		c := l.dial()
		defer c.Close()
		_, _ = io.WriteString(c, request("POST /mcp", here, bearer, js, "Content-Length: 10"))
		for range 10 {
			time.Sleep(5 * time.Second)
			_, _ = io.WriteString(c, " ")
		}
		if got := postForm(t, c, ""); got != 200 || err != nil {
			t.Errorf("status %d, handler's context: %v", got, err)
		}
	})
}

// An event stream is not ended by any of the limits, and the connection is good
// for another request after it.
func TestStreamLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone bool
		l := serve(t, newGate(t, GuardOptions{}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 24 {
				_, _ = io.WriteString(w, "data: x\n\n")
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					gone = true
				case <-time.After(time.Hour):
				}
			}
		}))
		c := l.dial()
		defer c.Close()
		in := bufio.NewReader(c)
		for range 2 {
			_, _ = io.WriteString(c, request("GET /event", here, bearer, "Accept: text/event-stream"))
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || strings.Count(string(body), "data: x") != 24 || gone {
				t.Errorf("%d bytes, peer gone: %v, %v", len(body), gone, err)
			}
		}
	})
}

// A peer that takes nothing of a stream does not hold its handler for ever.
func TestStalledPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Duration)
		l := serve(t, newGate(t, GuardOptions{}), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					break
				}
			}
			ended <- time.Since(start)
		}))
		c := l.dial()
		defer c.Close()
		_, _ = io.WriteString(c, request("GET /event", here, bearer, "Accept: text/event-stream"))
		if took := <-ended; took > streamTime+time.Second {
			t.Errorf("held for %s", took)
		}
	})
}

// A connection that asks nothing more is closed.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := serve(t, newGate(t, GuardOptions{Idle: 42 * time.Second}), new(reach))
		c := l.dial()
		defer c.Close()
		if got := postForm(t, c, request("HEAD /", here, bearer)); got != 200 {
			t.Fatal(got)
		}
		start := time.Now()
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(start); took != 42*time.Second {
			t.Errorf("closed after %s", took)
		}
	})
}

// A connection that has not shown the token does not stay: it is closed with
// the answer, and when it says nothing, as soon as a header is due. One that
// has shown it stays for the next request, whatever became of this one.
func TestStrangersDoNotStay(t *testing.T) {
	tests := map[string]struct {
		request string
		status  int
		most    time.Duration
	}{
		"nothing":       {"", 0, headerTime + time.Second},
		"no token":      {request("GET /mcp", here), 401, time.Second},
		"wrong token":   {request("GET /mcp", here, "Authorization: Bearer nope"), 401, time.Second},
		"wrong host":    {request("GET /mcp", "evil.example", bearer), 421, time.Second},
		"wrong origin":  {request("GET /mcp", here, bearer, "Origin: http://evil.example"), 403, time.Second},
		"wrong method":  {request("BREW /mcp", here), 405, time.Second},
		"after a while": {request("GET /mcp", here, bearer), 200, 2*time.Minute + time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := serve(t, newGate(t, GuardOptions{}), new(reach))
				c := l.dial()
				defer c.Close()
				start := time.Now()
				if tt.request != "" {
					if got := postForm(t, c, tt.request); got != tt.status {
						t.Errorf("status %d, want %d", got, tt.status)
					}
				}
				_, _ = io.Copy(io.Discard, c)
				took := time.Since(start)
				if took > tt.most {
					t.Errorf("closed after %s", took)
				}
				if tt.status == 200 && took < time.Minute {
					t.Errorf("a connection with the token is closed after %s", took)
				}
			})
		})
	}
	t.Run("stays", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := serve(t, newGate(t, GuardOptions{}), new(reach))
			c := l.dial()
			defer c.Close()
			for _, want := range []int{204, 200} {
				method := map[int]string{204: "OPTIONS", 200: "GET"}[want]
				if got := postForm(t, c, request(method+" /mcp", here, bearer)); got != want {
					t.Errorf("%s: %d, want %d", method, got, want)
				}
			}
		})
	})
}
