package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
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

func served(t *testing.T) target {
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
	at, end, err := startHelve(t.Context(), w, self, "server", w.Project, w.Home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
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
		if note := late(h.idlers[0], st); !strings.Contains(note, "got all 100 events in order") {
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
		plan  plan
		asked int // 0: some
		good  bool
	}{
		{"at a rate", plan{wires: 4, rate: 50, last: time.Second, turns: d.read}, 50, true},
		{"at once", plan{wires: 2, last: time.Second / 5, turns: d.read}, 0, true},
		{"a command", plan{wires: 1, rate: 5, last: time.Second, turns: d.shell}, 5, true},
		{"no such route", plan{wires: 2, rate: 20, last: time.Second, turns: []request{{newRequest(at, "/v1/nowhere", ""), nil}}}, 20, false},
		{"another answer", plan{wires: 2, rate: 20, last: time.Second, turns: []request{{newRequest(at, "/v1", ""), []byte("no such text")}}}, 20, false},
	} {
		f, err := measure(t.Context(), at, c.plan)
		if err != nil {
			t.Fatal(err)
		}
		if f.asked == 0 || c.asked > 0 && f.asked != c.asked || c.good != (f.failed == 0) || c.good != (f.first == nil) || f.failed+len(f.times) != f.asked {
			t.Errorf("%s: %d asked, %d answered, %d failed, %v", c.name, f.asked, len(f.times), f.failed, f.first)
		}
		var out strings.Builder
		figures(&out, c.asked, []figure{f})
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

func TestQuantile(t *testing.T) {
	all := []time.Duration{1, 2, 3, 4}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := quantile(all, share); got != want {
			t.Errorf("%v: %v", share, got)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("something of nothing")
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
