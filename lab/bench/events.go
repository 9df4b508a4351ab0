package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/gate"
	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A subscriber reads the stream of events and notes when each came.
type subscriber struct {
	*wire
	lines *bufio.Reader
	times []float64 // ms from when an event was made to when it was read
	err   error     // why it ended before the last event
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
			s.lines = bufio.NewReader(res.Body)
			var line string
			if line, err = s.lines.ReadString('\n'); err == nil && line != "event: hello\n" {
				err = fmt.Errorf("the stream begins with %s and %q", res.Status, line)
			}
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.conn.Close())
	}
	return s, nil
}

// A tick is what an event of ours holds: its place in the row, and when it was made.
type tick struct{ Run, N, At int64 }

// read reads until the last of count events of a run, or until the stream ends.
func (s *subscriber) read(run int64, count int) {
	for next := int64(0); next < int64(count); {
		line, err := s.lines.ReadSlice('\n')
		if err != nil {
			s.err = err
			return
		}
		_, data, ours := bytes.Cut(line, []byte(`"properties":{"run":`))
		if !ours {
			continue
		}
		var t tick
		if _, err := fmt.Sscanf(string(data), `%d,"n":%d,"at":%d`, &t.Run, &t.N, &t.At); err != nil || t.Run != run {
			continue
		}
		if t.N != next {
			s.err = fmt.Errorf("event %d came when %d was due", t.N, next)
			return
		}
		next++
		s.times = append(s.times, millis(time.Duration(time.Now().UnixNano()-t.At)))
	}
}

// A stage is a number of subscribers and of events that they hear, beside some
// subscribers that do not read.
type stage struct {
	id                string
	subscribers, idle int
	count, rate       int
}

// events measures the stream of events of a server that makes them at a pace.
func (b *bench) events(ctx context.Context) {
	w := b.world(allowed)
	at := b.serve(ctx, w, b.self, "child", "ticker", w.Project, w.Home)
	many, few := b.size(1000, 20), b.size(20, 4)
	for run, st := range []stage{
		{"serve.events.many", many, 1, b.size(3000, 100), 100},
		{"serve.events.idle", few, 2, b.size(100_000, 20_000), 5000},
	} {
		b.say("events: %d subscribers, %d events, %d a second", st.subscribers, st.count, st.rate)
		b.hear(ctx, at, st, int64(run+1))
	}
}

// hear carries a stage out.
func (b *bench) hear(ctx context.Context, at target, st stage, run int64) {
	all := make([]*subscriber, st.subscribers+st.idle)
	for i := range all {
		s, err := subscribe(ctx, at)
		b.must(err)
		all[i] = s
		defer func() { _ = s.conn.Close() }()
	}
	before, began := proof.UsageOf(at.pid()), time.Now()
	limit := time.Duration(st.count)*time.Second/time.Duration(st.rate) + 20*time.Second
	var dropped time.Duration
	var wg sync.WaitGroup
	if connected := sockets(at.pid()); st.idle > 1 {
		// Who never reads does not hear that it was closed: only the server's
		// own descriptors show it.
		wg.Go(func() {
			if until(ctx, 30*time.Second, func() (bool, error) { return sockets(at.pid()) <= connected-st.idle+1, nil }) == nil {
				dropped = time.Since(began)
			}
		})
	}
	for _, s := range all[:st.subscribers] {
		b.must(s.conn.SetReadDeadline(began.Add(limit)))
		wg.Go(func() { s.read(run, st.count) })
	}
	_, err := at.once(ctx, at.call("", "tick", fmt.Sprintf(`{"count":%d,"rate":%d,"run":%d}`, st.count, st.rate, run), strconv.Itoa(st.count)))
	b.must(err)
	wg.Wait()
	took, used, whole := time.Since(began), proof.UsageOf(at.pid()), 0
	var times []float64
	for _, s := range all[:st.subscribers] {
		times = append(times, s.times...)
		if s.err == nil {
			whole++
		}
		b.hold(s.err == nil, "%s: a subscriber has not heard everything: %v", st.id, s.err)
	}
	note := fmt.Sprintf("%d of %d heard everything.", whole, st.subscribers)
	b.add(st.id+".p50", median(times), "ms", note)
	b.add(st.id+".p99", quantile(times, 0.99), "ms", note)
	b.add(st.id+".max", quantile(times, 1), "ms", note)
	b.add(st.id+".cpu", 100*(used.Work-before.Work).Seconds()/took.Seconds(), "%", note)
	b.add(st.id+".memory", proof.MiB(used.Peak), "MiB", note)
	b.add(st.id+".missed", float64(st.subscribers-whole), "", note)
	if st.idle > 1 {
		b.hold(dropped > 0, "who never read is still connected after 30 s")
		b.add("serve.events.dropped", dropped.Seconds(), "s", "From the first event on, at 5,000 a second; what the kernel keeps has to be full first, which takes longer where events are few.")
	}
}

// sockets counts the connections that a process has open.
func sockets(pid int) (n int) {
	for _, to := range proof.Descriptors(pid) {
		if strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// serveTicks serves a folder as helve serve does, with one tool more, which
// makes events at a pace. data is where records are kept.
func serveTicks(ctx context.Context, out io.Writer, dir, data string) (err error) {
	rt, err := helve.New(helve.Options{
		Dir: dir, Worktree: dir, DataDir: data, Client: "web",
		Agents: helve.Agents(helve.AgentOptions{User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	if _, err := rt.Register(ticker(rt)); err != nil {
		return err
	}
	file := filepath.Join(data, "serve-token")
	bound, err := gate.Listen(gate.Bind{Addr: "127.0.0.1:0", File: file})
	if err != nil {
		return err
	}
	api, err := server.New(server.Options{Runtime: rt, Dir: dir, Worktree: dir, URL: bound.URL(), Token: func() string { return bound.Token }})
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	g, err := gate.New(gate.Options{Token: bound.Token, Hosts: bound.Hosts, MaxBody: 16 << 20, MaxStreams: 2048})
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	web := g.Server(api.Handler())
	if _, err := fmt.Fprintf(out, `{"url":%q,"tokenFile":%q}`+"\n", bound.URL(), file); err != nil {
		return errors.Join(err, bound.Close())
	}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })() // Serve says so
	if err := web.Serve(bound); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ticker is a tool that makes events: each holds its place in the row, when it
// was made, and about as much text as the events of a small call.
func ticker(rt *helve.Runtime) tool.Tool {
	type pace struct {
		Count int `json:"count" jsonschema:"how many events"`
		Rate  int `json:"rate" jsonschema:"how many a second" min:"1"`
		Run   int `json:"run" jsonschema:"what they are known by"`
	}
	const mostBehind = 50 * time.Millisecond // that an event may be and still be made up for
	pad := strings.Repeat("x", 160)
	spec := tool.Spec{Name: "tick", Description: "Makes events at a pace.", ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, _ *tool.Call, p pace) (*tool.Result, error) {
		began := time.Now()
		for i := range p.Count {
			due := began.Add(time.Duration(i) * time.Second / time.Duration(p.Rate))
			if err := sleepUntil(ctx, due); err != nil {
				return nil, err
			}
			if behind := time.Since(due); behind > mostBehind {
				began = began.Add(behind) // not all that a stopped machine left out, at once
			}
			rt.Notify("proof.tick", json.RawMessage(fmt.Sprintf(`{"run":%d,"n":%d,"at":%d,"pad":%q}`, p.Run, i, time.Now().UnixNano(), pad)))
		}
		return &tool.Result{Title: "tick", Output: strconv.Itoa(p.Count)}, nil
	})
}
