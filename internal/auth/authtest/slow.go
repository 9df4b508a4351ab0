package authtest

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// pipelined sends several requests on one connection: each is checked by itself, and nothing is
// answered after a wrong token.
func (s *site) pipelined(r reporter, d door) {
	r.Helper()
	ask := s.good(door{method: "OPTIONS", path: d.path}).withHeader("Connection: keep-alive").String()
	wrong := s.withoutToken(door{method: "GET", path: d.path}).withHeader("Authorization: Bearer wrong", "Connection: keep-alive").String()
	got, err := s.send(ask + ask + wrong + ask)
	var statuses []int
	for _, a := range got {
		statuses = append(statuses, a.status)
		s.checkResponse(r, d.String()+": pipelined", a)
	}
	if len(statuses) != 3 || statuses[0] != 204 || statuses[1] != 204 || statuses[2] != 401 && statuses[2] != 429 {
		r.Errorf("%s: pipelined: statuses %v, want 204, 204 and 401 (%v)", d, statuses, err)
	}
}

// endless sends an endless body, with and without a token: the server must refuse it and close the
// connection.
func (s *site) endless(r reporter, d door) {
	r.Helper()
	good := s.post(d, "application/json", "")
	for name, c := range map[string]struct {
		m    rawRequest
		want []int
	}{
		"with the token": {good, []int{413}},
		"wrong token":    {s.withoutToken(door{method: "POST", path: d.path}).sending("").withHeader("Authorization: Bearer wrong"), []int{401, 429}},
	} {
		conn, err := s.dial()
		if err != nil {
			r.Errorf("%s: %v", d, err)
			continue
		}
		var sent sync.WaitGroup
		sent.Go(func() {
			_, _ = io.WriteString(conn, c.m.chunked(""))
			chunk := "10000\r\n" + strings.Repeat(" ", 64<<10) + "\r\n"
			for range 4 << 10 { // 256 MiB; it is to be hung up on long before
				if _, err := io.WriteString(conn, chunk); err != nil {
					return
				}
			}
			r.Errorf("%s: endless body, %s: the server takes all of it", d, name)
		})
		got, _ := readAnswers(bufio.NewReader(conn), "POST") // a reset may come after the answer
		_ = conn.Close()
		sent.Wait()
		switch {
		case len(got) != 1:
			r.Errorf("%s: endless body, %s: %d answers", d, name, len(got))
		case !slices.Contains(c.want, got[0].status):
			r.Errorf("%s: endless body, %s: status %d, want %v", d, name, got[0].status, c.want)
		default:
			s.checkResponse(r, d.String()+": endless body, "+name, got[0])
		}
	}
}

// slow tests, on all doors at once, the server's timeouts: headers and bodies that do not end. The
// connection must be closed before our own deadline.
func (s *site) slow(r reporter, doors []door) {
	r.Helper()
	var all sync.WaitGroup
	defer all.Wait()
	for _, d := range doors {
		name := d.String()
		head := strings.TrimSuffix(s.good(d).sending("").String(), "\r\n")
		all.Go(func() { s.drip(r, name+": slow head", drip{first: head, next: "X-A: b\r\n"}) })
		all.Go(func() { s.drip(r, name+": slow request line", drip{first: d.method + " " + d.path, next: "a"}) })
		all.Go(func() { s.drip(r, name+": silence", drip{}) })
		body := s.withoutToken(door{method: "POST", path: d.path}).sending("") // with a type
		want := []int{401}
		if d.public && d.writes() {
			want = []int{408}
		} else if d.public {
			want = []int{401, 404, 405, 408}
		}
		all.Go(func() {
			s.drip(r, name+": slow body", drip{first: body.withHeader("Content-Length: 100").String(), next: " ", want: want})
		})
		all.Go(func() {
			s.drip(r, name+": slow chunks", drip{first: body.chunked(""), next: "1\r\n \r\n", want: want})
		})
	}
}

// A drip is a request that is sent in small pieces.
type drip struct {
	first, next string
	want        []int // the answer, if there has to be one
}

func (s *site) drip(r reporter, name string, d drip) {
	r.Helper()
	c, err := s.dial()
	if err != nil {
		r.Errorf("%s: %v", name, err)
		return
	}
	over := make(chan struct{})
	var sent sync.WaitGroup
	sent.Go(func() {
		_, err := io.WriteString(c, d.first)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for err == nil && d.next != "" {
			select {
			case <-tick.C:
				_, err = io.WriteString(c, d.next)
			case <-over:
				return
			}
		}
	})
	got, err := readAnswers(bufio.NewReader(c), "POST")
	close(over)
	_ = c.Close()
	sent.Wait()
	if late, ok := err.(net.Error); ok && late.Timeout() {
		r.Errorf("%s: the server waits for ever", name)
	}
	if d.want != nil && (len(got) != 1 || !slices.Contains(d.want, got[0].status)) {
		r.Errorf("%s: %d answers, want one of %v: %+v (%v)", name, len(got), d.want, got, err)
	}
	for _, a := range got {
		if a.status < 300 {
			r.Errorf("%s: status %d", name, a.status)
		}
	}
}
