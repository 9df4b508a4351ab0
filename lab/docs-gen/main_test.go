package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/cli"
)

const module = "../.." // the folder of the module

// fixed is the stamp of pages that are compared.
func fixed() stamp { return stamp{"2026-01-02", "helve 1"} }

func pages(t *testing.T) map[string][]byte {
	t.Helper()
	all, err := manual(module, fixed())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The reference that is kept is the one that the command describes.
func TestCommandsCurrent(t *testing.T) {
	if err := run([]string{"commands", "--root", module, "--check"}, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestCommandsNotCurrent(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "docs", "commands.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"commands", "--root", root, "--check"}, io.Discard); err == nil {
		t.Error("a reference that is missing was found current")
	}
	if err := run([]string{"commands", "--root", root}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"commands", "--root", root, "--check"}, io.Discard); err != nil {
		t.Errorf("what was just written is not current: %v", err)
	}
	if err := os.WriteFile(file, []byte("# Commands\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"commands", "--root", root, "--check"}, io.Discard); err == nil {
		t.Error("another reference was found current")
	}
}

// Every command is in the reference and has a manual page, and so does every
// flag.
func TestEverythingIsThere(t *testing.T) {
	all, text := pages(t), string(reference(tree()))
	n := 0
	walk(tree(), func(c *cobra.Command) {
		n++
		name := pageName(c) + ".1"
		if topic(c) {
			name = pageName(c) + ".7"
		}
		page := string(all[name])
		if page == "" {
			t.Errorf("%s has no page %s", c.CommandPath(), name)
		}
		if !strings.Contains(text, "\n## "+c.CommandPath()+"\n") {
			t.Errorf("%s is not in the reference", c.CommandPath())
		}
		for _, o := range options(c.LocalNonPersistentFlags()) {
			if !strings.Contains(page, bold(o.long)) {
				t.Errorf("%s: %s is not in the page", name, o.long)
			}
			if !strings.Contains(text, "`"+o.long) {
				t.Errorf("%s %s is not in the reference", c.CommandPath(), o.long)
			}
		}
	})
	if len(all) != n+1 || n < 40 {
		t.Errorf("%d pages for %d commands and one file", len(all), n)
	}
	for _, want := range []string{".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH EXAMPLES", ".SH EXIT STATUS", ".SH ENVIRONMENT", ".SH FILES", ".SH SEE ALSO", `\fBHELVE_DATA_DIR\fR`, "130  the call"} {
		if !strings.Contains(string(all["helve.1"]), want) {
			t.Errorf("helve(1) lacks %s", want)
		}
	}
}

// What is said of the command that the library adds holds.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out, said bytes.Buffer
		code := cli.Main(t.Context(), cli.Env{
			Args: []string{"completion", shell}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said,
			Getenv: func(string) string { return "" }, Dir: t.TempDir(),
		})
		if code != 0 || said.Len() > 0 || !strings.Contains(out.String(), "helve") {
			t.Errorf("%s: exit code %d, %d bytes, %s", shell, code, out.Len(), said.String())
		}
		if !strings.Contains(completion().Long, shell) {
			t.Errorf("%s is not named", shell)
		}
	}
}

// A page that another one names is there.
func TestPagesNamed(t *testing.T) {
	all := pages(t)
	for name, page := range all {
		for _, m := range regexp.MustCompile(`\\fB(helve[^ ]*?)\\fR\((\d)\)`).FindAllSubmatch(page, -1) {
			to := strings.ReplaceAll(string(m[1]), `\-`, "-") + "." + string(m[2])
			if all[to] == nil {
				t.Errorf("%s names %s, which does not exist", name, to)
			}
		}
	}
}

// Every key that is checked is in the manual, and those that are said to have
// no effect are known here.
func TestSettings(t *testing.T) {
	page := string(pages(t)[settings+".5"])
	_, without, found := strings.Cut(page, ".SH KEYS WITHOUT EFFECT\n")
	if !found {
		t.Fatal("there is no list of keys without effect")
	}
	without, _, _ = strings.Cut(without, ".SH ")
	var quiet []string
	for _, m := range regexp.MustCompile(`\\fB([^\\]+)\\fR`).FindAllStringSubmatch(without, -1) {
		quiet = append(quiet, m[1])
	}
	want := []string{
		"$schema", "attachment", "autoshare", "autoupdate", "command", "enterprise", "keybinds", "layout", "logLevel",
		"reference", "references", "server", "share", "snapshot", "theme", "tui", "username", "watcher",
	}
	if diff := cmp.Diff(want, quiet); diff != "" {
		t.Errorf("keys without effect; a key that has one needs a row in docs/config.md:\n%s", diff)
	}
	keys := allKeys()
	for _, k := range keys {
		top, _, _ := strings.Cut(k.path, ".")
		if slices.Contains(quiet, top) || k.want == "an object" {
			continue
		}
		if !strings.Contains(page, bold(k.path)) {
			t.Errorf("%s is not in the page", k.path)
		}
	}
	for _, want := range []key{
		{path: "agent.NAME.mode", want: `"subagent", "primary" or "all"`},
		{path: "bash.pass_env", want: "a list of strings", own: true},
		{path: "hooks.before[].timeout", want: "a whole number above 0", own: true},
		{path: "mcp.NAME.roots", want: "true or false", own: true},
	} {
		if !slices.Contains(keys, want) {
			t.Errorf("%+v is not among the keys", want)
		}
	}
}

// A setting of ours that nothing is said of can not be described.
func TestSettingUnsaid(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(module, "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile("(?m)^\\| `durable` .*\n").ReplaceAllString(string(data), "")
	doc, err := readConfigDoc(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := configPage(doc, fixed()); err == nil || !strings.Contains(err.Error(), "durable") {
		t.Errorf("the error is %v", err)
	}
}

// The formatters that people have take the pages without a complaint.
func TestLint(t *testing.T) {
	dir := t.TempDir()
	if err := writeAll(dir, pages(t)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	t.Run("mandoc", func(t *testing.T) {
		if _, err := exec.LookPath("mandoc"); err != nil {
			t.Skip("there is no mandoc (package mandoc): manual pages are not checked with it")
		}
		out, err := exec.Command("mandoc", append([]string{"-T", "lint", "-W", "warning"}, files...)...).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%v\n%.4000s", err, out)
		}
	})
	t.Run("groff", func(t *testing.T) {
		if _, err := exec.LookPath("groff"); err != nil {
			t.Skip("there is no groff (package groff-base): manual pages are not checked with it")
		}
		for _, file := range files {
			var said bytes.Buffer
			cmd := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z", file)
			cmd.Stderr = &said
			if err := cmd.Run(); err != nil || said.Len() > 0 {
				t.Errorf("%s: %v\n%.2000s", filepath.Base(file), err, said.Bytes())
			}
		}
	})
}

func TestSpans(t *testing.T) {
	for _, c := range []struct{ in, md, roff string }{
		{"Run 'helve help exit-codes'.", "Run `helve help exit-codes`.", `Run \fBhelve help exit\-codes\fR.`},
		{"with --no-input, and -- alone", "with `--no-input`, and -- alone", `with \fB\-\-no\-input\fR, and -- alone`},
		{"(or set NO_COLOR)", "(or set `NO_COLOR`)", `(or set \fBNO_COLOR\fR)`},
		{"git's HEAD *and* a|b", `git's HEAD \*and\* a\|b`, `git\(aqs HEAD *and* a|b`},
		{`a\b … "c"`, `a\\b … "c"`, `a\eb \[u2026] \(dqc\(dq`},
		{"an 'helve without an end", "an 'helve without an end", `an \(aqhelve without an end`},
	} {
		if got := cell(c.in); got != c.md {
			t.Errorf("%q is %q as Markdown, want %q", c.in, got, c.md)
		}
		if got := roffSpans(spans(c.in)); got != c.roff {
			t.Errorf("%q is %q as roff, want %q", c.in, got, c.roff)
		}
	}
}

func TestBlocks(t *testing.T) {
	got := blocks("One\ntwo:\n  a\n    b\n\n  c\n\nThree")
	want := []block{{text: "One two:"}, {text: "a\n  b\n\nc", verbatim: true}, {text: "Three"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(block{})); diff != "" {
		t.Error(diff)
	}
}

// No line of a page is taken for a request that was not meant as one.
func TestNoRequests(t *testing.T) {
	s := newSheet("x", 1, fixed())
	s.lines(".env\n'quoted\n\n\\&")
	s.paragraph(roff(strings.Repeat("word ", 15) + ".env"))
	_, body, _ := strings.Cut(s.String(), ".nf\n")
	want := "\\&.env\n\\(aqquoted\n\n\\e&\n.fi\n.RE\n.PP\n" + strings.Repeat("word ", 14) + "word\n\\&.env\n"
	if body != want {
		t.Errorf("%q, want %q", body, want)
	}
}

// Links and code of Markdown become what a page can show.
func TestMarkdownCell(t *testing.T) {
	got := markdown("as `edit.unread`: [files.md](files.md), [more](https://example.org) and **all**")
	if want := `as \fBedit.unread\fR: docs/files.md, more and all`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"women"}, {"man"}, {"man", "a", "b"}, {"commands", "x"}} {
		if err := run(args, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "usage:") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// A build that is repeated gives the same pages.
func TestDate(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	dir := t.TempDir()
	if err := run([]string{"man", "--root", module, dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "helve.1"))
	if err != nil || !bytes.Contains(page, []byte(`.TH HELVE 1 1970-01-02 "helve" "helve manual"`)) {
		t.Errorf("%.200s: %v", page, err)
	}
}
