package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/cli"
)

// run runs the command in this process, in an empty home.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	home := t.TempDir()
	var out, errs bytes.Buffer
	code = cli.Main(context.Background(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: home,
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
	})
	return out.String(), errs.String(), code
}

// Asking about a command that there is not is a mistake like calling it.
func TestHelpAbout(t *testing.T) {
	for _, c := range []struct {
		words, stdout, stderr string
		code                  int
	}{
		{"help", "Available Commands:", "", 0},
		{"help call", "helve call TOOL", "", 0},
		{"help permission explain", "helve permission explain PERMISSION", "", 0},
		{"help exit-codes", "who has to act", "", 0},
		{"help foo", "", `unknown command "foo" for "helve"`, 64},
		{"help sesions", "", "sessions", 64},
		{"help permission foo", "", `unknown command "foo" for "helve permission"`, 64},
	} {
		stdout, stderr, code := run(t, strings.Fields(c.words)...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || c.stderr != "" && stdout != "" {
			t.Errorf("%s: exit code %d, output %q, standard error %q", c.words, code, stdout, stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, words := range []string{
		"", "run", "chat", "serve", "open", "sessions resume", "sessions show", "call", "tools", "tools new", "tools test", "plugins", "skills", "agents", "models", "lsp", "lsp check", "lsp log", "permission", "permission explain", "permission list", "permission revoke", "permission test",
		"sessions", "calls", "show", "config", "config check", "trust", "doctor", "version", "exit-codes",
	} {
		t.Run(strings.ReplaceAll(words, " ", "-"), func(t *testing.T) {
			got, stderr, code := run(t, append(strings.Fields(words), "--help")...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d, standard error %q", code, stderr)
			}
			if words != "exit-codes" && !strings.Contains(got, "Examples:") {
				t.Error("there is no example")
			}
			name := filepath.Join("testdata", "help", "helve"+strings.ReplaceAll(" "+words, " ", "-")+".txt")
			name = strings.Replace(name, "helve-.txt", "helve.txt", 1)
			if *update {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the help has changed; if that is meant, run with -update:\n%s", diff)
			}
		})
	}
}

func TestNothingIsMade(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{
		{"version"}, {"tools"}, {"agents"}, {"models"}, {"sessions"}, {"calls"}, {"show", "x"}, {"config"}, {"config", "check"}, {"trust", "--list"},
		{"permission", "list"}, {"permission", "explain", "read", ".env"}, {"permission", "revoke", "x"},
		{"sessions", "show", "x"}, {"sessions", "resume", "--last"}, {"run"}, {"run", "hello"}, {"run", "--session", "x", "hello"},
		{"completion", "bash"}, {"__complete", "call", ""}, {"__complete", "call", "--session", ""},
	} {
		cli.Main(context.Background(), cli.Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Dir: home,
			Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
		})
		left, err := os.ReadDir(home)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) > 0 {
			t.Fatalf("helve %s made %s", strings.Join(args, " "), left[0])
		}
	}
}

func TestVectorTable(t *testing.T) {
	got, stderr, code := run(t, "permission", "test", mustAbs(t, "../../permission/testdata/rules.jsonl"))
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	last := lines[len(lines)-1]
	if code != 0 || stderr != "" || !strings.Contains(last, " passed, 0 failed") {
		t.Errorf("exit code %d, standard error %q, output:\n%s", code, stderr, got)
	}
	for _, line := range lines[:len(lines)-1] {
		// Windows has its own case rule, and this program has no tool "bash" yet.
		if !strings.HasPrefix(line, "SKIP rule-049:") && !strings.HasPrefix(line, "SKIP rule-117:") &&
			!strings.HasPrefix(line, "SKIP rule-048:") && !strings.HasPrefix(line, "SKIP rule-058:") {
			t.Errorf("unexpected: %s", line)
		}
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
