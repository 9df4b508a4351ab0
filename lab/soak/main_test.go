package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/lsp/lsptest"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// wordTest lets the test be the whole program.
const wordTest = "soak-tested"

// TestMain lets the tests be whatever the soak starts.
func TestMain(m *testing.M) {
	helve.RunHelper()
	lsptest.Main()
	modeltest.Child()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case wordServer, wordHelve, wordThings, wordInside:
			os.Exit(start(os.Args[1:]))
		case wordTest:
			os.Exit(start(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// A short soak does everything at least once, and everything comes back.
func TestSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a process holds is known on Linux only")
	}
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	dir := t.TempDir()
	figures, samples := filepath.Join(dir, "figures"), filepath.Join(dir, "samples.csv")
	var out, log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], wordTest, "--quick", "--seed", "7", "--figures", figures, "--samples", samples)
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, log.String(), out.String())
	}
	var names []string
	for _, of := range crew() {
		for _, d := range of.deeds {
			names = append(names, d.name)
		}
	}
	for _, b := range breakages() {
		names = append(names, b.name)
	}
	for _, s := range stumbles() {
		names = append(names, s.name)
	}
	var untried []string
	for _, name := range names {
		if !strings.Contains(out.String(), "\n| "+name+" | ") && !strings.Contains(out.String(), "\n"+name+": at least once not possible") {
			untried = append(untried, name)
		}
	}
	if len(untried) > len(names)/10 { // a slow machine does not come to all of it
		t.Errorf("of %d things these were not tried: %q", len(names), untried)
	}
	list, err := proof.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]proof.Figure{}
	for _, f := range list {
		byID[f.ID] = f
	}
	for _, id := range strings.Fields("minutes calls faults goroutines descriptors children tempfiles rss-growth heap-growth lost internal-errors") {
		if _, ok := byID["soak."+id]; !ok {
			t.Errorf("there is no figure for %s", id)
		}
	}
	if byID["soak.calls"].Value < 100 || byID["soak.faults"].Value < 20 {
		t.Errorf("there was no load: %+v", list)
	}
	if rows, err := os.ReadFile(samples); err != nil || bytes.Count(rows, []byte("\n")) < 5 {
		t.Errorf("the samples are %q: %v", rows, err)
	}
}

// What does not come back is told.
func TestVerdict(t *testing.T) {
	k := &soaking{house: &house{s: &settings{}, count: newTally()}}
	fine := func() look {
		return look{goroutines: 10, heap: 50 << 20, resident: 100 << 20, descriptors: map[string]int{"pipe": 3}, children: map[string]int{"a": 1}, left: map[string]int{"run": 1}}
	}
	for name, c := range map[string]struct {
		change func(*look, *tally)
		want   string
	}{
		"nothing":     {func(*look, *tally) {}, ""},
		"less":        {func(l *look, _ *tally) { l.goroutines, l.children = 9, nil }, ""},
		"goroutines":  {func(l *look, _ *tally) { l.goroutines++ }, "goroutines: 10 before, 11 after"},
		"descriptors": {func(l *look, _ *tally) { l.descriptors = map[string]int{"pipe": 2, "socket": 1} }, "descriptors: 3 before, 3 after: more of 1 × socket"},
		"processes":   {func(l *look, _ *tally) { l.children["b"] = 1 }, "processes: 1 before, 2 after: more of 1 × b"},
		"files":       {func(l *look, _ *tally) { l.left["run"] = 3 }, "temporary files: 1 before, 3 after: more of 2 × run"},
		"memory":      {func(l *look, _ *tally) { l.resident = 106 << 20 }, "memory: 100.0 MiB before, 106.0 MiB after: 6.0 % more, and 0.0 % more of live objects"},
		"orphans":     {func(l *look, _ *tally) { l.orphans = 1 }, "temporary folders of killed commands: 0 before, 1 after"},
		"lost":        {func(_ *look, c *tally) { c.lose("read: gone") }, "not answered: read: gone"},
		"twice": {func(_ *look, c *tally) {
			c.ended(callKey{"s", "1"}, completed)
			c.ended(callKey{"s", "1"}, completed)
		}, "answered twice: 1 of s: completed, then completed"},
		"internal": {func(_ *look, c *tally) { c.ours("read: oh") }, "internal error, 1 times: read: oh"},
		"full":     {func(_ *look, c *tally) { c.filled(1); c.ours("read: the disk is full") }, ""},
		"late":     {func(_ *look, c *tally) { c.filled(1); c.filled(-1); c.ours("read: the disk is full") }, ""},
		"never":    {func(_ *look, c *tally) { c.ours("read: the disk is full") }, "internal error, 1 times: read: the disk is full"},
		"not full": {func(_ *look, c *tally) { c.filled(1); c.ours("read: oh") }, "internal error, 1 times: read: oh"},
	} {
		k.count = newTally()
		k.before, k.after = fine(), fine()
		c.change(&k.after, k.count)
		r := newReport()
		k.judge(r)
		if got := strings.Join(r.failures, "\n"); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// Figures say what the verdict does: what the store keeps is no surplus, and
// less of one kind does not make up for more of another.
func TestSheet(t *testing.T) {
	k := &soaking{house: &house{s: &settings{}, count: newTally()}}
	k.before = look{heap: 1, resident: 1, descriptors: map[string]int{"pipe": 9, "/helve.db": 2}, children: map[string]int{"a": 2}, left: map[string]int{"x": 3}}
	k.after = look{heap: 1, resident: 1, descriptors: map[string]int{"pipe": 8, "socket": 1, "/helve.db": 6}, children: map[string]int{"b": 1}, left: map[string]int{"y": 1}, orphans: 1}
	path := filepath.Join(t.TempDir(), "figures")
	if err := newReport().sheet(k).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	list, err := proof.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"soak.descriptors": 1, "soak.children": 1, "soak.tempfiles": 2, "soak.rss-growth": 0, "soak.heap-growth": 0}
	for _, f := range list {
		if n, ok := want[f.ID]; ok && f.Value != n {
			t.Errorf("%s is %v, not %v", f.ID, f.Value, n)
		}
		delete(want, f.ID)
	}
	if len(want) > 0 {
		t.Errorf("there is no figure for %v", want)
	}
}

// What callers heard is held against what the store says.
func TestMatch(t *testing.T) {
	k := &soaking{house: &house{s: &settings{}, count: newTally()}}
	for id, how := range map[string]ending{"1": completed, "2": failed, "3": unheard, "4": unkept, "5": completed, "6": completed} {
		k.count.ended(callKey{"s", id}, how)
	}
	r := newReport()
	k.match(r, map[callKey]state{{"s", "1"}: "completed", {"s", "2"}: "error", {"s", "5"}: "interrupted"})
	got := strings.Join(r.failures, "\n")
	for _, want := range []string{`call 5 of s was answered "completed", and the store says "interrupted"`, `call 6 of s was answered "completed" and is not in the store`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if len(r.failures) != 2 {
		t.Errorf("%q", got)
	}
}

// A long run rests until what idles has gone by itself; a short one helps.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		args       []string
		long, warm time.Duration
		rest       time.Duration
	}{
		{nil, 30 * time.Minute, 6 * time.Minute, longRest},
		{[]string{"--minutes", "10"}, 10 * time.Minute, 2 * time.Minute, longRest},
		{[]string{"--minutes", "3"}, 3 * time.Minute, 36 * time.Second, 10 * time.Second},
		{[]string{"--minutes", "0.5"}, 30 * time.Second, 15 * time.Second, 10 * time.Second},
		{[]string{"--quick"}, 8 * time.Second, 5 * time.Second, 2 * time.Second},
	} {
		s, err := parse(c.args, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if s.length != c.long || s.warm != c.warm || s.rest != c.rest {
			t.Errorf("%q: %s after %s, rests of %s", c.args, s.length, s.warm, s.rest)
		}
	}
	for _, args := range [][]string{{"--minutes", "0"}, {"--minutes", "-1"}, {"more"}, {"--what"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}
