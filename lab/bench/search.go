package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/tool"
)

// searchLimit is how many lines or names every flow shows.
const searchLimit = 100

// A query is one call of a tool. Queries of a class are held to one goal: in
// the class "rare-or-no-match" all files have to be looked at, and in the class
// "frequent" the limit of large trees is reached early.
type query struct{ Name, Class, Tool, Pattern, Include string }

// queries are what agents ask for, from patterns that are everywhere to one that
// is nowhere.
func queries() []query {
	const rare, frequent = "rare-or-no-match", "frequent"
	return []query{
		{"identifier", frequent, "grep", `ServeHTTP`, ""},
		{"function", frequent, "grep", `func \w+\(`, ""},
		{"either", frequent, "grep", `TODO|FIXME`, ""},
		{"rare", rare, "grep", `runtime_pollWait`, ""},
		{"any-case", frequent, "grep", `(?i)deprecated`, ""},
		{"class", frequent, "grep", `[A-Z]{3,}_\d+`, ""},
		{"anchored", frequent, "grep", `^import \($`, ""},
		{"accents", rare, "grep", `naïve|façade`, ""},
		{"no-match", rare, "grep", `zzqqxxnomatch`, ""},
		{"include", rare, "grep", `runtime_pollWait`, "*.go"},
		{"glob", "glob", "glob", `**/*_test.go`, ""},
		{"list", "list", "list", "", ""},
	}
}

// Title is how a query is called in a table.
func (q query) Title() string {
	title := strings.ReplaceAll(q.Name, "-", " ")
	if q.Include != "" {
		title += " `" + q.Include + "`"
	}
	if q.Pattern != "" {
		title += " `" + strings.ReplaceAll(q.Pattern, "|", `\|`) + "`"
	}
	return title
}

// searches measures the queries on three trees, beside ripgrep in two flows:
// "era" reads all it says, looks up the time of every file and sorts; "new" has
// no order and ends the program at the limit. The ways of helve are "process",
// the command; "call", with nothing kept between calls; "first", the same with
// the first lines found instead of the newest; and "index", with tree and index
// kept.
func searches(ctx context.Context, b *bench) {
	w := b.world(allowed)
	b.searchTree(ctx, w, "small", b.size(21, 2))
	b.searchTree(ctx, w, "medium", b.size(9, 2))
	b.searchTree(ctx, w, "huge", b.size(5, 2))
}

func (b *bench) searchTree(ctx context.Context, w *proof.World, tree string, rounds int) {
	version := strings.Fields(proof.Version(b.peers["ripgrep15"], "--version") + " ? ?")[1]
	era, fresh := "ripgrep "+version+", all lines, newest first", "ripgrep "+version+", ended at the limit"
	dir := b.tree(w, tree)
	runtimes := map[string]*helve.Runtime{}
	for _, name := range []string{"call", "first", "index"} {
		search := helve.Search{Budget: -1, Limit: searchLimit, Stateless: name != "index"}
		if name == "first" {
			search.Order = "first"
		}
		rt, err := helve.Open(helve.Options{Dir: dir, Worktree: dir, Unattended: true, Unrecorded: true, Search: search})
		b.must(err)
		defer func() { _ = rt.Close() }() // nothing is kept
		runtimes[name] = rt
	}
	for range 3 { // until all that is kept is there
		_, err := searchCall(ctx, runtimes["index"], queries()[0], dir)
		b.must(err)
	}
	if heap := rest(); tree == "huge" {
		b.add("search.memory.huge.index", heap, "MiB", "")
	}
	// How many times ahead of ripgrep the worst query of a class is, within
	// each round: a busy machine disturbs all alike.
	worst := map[string]proof.Figure{}
	for _, q := range queries() {
		b.say("%s: %s", tree, q.Name)
		ways, shown := map[string]*way{}, map[string]uint64{}
		var all []*way
		for _, name := range []string{"era", "new", "process", "call", "first", "index"} {
			ways[name] = &way{name: name + ", " + q.Name, do: func(ctx context.Context) (said string, err error) {
				switch name {
				case "era", "new":
					shown[name], err = ripgrep(ctx, b.peers["ripgrep15"], q, dir, name == "new")
				case "process":
					err = helveSearch(ctx, b.helve, w, q, dir)
				default:
					shown[name], err = searchCall(ctx, runtimes[name], q, dir)
				}
				return "", err
			}}
			all = append(all, ways[name])
		}
		b.race(ctx, w, rounds, all...)
		b.hold(shown["call"] == shown["era"] && shown["index"] == shown["era"], "%s, %s: not the lines that ripgrep has", tree, q.Name)
		for _, name := range []string{"process", "call", "index"} {
			b.beside("search."+tree+"."+q.Name+"."+name+".wall", "ms", median(ways[name].walls), era, median(ways["era"].walls), "")
		}
		b.beside("search."+tree+"."+q.Name+".first.new.wall", "ms", median(ways["first"].walls), fresh, median(ways["new"].walls), "")
		for _, g := range [][3]string{{"process", "era", q.Class}, {"call", "era", q.Class}, {"index", "era", q.Class}, {"first", "new", "new"}, {"index", "new", "new"}} {
			var ratios []float64
			for i, wall := range ways[g[0]].walls {
				ratios = append(ratios, ways[g[1]].walls[i]/wall)
			}
			f := proof.Figure{ID: "search.goal." + tree + "." + g[0] + "." + g[2] + ".wall", Value: median(ratios), Unit: "times", Note: "The worst query is " + q.Name + "."}
			if was, ok := worst[f.ID]; (q.Tool == "grep" || g[2] != "new") && (!ok || f.Value < was.Value) {
				worst[f.ID] = f
			}
		}
	}
	p, err := loadPlan()
	b.must(err)
	for _, wanted := range p.Wanted {
		if f, ok := worst[wanted.ID]; ok {
			b.figures = append(b.figures, f)
		}
	}
}

// rest waits until this process has nothing left to do, two minutes at the most:
// what it keeps is complete then. It returns how large its heap is, in MiB.
func rest() float64 {
	const step = 300 * time.Millisecond
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		before := proof.UsageOf(os.Getpid()).Work
		time.Sleep(step)
		if proof.UsageOf(os.Getpid()).Work-before < step/100 {
			break
		}
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return proof.MiB(int64(m.HeapAlloc))
}

// A hit is a line of a file.
type hit struct {
	file string
	line int
}

// digest is that of the files and line numbers of an answer; 0 of none.
func digest(hits []hit) uint64 {
	if len(hits) == 0 {
		return 0
	}
	sum := fnv.New64a()
	for _, h := range hits {
		fmt.Fprintf(sum, "%s\x00%d\n", h.file, h.line)
	}
	return sum.Sum64()
}

// searchCall calls the tool, and returns the digest of what it found.
func searchCall(ctx context.Context, rt *helve.Runtime, q query, dir string) (uint64, error) {
	args := map[string]string{"path": dir}
	if q.Pattern != "" {
		args["pattern"] = q.Pattern
	}
	if q.Include != "" {
		args["include"] = q.Include
	}
	input, err := json.Marshal(args)
	if err != nil {
		return 0, err
	}
	res, err := rt.Call(ctx, tool.Call{Tool: q.Tool, Session: "bench", Input: input})
	if err != nil {
		return 0, err
	}
	var hits []hit
	if found, ok := res.Data.(*tool.Hits); ok && q.Tool == "grep" {
		for _, l := range found.Lines {
			hits = append(hits, hit{file: l.File, line: l.Line})
		}
	}
	return digest(hits), nil
}

// helveSearch is the built command: a process for every call.
func helveSearch(ctx context.Context, program string, w *proof.World, q query, dir string) error {
	args := []string{q.Tool, "--newest", "--limit=" + strconv.Itoa(searchLimit)}
	if q.Include != "" {
		args = append(args, "--glob="+q.Include)
	}
	args = append(args, q.Pattern, dir)
	if q.Tool == "list" {
		args = []string{"call", "list", "path=" + dir}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, w.Env()
	out, err := cmd.Output()
	if found := new(exec.ExitError); errors.As(err, &found) && found.ExitCode() == 1 && len(out) == 0 {
		return nil // nothing was found
	}
	return err
}

// ripgrep is the program, driven by one of the two flows.
func ripgrep(ctx context.Context, program string, q query, dir string, fresh bool) (uint64, error) {
	args := []string{"--no-config", "--files", "--hidden", "--no-messages"}
	all := !fresh && q.Tool != "list" // it runs to its end
	switch {
	case q.Tool == "list":
		for name := range strings.FieldsSeq("node_modules/ __pycache__/ .git/ dist/ build/ target/ vendor/ bin/ obj/ .idea/ .vscode/ .zig-cache/ zig-out .coverage coverage/ tmp/ temp/ .cache/ cache/ logs/ .venv/ venv/ env/") {
			args = append(args, "--glob=!"+name+"*")
		}
	case q.Tool == "glob":
		args = append(args, "--glob="+q.Pattern)
	case fresh:
		args = []string{"--no-config", "--json", "--hidden", "--no-messages", "--glob=!.git/*", "--regexp", q.Pattern}
	default:
		args = []string{"--no-config", "-nH", "--hidden", "--no-messages", "--field-match-separator=|", "--regexp", q.Pattern}
	}
	if q.Include != "" {
		args = append(args, "--glob", q.Include)
	}
	cmd := exec.CommandContext(ctx, program, append(args, dir)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	var hits []hit
	lines := bufio.NewScanner(out)
	for lines.Buffer(nil, 16<<20); (all || len(hits) <= searchLimit) && lines.Scan(); {
		if h, ok := q.hit(lines.Text(), fresh); ok {
			hits = append(hits, h)
		}
	}
	ended := !all && len(hits) > searchLimit
	if ended {
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) && (ended || exit.ExitCode() == 1) {
		err = nil // it was ended, or nothing was found
	}
	if !all {
		return 0, err
	}
	times := map[string]time.Time{}
	for _, h := range hits {
		if _, known := times[h.file]; !known {
			if info, err := os.Stat(h.file); err == nil {
				times[h.file] = info.ModTime()
			}
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return times[y.file].Compare(times[x.file]) })
	if q.Tool != "grep" {
		return 0, err
	}
	return digest(hits[:min(len(hits), searchLimit)]), err
}

// hit is what a line that ripgrep prints tells, if it is one of a file.
func (q query) hit(line string, fresh bool) (hit, bool) {
	if q.Tool != "grep" {
		return hit{file: line}, true
	}
	if fresh {
		var event struct {
			Type string
			Data struct {
				Path       struct{ Text string }
				LineNumber int `json:"line_number"`
			}
		}
		err := json.Unmarshal([]byte(line), &event)
		return hit{event.Data.Path.Text, event.Data.LineNumber}, err == nil && event.Type == "match"
	}
	name, rest, _ := strings.Cut(line, "|")
	number, _, _ := strings.Cut(rest, "|")
	n, err := strconv.Atoi(number)
	return hit{name, n}, err == nil
}

// tree is a folder to search, made of Go's source: "small" has 50 files of it,
// "medium" all, and "huge" is ten copies of those that are not long, some
// 100,000 files. It is made once for a version of Go, and kept in the user's
// folder for caches.
func (b *bench) tree(w *proof.World, name string) string {
	cache, err := os.UserCacheDir()
	b.must(err)
	copies := map[string]int{"small": 1, "medium": 1, "huge": 10}[name]
	if b.quick {
		cache, copies = w.Root, 1
	}
	dir := filepath.Join(cache, "helve-bench", runtime.Version(), name)
	if _, err := os.Stat(dir + ".made"); err == nil {
		return dir
	}
	b.say("%s: making the tree", name)
	b.must(os.RemoveAll(dir))
	root, err := exec.Command("go", "env", "GOROOT").Output()
	b.must(err)
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	files := 0
	write := func(name string, text []byte) error {
		full := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, text, 0o644))
		// Where no two files are of the same time, every flow has the same lines.
		files++
		when := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(uint64(files)*2654435761%(1<<20)) * 17 * time.Second)
		return errors.Join(err, os.Chtimes(full, when, when))
	}
	few := regexp.MustCompile(`^(bufio|context|errors|path|net/http/(client|cookie|fs|header|request|response|server|transfer).*|internal/poll/fd_[pu][^/]*)(/[^/]*)?$`)
	b.must(filepath.WalkDir(src, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(src, file)
		if err != nil || !few.MatchString(filepath.ToSlash(rel)) && (name == "small" || b.quick) {
			return err
		}
		text, err := os.ReadFile(file)
		for i := range copies {
			// What is rare in one copy has to be rare in all.
			if long := len(text) > 32<<10 || i > 0 && bytes.Contains(text, []byte("runtime_pollWait")); err == nil && (copies == 1 || !long) {
				err = write(fmt.Sprintf("part%d/%s", i, filepath.ToSlash(rel)), text)
			}
		}
		return err
	}))
	for i := range files / 25 { // of a repository, with modules that are ignored
		b.must(write(fmt.Sprintf("node_modules/module-%d/lib/file-%d.js", i/10, i), []byte("module.exports = function ServeHTTP () { return runtime_pollWait } // TODO\n")))
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/heads/x": "", ".gitignore": "node_modules/\n*.log\n/out/\n"} {
		b.must(write(name, []byte(text)))
	}
	b.must(os.WriteFile(dir+".made", nil, 0o644))
	return dir
}
