//go:build unix

package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script writes a program of shell lines.
func script(t *testing.T, name, lines string) string {
	t.Helper()
	write(t, name, "#!/bin/sh\n"+lines+"\n")
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func foo(name string, command ...string) Formatter {
	return Formatter{Name: name, Command: command, Extensions: []string{".foo"}}
}

// onlyPath makes a folder of scripts the whole PATH.
func onlyPath(t *testing.T, programs map[string]string) {
	t.Helper()
	bin := t.TempDir()
	for name, lines := range programs {
		script(t, filepath.Join(bin, name), lines)
	}
	t.Setenv("PATH", bin)
}

func TestRunInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "x y.foo")
	write(t, file, "x")
	bad := script(t, filepath.Join(dir, "bad"), "echo to stdout; echo to stderr >&2; exit 3")
	s := NewFormatters(FormatterOptions{Dir: dir, Formatters: []Formatter{
		foo("a", "sh", "-c", `printf A >> "$1"`, "sh", "$FILE"),
		foo("bad", bad),
		foo("missing", "no-such-program-here", "$FILE"),
		foo("gone", "./gone"),
		{Name: "other", Command: []string{"false"}, Extensions: []string{".bar"}},
		{Name: "b", Command: []string{"sh", "-c", `printf "$LETTER" >> "$1"; pwd; cat`, "sh", "$FILE"}, Extensions: []string{".foo"}, Environment: map[string]string{"LETTER": "B"}},
	}})
	reports, err := s.Run(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "xAB" {
		t.Errorf("%q", text)
	}
	var got []string
	for _, r := range reports {
		got = append(got, fmt.Sprintf("%s %v", r.Name, r.Err == nil))
	}
	if diff := cmp.Diff([]string{"a true", "bad false", "missing false", "gone false", "b true"}, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	var exit *exec.ExitError
	if err := reports[1].Err; !errors.As(err, &exit) || exit.ExitCode() != 3 || err.Error() != "exit status 3: to stdout\nto stderr" {
		t.Errorf("bad: %v", err)
	}
	if err := reports[2].Err; !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	if err := reports[3].Err; !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
	if real, _ := filepath.EvalSymlinks(dir); strings.TrimSpace(reports[4].Output) != real {
		t.Errorf("ran in %q", reports[4].Output)
	}
}

// A watch is a pipe that children hold open, each with the ones it starts.
type watch struct {
	started chan struct{} // closed when one has written a line
	ended   chan struct{} // closed when none is left
}

// watchPipe makes a pipe named fifo in a folder. Something must open it.
func watchPipe(t *testing.T, dir string) watch {
	t.Helper()
	name := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	w := watch{make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(w.ended)
		f, err := os.Open(name)
		if err != nil {
			t.Error(err)
			close(w.started)
			return
		}
		defer func() { _ = f.Close() }()
		in := bufio.NewReader(f)
		_, _ = in.ReadString('\n')
		close(w.started)
		_, _ = io.Copy(io.Discard, in)
	}()
	return w
}

const hangs = "exec 3> fifo; sleep 600 & echo working; echo started >&3; wait"

// TestHanging ends one that does not end, with the children it has started.
func TestHanging(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := watchPipe(t, dir)
	s := NewFormatters(FormatterOptions{Dir: dir, Formatters: []Formatter{
		foo("hangs", "sh", "-c", hangs),
		foo("next", "sh", "-c", "echo ran > next"),
	}})
	s.timeout = 3 * time.Second
	reports, err := s.Run(context.Background(), filepath.Join(dir, "a.foo"))
	if err != nil || len(reports) != 2 {
		t.Fatalf("%+v, %v", reports, err)
	}
	if err := reports[0].Err; !errors.Is(err, context.DeadlineExceeded) || err.Error() != "stopped, it took longer than 3s: working" {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "next")); err != nil || reports[1].Err != nil {
		t.Errorf("the next did not run: %v, %v", err, reports[1].Err)
	}
	<-w.ended // or its child lives on
}

// TestCanceled ends with the caller's wish: what runs is ended, what would
// come next does not run.
func TestCanceled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := watchPipe(t, dir)
	s := NewFormatters(FormatterOptions{Dir: dir, Formatters: []Formatter{
		foo("hangs", "sh", "-c", hangs),
		foo("next", "sh", "-c", "echo ran > next"),
	}})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-w.started
		cancel()
	}()
	reports, err := s.Run(ctx, filepath.Join(dir, "a.foo"))
	if !errors.Is(err, context.Canceled) || len(reports) != 1 || !errors.Is(reports[0].Err, context.Canceled) {
		t.Errorf("%+v, %v", reports, err)
	}
	<-w.ended // or it lives on
	if _, err := os.Stat(filepath.Join(dir, "next")); err == nil {
		t.Error("the next ran")
	}
}

// TestDaemon does not wait for one that is left behind with the output open.
func TestDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := NewFormatters(FormatterOptions{Dir: dir, Formatters: []Formatter{
		foo("daemon", "sh", "-c", "sleep 600 & echo $! > pid; echo done"),
	}})
	reports, err := s.Run(context.Background(), filepath.Join(dir, "a.foo"))
	var pid int
	text, _ := os.ReadFile(filepath.Join(dir, "pid"))
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the daemon was not left alone: %v", err)
	}
	if err != nil || len(reports) != 1 || reports[0].Err != nil || reports[0].Output != "done\n" {
		t.Errorf("%+v, %v", reports, err)
	}
}

// TestOwnPath finds a program by the PATH that is configured for it.
func TestOwnPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, filepath.Join(dir, "bin", "mine"), "echo mine")
	f := foo("mine", "mine")
	f.Environment = map[string]string{"PATH": "relative" + string(os.PathListSeparator) + filepath.Join(dir, "bin")}
	reports, err := NewFormatters(FormatterOptions{Dir: dir, Formatters: []Formatter{f}}).Run(context.Background(), "a.foo")
	if err != nil || len(reports) != 1 || reports[0].Err != nil || reports[0].Output != "mine\n" {
		t.Errorf("%+v, %v", reports, err)
	}
}

// TestWanted says which built-in formatters are on in a project.
func TestWanted(t *testing.T) {
	programs := map[string]string{}
	for _, name := range strings.Fields("prettier oxfmt biome clang-format ruff ocamlformat rubocop standardrb htmlbeautifier") {
		programs[name] = "echo path-" + name
	}
	onlyPath(t, programs)
	for _, test := range []struct {
		name, file string
		tree       map[string]string // with a text that starts with #! it is a program
		want       string
	}{
		{"none", "a.ts", nil, ""},
		{"a dependency", "a.ts", map[string]string{"package.json": `{"devDependencies":{"prettier":"^3"}}`}, "prettier path-prettier"},
		{"above", "a.md", map[string]string{"../package.json": `{"dependencies":{"prettier":"^3"}}`}, "prettier path-prettier"},
		{"beyond the worktree", "a.md", map[string]string{"../../package.json": `{"dependencies":{"prettier":"^3"}}`}, ""},
		{"the project's own is not run", "a.md", map[string]string{
			"package.json": `{"dependencies":{"prettier":"^3"}}`, "../node_modules/.bin/prettier": "#!/bin/sh\necho own",
		}, "prettier path-prettier"},
		{"oxfmt", "a.ts", map[string]string{"package.json": `{"devDependencies":{"oxfmt":"1"}, "name": 7}`}, "oxfmt path-oxfmt"},
		{"broken", "a.ts", map[string]string{"package.json": `{"devDependencies":`}, ""},
		{"biome", "a.ts", map[string]string{"../biome.jsonc": ``}, "biome path-biome"},
		{"clang", "a.c++", map[string]string{".clang-format": ``}, "clang-format path-clang-format"},
		{"no clang", "a.c++", nil, ""},
		{"ruff by setting", "a.py", map[string]string{"pyproject.toml": "[tool.ruff]\n"}, "ruff path-ruff"},
		{"ruff by file", "a.py", map[string]string{".ruff.toml": ""}, "ruff path-ruff"},
		{"ruff by need", "a.py", map[string]string{"requirements.txt": "ruff==1\n"}, "ruff path-ruff"},
		{"no ruff", "a.py", map[string]string{"requirements.txt": "black\n"}, ""},
		{"ocaml", "a.ml", map[string]string{".ocamlformat": ""}, "ocamlformat path-ocamlformat"},
		{"both rubies", "a.rb", nil, "rubocop path-rubocop standardrb path-standardrb"},
		{"once", "a.html.erb", nil, "htmlbeautifier path-htmlbeautifier"},
		{"pint", "a.php", map[string]string{
			"composer.json": `{"require-dev":{"laravel/pint":"1"}}`, "vendor/bin/pint": "#!/bin/sh\necho pint",
		}, ""},
		{"no pint", "a.php", map[string]string{"vendor/bin/pint": "#!/bin/sh\necho pint"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			worktree := filepath.Join(t.TempDir(), "worktree")
			dir := filepath.Join(worktree, "dir")
			write(t, filepath.Join(dir, test.file), "")
			for name, text := range test.tree {
				write(t, filepath.Join(dir, name), text)
				if strings.HasPrefix(text, "#!") {
					_ = os.Chmod(filepath.Join(dir, name), 0o755)
				}
			}
			s := NewFormatters(FormatterOptions{Builtin: true, Experimental: true, Dir: dir, Worktree: worktree})
			if got := s.For(test.file); got != (test.want != "") {
				t.Errorf("For: %v", got)
			}
			reports, err := s.Run(t.Context(), test.file)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range reports {
				if r.Err != nil {
					t.Error(r.Err)
				}
				got = append(got, r.Name, strings.TrimSpace(r.Output))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
}

// TestProbed asks programs about themselves, once, and keeps them off the net.
func TestProbed(t *testing.T) {
	for _, test := range []struct {
		name, file string
		programs   map[string]string
		want       string
	}{
		{"air", "a.R", map[string]string{"air": `echo "$@" >> calls; echo "Air: An R language server and formatter"`}, "--help\nformat %s\nformat %s\n"},
		{"another air", "a.R", map[string]string{"air": `echo "$@" >> calls; echo "Live reload for Go"`}, "--help\n"},
		{"uv", "a.py", map[string]string{"uv": `echo "$UV_OFFLINE" "$@" >> calls`}, "1 format --help\n1 format -- %s\n1 format -- %s\n"},
		{"old uv", "a.py", map[string]string{"uv": `echo "$@" >> calls; exit 2`}, "format --help\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			onlyPath(t, test.programs)
			dir := t.TempDir()
			file := filepath.Join(dir, test.file)
			s := NewFormatters(FormatterOptions{Builtin: true, Dir: dir})
			if !s.For(file) {
				t.Error("it counts before it was asked")
			}
			if _, err := os.Stat(filepath.Join(dir, "calls")); err == nil {
				t.Error("For started a program")
			}
			for range 2 {
				if _, err := s.Run(t.Context(), file); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.For(file); got != strings.Contains(test.want, "%s") {
				t.Errorf("For, afterwards: %v", got)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			if diff := cmp.Diff(strings.ReplaceAll(test.want, "%s", file), string(calls)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCanceledProbe does not hold a cancelled question against the program.
func TestCanceledProbe(t *testing.T) {
	onlyPath(t, map[string]string{"uv": `echo "$@" >> calls`})
	dir := t.TempDir()
	s := NewFormatters(FormatterOptions{Builtin: true, Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if reports, err := s.Run(ctx, "a.py"); !errors.Is(err, context.Canceled) || len(reports) > 0 {
		t.Errorf("%+v, %v", reports, err)
	}
	if reports, err := s.Run(t.Context(), "a.py"); err != nil || len(reports) != 1 || reports[0].Err != nil {
		t.Errorf("%+v, %v", reports, err)
	}
}
