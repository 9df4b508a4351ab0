package run

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// say runs a program that goes on beside calls, and returns what it prints.
func say(t *testing.T, r *Room, p Program) string {
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
	r := room(t, func(o *Options) { o.Env.Set = map[string]string{"ROOM": "1"} })
	got := say(t, r, Program{
		Path: "sh", Args: []string{"-c", `read line; echo "$line $OWN $ROOM [$SOME_API_KEY$SSH_AUTH_SOCK] $PWD"`},
		Set: map[string]string{"OWN": "2"},
	})
	if want := "hello 2 1 [] " + r.opt.Dir + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A program that is to run behind the wall can not write beyond it.
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
