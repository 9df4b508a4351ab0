package search

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// ripgrep lists a tree by the real thing, without the folders .git.
func ripgrep(t rapid.TB, rg string, opt Options) []string {
	t.Helper()
	args := []string{"--no-config", "--files", "--null", "--sort=path"}
	if opt.Hidden {
		args = append(args, "--hidden")
	}
	if opt.Ignored {
		args = append(args, "--no-ignore")
	}
	for _, g := range append(slices.Clone(opt.Globs), "!**/.git/") {
		args = append(args, "--glob="+g)
	}
	cmd := exec.Command(rg, args...)
	cmd.Dir = opt.Dir
	// The user's excludes file is found by the settings folder.
	cmd.Env = append(os.Environ(), "HOME="+opt.Dir, "XDG_CONFIG_HOME="+filepath.Dir(filepath.Dir(opt.Excludes)))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		// Nothing found is 1, a line of an ignore file that is no glob 2.
		if exit.ExitCode() > 1 && !strings.Contains(string(exit.Stderr), ": error parsing glob") {
			t.Fatalf("rg: %v: %s", err, exit.Stderr)
		}
	} else if err != nil {
		t.Fatalf("rg: %v", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) == 1 && names[0] == "" {
		return nil
	}
	for i := range names {
		names[i] = strings.TrimPrefix(filepath.ToSlash(names[i]), "./")
	}
	return names
}

func findRipgrep(t *testing.T) string {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed: there is nothing to compare with")
	}
	return rg
}

// TestAgainstRipgrep compares the walk with ripgrep's, over random trees and
// ignore files: the same names in the same order.
func TestAgainstRipgrep(t *testing.T) {
	rg := findRipgrep(t)
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(top) }()
		work := filepath.Join(top, "work")
		growTree(rt, work)
		opt := Options{
			Dir:      work,
			Excludes: filepath.Join(top, "settings", "git", "ignore"),
			Hidden:   rapid.Bool().Draw(rt, "hidden"),
			Ignored:  rapid.IntRange(0, 9).Draw(rt, "ignored") == 0,
			Globs:    rapid.SliceOfN(line(true), 0, 2).Draw(rt, "globs"),
		}
		if rapid.Bool().Draw(rt, "global") {
			writeFile(rt, opt.Excludes, ignoreFile().Draw(rt, "excludes"))
		}
		if sub := filepath.Join(work, "a"); rapid.Bool().Draw(rt, "sub") && isDir(sub) {
			opt.Dir = sub
		}
		if _, err := parseGlobs(opt.Globs); err != nil {
			rt.Skip(err)
		}
		want := ripgrep(rt, rg, opt)
		slices.SortFunc(want, comparePaths)
		if diff := cmp.Diff(want, collect(rt, opt)); diff != "" {
			rt.Fatalf("globs %q (-ripgrep +ours):\n%s\ntree:\n%s", opt.Globs, diff, show(top))
		}
	})
}

// comparePaths puts names in the order of a walk.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

func isDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// growTree makes a random tree. Names come from a small set, so that rules
// meet them.
func growTree(t *rapid.T, top string) {
	name := rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", ".x", ".x.go", "a b", "c ", "a*", "[a]", "#a", "!b", "é", "a.b.go", "d\\"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path"), "/")
	})
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range rapid.SliceOfN(path, 5, 40).Draw(t, "files") {
		_ = tryWrite(filepath.Join(top, p), "") // fails where a file is in the way
	}
	for range rapid.IntRange(0, 4).Draw(t, "ignore files") {
		dir := top
		if rapid.Bool().Draw(t, "deeper") {
			dir = filepath.Join(top, filepath.Dir(path.Draw(t, "where")))
		}
		kind := rapid.SampledFrom([]string{".gitignore", ".gitignore", ".ignore", ".rgignore"}).Draw(t, "kind")
		_ = tryWrite(filepath.Join(dir, kind), ignoreFile().Draw(t, kind))
	}
	for range rapid.IntRange(0, 2).Draw(t, "repositories") {
		dir := top
		if rapid.Bool().Draw(t, "nested") {
			dir = filepath.Join(top, path.Draw(t, "repository"))
		}
		_ = tryWrite(filepath.Join(dir, ".git", "info", "exclude"), ignoreFile().Draw(t, "exclude"))
	}
	if rapid.Bool().Draw(t, "link") {
		_ = os.Symlink(top, filepath.Join(top, "link"))
		_ = os.Symlink(filepath.Join(top, "a"), filepath.Join(top, "link.go"))
	}
}

func ignoreFile() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(line(false), 1, 5), func(lines []string) string {
		return strings.Join(lines, "\n") + "\n"
	})
}

// line is a line of an ignore file or a glob, without what ripgrep 13 or 15
// are known to read in their own way: braces in ignore files, brackets that are
// not closed or match a slash.
func line(braces bool) *rapid.Generator[string] {
	pieces := []string{
		"a", "b", "ab", ".go", "a.go", ".x", "*", "*", "**", "?", "/", "/", "/", "**/", "/**", "/**/", "[ab]", "[a-b]", "[]a]", "[.x]",
		`\a`, `\*`, `\[`, `\#`, " ", `\ `, "\t", "é", "[é]", "#", "!", ",", "**/**", "***",
	}
	if braces {
		pieces = append(pieces, "{a,b}", "{a,b.go}", "{*.go,a/**}", "{**/a,b}", "{,a}", "{}", "a{/**,}b", "{a/b,é}", "{a,**}")
	}
	piece := rapid.SampledFrom(pieces)
	return rapid.Custom(func(t *rapid.T) string {
		start := rapid.SampledFrom([]string{"", "", "", "", "!", "/", "!/", "[!a]", "[^b]", `\!`, `\#`, "**/"}).Draw(t, "start")
		end := rapid.SampledFrom([]string{"", "", "", "", "/", " ", "\r", "/**", "/*"}).Draw(t, "end")
		text := start + strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), "") + end
		if strings.HasSuffix(strings.TrimRight(text, "\t\r "), `\`) && !strings.HasSuffix(text, `\ `) {
			text += "a" // a blank after an escaped blank is read as git does
		}
		if strings.HasSuffix(text, `\`) || strings.HasSuffix(text, `\/`) {
			text += "a"
		}
		return text
	})
}
