package process

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// say runs a program that goes on beside calls, and returns what it prints.
func say(t *testing.T, r *Executor, p Program) string {
	t.Helper()
	back, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	p.Dir = r.opt.Dir
	process, err := r.Start(t.Context(), p, out)
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.Stdin().WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	process.Stdin().Close()
	said, err := io.ReadAll(back)
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done()
	return string(said)
}

// A program gets its input, the variables that were given to it by name, and
// no secret of the runtime.
func TestProgram(t *testing.T) {
	t.Setenv("SOME_API_KEY", "hidden")
	t.Setenv("SSH_AUTH_SOCK", "hidden too")
	r := room(t, func(o *ExecutorOptions) { o.Env.Set = map[string]string{"ROOM": "1"} })
	got := say(t, r, Program{
		Path: "sh", Args: []string{"-c", `read line; echo "$line $OWN $ROOM [$SOME_API_KEY$SSH_AUTH_SOCK] $PWD"`},
		Set: map[string]string{"OWN": "2"},
	})
	if want := "hello 2 1 [] " + r.opt.Dir + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A program that is to run in the sandbox cannot write beyond it.
func TestProgramBehindTheWall(t *testing.T) {
	r := room(t, nil)
	if lacks := r.Lacks(); lacks != "" {
		t.Skip(lacks)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	got := say(t, r, Program{
		Path: "sh", Args: []string{"-c", `read line; echo x > inside; echo x > "$1" && echo escaped; echo "$line"`, "sh", outside},
		Walled: true,
	})
	if strings.Contains(got, "escaped") || !strings.Contains(got, "hello") {
		t.Errorf("it printed %q", got)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it wrote outside")
	}
	if _, err := os.Stat(filepath.Join(r.opt.Dir, "inside")); err != nil {
		t.Error("it could not write inside")
	}
}

// printed runs a program that has no pipe to its input, and returns what it
// prints.
func printed(t *testing.T, r *Executor, p Program) string {
	t.Helper()
	back, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	process, err := r.Start(t.Context(), p, out)
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	if process.Stdin() != nil {
		t.Error("it has a pipe to its input")
	}
	said, err := io.ReadAll(back)
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done()
	return string(said)
}

// A program can be given all of its variables, a name and a file to read.
func TestProgramGivenAll(t *testing.T) {
	r := room(t, nil)
	name := filepath.Join(r.opt.Dir, "input")
	if err := os.WriteFile(name, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	p := Program{
		Path: "/bin/sh", Argv0: "another", Args: []string{"-c", `read line; echo "$0 $line $ONLY [$EDITOR$SET]"`},
		Dir: r.opt.Dir, Env: []string{"ONLY=1"}, Set: map[string]string{"SET": "not counted"}, Input: input,
	}
	if got := printed(t, r, p); got != "another from a file 1 []\n" {
		t.Errorf("it printed %q", got)
	}
	p.Input, p.Silent = nil, true
	if got := printed(t, r, p); got != "another  1 []\n" {
		t.Errorf("without input it printed %q", got)
	}
}

// Variables are those that commands get.
func TestVariables(t *testing.T) {
	t.Setenv("SOME_API_KEY", "hidden")
	r := room(t, func(o *ExecutorOptions) { o.Env.Set = map[string]string{"ROOM": "1"} })
	vars := strings.Join(r.Variables(), "\n") + "\n"
	if strings.Contains(vars, "SOME_API_KEY") || !strings.Contains(vars, "ROOM=1\n") || !strings.Contains(vars, "EDITOR=false\n") {
		t.Errorf("they are %s", vars)
	}
}

// A program that is to be where commands are is in the sandbox if there is
// one for them, or if it may change nothing.
func TestProgramAsCommands(t *testing.T) {
	for name, tc := range map[string]struct {
		level    string
		readOnly bool
		want     string // what it could write
	}{
		"no wall":   {"", false, "inside outside"},
		"a wall":    {"write", false, "inside"},
		"read only": {"", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := room(t, func(o *ExecutorOptions) { o.Wall.Level = tc.level })
			if lacks := r.Lacks(); lacks != "" {
				t.Skip(lacks)
			}
			outside := filepath.Join(t.TempDir(), "outside")
			got := printed(t, r, Program{
				Path: "/bin/sh", Args: []string{"-c", `for f in inside "$1"; do echo x > "$f" && basename "$f"; done`, "sh", outside},
				Dir: r.opt.Dir, Silent: true, AsCommands: true, ReadOnly: tc.readOnly,
			})
			var wrote []string
			for _, word := range strings.Fields(got) {
				if word == "inside" || word == "outside" {
					wrote = append(wrote, word)
				}
			}
			if strings.Join(wrote, " ") != tc.want {
				t.Errorf("it wrote %v: %s", wrote, got)
			}
		})
	}
}
