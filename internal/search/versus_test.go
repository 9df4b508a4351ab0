package search

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/regex"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rival is a ripgrep to compare with.
type rival struct {
	path  string
	major int
}

// rivals runs a test with every ripgrep there is: the one that is installed,
// and version 15 where HELVE_RG15 names it.
func rivals(t *testing.T, test func(t *testing.T, rg rival)) {
	for _, r := range []struct{ name, path, reason string }{
		{"installed", "rg", "ripgrep is not installed: there is nothing to compare with"},
		{"15", os.Getenv("HELVE_RG15"), "HELVE_RG15 names no ripgrep 15: see .ci/ripgrep15"},
	} {
		t.Run(r.name, func(t *testing.T) {
			path, err := exec.LookPath(r.path)
			if err != nil {
				t.Skip(r.reason)
			}
			out, err := exec.Command(path, "--version").Output()
			if err != nil {
				t.Fatal(err)
			}
			var major int
			if _, err := fmt.Sscanf(string(out), "ripgrep %d.", &major); err != nil {
				t.Fatalf("%q is not the version of a ripgrep", out)
			}
			test(t, rival{path, major})
		})
	}
}

// A patternCase is a line of testdata/patterns.txt.
type patternCase struct{ kind, text string }

// reads reports whether a ripgrep reads the pattern as we do.
func (p patternCase) reads(r rival) bool { return p.kind == "both" || p.kind == "15" && r.major >= 15 }

func patternCases(t *testing.T) (list []patternCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "patterns.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		kind, pattern, ok := strings.Cut(line, " ")
		if !ok || !slices.Contains([]string{"both", "15", "refused"}, kind) {
			t.Fatalf("testdata/patterns.txt: %q", line)
		}
		list = append(list, patternCase{kind, pattern})
	}
	if len(list) < 60 {
		t.Fatalf("%d patterns are too few to say much", len(list))
	}
	return list
}

// An asked is a search as ripgrep and we are asked for it.
type asked struct {
	Options
	pattern string
	limit   int // bytes of a line that are compared; 0 is all
}

// run runs ripgrep over the tree and hands its output on. The user's excludes
// file is the one of the options: ripgrep finds it by the settings folder.
func (r rival) run(t *testing.T, a asked, read func(io.Reader) error, args ...string) {
	t.Helper()
	args = append([]string{"--no-config"}, args...)
	if a.Hidden {
		args = append(args, "--hidden")
	}
	for _, g := range append(slices.Clone(a.Globs), "!**/.git/") {
		args = append(args, "--glob="+g)
	}
	cmd := exec.Command(r.path, args...)
	cmd.Dir = a.Dir
	settings := filepath.Join(a.Dir, "no such folder")
	if a.Excludes != os.DevNull {
		settings = filepath.Dir(filepath.Dir(a.Excludes))
	}
	cmd.Env = append(os.Environ(), "HOME="+settings, "XDG_CONFIG_HOME="+settings)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	readErr := read(out)
	err = cmd.Wait()
	var exit *exec.ExitError
	if readErr != nil || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("rg %q: %v, %v: %s", args, err, readErr, complaint.Bytes())
	}
}

// lines are the matching lines by ripgrep: file, number and text, sorted.
func (r rival) lines(t *testing.T, a asked) (lines []string) {
	t.Helper()
	r.run(t, a, func(out io.Reader) error {
		in := bufio.NewReaderSize(out, 1<<20)
		for {
			event, err := in.ReadBytes('\n')
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if !bytes.HasPrefix(event, []byte(`{"type":"match"`)) {
				continue
			}
			var e struct {
				Data struct {
					Path, Lines jsonText
					Number      int `json:"line_number"`
				}
			}
			if err := json.Unmarshal(event, &e); err != nil {
				return err
			}
			text := bytes.TrimSuffix(e.Data.Lines.get(), []byte("\n"))
			lines = append(lines, a.line(string(e.Data.Path.get()), e.Data.Number, text))
		}
	}, "--json", "--regexp="+a.pattern)
	slices.Sort(lines)
	return lines
}

// A jsonText is text in ripgrep's events, in base 64 where it is not UTF-8.
type jsonText struct {
	Text  *string
	Bytes []byte
}

func (j jsonText) get() []byte {
	if j.Text != nil {
		return []byte(*j.Text)
	}
	return j.Bytes
}

// A foliage is what matches in one file: how many lines, and their hash.
type foliage struct {
	lines int
	sum   uint64
}

// A leafer makes leaves of lines. It is for trees with so many of them that
// they are not worth keeping. Only leaves of the same seed can be compared.
type leafer struct {
	seed maphash.Seed
	all  map[string]foliage
}

func newLeafer(seed maphash.Seed) *leafer { return &leafer{seed, map[string]foliage{}} }

func (l *leafer) add(name string, number int, text []byte) {
	f := l.all[name]
	f.lines++
	f.sum = f.sum*31 + maphash.Bytes(l.seed, text) ^ uint64(number)*0x9e3779b97f4a7c15
	l.all[name] = f
}

// leaves are the matching lines by ripgrep, as leaves.
func (r rival) leaves(t *testing.T, a asked, seed maphash.Seed) map[string]foliage {
	t.Helper()
	l := newLeafer(seed)
	r.run(t, a, func(out io.Reader) error {
		in := bufio.NewReaderSize(out, 1<<20)
		for {
			name, err := in.ReadString(0)
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if end := strings.LastIndexByte(name, '\n'); end >= 0 {
				name = name[end+1:] // before it, the warning about a binary file
			}
			number, err := in.ReadString(':')
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(strings.TrimSuffix(number, ":"))
			if err != nil {
				return err
			}
			text, err := in.ReadBytes('\n')
			if err != nil {
				return err
			}
			l.add(strings.TrimPrefix(strings.TrimSuffix(name, "\x00"), "./"), n, a.cut(text[:len(text)-1]))
		}
	}, "--null", "--line-number", "--with-filename", "--no-heading", "--color=never", "--regexp="+a.pattern)
	return l.all
}

// ourLeaves are the matching lines by an engine, as leaves.
func ourLeaves(t *testing.T, e *Engine, a asked, seed maphash.Seed) map[string]foliage {
	t.Helper()
	l := newLeafer(seed)
	for _, f := range ourFound(t, e, a).Files {
		for _, line := range f.Lines {
			l.add(f.Name, line.Number, a.cut(line.Text))
		}
	}
	return l.all
}

// differLeaves says in which files leaves differ, the first few of them.
func differLeaves(theirs, ours map[string]foliage) string {
	var out strings.Builder
	bad := 0
	all := maps.Clone(theirs)
	maps.Copy(all, ours)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if theirs[name] == ours[name] {
			continue
		}
		if bad++; bad <= 5 {
			fmt.Fprintf(&out, "%q: %d lines by ripgrep, %d by ours, or others\n", name, theirs[name].lines, ours[name].lines)
		}
	}
	if bad > 0 {
		fmt.Fprintf(&out, "%d of %d files differ", bad, len(all))
	}
	return out.String()
}

// names are the files of the tree by ripgrep, sorted.
func (r rival) names(t *testing.T, a asked) (names []string) {
	t.Helper()
	r.run(t, a, func(out io.Reader) error {
		text, err := io.ReadAll(out)
		for name := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x00"), "\x00") {
			if name != "" {
				names = append(names, strings.TrimPrefix(name, "./"))
			}
		}
		return err
	}, "--files", "--null")
	slices.Sort(names)
	return names
}

// line is how a matching line is compared.
func (a asked) line(name string, number int, text []byte) string {
	return strings.TrimPrefix(name, "./") + "\x00" + strconv.Itoa(number) + "\x00" + string(a.cut(text))
}

// cut is the part of a line that is compared.
func (a asked) cut(text []byte) []byte {
	if a.limit > 0 && len(text) > a.limit {
		return text[:a.limit]
	}
	return text
}

// ourFound is the answer of an engine to a search for all lines.
func ourFound(t *testing.T, e *Engine, a asked) *Found {
	t.Helper()
	re, err := regex.Compile(a.pattern, regex.Options{Portable: e.opt.Workers == 1})
	if err != nil {
		t.Fatalf("%q: %v", a.pattern, err)
	}
	most := a.limit
	if most == 0 {
		most = 16 << 20
	}
	found, err := e.Grep(context.Background(), Grep{Where: a.Options, Pattern: re, LineMax: most, Order: ByName})
	if err != nil {
		t.Fatal(err)
	}
	if found.More || found.Late || found.Skipped.Failed > 0 {
		t.Errorf("%q: more %v, late %v, %d failed: %v", a.pattern, found.More, found.Late, found.Skipped.Failed, found.Skipped.Err)
	}
	return found
}

// ourLines are the matching lines by an engine, sorted.
func ourLines(t *testing.T, e *Engine, a asked) (lines []string) {
	t.Helper()
	found := ourFound(t, e, a)
	for _, f := range found.Files {
		for _, l := range f.Lines {
			lines = append(lines, a.line(f.Name, l.Number, l.Text))
		}
	}
	if len(lines) != found.Lines {
		t.Errorf("%q: %d lines are said to be %d", a.pattern, len(lines), found.Lines)
	}
	slices.Sort(lines)
	return lines
}

// ourNames are the files of the tree by an engine, sorted.
func ourNames(t *testing.T, e *Engine, a asked) (names []string) {
	t.Helper()
	found, err := e.Glob(context.Background(), Glob{Where: a.Options, Order: ByName})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.Files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// differ says in which elements two sorted lists differ, the first few of them.
func differ(theirs, ours []string) string {
	var out strings.Builder
	missing, extra := 0, 0
	for i, j := 0, 0; i < len(theirs) || j < len(ours); {
		switch {
		case j == len(ours) || i < len(theirs) && theirs[i] < ours[j]:
			if missing++; missing <= 5 {
				fmt.Fprintf(&out, "only ripgrep: %.200q\n", theirs[i])
			}
			i++
		case i == len(theirs) || theirs[i] > ours[j]:
			if extra++; extra <= 5 {
				fmt.Fprintf(&out, "only ours: %.200q\n", ours[j])
			}
			j++
		default:
			i, j = i+1, j+1
		}
	}
	if missing+extra > 0 {
		fmt.Fprintf(&out, "%d only by ripgrep, %d only by ours, of %d and %d", missing, extra, len(theirs), len(ours))
	}
	return out.String()
}

// An once remembers our answers, which are the same for every ripgrep.
type once[T any] map[string]T

func (o once[T]) get(key string, make func() T) T {
	v, ok := o[key]
	if !ok {
		v = make()
		o[key] = v
	}
	return v
}

// engines are the ways to answer: nothing kept, the tree, the tree and the index.
func engines(t *testing.T) map[string]*Engine {
	all := map[string]*Engine{
		"nothing kept": New(EngineOptions{}),
		"tree kept":    New(EngineOptions{Keep: true, Memory: -1}),
		"index kept":   New(EngineOptions{Keep: true, Memory: 256 << 20}),
		"portable":     New(EngineOptions{Workers: 1}), // see ourFound
	}
	t.Cleanup(func() {
		for _, e := range all {
			e.Close()
		}
	})
	return all
}

// realDir is a new folder whose name holds no link.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
