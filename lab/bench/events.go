package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A subscriber reads the stream of events and notes when each came.
type subscriber struct {
	*wire
	lines *bufio.Reader
	times []float64 // ms from when an event was told to when it was read
	err   error     // why it has not heard everything
}

// subscribe opens a stream, and returns when the server has begun it.
func subscribe(ctx context.Context, at target) (*subscriber, error) {
	w, err := at.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &subscriber{wire: w}
	if _, err = w.conn.Write(at.request("/v1/events", "", "", "Accept: text/event-stream").text); err == nil {
		var res *http.Response
		if res, err = http.ReadResponse(w.in, nil); err == nil {
			s.lines = bufio.NewReaderSize(res.Body, 64<<10)
			_, err = s.lines.ReadString('\n')
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.conn.Close())
	}
	return s, nil
}

// read reads until a call of the session "end" has finished, or until the stream
// ends. Events have to come in their order, and none may be missing.
func (s *subscriber) read() {
	for last := 0; ; {
		line, err := s.lines.ReadSlice('\n')
		if err != nil {
			s.err = err
			return
		}
		var e struct {
			Seq        int
			Time       time.Time
			Type       string
			Properties struct{ Session string }
		}
		if !strings.HasPrefix(string(line), `data: {"seq":`) {
			continue
		}
		if err := json.Unmarshal(line[len("data: "):], &e); err != nil || last > 0 && e.Seq != last+1 {
			s.err = fmt.Errorf("event %d came after %d: %w", e.Seq, last, err)
			return
		}
		last = e.Seq
		s.times = append(s.times, millis(time.Since(e.Time)))
		if e.Type == "call.finished" && e.Properties.Session == "end" {
			return
		}
	}
}

// events measures the stream of events while small reads are made, which tell
// three events each: for many subscribers beside one that does not read, and for
// a few that hear many events beside two that do not read.
func (b *bench) events(ctx context.Context) {
	at := b.serveHelve(ctx, b.world(allowed))
	for _, st := range []struct {
		id                      string
		subscribers, idle, rate int // events a second
		last                    time.Duration
	}{
		{"serve.events.many", b.size(1000, 20), 1, 100, b.lasting(30*time.Second, time.Second)},
		{"serve.events.idle", b.size(20, 4), 2, 5000, b.lasting(20*time.Second, 5*time.Second)},
	} {
		b.say("%d subscribers, %d events a second", st.subscribers, st.rate)
		all := make([]*subscriber, st.subscribers+st.idle)
		for i := range all {
			s, err := subscribe(ctx, at)
			b.must(err)
			all[i] = s
			defer func() { _ = s.conn.Close() }()
			b.must(s.conn.SetReadDeadline(time.Now().Add(st.last + time.Minute)))
		}
		l := load{wires: 16, rate: st.rate / 3, last: st.last}
		for i := range l.wires {
			l.turns = append(l.turns, at.call(fmt.Sprint("events-", i), "read", `{"filePath":"small.txt"}`, smallEnd))
		}
		began := time.Now()
		var dropped time.Duration
		var wg sync.WaitGroup
		if st.idle > 1 {
			wg.Go(func() {
				gone := func() (bool, error) {
					return !slices.ContainsFunc(all[st.subscribers:], func(s *subscriber) bool { return established(s.conn) }), nil
				}
				if until(ctx, 30*time.Second, gone) == nil {
					dropped = time.Since(began)
				}
			})
		}
		for _, s := range all[:st.subscribers] {
			wg.Go(s.read)
		}
		_, err := at.put(ctx, l)
		b.must(err)
		_, err = at.once(ctx, at.call("end", "read", `{"filePath":"small.txt"}`, smallEnd))
		b.must(err)
		wg.Wait()
		var times []float64
		missed := 0
		for _, s := range all[:st.subscribers] {
			times = append(times, s.times...)
			if s.err != nil {
				missed++
			}
			b.hold(s.err == nil, "%s: a subscriber has not heard everything: %v", st.id, s.err)
		}
		b.add(st.id+".p50", median(times), "ms", "")
		b.add(st.id+".p99", quantile(times, 0.99), "ms", "")
		b.add(st.id+".max", quantile(times, 1), "ms", "")
		b.add(st.id+".memory", proof.MiB(proof.UsageOf(at.pid()).Peak), "MiB", "")
		b.add(st.id+".missed", float64(missed), "", fmt.Sprintf("of %d subscribers", st.subscribers))
		if st.idle > 1 {
			b.hold(dropped > 0, "who never read is still connected after 30 s")
			b.add("serve.events.dropped", dropped.Seconds(), "s", "From the first event on, at 5,000 a second; what the kernel keeps has to be full first, which takes longer where events are few.")
		}
	}
}

// established says whether the server's side of a connection is open still, as
// Linux tells it. Who does not read does not hear that it was closed.
func established(c net.Conn) bool {
	text, _ := os.ReadFile("/proc/net/tcp")
	port := func(a net.Addr) int { return a.(*net.TCPAddr).Port }
	return strings.Contains(string(text), fmt.Sprintf("0100007F:%04X 0100007F:%04X 01 ", port(c.RemoteAddr()), port(c.LocalAddr())))
}
