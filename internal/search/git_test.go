package search

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestAgainstGit compares the reading of .gitignore and info/exclude with
// git's own, over random files: braces, brackets and escapes included.
func TestAgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: there is nothing to compare with")
	}
	base := t.TempDir()
	run := func(rt rapid.TB, dir string, args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			rt.Fatalf("git %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	work := filepath.Join(base, "work")
	writeFile(t, work+"/", "")
	run(t, work, "init", "--quiet", "--template=")
	names := strings.Fields(`a b ab a{b} {a,b} a.go [a [ab] c\ x-y ] - ^ z9 Z a.b ! # é`)
	rapid.Check(t, func(rt *rapid.T) {
		clearExcept(rt, work, ".git")
		name := rapid.SampledFrom(names)
		for _, p := range rapid.SliceOfN(rapid.SliceOfN(name, 1, 3), 5, 30).Draw(rt, "files") {
			_ = tryWrite(filepath.Join(work, filepath.Join(p...)), "")
		}
		writeFile(rt, filepath.Join(work, ".git", "info", "exclude"), gitLines().Draw(rt, "exclude"))
		for _, p := range rapid.SliceOfN(rapid.SliceOfN(name, 0, 2), 1, 3).Draw(rt, "ignore files") {
			_ = tryWrite(filepath.Join(work, filepath.Join(p...), ".gitignore"), gitLines().Draw(rt, "ignore"))
		}
		want := strings.Split(strings.TrimSuffix(run(rt, work, "ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		if want[0] == "" {
			want = nil
		}
		slices.SortFunc(want, comparePaths)
		got := collect(rt, Options{Dir: work, Worktree: work, Hidden: true})
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("(-git +ours):\n%s\ntree:\n%s", diff, show(work))
		}
	})
}

func clearExcept(t rapid.TB, dir, keep string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.Name() != keep {
			if err := os.RemoveAll(filepath.Join(dir, d.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// gitLines is an ignore file, without what ripgrep and git read differently and we as ripgrep:
// blanks at the end that are not spaces, two stars beside other characters, ranges from high to
// low, brackets that nothing closes.
func gitLines() *rapid.Generator[string] {
	odd := regexp.MustCompile(`\*\*\*|[^/!]\*\*|\*\*[^/]|^!?/?$|//|\\$|\\/$`)
	piece := rapid.SampledFrom([]string{
		"a", "b", "{", "}", ",", "{a,b}", "*", "?", "/", "**/", "/**", "/**/", "[ab]", "[!a]", "[^b]", "[{}]", `[\]]`, `[\[]`, `[]-]`, "[a-c]", `[\a-\c]`,
		"[[:alpha:]]", "[![:digit:]]", "[[:upper:]b]", ".go", `\[`, `\a`, `\*`, `c\\`, "é", "-", "^", "#", "!", "]", "[*]", "[a/]", "[+-9]",
	})
	one := rapid.Custom(func(t *rapid.T) string {
		start := rapid.SampledFrom([]string{"", "", "", "!", "/", `\!`, `\#`, "**/"}).Draw(t, "start")
		end := rapid.SampledFrom([]string{"", "", "/", " ", "\r"}).Draw(t, "end")
		return start + strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), "") + end
	})
	fine := one.Filter(func(s string) bool { return !odd.MatchString(strings.TrimRight(s, " \r")) })
	return rapid.Map(rapid.SliceOfN(fine, 1, 4), func(lines []string) string { return strings.Join(lines, "\n") + "\n" })
}
