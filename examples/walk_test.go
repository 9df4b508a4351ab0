package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A workshop is a copy of the repository as somebody has it who has just cloned
// it, with a home of its own beside it.
type workshop struct {
	root, home string
	env        []string
}

// open makes one. It is removed with the test.
func open(t *testing.T) *workshop {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{root: filepath.Join(dir, "helve"), home: filepath.Join(dir, "home")}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := clone("..", w.root); err != nil {
		t.Fatal(err)
	}
	// As a clone is, it is the root of a repository.
	if err := os.MkdirAll(filepath.Join(w.root, ".git", "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.root, ".git", "refs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.root, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8", "TERM=dumb",
		// Whatever Go has already compiled is used: with this flag it does not
		// matter in which folder it was, and "make build" has it too.
		"GOFLAGS=-trimpath -buildvcs=false", "CGO_ENABLED=0",
		// Modules come out of the cache, and need not be looked up again.
		"GOSUMDB=off", "GOTELEMETRY=off",
	}
	for _, key := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", key).Output()
		if err != nil {
			t.Fatal(err)
		}
		w.env = append(w.env, key+"="+strings.TrimSpace(string(out)))
	}
	return w
}

// clone copies the files of the repository, without what git does not have.
func clone(from, to string) error {
	skip := []string{".git", "bin", "artefacts", "helve", "node_modules", "dist"}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		top := !strings.ContainsRune(rel, filepath.Separator)
		if slices.Contains(skip, d.Name()) && (top || d.Name() == "node_modules" || d.Name() == "dist") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		name := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(name, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(name, data, info.Mode().Perm())
	})
}

// sh runs a shell script in a folder of the workshop, and returns what it
// prints. Whatever it leaves behind is ended with it.
func (w *workshop) sh(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "said")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	end := time.Now().Add(10 * time.Minute)
	if d, ok := t.Deadline(); ok && d.Add(-10*time.Second).Before(end) {
		end = d.Add(-10 * time.Second) // the test binary ends then without a look at what it has started
	}
	ctx, stop := context.WithDeadline(t.Context(), end)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = filepath.Join(w.root, dir), append(slices.Clone(w.env), env...)
	cmd.Stdout, cmd.Stderr = out, out // a file, so that nothing waits for who holds it
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd.Cancel = func() error { return endGroup(cmd.Process) }
	err = cmd.Wait()
	_ = endGroup(cmd.Process)
	said, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(said), err
}

// A step is a block of commands in a page, and what the page says they print.
type step struct {
	line    int // where it begins
	script  string
	text    string
	printed bool // there is a text
}

// steps are the sh blocks of a page that stand under a heading, up to the next
// heading of any kind; with no heading, those of the whole page. A text block
// belongs to the sh block before it.
func steps(page, heading string) (list []step) {
	in := heading == ""
	fence, begin := "", 0
	var body []string
	for i, line := range strings.Split(page, "\n") {
		switch {
		case fence != "" && line == "```":
			if in {
				list = add(list, fence, begin, strings.Join(body, "\n"))
			}
			fence, body = "", nil
		case fence != "":
			body = append(body, line)
		case strings.HasPrefix(line, "```"):
			fence, begin = line, i+1
		case strings.HasPrefix(line, "#"):
			in = heading == "" || strings.TrimSpace(strings.TrimLeft(line, "#")) == heading
		}
	}
	return list
}

func add(list []step, fence string, line int, body string) []step {
	switch fence {
	case "```sh":
		return append(list, step{line: line, script: body})
	case "```text":
		if n := len(list); n > 0 && !list[n-1].printed {
			list[n-1].text, list[n-1].printed = body, true
		}
	}
	return list
}

// says reports whether an output is what a page says: line for line, where "…"
// stands for anything, as " …" at the end of a line does: a call that takes no
// time is shown without one.
func says(page, output string) bool {
	var parts []string
	page = strings.ReplaceAll(tidy(page)+"\n", " …\n", "…\n")
	for _, p := range strings.Split(tidy(page), "…") {
		parts = append(parts, regexp.QuoteMeta(p))
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, `.*`) + `$`).MatchString(tidy(output))
}

// tidy takes away what nobody sees: spaces at the end of lines, and lines
// without anything at both ends.
func tidy(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// mark is printed when the commands of a step are done.
const mark = "=== this step is done ==="

// follow does what a page says, all of it in one shell that ends at the first
// command that fails, and holds what is printed against the page.
func (w *workshop) follow(t *testing.T, name string, list []step, env ...string) {
	t.Helper()
	if len(list) == 0 {
		t.Fatalf("%s: there are no commands", name)
	}
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, s := range list {
		fmt.Fprintf(&script, "%s\nprintf '\\n%s\\n'\n", s.script, mark)
	}
	said, err := w.sh(t, ".", script.String(), env...)
	for _, wrong := range held(list, said, err) {
		t.Errorf("%s:%s", name, wrong)
	}
}

// held says what is wrong with what the steps of a page have printed, and how
// they ended.
func held(list []step, said string, err error) (wrong []string) {
	outputs := strings.Split(said, mark+"\n")
	for i, s := range list {
		if i >= len(outputs)-1 {
			return append(wrong, fmt.Sprintf("%d: the commands ended with %v and said:\n%s", s.line, err, outputs[i]))
		}
		if s.printed && !says(s.text, outputs[i]) {
			wrong = append(wrong, fmt.Sprintf("%d: the page says:\n%s\n\nbut this was printed:\n%s", s.line, s.text, outputs[i]))
		}
	}
	if err != nil {
		wrong = append(wrong, fmt.Sprintf(" %v", err))
	}
	return wrong
}

func TestHeld(t *testing.T) {
	failed := errors.New("exit status 1")
	list := []step{{line: 3, text: "one", printed: true}, {line: 9}}
	for said, c := range map[string]struct {
		err  error
		want string
	}{
		"one\n" + mark + "\nany\n" + mark + "\n": {nil, ""},
		"two\n" + mark + "\nany\n" + mark + "\n": {nil, "3: the page says:\none\n\nbut this was printed:\ntwo\n"},
		"one\n" + mark + "\nno such file\n":      {failed, "9: the commands ended with exit status 1 and said:\nno such file\n"},
		"no such file\n":                         {failed, "3: the commands ended with exit status 1 and said:\nno such file\n"},
	} {
		if got := strings.Join(held(list, said, c.err), "; "); got != c.want {
			t.Errorf("of %q it is said: %q", said, got)
		}
	}
}

func TestSays(t *testing.T) {
	for _, c := range []struct {
		page, output string
		want         bool
	}{
		{"one\ntwo", "\none  \ntwo\n\n", true},
		{"one…", "one", true},
		{"one …\ntwo", "one\ntwo", true},
		{"one…three", "one\ntwo\nthree", true},
		{"…two…", "one two three", true},
		{"one", "one two", false},
		{"one…three", "one\ntwo", false},
		{"a.b", "axb", false},
		{"", "one", false},
	} {
		if got := says(c.page, c.output); got != c.want {
			t.Errorf("whether %q says %q: %v", c.page, c.output, got)
		}
	}
}

func TestSteps(t *testing.T) {
	page := strings.Join([]string{
		"# Page", "```sh", "zero", "```", "## First", "```sh", "# no heading", "one", "```", "```text", "1", "```",
		"```go", "x", "```", "```sh", "two", "```", "### Below", "```sh", "three", "```", "## Last", "```sh", "four", "```", "```text", "4", "```",
	}, "\n")
	show := func(list []step) string {
		var b bytes.Buffer
		for _, s := range list {
			fmt.Fprintf(&b, "%d %q %q %v\n", s.line, s.script, s.text, s.printed)
		}
		return b.String()
	}
	for heading, want := range map[string]string{
		"First": "6 \"# no heading\\none\" \"1\" true\n16 \"two\" \"\" false\n",
		"Below": "20 \"three\" \"\" false\n",
		"Last":  "24 \"four\" \"4\" true\n",
		"None":  "",
	} {
		if got := show(steps(page, heading)); got != want {
			t.Errorf("under %s:\n%swanted:\n%s", heading, got, want)
		}
	}
	if got := len(steps(page, "")); got != 5 {
		t.Errorf("the whole page has %d steps", got)
	}
}
