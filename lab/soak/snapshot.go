//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A snapshot is what the server holds at a moment: what can be counted, by what
// it is called in the figures and then by kind, and memory in bytes.
type snapshot struct {
	held           map[string]map[string]int
	heap, resident int64 // of live objects, and in all
}

// heldKinds are what a snapshot counts.
func heldKinds() []string { return []string{"goroutines", "descriptors", "children", "tempfiles"} }

func (s snapshot) String() string {
	text := fmt.Sprintf("%.1f MiB resident, %.1f MiB of live objects", proof.MiB(s.resident), proof.MiB(s.heap))
	for _, what := range heldKinds() {
		text += fmt.Sprintf(", %d %s", sum(s.held[what]), what)
	}
	return text
}

// snapshot looks at the server.
func (w *world) snapshot() (s snapshot, err error) {
	r, err := w.subject.ask("look")
	if err != nil {
		return s, err
	}
	pid := w.subject.cmd.Process.Pid
	descriptors, children := map[string]int{}, map[string]int{}
	for _, to := range proof.Descriptors(pid) {
		kind, _, _ := strings.Cut(to, ":[")
		descriptors[w.stripped(kind)]++
	}
	for _, child := range proof.Descendants(pid) {
		if line := commandLine(child); line != "" { // a process that has ended has none
			children[w.stripped(line)]++
		}
	}
	return snapshot{heap: r.Heap, resident: proof.UsageOf(pid).Resident, held: map[string]map[string]int{
		"goroutines": {"goroutines": r.Goroutines}, "descriptors": descriptors, "children": children, "tempfiles": w.tempFiles(),
	}}, nil
}

// stripped is a text without the names of this run.
func (w *world) stripped(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, w.self, "soak"), w.Root, "")
	return regexp.MustCompile(`[0-9a-f]{6,}|[0-9]+`).ReplaceAllString(text, "N")
}

// commandLine is what a process was started as; empty where it has gone.
func commandLine(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// tempFiles counts files that should go, and the folders of killed commands.
func (w *world) tempFiles() map[string]int {
	left, data := map[string]int{}, filepath.Join(w.Home, "data", "helve")
	half := regexp.MustCompile(`^\.(helve|wall|pins|trust|signin|tmp|doctor)|^new-|\.tmp$|~$`)
	every := regexp.MustCompile(``)
	for root, names := range map[string]*regexp.Regexp{w.Temp: every, filepath.Join(data, "run"): every, w.Project: half, data: half} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && path != root && names.MatchString(d.Name()) {
				left[w.stripped(path)]++
			}
			return nil
		})
	}
	orphans, _ := os.ReadDir(w.callsTemp()) // none where it is not there
	left["folders of killed commands"] = len(orphans)
	return left
}

// resting leaves the server alone, and looks at it when nothing moves any more.
// With a snapshot to compare with it waits longer for what has not come back.
func (w *world) resting(ctx context.Context, before []snapshot) (s snapshot, err error) {
	sleep(ctx, w.s.rest)
	var least snapshot // what is resident goes up and down by what is just being done
	for range 45 {
		was := s
		if s, err = w.snapshot(); err != nil || ctx.Err() != nil {
			return s, errors.Join(err, context.Cause(ctx))
		}
		if least.resident == 0 || s.resident < least.resident {
			least = s
		}
		s.resident, s.heap = least.resident, least.heap
		moves := slices.ContainsFunc(heldKinds()[:3], func(what string) bool { return sum(s.held[what]) != sum(was.held[what]) })
		if !moves && (len(before) == 0 || len(surplus(before[0], s)) == 0) {
			return s, nil
		}
		sleep(ctx, time.Second)
	}
	return s, nil
}

// surplus says what there is more of after than before.
func surplus(before, after snapshot) (all []string) {
	for _, what := range heldKinds() {
		if extra := more(before, after, what); len(extra) > 0 {
			all = append(all, fmt.Sprintf("%s: %d before, %d after: more of %s", what, sum(before.held[what]), sum(after.held[what]), kinds(extra)))
		}
	}
	return all
}

// more is what there is more of after than before. Less of one kind does not
// make up for more of another. Of the store's descriptors there may be as many
// as it keeps: how many it has needed by the first snapshot is chance.
func more(before, after snapshot, what string) map[string]int {
	const connections = 6 // one to write, one for checkpoints, four to read
	all := map[string]int{}
	for name, n := range after.held[what] {
		had := before.held[what][name]
		if had > 0 && (strings.HasSuffix(name, "/helve.db") || strings.HasSuffix(name, "/helve.db-wal")) {
			had = max(had, connections)
		}
		if n > had {
			all[name] = n - had
		}
	}
	return all
}

// kinds is a count by kind, the most of them first.
func kinds(of map[string]int) string {
	var all []string
	for _, n := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return 2*(of[b]-of[a]) + strings.Compare(a, b) }) {
		all = append(all, fmt.Sprintf("%d %s", of[n], n))
	}
	return strings.Join(all, ", ")
}

func sum(of map[string]int) (n int) {
	for _, k := range of {
		n += k
	}
	return n
}
