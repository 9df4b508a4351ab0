package main

import (
	"encoding/csv"
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

// A look is what the server holds at a moment.
type look struct {
	at          time.Duration // since the server was started
	goroutines  int
	heap        uint64           // bytes of live objects
	memory      map[string]int64 // what the resident memory is made of, in bytes
	descriptors map[string]int
	children    map[string]int
	threads     int
	resident    int64
	left        map[string]int // files that are of use only for a while, by name
	store       int64          // bytes of records
	outputs     int            // long outputs that are kept
	orphans     int            // temporary folders of commands, those of killed ones too
}

// take looks at the server; the question is what its process is asked.
func (h *house) take(question string, since time.Time) (l look, err error) {
	r, err := h.subject.ask(question)
	if err != nil {
		return l, err
	}
	pid := h.subject.pid()
	u := proof.UsageOf(pid)
	l = look{
		at: time.Since(since), goroutines: r.Goroutines, heap: r.Heap, threads: u.Threads, resident: u.Resident,
		descriptors: map[string]int{}, children: map[string]int{}, left: map[string]int{},
	}
	for _, to := range proof.Descriptors(pid) {
		l.descriptors[h.kind(to)]++
	}
	for _, child := range proof.Descendants(pid) {
		if line := commandLine(child); line != "" { // a process that has ended has none
			l.children[h.stripped(line)]++
		}
	}
	l.memory = parts(pid)
	l.memory["the heap with its gaps"], l.memory["stacks"], l.memory["Go itself"] = int64(r.Held), int64(r.Stacks), int64(r.Runtime)
	h.files(&l)
	return l, nil
}

// parts is what the resident memory of a process is made of, as Linux tells it.
func parts(pid int) map[string]int64 {
	names := map[string]string{"RssAnon": "own pages", "RssFile": "pages of files", "RssShmem": "shared pages"}
	all := map[string]int64{}
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status")) // not there elsewhere
	for row := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(row, ":")
		if n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil && names[name] != "" {
			all[names[name]] = n << 10
		}
	}
	return all
}

// kind is what a descriptor leads to, without what is never the same.
func (h *house) kind(to string) string {
	before, _, _ := strings.Cut(to, ":[")
	return h.stripped(before)
}

// stripped is a text without the names of this run.
func (h *house) stripped(text string) string {
	text = strings.ReplaceAll(text, h.s.self, "soak")
	text = strings.ReplaceAll(text, h.Root, "")
	return regexp.MustCompile(`[0-9a-f]{6,}|[0-9]+`).ReplaceAllString(text, "N")
}

// commandLine is what a process was started as; empty where it is not known.
func commandLine(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")) // not there when it has gone
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}

// files counts files that should go, and measures what is kept.
func (h *house) files(l *look) {
	data := filepath.Join(h.data(), "helve")
	count := func(root string, counts func(name string) bool) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what goes meanwhile is not counted
			if err == nil && path != root && counts(d.Name()) {
				l.left[h.stripped(path)]++
			}
			return nil
		})
	}
	all := func(string) bool { return true }
	count(h.Temp, all)
	count(filepath.Join(data, "run"), all)
	orphans, _ := os.ReadDir(h.callsTemp()) // none where it is not there
	l.orphans = len(orphans)
	half := regexp.MustCompile(`^\.(helve|wall|pins|trust|signin|tmp|doctor)|^new-|\.tmp$|~$`)
	count(h.Project, half.MatchString)
	count(data, half.MatchString)
	_ = filepath.WalkDir(data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil && strings.HasPrefix(d.Name(), "helve.db") {
			l.store += info.Size()
		}
		if strings.Contains(path, "output") {
			l.outputs++
		}
		return nil
	})
}

// sum adds up.
func sum(of map[string]int) (n int) {
	for _, k := range of {
		n += k
	}
	return n
}

// more says what one has more of than the other.
func more(after, before map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name] - before[name]; n > 0 {
			all = append(all, fmt.Sprintf("%d × %s", n, name))
		}
	}
	return strings.Join(all, ", ")
}

// surplus is how much of it that is.
func surplus(after, before map[string]int) (n int) {
	for name, k := range after {
		n += max(0, k-before[name])
	}
	return n
}

// storeConnections is how many connections the store keeps once it has needed
// them: one to write, one for checkpoints, four to read.
const storeConnections = 6

// pooled are descriptors of which as many are there of the store as it keeps at
// the most: how many it has needed by the first look is chance.
func pooled(before map[string]int) map[string]int {
	before = maps.Clone(before)
	for name, n := range before {
		if strings.HasSuffix(name, "/helve.db") || strings.HasSuffix(name, "/helve.db-wal") {
			before[name] = max(n, storeConnections)
		}
	}
	return before
}

// writeSamples writes looks as CSV. With no path it does nothing.
func writeSamples(path string, all []look) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"seconds", "goroutines", "heap", "descriptors", "children", "threads", "resident", "temporary files", "store", "kept outputs"}) // Error says so
	for _, l := range all {
		row := []string{fmt.Sprintf("%.1f", l.at.Seconds())}
		for _, n := range []int64{
			int64(l.goroutines), int64(l.heap), int64(sum(l.descriptors)), int64(sum(l.children)), int64(l.threads), l.resident,
			int64(sum(l.left)), l.store, int64(l.outputs),
		} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		_ = w.Write(row) // Error says so
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}
