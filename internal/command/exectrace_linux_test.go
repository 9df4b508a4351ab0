package command_test

import (
	"fmt"
	"github.com/helve-dev/helve/internal/command"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A writer makes up command lines that do no harm: the programs in them are
// stubs that do nothing.
type writer struct{ *rand.Rand }

func (w writer) pick(of ...string) string { return of[w.IntN(len(of))] }

// program is the name of a stub, in some spelling.
func (w writer) program() string {
	n := 1 + w.IntN(9)
	return fmt.Sprintf(w.pick("p%d", "p%d", "'p'%d", `p\%d`, `"p%d"`, "$'p%d'", `p"%d"`, "p%[1]d x", "A=1 p%d", "p%d >/dev/null", "p%d <<<here"), n)
}

// line is a command line of at most so many levels.
func (w writer) line(depth int) string {
	if depth == 0 {
		return w.program()
	}
	a, b := w.line(depth-1), w.line(depth-1)
	quoted := strings.ReplaceAll(a, "'", `'\''`)
	switch w.IntN(31) {
	case 0:
		return a + "; " + b
	case 1:
		return a + " && " + b
	case 2:
		return a + " || " + b
	case 3:
		return a + " | " + b
	case 4:
		return "{ " + a + "; }"
	case 5:
		return "(" + a + ")"
	case 6:
		return "p1 $(" + a + ")"
	case 7:
		return `p2 "` + "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`", `"`, `\"`, "$", `\$`).Replace(w.program()) + "`" + `"`
	case 8:
		return "p3 <(" + a + ")"
	case 9:
		return "if " + a + "; then " + b + "; else p4; fi"
	case 10:
		return "for i in 1 2; do " + a + "; done"
	case 11:
		return "case x in x) " + a + ";; esac"
	case 12:
		return "f() { " + a + "; }; f"
	case 13:
		return "sh -c '" + quoted + "'"
	case 14:
		return "bash -c '" + quoted + "'"
	case 15:
		return "eval '" + quoted + "'"
	case 16:
		return "env B=2 " + w.plain()
	case 17:
		return "timeout 5 " + w.plain()
	case 18:
		return "nice -n 1 " + w.plain()
	case 19:
		return "printf 'x\\n' | xargs " + w.plain()
	case 20:
		return `find . -maxdepth 0 -exec ` + w.plain() + ` {} \;`
	case 21:
		return "printf '%s\\n' '" + quoted + "' | bash"
	case 22:
		return "bash <<'END'\n" + a + "\nEND"
	case 23:
		return "X=" + w.plain() + "; $X"
	case 24:
		return ": ${Y:=$(" + a + ")}"
	case 25:
		return "declare Z=$(" + a + ")"
	case 26:
		return "[[ -n $(" + a + ") ]]"
	case 27:
		return ": $(( $(" + a + "; echo 1) + 1 ))"
	case 28:
		return "! " + a
	case 29:
		return "trap '" + quoted + "' EXIT"
	}
	return "p5 <<END\n$(" + a + ")\nEND"
}

// plain is a stub's name that can stand where no shell reads it.
func (w writer) plain() string { return fmt.Sprintf("p%d", 1+w.IntN(9)) }

// Every program that bash starts is one that was seen when the text was read.
func TestExecTrace(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace on this machine")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash on this machine")
	}
	dir := t.TempDir()
	for n := 1; n <= 9; n++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("p", n)), []byte("#!/bin/true\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := writer{rand.New(rand.NewPCG(5, 7))}
	texts := 200
	if os.Getenv("HELVE_LONG") != "" {
		texts = 5000
	}
	started := regexp.MustCompile(`execve\("([^"]*)".*= 0$`)
	programs, whole := 0, 0
	for i := range texts {
		text := w.line(1 + i%3)
		log := filepath.Join(dir, "trace")
		cmd := exec.Command(strace, "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", log, bash, "--norc", "--noprofile", "-c", text)
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "LC_ALL=C"}
		cmd.Dir = t.TempDir()
		_ = cmd.Run() // what the text comes to is not the point
		trace, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		seen, any := seenIn(text)
		if !any {
			whole++
		}
		lines := strings.Split(strings.TrimSpace(string(trace)), "\n")
		for _, line := range lines[1:] { // the first is bash itself
			m := started.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			programs++
			if name := filepath.Base(m[1]); !any && !slices.Contains(seen, name) {
				t.Errorf("%s was started and not seen in %q (seen: %q)", name, text, seen)
			}
		}
	}
	if programs < texts || whole < texts/2 {
		t.Errorf("only %d programs were started, and only %d of %d texts were known whole", programs, whole, texts)
	}
}

// seenIn are the names of the programs that a text was seen to run. any says
// that one of them is not known, so that whoever is asked is told.
func seenIn(text string) (names []string, any bool) {
	line := command.Parse(text)
	for _, u := range line.Units {
		if len(u.Words) == 0 {
			continue
		}
		if !u.Words[0].Literal || len(u.Uncertainties) > 0 {
			any = true
		}
		for _, w := range u.Words[:1] {
			names = append(names, filepath.Base(w.Value))
		}
	}
	return names, any || line.Opaque != ""
}
