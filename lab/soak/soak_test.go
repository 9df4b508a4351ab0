//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// TestMain lets the tests be whatever the soak starts.
func TestMain(m *testing.M) {
	helve.RunHelper()
	lsptest.Main()
	modeltest.Child()
	if len(os.Args) > 1 && slices.Contains([]string{wordServer, wordHelve, wordThings, "--quick"}, os.Args[1]) {
		proof.Main("soak", run)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A short soak does everything at least once, and everything comes back.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	figures := filepath.Join(t.TempDir(), "figures")
	var out, log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--quick", "--seed", "7", "--figures", figures)
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, log.String(), out.String())
	}
	var names []string
	all, err := pools()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, a := range c.actions {
			names = append(names, a.Name)
		}
	}
	for _, f := range faults() {
		names = append(names, f.name)
	}
	untried := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(out.String(), "\n  "+name+"  ") })
	if len(untried) > len(names)/10 { // a slow machine does not come to all of it
		t.Errorf("of %d things these were not tried: %q", len(names), untried)
	}
	var list []proof.Figure
	text, err := os.ReadFile(figures)
	if err = errors.Join(err, json.Unmarshal(text, &list)); err != nil || len(list) != 11 {
		t.Errorf("the figures are %+v: %v", list, err)
	}
	for _, f := range list {
		if f.ID == "soak.calls" && f.Value < 100 || f.ID == "soak.faults" && f.Value < 20 {
			t.Errorf("there was no load: %+v", f)
		}
	}
}

// What does not come back is told, and is in the figures.
func TestVerdict(t *testing.T) {
	fine := func() snapshot {
		return snapshot{heap: 50 << 20, resident: 100 << 20, held: map[string]map[string]int{
			"goroutines": {"goroutines": 10}, "descriptors": {"pipe": 3, "/helve.db": 2}, "children": {"a": 1}, "tempfiles": {"run": 1},
		}}
	}
	for name, c := range map[string]struct {
		change func(*snapshot, *tally)
		want   string
		figure string
	}{
		"nothing":     {func(*snapshot, *tally) {}, "", ""},
		"less":        {func(s *snapshot, _ *tally) { s.held["children"] = nil }, "", ""},
		"store":       {func(s *snapshot, _ *tally) { s.held["descriptors"]["/helve.db"] = 6 }, "", ""},
		"goroutines":  {func(s *snapshot, _ *tally) { s.held["goroutines"]["goroutines"]++ }, "goroutines: 10 before, 11 after: more of 1 goroutines", "goroutines"},
		"descriptors": {func(s *snapshot, _ *tally) { s.held["descriptors"] = map[string]int{"pipe": 2, "socket": 1} }, "descriptors: 5 before, 3 after: more of 1 socket", "descriptors"},
		"processes":   {func(s *snapshot, _ *tally) { s.held["children"]["b"] = 1 }, "children: 1 before, 2 after: more of 1 b", "children"},
		"files":       {func(s *snapshot, _ *tally) { s.held["tempfiles"]["run"] = 3 }, "tempfiles: 1 before, 3 after: more of 2 run", "tempfiles"},
		"memory":      {func(s *snapshot, _ *tally) { s.resident = 106 << 20 }, "memory: 100.0 MiB before, 106.0 MiB after: 6.0 % more, and 0.0 % more of live objects", "rss-growth"},
		"lost":        {func(_ *snapshot, c *tally) { c.lose("read: gone") }, "not answered once: read: gone", "lost"},
		"twice": {func(_ *snapshot, c *tally) {
			c.ended(callKey{"s", "1"}, completed)
			c.ended(callKey{"s", "1"}, completed)
		}, "not answered once: 1 of s, twice: completed, then completed", "lost"},
		"internal": {func(_ *snapshot, c *tally) { c.ours("read: oh") }, "internal error, 1 times: read: oh", "internal-errors"},
	} {
		r := &report{world: &world{s: &settings{}, tally: newTally()}, before: fine(), after: fine()}
		c.change(&r.after, r.tally)
		r.compare()
		if got := strings.Join(r.failures, "\n"); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
		for _, f := range r.figures() {
			id := strings.TrimPrefix(f.ID, "soak.")
			bad := f.Value > 0 && id != "calls" && id != "heap-growth"
			if bad != (id == c.figure) {
				t.Errorf("%s: %s is %v", name, f.ID, f.Value)
			}
		}
	}
}

// What callers heard is held against what the store says.
func TestMatch(t *testing.T) {
	r := &report{world: &world{s: &settings{}, tally: newTally()}}
	for id, how := range map[string]ending{"1": completed, "2": failed, "3": unheard, "5": completed, "6": completed} {
		r.ended(callKey{"s", id}, how)
	}
	r.match(map[callKey]string{{"s", "1"}: "completed", {"s", "2"}: "error", {"s", "5"}: "interrupted"})
	slices.Sort(r.failures)
	want := []string{`call 5 of s was answered "completed", and the store says "interrupted"`, `call 6 of s was answered "completed" and is not in the store`}
	if !slices.Equal(r.failures, want) {
		t.Errorf("%q", r.failures)
	}
}
