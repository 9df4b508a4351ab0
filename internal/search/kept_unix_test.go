//go:build unix

package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helve-dev/helve/internal/regex"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// A garden is a tree that is changed and searched as some bytes say, by an
// engine that keeps it and by one that does not. Their answers must be equal.
type garden struct {
	t      rapid.TB
	top    string // holds the tree, and what is outside of it
	script []byte
	log    []string
	keeps  *Engine
	deaf   bool
	served int // answers that came from the tree
}

// keptWays are the ways to keep a tree.
func keptWays() map[string]EngineOptions {
	return map[string]EngineOptions{
		"watched": {Keep: true, Memory: -1},
		"deaf":    {Keep: true, Memory: -1},
		"indexed": {Keep: true},
	}
}

func newGarden(t rapid.TB, top, way string, script []byte) *garden {
	g := &garden{t: t, top: top, script: script, deaf: way == "deaf", keeps: New(keptWays()[way])}
	for _, name := range []string{"work/a/b/f.go", "work/a/g.txt", "work/a.go", "work/build/x.gen", "out/m/f.go"} {
		writeFile(t, filepath.Join(top, name), g.text(len(name)))
	}
	return g
}

func (g *garden) next(n int) int {
	if len(g.script) == 0 {
		return 0
	}
	b := g.script[0]
	g.script = g.script[1:]
	return int(b) % n
}

func pick(g *garden, of ...string) string { return of[g.next(len(of))] }

func (g *garden) folder() string {
	return filepath.Join(g.top, pick(g, "work", "work/a", "work/a/b", "work/build", "out/m"))
}

func (g *garden) file() string {
	return filepath.Join(g.folder(), pick(g, "f.go", "g.txt", "a.go", "a0", "b", "x.gen"))
}

func (g *garden) text(n int) string {
	switch n % 8 {
	case 0:
		return "a needle here\nother\n"
	case 1:
		return "nothing of note\nxxxy\n"
	case 2:
		return "NEEDLE\nneedle\nneedle again\n"
	case 3:
		return "needle\x00needle\n"
	case 4:
		return "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00"
	case 5:
		return ""
	case 6:
		return strings.Repeat("filler\n", 2000) + "a needle at the end"
	}
	return "other\nother\nxy\n"
}

// rules is an ignore file.
func (g *garden) rules() string {
	return pick(g, "", "*.gen\n", "build/\n", "/a/b\n", "*.txt\n!g.txt\n", "b\n", "*.go\n", "/b\n*.gen\n", "build\na0\n")
}

// change does one thing to the tree. It need not succeed.
func (g *garden) change() {
	p := g.file()
	var err error
	what := g.next(22)
	switch what {
	case 0, 1:
		err = putFile(p, g.text(g.next(8)))
	case 2:
		err = appendTo(p, "one more needle\n")
	case 3: // of the same size, at the same time
		err = overwrite(p)
	case 4:
		temp := filepath.Join(g.folder(), "temp")
		if err = putFile(temp, g.text(g.next(8))); err == nil {
			err = os.Rename(temp, p)
		}
	case 5:
		err = os.Remove(p)
	case 6:
		err = os.Rename(p, g.file())
	case 7:
		err = os.MkdirAll(p, 0o755)
	case 8, 9:
		err = os.Rename(g.folder(), g.folder())
	case 10:
		err = os.RemoveAll(g.folder())
	case 11, 12:
		err = tryWrite(filepath.Join(g.folder(), pick(g, ".gitignore", ".ignore", ".rgignore")), g.rules())
	case 13:
		err = os.RemoveAll(filepath.Join(g.folder(), pick(g, ".gitignore", ".ignore", ".rgignore", ".git", ".jj")))
	case 14:
		err = g.repo()
	case 15:
		err = linkAloud(p, g.file())
	case 16:
		err = linkAloud(p, filepath.Join(g.top, "out", fmt.Sprint("link", g.next(3))))
	case 17:
		err = overwrite(filepath.Join(g.top, "out", fmt.Sprint("link", g.next(3))))
	case 18:
		_ = os.Remove(p)
		if g.next(2) == 0 {
			err = os.Symlink(g.file(), p)
		} else {
			err = unix.Mkfifo(p, 0o600)
		}
	case 19:
		err = os.Chmod(pick(g, p, g.folder()), fs.FileMode(0o700+g.next(64)))
	case 20:
		at := time.Unix(int64(1_000_000+g.next(2)), 5)
		err = os.Chtimes(p, at, at)
	case 21:
		err = g.outside()
	}
	g.log = append(g.log, fmt.Sprintf("%d %s: %v", what, strings.TrimPrefix(p, g.top), err))
}

// putFile writes a file and does not wait for the other end of a pipe.
func putFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// linkAloud gives a file a second name. A tree that holds only the first one,
// as one of work/a or of work does, hears of it because the mode changes.
func linkAloud(name, other string) error {
	if err := os.Link(name, other); err != nil {
		return err
	}
	return os.Chmod(name, 0o600)
}

// overwrite changes a file, but neither its size nor its time.
func overwrite(name string) error {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text = bytes.Map(func(r rune) rune {
		switch r {
		case 'n':
			return 'm'
		case 'm':
			return 'n'
		}
		return r
	}, text)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close(), os.Chtimes(name, info.ModTime(), info.ModTime()))
}

// repo makes a repository, in one way or another.
func (g *garden) repo() error {
	dir := g.folder()
	switch g.next(4) {
	case 0:
		return os.Mkdir(filepath.Join(dir, ".jj"), 0o755)
	case 1: // a linked worktree
		_ = tryWrite(filepath.Join(g.top, "out", "repo", "info", "exclude"), g.rules())
		return tryWrite(filepath.Join(dir, ".git"), "gitdir: "+filepath.Join(g.top, "out", "repo")+"\n")
	}
	return tryWrite(filepath.Join(dir, ".git", "info", "exclude"), g.rules())
}

// outside changes what is not in the tree, but says what is.
func (g *garden) outside() error {
	switch g.next(5) {
	case 0:
		return tryWrite(filepath.Join(g.top, ".gitignore"), g.rules())
	case 1:
		return tryWrite(filepath.Join(g.top, "excludes"), g.rules())
	case 2:
		return os.MkdirAll(filepath.Join(g.top, ".git"), 0o755)
	case 3:
		return os.RemoveAll(filepath.Join(g.top, ".git"))
	}
	return os.Rename(filepath.Join(g.top, pick(g, "work", "old")), filepath.Join(g.top, pick(g, "old", "work")))
}

// where is what a search is about.
func (g *garden) where() Options {
	opt := Options{
		Dir: filepath.Join(g.top, pick(g, "work", "work", "work", "work/a", "work/a", "work/a/b", "work/build")), Exact: true,
		Hidden: true, Closed: true, Worktree: g.top, Excludes: filepath.Join(g.top, "excludes"),
	}
	switch g.next(14) {
	case 0:
		opt.Globs = []string{"*.go"}
	case 1:
		opt.Globs = []string{"a/**"}
	case 2:
		opt.Globs = []string{"!b"}
	case 3:
		opt.Globs = []string{"*", "!*.go"}
	case 4:
		opt.Globs = []string{"**/b/*.{go,txt}", "!a/b/f.go"}
	case 5:
		opt.Globs = []string{"build/**"}
	case 6:
		opt.Globs = []string{"[a"}
	}
	return opt
}

// check compares one answer of the two engines.
func (g *garden) check() {
	g.t.Helper()
	orders := []Order{Newest, Newest, ByName}
	where, limit, order := g.where(), []int{0, 0, 1, 3}[g.next(4)], orders[g.next(3)]
	fresh := New(EngineOptions{})
	defer fresh.Close()
	var got, want any
	var gotErr, wantErr error
	partial := false
	if g.next(3) == 0 {
		q := Glob{Where: where, Limit: limit, Order: order}
		want, wantErr = fresh.Glob(context.Background(), q)
		got, gotErr = g.keeps.Glob(context.Background(), q)
	} else {
		re, err := regex.Compile(pick(g, "needle", "(?i)needle|other", "x+y", "^other$", "meedle", "e"), regex.Options{})
		if err != nil {
			g.t.Fatal(err)
		}
		q := Grep{Where: where, Pattern: re, Limit: limit, Order: order}
		if g.next(4) == 0 {
			q.Bar = &Exclusion{
				Key:     "txt",
				Suspect: func(name string) bool { return strings.HasSuffix(name, ".txt") },
				Shut:    func(name string) bool { return !strings.HasPrefix(name, "a/") },
			}
		}
		found, err := fresh.Grep(context.Background(), q)
		partial = err == nil && found.More
		want, wantErr = found, err
		got, gotErr = g.keeps.Grep(context.Background(), q)
	}
	if (gotErr == nil) != (wantErr == nil) {
		g.t.Fatalf("%+v: %v kept, %v fresh\n%s", where, gotErr, wantErr, g.show())
	}
	if wantErr == nil {
		ignore := cmpopts.IgnoreFields(Skipped{}, "Err")
		if partial {
			ignore = cmpopts.IgnoreFields(Skipped{}, "Err", "Binary")
		}
		if diff := cmp.Diff(want, got, ignore, cmpopts.EquateEmpty()); diff != "" {
			g.t.Fatalf("%s %q limit %d order %d (-fresh +kept):\n%s\n%s", where.Dir, where.Globs, limit, order, diff, g.show())
		}
	}
	g.settle()
}

// settle waits until nothing goes on in the background.
func (g *garden) settle() {
	k := g.keeps.keeper
	k.work.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.list {
		if s.tree != nil {
			g.served++
		}
		s.rest = time.Time{}
		if g.deaf && !s.deaf {
			s.deaf = true
			s.discardTree()
		}
	}
}

func (g *garden) show() string {
	out := strings.Join(g.log, "\n") + "\n"
	_ = filepath.WalkDir(g.top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out += fmt.Sprint(info.Mode(), " ", strings.TrimPrefix(name, g.top), " ", info.ModTime().UnixNano())
		if d.Type().IsRegular() {
			text, _ := os.ReadFile(name)
			out += fmt.Sprintf(" %.30q", text)
		}
		out += "\n"
		return nil
	})
	return out
}

// run follows the script to its end.
func (g *garden) run() {
	defer g.keeps.Close()
	g.check()
	g.check()
	for len(g.script) > 0 {
		for range 1 + g.next(4) {
			g.change()
		}
		g.check()
	}
	if left := len(g.keeps.keeper.list); left > maxKept {
		g.t.Fatalf("%d trees are kept", left)
	}
}

// TestKeptEqualsFresh changes trees at random and searches them meanwhile: the
// answers of an engine that keeps trees are those of one that does not.
func TestKeptEqualsFresh(t *testing.T) {
	for way := range keptWays() {
		t.Run(way, func(t *testing.T) {
			base := t.TempDir()
			served := 0
			rapid.Check(t, func(rt *rapid.T) {
				top, err := os.MkdirTemp(base, "")
				if err != nil {
					rt.Fatal(err)
				}
				defer func() { _ = os.RemoveAll(top) }()
				g := newGarden(rt, top, way, rapid.SliceOfN(rapid.Byte(), 50, 250).Draw(rt, "script"))
				g.run()
				served += g.served
			})
			if served == 0 {
				t.Error("no answer came from a tree")
			}
		})
	}
}

func FuzzKept(f *testing.F) {
	f.Add([]byte{0}, byte(0))
	f.Fuzz(func(t *testing.T, script []byte, way byte) {
		top := t.TempDir()
		name := []string{"watched", "deaf", "indexed"}[way%3]
		newGarden(t, top, name, script[:min(len(script), 400)]).run()
	})
}
