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
	"time"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/lab/internal/proof"
)

// mostGrowth is how much more memory the server may hold after the load, in
// percent.
const mostGrowth = 5

// A report is what came of the run.
type report struct {
	failures []string
	recorded int            // calls that are in the store
	states   map[string]int // of them
	log      map[string]int // lines that the server has logged, without numbers
}

func newReport() *report { return &report{states: map[string]int{}, log: map[string]int{}} }

func (r *report) fail(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// growth is how much more memory there is after than before, in percent.
func (k *soaking) growth() float64 {
	return 100 * (float64(k.after.resident)/float64(k.before.resident) - 1)
}

// heapGrowth is the same of live objects alone. What grows while they do not is
// room between them, which Go fills again before it asks for more.
func (k *soaking) heapGrowth() float64 {
	return 100 * (float64(k.after.heap)/float64(k.before.heap) - 1)
}

// state is how far a call has come, as the store says.
type state = store.State

// judge holds what was seen and heard against what has to be.
func (k *soaking) judge(r *report) {
	before, after := k.before, k.after
	if after.goroutines > before.goroutines {
		r.fail("goroutines: %d before, %d after", before.goroutines, after.goroutines)
	}
	for what, m := range map[string][2]map[string]int{
		"descriptors": {pooled(before.descriptors), after.descriptors}, "processes": {before.children, after.children}, "temporary files": {before.left, after.left},
	} {
		if text := more(m[1], m[0]); text != "" {
			r.fail("%s: %d before, %d after: more of %s", what, sum(m[0]), sum(m[1]), text)
		}
	}
	if after.orphans > before.orphans {
		r.fail("temporary folders of killed commands: %d before, %d after", before.orphans, after.orphans)
	}
	if g := k.growth(); g >= mostGrowth && !k.s.quick {
		r.fail("memory: %.1f MiB before, %.1f MiB after: %.1f %% more, and %.1f %% more of live objects",
			proof.MiB(before.resident), proof.MiB(after.resident), g, k.heapGrowth())
	}
	for _, text := range k.count.lost {
		r.fail("not answered: %s", text)
	}
	for _, text := range k.count.twice {
		r.fail("answered twice: %s", text)
	}
	for text, n := range k.count.internal {
		r.fail("internal error, %d times: %s", n, text)
	}
}

// examine judges, ends the server, and looks at what it leaves.
func (k *soaking) examine(r *report) error {
	k.judge(r)
	if err := k.subject.end(); err != nil {
		r.fail("%v", err)
	}
	k.subject = nil
	if err := r.readLog(filepath.Join(k.Root, "server.log")); err != nil {
		return err
	}
	return k.compareStore(r)
}

// readLog looks for what must never be logged.
func (r *report) readLog(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		r.log[shorten(line)]++
		if low := strings.ToLower(line); strings.Contains(low, "panic") || strings.Contains(low, "data race") || strings.Contains(low, "fatal error") {
			r.fail("the server logged: %.500s", line)
		}
	}
	return lines.Err()
}

// shorten makes lines alike that differ in numbers only.
func shorten(line string) string {
	line = plain(line)
	return strings.ToValidUTF8(line[:min(len(line), 160)], "")
}

// compareStore checks the store, and that it holds every call as it was
// answered, once.
func (k *soaking) compareStore(r *report) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s, err := store.Open(store.Options{Dir: filepath.Join(k.data(), "helve")})
	if err != nil {
		r.fail("the store can not be opened: %v", err)
		return nil
	}
	defer func() { _ = s.Close() }() // nothing was written
	for _, n := range s.Notices() {
		r.fail("the store was found damaged: %s", n)
	}
	if err := s.Check(ctx, true); err != nil {
		r.fail("the store is not sound: %v", err)
	}
	seen := map[callKey]state{}
	for before := int64(0); ; {
		calls, err := s.Calls(ctx, store.Query{Before: before, Limit: 1000, Brief: true})
		if err != nil {
			return err
		}
		for _, c := range calls {
			at := callKey{c.Session, c.ID}
			if was, ok := seen[at]; ok {
				r.fail("call %s is in the store twice: %s and %s", c.ID, was, c.State)
			}
			seen[at], before = c.State, c.Seq
			r.states[string(c.State)]++
			if c.State == store.Running {
				r.fail("call %s of %s still runs, says the store, and nobody is there", c.ID, c.Tool)
			}
		}
		if len(calls) < 1000 {
			break
		}
	}
	r.recorded = len(seen)
	k.match(r, seen)
	return nil
}

// match holds what callers heard against what the store says.
func (k *soaking) match(r *report, seen map[callKey]state) {
	for at, how := range k.count.endings {
		state, ok := seen[at]
		switch {
		case how == unheard || how == unkept:
		case !ok:
			r.fail("call %s of %s was answered %q and is not in the store", at.id, at.session, how)
		case string(state) != string(how):
			r.fail("call %s of %s was answered %q, and the store says %q", at.id, at.session, how, state)
		}
	}
}

// sheet is the run as figures.
func (r *report) sheet(k *soaking) *proof.Sheet {
	s := new(proof.Sheet)
	then := func(a, b any) string { return fmt.Sprintf("%v → %v", a, b) }
	before, after, t := k.before, k.after, k.count
	s.Add(proof.Figure{ID: "soak.minutes", Value: k.s.length.Minutes()})
	s.Add(proof.Figure{ID: "soak.calls", Value: float64(t.answers), Note: fmt.Sprintf("%d recorded, %d answered that they could not be", r.recorded, sum(t.excused))})
	s.Add(proof.Figure{ID: "soak.faults", Value: float64(sum(t.faults)), Note: fmt.Sprintf("of %d kinds", len(t.faults))})
	s.Add(proof.Figure{ID: "soak.goroutines", Value: float64(after.goroutines - before.goroutines), Note: then(before.goroutines, after.goroutines)})
	s.Add(proof.Figure{ID: "soak.descriptors", Value: float64(surplus(after.descriptors, pooled(before.descriptors))), Note: then(sum(before.descriptors), sum(after.descriptors)) + ", with the connections that the store keeps"})
	s.Add(proof.Figure{ID: "soak.children", Value: float64(surplus(after.children, before.children)), Note: then(sum(before.children), sum(after.children))})
	s.Add(proof.Figure{ID: "soak.tempfiles", Value: float64(surplus(after.left, before.left) + max(0, after.orphans-before.orphans)), Note: then(sum(before.left)+before.orphans, sum(after.left)+after.orphans)})
	s.Add(proof.Figure{ID: "soak.rss-growth", Value: k.growth(), Unit: "%", Note: fmt.Sprintf("%.1f → %.1f MiB at rest, after a collection", proof.MiB(before.resident), proof.MiB(after.resident))})
	s.Add(proof.Figure{ID: "soak.heap-growth", Value: k.heapGrowth(), Unit: "%", Note: fmt.Sprintf("%.1f → %.1f MiB of live objects", float64(before.heap)/(1<<20), float64(after.heap)/(1<<20))})
	s.Add(proof.Figure{ID: "soak.lost", Value: float64(len(t.lost) + len(t.twice))})
	s.Add(proof.Figure{ID: "soak.internal-errors", Value: float64(sum(t.internal))})
	return s
}

// print writes the report for people.
func (r *report) print(out io.Writer, k *soaking) {
	t, before, after := k.count, k.before, k.after
	fmt.Fprintf(out, "%s The machine's load is %s.\n\n%s of load after %s to get warm, seed %d.\n\n", proof.Machine(), proof.Busy(), k.s.length, k.s.warm, k.s.seed)
	fmt.Fprintln(out, "| at rest | before | after |\n|---|---|---|")
	row := func(name string, a, b any) { fmt.Fprintf(out, "| %s | %v | %v |\n", name, a, b) }
	mib := func(n int64) string { return fmt.Sprintf("%.1f MiB", proof.MiB(n)) }
	row("goroutines", before.goroutines, after.goroutines)
	row("descriptors", kinds(before.descriptors), kinds(after.descriptors))
	row("processes", kinds(before.children), kinds(after.children))
	row("temporary files", kinds(before.left), kinds(after.left))
	row("threads", before.threads, after.threads)
	row("resident memory, after a collection", mib(before.resident), fmt.Sprintf("%s (%+.1f %%)", mib(after.resident), k.growth()))
	for _, part := range slices.Sorted(maps.Keys(after.memory)) {
		row("— "+part, mib(before.memory[part]), mib(after.memory[part]))
	}
	row("live objects", mib(int64(before.heap)), mib(int64(after.heap)))
	row("store", mib(before.store), mib(after.store))
	row("long outputs kept", before.outputs, after.outputs)
	row("temporary folders left by killed commands", before.orphans, after.orphans)
	fmt.Fprintf(out, "\n%d calls were answered, %d of them with the word that nothing could be recorded; %d are in the store, with those that agents and calls made: %s.\n\n| operation | times | outcomes |\n|---|---|---|\n", t.answers, sum(t.excused), r.recorded, kinds(r.states))
	for _, op := range t.operations() {
		fmt.Fprintf(out, "| %s | %d | %s |\n", op, sum(t.ops[op]), kinds(t.ops[op]))
	}
	fmt.Fprintln(out, "\n| fault | times |\n|---|---|")
	for _, name := range slices.Sorted(maps.Keys(t.faults)) {
		fmt.Fprintf(out, "| %s | %d |\n", name, t.faults[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.skipped)) {
		fmt.Fprintf(out, "\n%s: at least once not possible: %s\n", name, t.skipped[name])
	}
	if len(t.excused) > 0 {
		fmt.Fprintf(out, "\nWhile the disk of records was full, %d answers said that nothing could be recorded:\n\n", sum(t.excused))
		for _, text := range slices.Sorted(maps.Keys(t.excused)) {
			fmt.Fprintf(out, "- %d × %s\n", t.excused[text], text)
		}
	}
	fmt.Fprintln(out, "\nThe server's log:")
	for _, line := range slices.Sorted(maps.Keys(r.log)) {
		fmt.Fprintf(out, "- %d × %s\n", r.log[line], line)
	}
	fmt.Fprintln(out)
	for _, f := range r.failures {
		fmt.Fprintln(out, "FAILED:", f)
	}
}

// kinds is a count by kind, the most of them first.
func kinds(of map[string]int) string {
	names := slices.Sorted(maps.Keys(of))
	slices.SortStableFunc(names, func(a, b string) int { return of[b] - of[a] })
	var all []string
	for _, n := range names {
		all = append(all, fmt.Sprintf("%d %s", of[n], n))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
