package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A subscriber reads the stream of events and notes when each came.
type subscriber struct {
	conn  net.Conn
	lines *bufio.Reader
	times []time.Duration // from when an event was made to when it was read
	next  int             // the place of the event that has to come
	told  int             // events that are gone, as the server says; -1: it has not
	run   int             // whose events count
	id    string          // of the newest event
	err   error           // why it ended before the last event
}

// subscribe opens a stream, and returns when the server has begun it.
func subscribe(ctx context.Context, at proof.Server) (*subscriber, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", at.Addr)
	if err != nil {
		return nil, err
	}
	s := &subscriber{conn: conn, told: -1}
	if err := s.open(at); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// again opens the stream anew, after the last event that came.
func (s *subscriber) again(ctx context.Context, at proof.Server) error {
	_ = s.conn.Close() // it is of no more use
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", at.Addr)
	if err != nil {
		return err
	}
	s.conn, s.err = conn, nil
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // where nothing comes, that is told
	return s.open(at)
}

func (s *subscriber) open(at proof.Server) error {
	again := ""
	if s.id != "" {
		again = "Last-Event-ID: " + s.id + "\r\n"
	}
	_, err := fmt.Fprintf(s.conn, "GET /v1/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n%s\r\n", at.Addr, at.Token, again)
	if err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
	if err != nil {
		return err
	}
	s.lines = bufio.NewReader(res.Body)
	if res.StatusCode != http.StatusOK {
		text, _ := s.lines.ReadString('\n') // as much as there is
		return fmt.Errorf("a subscriber was answered %s: %s", res.Status, text)
	}
	if line, err := s.lines.ReadString('\n'); err != nil || line != "event: hello\n" {
		return fmt.Errorf("the stream begins with %q, %w", line, err)
	}
	return nil
}

// read reads until the last of count events, or until the stream ends.
func (s *subscriber) read(count int) {
	s.times = slices.Grow(s.times, count)
	for s.next < count {
		line, err := s.lines.ReadSlice('\n')
		if err != nil {
			s.err = err
			return
		}
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			s.id = string(bytes.TrimSpace(id))
			continue
		}
		if !bytes.HasPrefix(line, []byte("data: ")) {
			continue
		}
		if n, ok := number(line, `"properties":{"count":`); ok && bytes.Contains(line, []byte(`"events.missed"`)) {
			s.told = n
			continue
		}
		if run, ok := number(line, `"properties":{"run":`); !ok || run != s.run {
			continue // of another kind
		}
		at, _ := number(line, `"at":`)
		if n, _ := number(line, `"n":`); n != s.next {
			s.err = fmt.Errorf("event %d came when %d was due", n, s.next)
			return
		}
		s.next++
		s.times = append(s.times, time.Duration(time.Now().UnixNano()-int64(at)))
	}
}

// number reads the number behind a key.
func number(line []byte, key string) (n int, ok bool) {
	_, rest, ok := bytes.Cut(line, []byte(key))
	if !ok {
		return 0, false
	}
	end := bytes.IndexAny(rest, ",}")
	if end < 0 {
		return 0, false
	}
	n, err := strconv.Atoi(string(rest[:end]))
	return n, err == nil
}

// A stage is a number of subscribers and of events that they hear.
type stage struct {
	run         int
	name        string
	subscribers int
	count, rate int
	idle        int // subscribers besides, which do not read
}

// A hearing is what came of a stage.
type hearing struct {
	stage
	took    time.Duration
	times   []time.Duration
	whole   int   // subscribers that heard every event, in order
	first   error // of the others
	server  proof.Usage
	client  time.Duration // of the processor
	idlers  []*subscriber
	dropped time.Duration // from the first event until those who never read were closed, 0 if they were not
}

// hear carries a stage out. Who does not read is left open.
func hear(ctx context.Context, at proof.Server, st stage) (h hearing, err error) {
	h.stage = st
	all := make([]*subscriber, st.subscribers)
	for i := range all {
		if all[i], err = subscribe(ctx, at); err != nil {
			return h, err
		}
		all[i].run = st.run
		defer func() { _ = all[i].conn.Close() }()
	}
	for range st.idle {
		s, err := subscribe(ctx, at)
		if err != nil {
			return h, err
		}
		s.run = st.run
		h.idlers = append(h.idlers, s)
	}
	maker, err := at.Dial(ctx)
	if err != nil {
		return h, err
	}
	defer func() { _ = maker.Close() }()
	self := os.Getpid()
	before, mine, began := proof.UsageOf(at.PID), proof.UsageOf(self), time.Now()
	var wg sync.WaitGroup
	if connected := sockets(at.PID); st.idle > 1 {
		wg.Go(func() { h.dropped = untilDropped(ctx, at.PID, connected-st.idle) })
	}
	limit := began.Add(time.Duration(st.count)*time.Second/time.Duration(st.rate) + 20*time.Second)
	for _, s := range all {
		if err := s.conn.SetReadDeadline(limit); err != nil {
			return h, err
		}
		wg.Go(func() { s.read(st.count) })
	}
	body := fmt.Sprintf(`{"tool":"tick","input":{"count":%d,"rate":%d,"run":%d}}`, st.count, st.rate, st.run)
	if _, err := maker.Ask(at.Request("/v1/calls", body, strconv.Itoa(st.count)), time.Minute); err != nil {
		return h, fmt.Errorf("making events: %w", err)
	}
	wg.Wait()
	h.took = time.Since(began)
	h.server, h.client = proof.UsageOf(at.PID), proof.UsageOf(self).Work-mine.Work
	h.server.Work -= before.Work
	for _, s := range all {
		h.times = append(h.times, s.times...)
		if s.err == nil && s.told < 0 {
			h.whole++
		} else if h.first == nil {
			h.first = fmt.Errorf("told of %d missed; %w", s.told, s.err)
		}
	}
	slices.Sort(h.times)
	return h, ctx.Err()
}

// proveEvents measures the stream of events.
func proveEvents(ctx context.Context, s *settings) (text string, err error) {
	w, err := newWorld()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	at, child, err := w.Serve(ctx, s.self, "server", w.Project, w.Home)
	if err != nil {
		return "", err
	}
	defer child.Close()
	few := max(1, min(20, s.subscribers/5))
	quick := min(5000, max(1, s.subscribers*s.events/few))
	stages := []stage{
		{1, "many subscribers, and one that does not read", s.subscribers, int(s.listening.Seconds() * float64(s.events)), s.events, 1},
		{2, "few subscribers, many events", few, s.burst, quick, 0},
		{3, "the same beside two that do not read", few, s.burst, quick, 2},
	}
	var rows []hearing
	var notes strings.Builder
	for _, st := range stages {
		fmt.Fprintf(s.log, "events: %s: %d subscribers, %d events, %d a second\n", st.name, st.subscribers, st.count, st.rate)
		h, err := hear(ctx, at, st)
		if err != nil {
			return "", err
		}
		rows = append(rows, h)
		for k, idle := range h.idlers {
			if k == 0 {
				notes.WriteString(late(ctx, at, idle, st))
			} else {
				notes.WriteString(h.sayDropped())
				s.sheet.Add(proof.Figure{ID: "serve.events.dropped", Unit: "s", Value: h.dropped.Seconds(), Note: "From the first event on, at 5,000 a second; what the kernel keeps has to be full first, which takes longer where events are few."})
			}
			_ = idle.conn.Close()
		}
	}
	var out strings.Builder
	hearings(&out, rows)
	addHearings(&s.sheet, rows)
	return out.String() + notes.String() + "\n", nil
}

// late lets a subscriber read that has not so far, and says what it got. One that
// was cut off comes again with the last id that it has, as browsers do.
func late(ctx context.Context, at proof.Server, s *subscriber, st stage) string {
	_ = s.conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // a closed one says so when it is read
	s.read(st.count)
	cut := s.err != nil && s.told < 0
	if cut && s.id != "" {
		if err := s.again(ctx, at); err != nil {
			return fmt.Sprintf("- Row %d, who began to read at the end: FAILED: came again and got %v.\n", st.run, err)
		}
		s.read(st.count)
	}
	switch {
	case cut && s.told >= 0:
		return fmt.Sprintf("- Row %d, who began to read at the end: had been cut off, came again with its last id, got %d events in order and was told that %d are missed.\n", st.run, s.next, s.told)
	case s.told >= 0 && errors.Is(s.err, io.EOF):
		return fmt.Sprintf("- Row %d, who began to read at the end: got %d events in order, was told that %d more are missed, and its stream was ended.\n", st.run, s.next, s.told)
	case s.err == nil:
		return fmt.Sprintf("- Row %d, who began to read at the end: got all %d events in order; the server had kept them.\n", st.run, s.next)
	}
	return fmt.Sprintf("- Row %d, who began to read at the end: FAILED: got %d events, told of %d, %v.\n", st.run, s.next, s.told, s.err)
}

// dropLimit is how long the watch goes on at the most.
const dropLimit = 30 * time.Second

// untilDropped watches beside the load until the server has no more than so many
// sockets. Who never reads does not hear that it was closed: only the server's
// own descriptors show it.
func untilDropped(ctx context.Context, pid, left int) time.Duration {
	for began := time.Now(); time.Since(began) < dropLimit; {
		if proof.Until(ctx, time.Now().Add(50*time.Millisecond)) != nil {
			return 0
		}
		if sockets(pid) <= left {
			return time.Since(began)
		}
	}
	return 0
}

// sayDropped tells what became of those who never read.
func (h *hearing) sayDropped() string {
	if h.dropped == 0 {
		return fmt.Sprintf("- Row %d, who never read: FAILED: still connected after %s.\n", h.run, dropLimit)
	}
	return fmt.Sprintf("- Row %d, who never read: its connection was closed %.1f s after the first event: what is written has to be taken within 4 s.\n", h.run, h.dropped.Seconds())
}

// hearings writes the table of the stages.
func hearings(out io.Writer, rows []hearing) {
	fmt.Fprintln(out, "| | stage | subscribers | events | a second | heard all, in order | p50 | p99 | max | server's processor | clients' | server's memory at most |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for i, h := range rows {
		share := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()/h.took.Seconds()) }
		fmt.Fprintf(out, "| %d | %s | %d | %d | %d | %d of %d | %s | %s | %s | %s | %s | %s |\n", i+1, h.name, h.subscribers, h.count, h.rate,
			h.whole, h.subscribers, ms(proof.Median(h.times)), ms(proof.Quantile(h.times, 0.99)), ms(proof.Quantile(h.times, 1)),
			share(h.server.Work), share(h.client), mib(h.server.Peak))
	}
	fmt.Fprintln(out)
	for i, h := range rows {
		if h.first != nil {
			fmt.Fprintf(out, "- Row %d, FAILED: %v\n", i+1, h.first)
		}
	}
}
