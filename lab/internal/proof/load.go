package proof

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Server is one that is measured over HTTP.
type Server struct {
	Name, Addr, Token string
	PID               int
}

// A Request is one that is sent again and again, ready for the wire.
type Request struct {
	Text   []byte
	Expect []byte // in the body of a good answer
}

// Request makes a request of a path; body is JSON, or empty for a GET.
func (s Server) Request(path, body, expect string) Request {
	method := "GET"
	if body != "" {
		method = "POST"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, s.Addr)
	if s.Token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", s.Token)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return Request{b.Bytes(), []byte(expect)}
}

// A Wire is a connection that is kept, and costs the client little, which
// shares the machine with the server.
type Wire struct {
	conn net.Conn
	in   *bufio.Reader
	body bytes.Buffer
}

// Dial connects to the server.
func (s Server) Dial(ctx context.Context) (*Wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return nil, err
	}
	return &Wire{conn: conn, in: bufio.NewReader(conn)}, nil
}

// Close closes the connection.
func (w *Wire) Close() error { return w.conn.Close() }

// Ask sends a request and reads the answer, within patience.
func (w *Wire) Ask(r Request, patience time.Duration) ([]byte, error) {
	if err := w.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := w.conn.Write(r.Text); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return nil, err
	}
	w.body.Reset()
	_, err = w.body.ReadFrom(res.Body)
	_ = res.Body.Close() // all of it was read
	switch {
	case err != nil:
		return nil, err
	case res.StatusCode/100 != 2:
		return nil, fmt.Errorf("answered %s: %.300s", res.Status, w.body.Bytes())
	case !bytes.Contains(w.body.Bytes(), r.Expect):
		return nil, fmt.Errorf("answered what was not asked for: %.300s", w.body.Bytes())
	}
	return w.body.Bytes(), nil
}

// A Plan says how requests are made.
type Plan struct {
	Wires int           // connections
	Rate  int           // requests a second; 0: each connection asks again as soon as it can
	Last  time.Duration // for how long
	Turns []Request     // those of one connection each, taken in turn
}

// A Load is what came of a plan.
type Load struct {
	Asked  int
	Took   time.Duration
	Times  []time.Duration // of good answers, from when the request was due
	Failed int
	First  error // of those that failed
	Used   Usage // by the server
}

// Put carries a plan out. With a rate, requests are due at their times,
// whatever became of those before them, and an answer's time counts from then:
// a server that can not keep up does not make itself look better by that.
func (s Server) Put(ctx context.Context, p Plan) (l Load, err error) {
	wires := make([]*Wire, p.Wires)
	for i := range wires {
		if wires[i], err = s.Dial(ctx); err != nil {
			return l, err
		}
		defer func() { _ = wires[i].Close() }() // whichever it is by then
	}
	before, began := UsageOf(s.PID), time.Now()
	d := driver{plan: p, server: s, began: began, next: new(atomic.Int64)}
	parts := make([]Load, p.Wires)
	var wg sync.WaitGroup
	for i, w := range wires {
		wg.Go(func() { parts[i] = d.drive(ctx, w, p.Turns[i%len(p.Turns)]) })
	}
	wg.Wait()
	l = Load{Took: time.Since(began), Used: UsageOf(s.PID)}
	l.Used.Work -= before.Work
	for _, part := range parts {
		l.Asked += part.Asked
		l.Failed += part.Failed
		l.Times = append(l.Times, part.Times...)
		if l.First == nil {
			l.First = part.First
		}
	}
	return l, ctx.Err()
}

// A driver is what the connections of a plan share.
type driver struct {
	plan   Plan
	server Server
	began  time.Time
	next   *atomic.Int64
}

// drive makes the requests of one connection.
func (d driver) drive(ctx context.Context, w *Wire, turn Request) (l Load) {
	l.Times = make([]time.Duration, 0, 1<<14)
	for ctx.Err() == nil {
		due := time.Now()
		if d.plan.Rate > 0 {
			due = d.began.Add(time.Duration(d.next.Add(1)-1) * time.Second / time.Duration(d.plan.Rate))
		}
		// Where it is late, what was due is still asked for, but not for ever.
		if due.Sub(d.began) >= d.plan.Last || time.Since(d.began) > d.plan.Last+10*time.Second || Until(ctx, due) != nil {
			return l
		}
		l.Asked++
		_, err := w.Ask(turn, time.Minute)
		if err == nil {
			l.Times = append(l.Times, time.Since(due))
			continue
		}
		if l.Failed++; l.First == nil {
			l.First = err
		}
		_ = w.Close() // what state it is in is not known
		again, err := d.server.Dial(ctx)
		if err != nil {
			return l
		}
		*w = *again
	}
	return l
}

// Until sleeps until a moment, or until ctx ends, whose error it returns.
func Until(ctx context.Context, due time.Time) error {
	rest := time.Until(due)
	if rest <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
