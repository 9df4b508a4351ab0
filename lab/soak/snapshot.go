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

// A snapshot is what the server holds at a moment. Sizes are bytes.
type snapshot struct {
	goroutines  int
	heap        uint64 // of live objects
	resident    int64
	descriptors map[string]int
	children    map[string]int
	left        map[string]int // files that are of use only for a while, by name
	orphans     int            // temporary folders of commands, those of killed ones too
}

func (l snapshot) String() string {
	return fmt.Sprintf("%d goroutines, %.1f MiB of live objects, %.1f MiB resident, %d descriptors, %d children, %d temporary files",
		l.goroutines, mib(int64(l.heap)), mib(l.resident), sum(l.descriptors), sum(l.children), sum(l.left))
}

// snapshot looks at the server.
func (w *world) snapshot() (l snapshot, err error) {
	r, err := w.subject.ask("look")
	if err != nil {
		return l, err
	}
	pid := w.subject.cmd.Process.Pid
	l = snapshot{
		goroutines: r.Goroutines, heap: r.Heap, resident: proof.UsageOf(pid).Resident,
		descriptors: map[string]int{}, children: map[string]int{}, left: map[string]int{},
	}
	for _, to := range proof.Descriptors(pid) {
		kind, _, _ := strings.Cut(to, ":[")
		l.descriptors[w.stripped(kind)]++
	}
	for _, child := range proof.Descendants(pid) {
		if line := commandLine(child); line != "" { // a process that has ended has none
			l.children[w.stripped(line)]++
		}
	}
	w.countFiles(&l)
	return l, nil
}

// stripped is a text without the names of this run.
func (w *world) stripped(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, w.s.self, "soak"), w.Root, "")
	return regexp.MustCompile(`[0-9a-f]{6,}|[0-9]+`).ReplaceAllString(text, "N")
}

// commandLine is what a process was started as; empty where it has gone.
func commandLine(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// countFiles counts files that should go.
func (w *world) countFiles(l *snapshot) {
	data := filepath.Join(w.data(), "helve")
	half := regexp.MustCompile(`^\.(helve|wall|pins|trust|signin|tmp|doctor)|^new-|\.tmp$|~$`)
	for root, names := range map[string]*regexp.Regexp{
		w.Temp: regexp.MustCompile(``), filepath.Join(data, "run"): regexp.MustCompile(``), w.Project: half, data: half,
	} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && path != root && names.MatchString(d.Name()) {
				l.left[w.stripped(path)]++
			}
			return nil
		})
	}
	orphans, _ := os.ReadDir(w.callsTemp()) // none where it is not there
	l.orphans = len(orphans)
}

// resting leaves the server alone, and looks at it when nothing moves any more.
// With a snapshot to compare with it waits longer for what has not come back.
func (w *world) resting(ctx context.Context, before []snapshot) (l snapshot, err error) {
	sleep(ctx, w.s.rest)
	var least snapshot // what is resident goes up and down by what is just being done
	for range 45 {
		was := l
		if l, err = w.snapshot(); err != nil || ctx.Err() != nil {
			return l, errors.Join(err, context.Cause(ctx))
		}
		if least.resident == 0 || l.resident < least.resident {
			least = l
		}
		l.resident, l.heap = least.resident, least.heap
		same := l.goroutines == was.goroutines && sum(l.descriptors) == sum(was.descriptors) && sum(l.children) == sum(was.children)
		if same && (len(before) == 0 || len(surplus(before[0], l)) == 0) {
			return l, nil
		}
		sleep(ctx, time.Second)
	}
	return l, nil
}

// surplus says what there is more of after than before.
func surplus(before, after snapshot) (all []string) {
	for what, m := range map[string][2]map[string]int{
		"goroutines":                           {{"goroutines": before.goroutines}, {"goroutines": after.goroutines}},
		"descriptors":                          {pooled(before.descriptors), after.descriptors},
		"processes":                            {before.children, after.children},
		"temporary files":                      {before.left, after.left},
		"temporary folders of killed commands": {{"folders": before.orphans}, {"folders": after.orphans}},
	} {
		if extra := more(m[0], m[1]); len(extra) > 0 {
			all = append(all, fmt.Sprintf("%s: %d before, %d after: more of %s", what, sum(m[0]), sum(m[1]), kinds(extra)))
		}
	}
	return all
}

// more is what there is more of after than before. Less of one kind does not
// make up for more of another.
func more(before, after map[string]int) map[string]int {
	all := map[string]int{}
	for name, n := range after {
		if n > before[name] {
			all[name] = n - before[name]
		}
	}
	return all
}

// pooled are descriptors of which as many are of the store as it keeps once it
// has needed them: how many it has needed by the first snapshot is chance.
func pooled(before map[string]int) map[string]int {
	const connections = 6 // one to write, one for checkpoints, four to read
	before = maps.Clone(before)
	for name, n := range before {
		if strings.HasSuffix(name, "/helve.db") || strings.HasSuffix(name, "/helve.db-wal") {
			before[name] = max(n, connections)
		}
	}
	return before
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

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
