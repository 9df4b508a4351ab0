package scripthost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

var errRefused = errors.New("refused")

// A bench is a machine without rules, and without programs but one that says
// what it was given. What names a secret is refused.
type bench struct{}

func (bench) Run(_ context.Context, p ShellProgram) (int, error) {
	fmt.Fprintf(p.Stdout, "%s %q\n", p.Path, p.Args)
	return len(p.Args), nil
}

func (bench) Open(_ context.Context, dir, name string, flags int) (io.ReadWriteCloser, error) {
	if strings.Contains(name, "secret") {
		return nil, errRefused
	}
	return os.OpenFile(filepath.Join(dir, name), flags, 0o600)
}

func (bench) Which(name, _, _ string) string {
	if name == "show" {
		return "/bin/show"
	}
	return ""
}

func (bench) Trouble(err error) (words string, refused bool) {
	if errors.Is(err, fs.ErrNotExist) {
		return "No such file or directory", false
	}
	return err.Error(), errors.Is(err, errRefused)
}

func TestRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text     string
		code     int
		out, err string
	}{
		{"show a 'b c'", 2, "/bin/show [\"a\" \"b c\"]\n", ""},
		{"X='a  b'; show $X $NONE; echo $?", 0, "/bin/show [\"a  b\"]\n1\n", ""},
		{"x=$(show); echo [$x]", 0, "[/bin/show []]\n", ""},
		{"ls; none x || echo else", 0, "else\n", "bun: command not found: ls\nbun: command not found: none\n"}, // there are no files
		{"eval echo x", 1, "", "bun: command not found: eval\n"},
		{"which show none", 1, "/bin/show\nwhich: none not found\n", ""},
		{"basename a/b; dirname a/b; seq -s , 2", 0, "b\na\n1,2,", ""},
		{"echo *.none", 1, "", "bun: no matches found: *.none\n"},
		{"echo x > f; read y < f; echo $y$y", 0, "xx\n", ""},
		{"echo x < none", 1, "", "bun: No such file or directory: none"},
		{"echo a > /dev/stderr", 0, "", "a\n"},
		{"exit 257", 1, "", ""},
		{"read x; echo [$x]", 0, "[in]\n", ""},
		{"a=1 b=2; read x <<E\n$a$b\nE\necho [$x]; read y <<< $b$a; echo [$y] $a > g; read z < g; echo $z $b", 0, "[12]\n[21] 1 2\n", ""},
		{"a=1 b=2; echo $a$b 2>&1 > f; echo $?; ! echo $a$b > f || echo not; cat < f | show $a $b", 2, "0\nnot\n/bin/show [\"1\" \"2\"]\n", "bun: command not found: cat\n"},
	} {
		script, err := ParseShell(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := script.Run(t.Context(), bench{}, ShellSetting{Dir: dir, Input: []byte("in\n")})
		if err != nil || got.Code != c.code || string(got.Out) != c.out || string(got.Err) != c.err {
			t.Errorf("%s: %d %q %q, %v", c.text, got.Code, got.Out, got.Err, err)
		}
	}
}

// What the rules refuse ends the script, and what it writes too much.
func TestEnds(t *testing.T) {
	for text, want := range map[string]string{
		"echo x > secret || echo on":              "refused",
		"cat < secret; echo on":                   "refused",
		"x=aaaaaaaa; while true; do x=$x$x; done": "wrote more than 16 MiB",
		"seq 1000000000":                          "wrote more than 16 MiB",
		"x=$(seq 1000000000)":                     "wrote more than 16 MiB",
		"x=$(seq 1000000); cat <<E > f\n" + strings.Repeat("$x", 40_000) + "\nE":       "put too much into variables",
		"x=$(seq 1000000); read y <<< " + strings.Repeat("$x", 40_000):                 "put too much into variables",
		"x=$(seq 1000000); <<E\n" + strings.Repeat("$x", 40_000) + "\nE":               "put too much into variables",
		"x=$(seq 1000000); { show; } <<E | show\n" + strings.Repeat("$x", 100) + "\nE": "put too much into variables",
	} {
		script, err := ParseShell(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := script.Run(t.Context(), bench{}, ShellSetting{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, got.Code, err)
		}
	}
}

// Braces are counted over the whole script.
func TestParseBoundsBraces(t *testing.T) {
	for text, ok := range map[string]bool{
		"echo {1..10000}": true, "echo {1..10001}": false, "echo {a,b}{1..5000}": true,
		"echo " + strings.Repeat("{1..1000} ", 10): true, "echo " + strings.Repeat("{1..1000} ", 11): false,
		"echo {1..9000}; echo {1..9000}": false,
	} {
		if _, err := ParseShell(text); err == nil != ok {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestListedLong(t *testing.T) {
	var out strings.Builder
	l := &listing{builtin: &builtin{out: bufio.NewWriter(&out)}, long: true}
	old := float64(time.Date(2020, 1, 5, 10, 0, 0, 0, time.UTC).UnixMilli())
	l.printEntry("file", FileFacts{Mode: kindFile | 0o644, Nlink: 1, UID: 1000, GID: 100, Size: 12345, Milliseconds: old})
	_ = l.out.Flush()
	if want := "-rw-r--r--   1  1000   100    12345 Jan 05  2020 file\n"; out.String() != want {
		t.Errorf("%q, not %q", out.String(), want)
	}
	now := time.Now()
	if got, want := day(now), now.UTC().Format("Jan 02 15:04"); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	for mode, want := range map[uint32]string{kindDir | 0o755: "drwxr-xr-x", kindLink | 0o777: "lrwxrwxrwx", kindChar | 0o600: "crw-------"} {
		if got := letters(mode); got != want {
			t.Errorf("%o is %q", mode, got)
		}
	}
}

// The text that is judged can be read whenever the one that was given can, and
// differs from it by quotes alone.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"echo $x", "a$x.b $y", "cat <<EOF\n$x\nEOF", "echo \"$x\" '$y' $(cat $z)", "for i in $a $b; do echo $i; done", "x=$y$z", "[[ $a == $b ]]",
		"echo $((x + $y))", "echo {a,$b}{1..3}", "case $x in $y) echo;; esac", "echo \r\n$x\r\n", "! $x | $y &",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseShell(text)
		if err != nil {
			return
		}
		if strings.ReplaceAll(s.Text(), `"`, "") != strings.ReplaceAll(text, `"`, "") {
			t.Fatalf("%q became %q", text, s.Text())
		}
		if _, err := syntax.NewParser().Parse(strings.NewReader(s.Text()), ""); err != nil {
			t.Fatalf("%q became %q: %v", text, s.Text(), err)
		}
	})
}
