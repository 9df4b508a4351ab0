package console_test

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// Whoever takes the port of a server that has gone is not told the token.
func TestBrowseStranger(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h, broken)
	b.enter("#/sessions")
	b.see("Live")
	b.settle()
	h.kill()
	var asked, told atomic.Int64
	l, err := net.Listen("tcp", h.addr)
	for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		l, err = net.Listen("tcp", h.addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "" {
			told.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"proof":"00"}`))
	})}
	go srv.Serve(l) //nolint:errcheck // it ends with the test
	defer srv.Close()
	b.see("Get a new link")
	if asked.Load() == 0 || told.Load() != 0 {
		t.Errorf("asked %d times, told the token %d times", asked.Load(), told.Load())
	}
}
