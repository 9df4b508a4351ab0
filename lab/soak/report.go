//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/record"
)

// mostGrowth is how much more memory the server may hold after the load, in
// percent.
const mostGrowth = 5

// A report is what came of the run.
type report struct {
	*world
	before, after snapshot
	failures      []string
	recorded      map[string]int // calls that are in the store, by state
}

func (r *report) fail(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// growth is how much more memory there is after than before, in percent:
// resident, and of live objects. What grows while these do not is room between
// them, which Go fills again before it asks for more.
func (r *report) growth() (resident, live float64) {
	return 100 * (float64(r.after.resident)/float64(r.before.resident) - 1), 100 * (float64(r.after.heap)/float64(r.before.heap) - 1)
}

// compare holds what was seen and heard against what has to be.
func (r *report) compare() {
	r.failures = append(r.failures, surplus(r.before, r.after)...)
	if resident, live := r.growth(); resident >= mostGrowth && !r.s.quick {
		r.fail("memory: %.1f MiB before, %.1f MiB after: %.1f %% more, and %.1f %% more of live objects", proof.MiB(r.before.resident), proof.MiB(r.after.resident), resident, live)
	}
	for _, text := range r.lost {
		r.fail("not answered once: %s", text)
	}
	for text, n := range r.internal {
		r.fail("internal error, %d times: %s", n, text)
	}
}

// examine judges, ends the server, and looks at what it leaves.
func (r *report) examine() error {
	r.compare()
	if len(more(r.before, r.after, "goroutines")) > 0 {
		if who, err := r.subject.ask("stacks"); err == nil {
			fmt.Fprintln(os.Stderr, who.Stacks)
		}
	}
	if err := r.subject.end(); err != nil {
		r.fail("%v", err)
	}
	r.subject = nil
	if _, err := r.log.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := r.readLog(r.log); err != nil {
		return err
	}
	return r.compareStore()
}

// readLog looks for what must never be logged.
func (r *report) readLog(log io.Reader) error {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if low := strings.ToLower(line); strings.Contains(low, "panic") || strings.Contains(low, "data race") || strings.Contains(low, "fatal error") {
			r.fail("the server logged: %.500s", line)
		}
	}
	return lines.Err()
}

// compareStore checks the store, and that it holds every call as it was
// answered, once.
func (r *report) compareStore() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s, err := store.Open(store.Options{Dir: filepath.Join(r.Home, "data", "helve")})
	if err != nil {
		r.fail("the store cannot be opened: %v", err)
		return nil
	}
	defer func() { _ = s.Close() }() // nothing was written
	for _, n := range s.Notices() {
		r.fail("the store was found damaged: %s", n)
	}
	if err := s.Check(ctx, true); err != nil {
		r.fail("the store is not sound: %v", err)
	}
	seen := map[callKey]string{}
	r.recorded = map[string]int{}
	for before, more := "", true; more; {
		calls, err := s.Calls(ctx, record.CallQuery{Before: before, Limit: 1000, Brief: true})
		if err != nil {
			return err
		}
		for _, c := range calls {
			at := callKey{c.Session, c.ID}
			if was, ok := seen[at]; ok {
				r.fail("call %s is in the store twice: %s and %s", c.ID, was, c.State)
			}
			if c.State == record.Running {
				r.fail("call %s of %s still runs, says the store, and nobody is there", c.ID, c.Tool)
			}
			seen[at], before = c.State, c.Cursor
			r.recorded[string(c.State)]++
		}
		more = len(calls) == 1000
	}
	r.match(seen)
	return nil
}

// match holds what callers heard against what the store says.
func (r *report) match(seen map[callKey]string) {
	for at, how := range r.endings {
		state, ok := seen[at]
		switch {
		case how == unheard:
		case !ok:
			r.fail("call %s of %s was answered %q and is not in the store", at.id, at.session, how)
		case string(state) != string(how):
			r.fail("call %s of %s was answered %q, and the store says %q", at.id, at.session, how, state)
		}
	}
}

// figures are those of the run.
func (r *report) figures() (all []proof.Figure) {
	before, after := r.before, r.after
	add := func(id string, value float64, unit, note string, args ...any) {
		all = append(all, proof.Figure{ID: "soak." + id, Value: value, Unit: unit, Note: fmt.Sprintf(note, args...)})
	}
	resident, live := r.growth()
	add("minutes", r.s.length.Minutes(), "", "")
	add("calls", float64(r.answers), "", "%d recorded", sum(r.recorded))
	add("faults", float64(sum(r.faults)), "", "of %d kinds", len(r.faults))
	for _, what := range heldKinds() {
		add(what, float64(sum(more(before, after, what))), "", "%d → %d", sum(before.held[what]), sum(after.held[what]))
	}
	add("rss-growth", resident, "%", "%.1f → %.1f MiB at rest, after a collection", proof.MiB(before.resident), proof.MiB(after.resident))
	add("heap-growth", live, "%", "%.1f → %.1f MiB of live objects", proof.MiB(before.heap), proof.MiB(after.heap))
	add("lost", float64(len(r.lost)), "", "")
	add("internal-errors", float64(sum(r.internal)), "", "")
	return all
}

// print writes the report for people.
func (r *report) print(to io.Writer) {
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s\n%s of load after %s to get warm, seed %d\n\n", proof.Machine(), r.s.length, r.s.warm, r.s.seed)
	for _, f := range r.figures() {
		fmt.Fprintf(out, "  %s\t%.4g %s\t%s\n", f.ID, f.Value, f.Unit, f.Note)
	}
	fmt.Fprintf(out, "\nin the store: %s\n\ndone, and what came of it\n", kinds(r.recorded))
	for _, name := range slices.Sorted(maps.Keys(r.ops)) {
		fmt.Fprintf(out, "  %s\t%d\t%s\n", name, sum(r.ops[name]), kinds(r.ops[name]))
	}
	_ = out.Flush() // to a terminal, or a test
	for _, f := range r.failures {
		fmt.Fprintln(to, "FAILED:", f)
	}
}
