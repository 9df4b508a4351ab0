package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

func tryWrite(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if strings.HasSuffix(name, "/") {
		return nil
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

func writeFile(t rapid.TB, name, text string) {
	t.Helper()
	if err := tryWrite(name, text); err != nil {
		t.Fatal(err)
	}
}

// collect walks to the end, which must come without an error.
func collect(t rapid.TB, opt Options) (names []string) {
	t.Helper()
	if opt.Excludes == "" {
		opt.Excludes = os.DevNull
	}
	for name, err := range Files(context.Background(), opt) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// show prints a tree and the ignore files in it.
func show(top string) string {
	var out strings.Builder
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, name)
		fmt.Fprintf(&out, "%s %s", d.Type(), rel)
		if text, err := os.ReadFile(name); err == nil && len(text) > 0 {
			fmt.Fprintf(&out, " %q", text)
		}
		out.WriteByte('\n')
		return err
	})
	return out.String()
}

// grow writes the files of an archive.
func grow(t *testing.T, archive string) string {
	t.Helper()
	top := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		writeFile(t, filepath.Join(top, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return top
}

const someTree = `
-- .git/HEAD --
-- .git/info/exclude --
secret
-- .gitignore --
*.log
build/
!keep.log
-- .hidden --
-- a.go --
-- a.log --
-- keep.log --
-- secret --
-- build/x.go --
-- sub/.gitignore --
!a.log
*.tmp
-- sub/a.log --
-- sub/a.tmp --
-- sub/build/y.go --
-- sub-x/a.go --
-- sub.go --
-- vendor/.ignore --
b.go
-- vendor/.rgignore --
!b.go
c.go
-- vendor/b.go --
-- vendor/c.go --
-- nested/.git/HEAD --
-- nested/a.log --
-- nested/b.tmp --
`

func TestFiles(t *testing.T) {
	t.Parallel()
	top := grow(t, someTree)
	for _, test := range []struct {
		name string
		opt  Options
		want string
	}{
		{"plain", Options{}, "a.go keep.log nested/a.log nested/b.tmp sub/a.log sub-x/a.go sub.go vendor/b.go"},
		{"hidden", Options{Hidden: true, Globs: []string{"!nested", "!vendor", "!sub*/**"}}, ".gitignore .hidden a.go keep.log sub.go"},
		{"ignored too", Options{Ignored: true, Globs: []string{"*.go"}}, "a.go build/x.go sub/build/y.go sub-x/a.go sub.go vendor/b.go vendor/c.go"},
		{"a glob goes before ignore files", Options{Globs: []string{"*.log"}}, "a.log keep.log nested/a.log sub/a.log"},
		{"but does not open an ignored folder", Options{Globs: []string{"*.go"}}, "a.go sub-x/a.go sub.go vendor/b.go vendor/c.go"},
		{"unless it names that", Options{Globs: []string{"*.go", "build"}}, "a.go build/x.go sub/build/y.go sub-x/a.go sub.go vendor/b.go vendor/c.go"},
		{"the last glob decides", Options{Globs: []string{"*.go", "!a.go", "sub-x/*"}}, "sub-x/a.go sub.go vendor/b.go vendor/c.go"},
		{"a hidden name that is asked for", Options{Globs: []string{".hidden"}}, ".hidden"},
		{"limit", Options{Max: 2}, "a.go keep.log"},
		{"below", Options{Dir: "sub"}, "a.log"},
		{"an ignored folder that is asked for", Options{Dir: "build"}, "x.go"},
		{"the worktree bounds what counts", Options{Dir: "sub", Worktree: "sub"}, "a.log a.tmp build/y.go"},
		{"anchored", Options{Globs: []string{"/a.go"}}, "a.go"},
		{"a choice", Options{Globs: []string{"{sub,vendor}/**", "!*.{tmp,log}"}}, "sub/.gitignore sub/build/y.go vendor/.ignore vendor/.rgignore vendor/b.go vendor/c.go"},
		{"everything but .git", Options{Globs: []string{"*", "!*.log"}, Max: 100},
			".gitignore .hidden a.go build/x.go nested/b.tmp secret sub/.gitignore sub/a.tmp sub/build/y.go sub-x/a.go sub.go vendor/.ignore vendor/.rgignore vendor/b.go vendor/c.go"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			opt := test.opt
			opt.Dir = filepath.Join(top, opt.Dir)
			if opt.Worktree != "" {
				opt.Worktree = filepath.Join(top, opt.Worktree)
			} else {
				opt.Worktree = top
			}
			if diff := cmp.Diff(strings.Fields(test.want), collect(t, opt)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	t.Parallel()
	top := grow(t, someTree)
	var skipped Skipped
	collect(t, Options{Dir: top, Worktree: top, Skipped: &skipped})
	// Ignored: a.log build secret, sub/a.tmp sub/build, vendor/c.go.
	// Hidden: .gitignore .hidden, sub/.gitignore, vendor/.ignore vendor/.rgignore.
	if want := (Skipped{Ignored: 6, Hidden: 5}); skipped != want {
		t.Errorf("%+v, not %+v", skipped, want)
	}
}

func TestOnlyInRepository(t *testing.T) {
	t.Parallel()
	top := grow(t, "-- .gitignore --\na\n-- .ignore --\nb\n-- a --\n-- b --\n-- c --\n")
	opt := Options{Dir: top, Worktree: top}
	if diff := cmp.Diff([]string{"a", "c"}, collect(t, opt)); diff != "" {
		t.Errorf("no repository (-want +got):\n%s", diff)
	}
	writeFile(t, filepath.Join(top, ".jj")+"/", "")
	if diff := cmp.Diff([]string{"c"}, collect(t, opt)); diff != "" {
		t.Errorf("a repository (-want +got):\n%s", diff)
	}
}

// TestLinkedWorktree reads the exclude file that a file .git leads to.
func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	top := grow(t, `
-- main/.git/info/exclude --
a
-- main/.git/worktrees/w/commondir --
../..
-- main/.git/modules/m/info/exclude --
b
-- w/.git --
gitdir: ../main/.git/worktrees/w
-- w/a --
-- w/b --
-- m/.git --
gitdir: ../main/.git/modules/m
-- m/a --
-- m/b --
`)
	if diff := cmp.Diff([]string{"m/a", "w/b"}, collect(t, Options{Dir: top, Worktree: top})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUserExcludes(t *testing.T) {
	home := grow(t, "-- .config/git/ignore --\na\n-- other --\nb\n-- work/.git/HEAD --\n-- work/a --\n-- work/b --\n-- work/c --\n")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_GLOBAL", "")
	list := func() (names []string) {
		for name, err := range Files(t.Context(), Options{Dir: filepath.Join(home, "work")}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"b", "c"}, list()); diff != "" {
		t.Errorf("usual place (-want +got):\n%s", diff)
	}
	writeFile(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/other\n")
	if diff := cmp.Diff([]string{"a", "c"}, list()); diff != "" {
		t.Errorf("named place (-want +got):\n%s", diff)
	}
}

func TestWalkErrors(t *testing.T) {
	t.Parallel()
	top := grow(t, "-- file --\n")
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		opt  Options
		want error
	}{
		{"missing", context.Background(), Options{Dir: filepath.Join(top, "none")}, fs.ErrNotExist},
		{"file", context.Background(), Options{Dir: filepath.Join(top, "file")}, nil},
		{"glob", context.Background(), Options{Dir: top, Globs: []string{"{a"}}, errGlobBrace},
		{"canceled", canceled, Options{Dir: top}, context.Canceled},
	} {
		count := 0
		for name, err := range Files(test.ctx, test.opt) {
			count++
			if err == nil || name != "" || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%s: %q, %v", test.name, name, err)
			}
		}
		if count != 1 {
			t.Errorf("%s: %d pairs", test.name, count)
		}
	}
}

// TestCancel ends a walk from within: at most a few more names come.
func TestCancel(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for i := range 1000 {
		writeFile(t, filepath.Join(top, fmt.Sprint(i)), "")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	names := 0
	for _, err := range Files(ctx, Options{Dir: top}) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		names++
		cancel()
	}
	if names > 64 {
		t.Errorf("%d names after the end", names)
	}
}

// TestWide walks a folder of many entries.
func TestWide(t *testing.T) {
	t.Parallel()
	count := 100_000
	if testing.Short() {
		count = 5_000
	}
	top := t.TempDir()
	writeFile(t, filepath.Join(top, ".ignore"), "*7\n")
	var first string
	for i := range count {
		name := filepath.Join(top, fmt.Sprintf("%06d", i))
		if i%10_000 == 0 { // names of one file cost less than files
			writeFile(t, name, "")
			first = name
		} else if err := os.Link(first, name); err != nil {
			t.Fatal(err)
		}
	}
	names := collect(t, Options{Dir: top, Worktree: top})
	if want := count - count/10; len(names) != want || !slices.IsSorted(names) {
		t.Errorf("%d names, not %d, or not sorted", len(names), want)
	}
}

// TestStackOfRules bounds the ignore files in force, and says so.
func TestStackOfRules(t *testing.T) {
	t.Parallel()
	top, dir := t.TempDir(), ""
	text := "x\n" + strings.Repeat("# "+strings.Repeat("a", 1000)+"\n", maxIgnoreFile/1000)
	for i := range 7 {
		dir = filepath.Join(dir, "d")
		writeFile(t, filepath.Join(top, dir, ".ignore"), text)
		writeFile(t, filepath.Join(top, dir, fmt.Sprint(i)), "")
	}
	var skipped Skipped
	names := collect(t, Options{Dir: top, Worktree: top, Skipped: &skipped})
	if len(names) != 7 || skipped.Failed == 0 || !errors.Is(skipped.Err, errTooMuch) {
		t.Errorf("%d names, %+v", len(names), skipped)
	}
}

func BenchmarkFiles(b *testing.B) {
	top := b.TempDir()
	writeFile(b, filepath.Join(top, ".git", "HEAD"), "")
	writeFile(b, filepath.Join(top, ".gitignore"), "*.log\nnode_modules/\n/build\n!keep.log\n*.o\n*~\ndocs/**/*.tmp\n[Tt]humbs.db\n")
	for i := range 20_000 {
		writeFile(b, filepath.Join(top, fmt.Sprintf("d%02d/e%02d/file%d.go", i%20, i/20%50, i)), "")
	}
	b.ReportAllocs()
	for b.Loop() {
		count := 0
		for _, err := range Files(b.Context(), Options{Dir: top, Worktree: top, Excludes: os.DevNull}) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		if count != 20_000 {
			b.Fatalf("%d files", count)
		}
	}
}

// TestPrecedence has every kind of ignore file say yes to the name of the
// next weaker one, which says no.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	top := grow(t, `
-- settings --
global
-- work/.rgignore --
!plain
rg
-- work/.ignore --
plain
!rg
!git
-- work/.gitignore --
git
!plain
!exclude
-- work/.git/info/exclude --
exclude
!git
!global
-- work/near/.ignore --
!plain
!rg
near
-- work/near/.gitignore --
!near
-- work/exclude --
-- work/git --
-- work/global --
-- work/near/near --
-- work/near/rg --
-- work/plain --
-- work/rg --
`)
	work := filepath.Join(top, "work")
	got := collect(t, Options{Dir: work, Worktree: work, Excludes: filepath.Join(top, "settings")})
	if diff := cmp.Diff([]string{"exclude", "git", "global", "plain"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
