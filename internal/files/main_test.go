package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/leaktest"
)

// The test binary doubles as the other processes: with helperEnv set it is
// one of the helpers of crash_test.go.
const helperEnv = "HELVE_HISTORY_HELPER"

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		if err := helper(role, os.Getenv("HELVE_HISTORY_DIR"), os.Getenv("HELVE_HISTORY_ARG")); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

// A tb is a *testing.T, *testing.B or *rapid.T.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

func ok(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(t tb) T {
	return func(t tb) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func want(t tb, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(file{})); diff != "" {
		t.Fatalf("not as wanted (-want +got):\n%s", diff)
	}
}

// A file is what a place of a fake disk holds; nil is no file.
type file struct {
	data string
	mode fs.FileMode
}

// A memDisk is the files of a project, in memory.
type memDisk struct {
	root  string
	files map[string]file
}

func newMemDisk() *memDisk {
	root := filepath.FromSlash("/project")
	if !filepath.IsAbs(root) {
		root = `C:\project`
	}
	return &memDisk{root, map[string]file{}}
}

func (d *memDisk) path(name string) string { return filepath.Join(d.root, name) }

func (d *memDisk) look(path string) (KeptContent, error) {
	f, ok := d.files[path]
	return DescribeContent([]byte(f.data), ok, f.mode), nil
}

// change records a set that makes files hold what is given, as a tool would;
// a nil file is removed.
func (d *memDisk) change(t tb, s *History, set ChangeSet, to map[string]*file) ChangeSet {
	t.Helper()
	p := d.begin(t, s, set, to)
	d.put(to)
	ok(t, p.Done(nil))
	return p.Set()
}

func (d *memDisk) begin(t tb, s *History, set ChangeSet, to map[string]*file) *PendingSet {
	t.Helper()
	before := map[string][]byte{}
	for path, f := range to {
		c := KeptChange{Path: path, Title: filepath.Base(path)}
		c.Before = must(d.look(path))(t)
		if c.Before.Exists {
			before[path] = []byte(d.files[path].data)
		}
		if f != nil {
			c.After = DescribeContent([]byte(f.data), true, f.mode)
		}
		set.Changes = append(set.Changes, c)
	}
	slices.SortFunc(set.Changes, func(a, b KeptChange) int { return strings.Compare(a.Path, b.Path) })
	return must(s.Begin(set, before, nil))(t)
}

func (d *memDisk) put(to map[string]*file) {
	for path, f := range to {
		if f == nil {
			delete(d.files, path)
		} else {
			d.files[path] = *f
		}
	}
}

// undo does what a plan says, and records it.
func (d *memDisk) undo(t tb, s *History, plan UndoPlan) ChangeSet {
	t.Helper()
	set := ChangeSet{By: By{Tool: "undo"}}
	for _, u := range plan.Sets {
		set.Undoes = append(set.Undoes, u.ID)
	}
	to := map[string]*file{}
	for _, item := range plan.Items {
		switch item.State {
		case UndoRemove:
			to[item.Path] = nil
		case UndoRestore, UndoCreate:
			f := &file{d.files[item.Path].data, item.Want.Mode}
			if !item.Now.sameBytes(item.Want) {
				f.data = string(must(s.Content(item.Want.Hash))(t))
			}
			to[item.Path] = f
		}
	}
	return d.change(t, s, set, to)
}

func (d *memDisk) plan(t tb, s *History, sets ...ChangeSet) UndoPlan {
	t.Helper()
	return must(s.Plan(t.Context(), sets, d.look))(t)
}

func text(data string) *file { return &file{data, 0o644} }

func list(t tb, s *History, q HistoryQuery) []ChangeSet {
	t.Helper()
	var out []ChangeSet
	for set, err := range s.Sets(t.Context(), q) {
		ok(t, err)
		out = append(out, set)
	}
	return out
}

func ids(sets []ChangeSet) []string {
	var out []string
	for _, s := range sets {
		out = append(out, s.ID)
	}
	return out
}

// tree lists what lies below a folder, with what files hold.
func tree(t tb, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	ok(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
			return nil
		} else if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		out[must(filepath.Rel(dir, path))(t)] = string(data)
		return err
	}))
	return out
}

// usage is what the files below a folder take up.
func usage(t tb, dir string) (n int64) {
	t.Helper()
	ok(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += onDisk(info.Size())
		}
		return err
	}))
	return n
}
