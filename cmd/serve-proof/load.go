package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"helve/internal/proof"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A request is one that is sent again and again, ready for the wire.
type request struct {
	text   []byte
	expect []byte // in the body of a good answer
}

// newRequest makes a request; body is JSON, or empty for a GET.
func newRequest(server target, path, body string) []byte {
	method := "GET"
	if body != "" {
		method = "POST"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, server.addr)
	if server.token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", server.token)
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// A target is a server that is measured.
type target struct {
	name, addr, token string
	pid               int
}

// A wire is a connection that is kept, and costs the client little, which
// shares the machine with the server.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	body bytes.Buffer
}

func dial(ctx context.Context, addr string) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReader(conn)}, nil
}

// ask sends a request and reads the answer.
func (w *wire) ask(r request) error {
	if err := w.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := w.conn.Write(r.text); err != nil {
		return err
	}
	res, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return err
	}
	w.body.Reset()
	_, err = w.body.ReadFrom(res.Body)
	_ = res.Body.Close() // all of it was read
	switch {
	case err != nil:
		return err
	case res.StatusCode/100 != 2:
		return fmt.Errorf("answered %s: %.300s", res.Status, w.body.Bytes())
	case !bytes.Contains(w.body.Bytes(), r.expect):
		return fmt.Errorf("answered what was not asked for: %.300s", w.body.Bytes())
	}
	return nil
}

// A plan says how requests are made.
type plan struct {
	wires int           // connections
	rate  int           // requests a second; 0: each connection asks again as soon as it can
	last  time.Duration // for how long
	turns []request     // those of one connection each, taken in turn
}

// A figure is what came of a plan.
type figure struct {
	name   string
	asked  int
	took   time.Duration
	times  []time.Duration // of good answers, from when the request was due
	failed int
	first  error       // of those that failed
	used   proof.Usage // by the server
}

// measure carries a plan out. With a rate, requests are due at their times,
// whatever became of those before them, and an answer's time counts from then:
// a server that can not keep up does not make itself look better by that.
func measure(ctx context.Context, at target, p plan) (f figure, err error) {
	wires := make([]*wire, p.wires)
	for i := range wires {
		if wires[i], err = dial(ctx, at.addr); err != nil {
			return f, err
		}
		defer func() { _ = wires[i].conn.Close() }()
	}
	before, began := proof.UsageOf(at.pid), time.Now()
	var next atomic.Int64
	parts := make([]figure, p.wires)
	var wg sync.WaitGroup
	for i, w := range wires {
		wg.Go(func() { parts[i] = p.drive(ctx, w, loop{began, &next, p.turns[i%len(p.turns)], at.addr}) })
	}
	wg.Wait()
	f = figure{name: at.name, took: time.Since(began)}
	f.used = proof.UsageOf(at.pid)
	f.used.Work -= before.Work
	for _, part := range parts {
		f.asked += part.asked
		f.failed += part.failed
		f.times = append(f.times, part.times...)
		if f.first == nil {
			f.first = part.first
		}
	}
	slices.Sort(f.times)
	return f, ctx.Err()
}

// A loop is what one connection needs to know.
type loop struct {
	began time.Time
	next  *atomic.Int64
	turn  request
	addr  string
}

// drive makes the requests of one connection.
func (p plan) drive(ctx context.Context, w *wire, l loop) (f figure) {
	f.times = make([]time.Duration, 0, 1<<14)
	for ctx.Err() == nil {
		due := time.Now()
		if p.rate > 0 {
			due = l.began.Add(time.Duration(l.next.Add(1)-1) * time.Second / time.Duration(p.rate))
		}
		// Where it is late, what was due is still asked for, but not for ever.
		if due.Sub(l.began) >= p.last || time.Since(l.began) > p.last+10*time.Second || until(ctx, due) != nil {
			return f
		}
		f.asked++
		err := w.ask(l.turn)
		if err == nil {
			f.times = append(f.times, time.Since(due))
			continue
		}
		if f.failed++; f.first == nil {
			f.first = err
		}
		_ = w.conn.Close() // what state it is in is not known
		again, err := dial(ctx, l.addr)
		if err != nil {
			return f
		}
		*w = *again
	}
	return f
}

// figures writes a table of what came of the same plan with each server. due is
// how many requests there should have been; 0 where as many as possible.
func figures(out io.Writer, due int, rows []figure) {
	fmt.Fprintln(out, "| server | answered | a second | failed | p50 | p99 | max | processor for one | memory at most |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
	for _, f := range rows {
		answered := fmt.Sprint(len(f.times))
		if due > 0 {
			answered = fmt.Sprintf("%d of %d", len(f.times), due)
		}
		work := "–"
		if one := f.workForOne(); one > 0 {
			work = ms(one)
		}
		fmt.Fprintf(out, "| %s | %s | %.0f | %d | %s | %s | %s | %s | %s |\n", f.name, answered,
			f.rate(), f.failed,
			ms(proof.Median(f.times)), ms(proof.Quantile(f.times, 0.99)), ms(proof.Quantile(f.times, 1)), work, mib(f.used.Peak))
	}
	for _, f := range rows {
		if f.first != nil {
			fmt.Fprintf(out, "\nThe first failure of %s: %s\n", f.name, strings.ReplaceAll(f.first.Error(), "\n", " "))
		}
	}
	fmt.Fprintln(out)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }
func mib(n int64) string        { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// newWorld makes the folder that the servers live in, with the file that is read.
func newWorld() (*proof.World, error) {
	w, err := proof.NewWorld()
	if err != nil {
		return nil, err
	}
	if err := w.Write("small.txt", smallText()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// smallText is what the small file holds: a hundred bytes.
func smallText() string { return strings.Repeat("all of it is read. ", 5) + "end.\n" }

// sockets counts the connections that a process has open.
func sockets(pid int) (n int) {
	for _, to := range proof.Descriptors(pid) {
		if strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
