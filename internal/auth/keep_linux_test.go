package auth

import (
	"net"
	"net/http"
	"syscall"
	"testing"
)

// The system keeps little of a stream, and of another answer what it likes.
func TestKeepLittle(t *testing.T) {
	l, err := Listen(Bind{Token: goodToken})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGuard(GuardOptions{Token: l.Token, Hosts: l.Hosts})
	if err != nil {
		t.Fatal(err)
	}
	kept := make(chan int, 1)
	srv := g.Server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kept <- sendBuffer(t, r) }))
	done := make(chan error, 1)
	go func() { done <- g.Serve(srv, l) }()
	defer func() {
		_ = srv.Close()
		<-done
	}()
	for accept, want := range map[string]func(n int) bool{
		"text/event-stream": func(n int) bool { return n <= 4*streamKept }, // Linux doubles what is asked for
		"application/json":  func(n int) bool { return n > 4*streamKept },
	} {
		r, err := http.NewRequest(http.MethodGet, l.URL()+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Accept": {accept}, "Authorization": {"Bearer " + goodToken}, "Connection": {"close"}}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if n := <-kept; !want(n) {
			t.Errorf("%s: %d bytes", accept, n)
		}
	}
}

func sendBuffer(t *testing.T, r *http.Request) (n int) {
	c := r.Context().Value(connKey{}).(*boundedConn).Conn.(*net.TCPConn)
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { n, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF) })
	}
	if err != nil {
		t.Error(err)
	}
	return n
}
