package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// The test's own program plays the server too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func served(t *testing.T) proof.Server {
	t.Helper()
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	at, child, err := w.Serve(t.Context(), self, "server", w.Project, w.Home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(child.Close)
	return at
}

func TestHear(t *testing.T) {
	at := served(t)
	var rows []hearing
	for run := 1; run <= 2; run++ { // the second does not take the first one's events for its own
		st := stage{run, "a stage", 20, 100, 400, 1}
		h, err := hear(t.Context(), at, st)
		if err != nil {
			t.Fatal(err)
		}
		if h.whole != 20 || h.first != nil || len(h.times) != 2000 || h.times[0] <= 0 {
			t.Errorf("%d of 20 heard everything, %d times, %v", h.whole, len(h.times), h.first)
		}
		if note := late(t.Context(), at, h.idlers[0], st); !strings.Contains(note, "got all 100 events in order") {
			t.Error(note)
		}
		_ = h.idlers[0].conn.Close()
		rows = append(rows, h)
	}
	var out strings.Builder
	hearings(&out, rows)
	if strings.Count(out.String(), "\n| ") != 2 || !strings.Contains(out.String(), "| 20 of 20 |") {
		t.Error(out.String())
	}
}

func TestMeasure(t *testing.T) {
	at := served(t)
	d, err := ourSide(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		plan  proof.Plan
		asked int // 0: some
		good  bool
	}{
		{"at a rate", proof.Plan{Wires: 4, Rate: 50, Last: time.Second, Turns: d.read}, 50, true},
		{"at once", proof.Plan{Wires: 2, Last: time.Second / 5, Turns: d.read}, 0, true},
		{"a command", proof.Plan{Wires: 1, Rate: 5, Last: time.Second, Turns: d.shell}, 5, true},
		{"no such route", proof.Plan{Wires: 2, Rate: 20, Last: time.Second, Turns: []proof.Request{at.Request("/v1/nowhere", "", "")}}, 20, false},
		{"another answer", proof.Plan{Wires: 2, Rate: 20, Last: time.Second, Turns: []proof.Request{at.Request("/v1", "", "no such text")}}, 20, false},
	} {
		f, err := at.Put(t.Context(), c.plan)
		if err != nil {
			t.Fatal(err)
		}
		if f.Asked == 0 || c.asked > 0 && f.Asked != c.asked || c.good != (f.Failed == 0) || c.good != (f.First == nil) || f.Failed+len(f.Times) != f.Asked {
			t.Errorf("%s: %d asked, %d answered, %d failed, %v", c.name, f.Asked, len(f.Times), f.Failed, f.First)
		}
		var out strings.Builder
		figures(&out, c.asked, []figure{{"helve", f}})
		if !c.good && !strings.Contains(out.String(), "The first failure of helve: ") {
			t.Error(out.String())
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		line string
		n    int
		ok   bool
	}{
		{`data: {"n":7,"at":1}`, 7, true}, {`{"n":12}`, 12, true},
		{`{"m":7}`, 0, false}, {`{"n":x}`, 0, false}, {`{"n":7`, 0, false}, {``, 0, false},
	} {
		if n, ok := number([]byte(c.line), `"n":`); n != c.n || ok != c.ok {
			t.Errorf("%s: %d, %v", c.line, n, ok)
		}
	}
}

// The figures are those of the tables, beside OpenCode where it was asked too.
func TestFigures(t *testing.T) {
	times := []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond}
	one := figure{"helve", proof.Load{Asked: 4, Failed: 1, Took: time.Second, Times: times, Used: proof.Usage{Work: 6 * time.Millisecond, Peak: 1 << 20}}}
	other := one
	other.name, other.Used.Peak = "OpenCode 1", 2<<20
	var sheet proof.Sheet
	addCalls(&sheet, "serve.read.eager", []figure{one, other})
	addCalls(&sheet, "serve.shell.eager", []figure{one})
	addHearings(&sheet, []hearing{{stage: stage{run: 1, subscribers: 5}, whole: 4, took: time.Second, times: times, server: one.Used}})
	got := map[string]proof.Figure{}
	for _, f := range sheet.Figures() {
		got[f.ID] = f
	}
	for _, want := range []proof.Figure{
		{ID: "serve.read.eager.p50", Unit: "ms", Value: 2, Peer: "OpenCode 1", PeerValue: 2},
		{ID: "serve.read.eager.rate", Unit: "a second", Value: 3, Peer: "OpenCode 1", PeerValue: 3},
		{ID: "serve.read.eager.cpu", Unit: "ms", Value: 2, Peer: "OpenCode 1", PeerValue: 2},
		{ID: "serve.read.eager.memory", Unit: "MiB", Value: 1, Peer: "OpenCode 1", PeerValue: 2},
		{ID: "serve.shell.eager.failed", Value: 1},
		{ID: "serve.events.many.p99", Unit: "ms", Value: 3, Note: "4 of 5 heard everything."},
		{ID: "serve.events.many.missed", Value: 1, Note: "4 of 5 heard everything."},
	} {
		if got[want.ID] != want {
			t.Errorf("%+v, want %+v", got[want.ID], want)
		}
	}
	if err := sheet.WriteFile(filepath.Join(t.TempDir(), "figures")); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nosuch"}, {"events", "--rate", "0"}, {"events", "more"}, {"calls", "--nosuch"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, io.Discard); err == nil || out.Len() > 0 {
			t.Errorf("%v: %v, %s", args, err, out.String())
		}
	}
}
