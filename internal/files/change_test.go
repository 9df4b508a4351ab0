package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
)

// A desk is a workspace with a history, and what was told of its changes.
type desk struct {
	t     *testing.T
	ws    string
	files *files.Workspace
	told  []files.Changed
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, ws: filepath.Join(base, "ws")}
	if err := os.Mkdir(d.ws, 0o755); err != nil {
		t.Fatal(err)
	}
	d.files = &files.Workspace{
		Worktree: d.ws, History: files.NewHistory(files.HistoryOptions{Dir: filepath.Join(base, "history")}),
		OnChange: func(c files.Changed) { d.told = append(d.told, c) },
	}
	return d
}

func (d *desk) path(name string) files.Path {
	d.t.Helper()
	p, err := d.files.Resolve(d.t.Context(), &asker{}, d.ws, name)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *desk) put(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.ws, name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) get(name string) string {
	data, err := os.ReadFile(filepath.Join(d.ws, name))
	if err != nil {
		return "(" + errors.Unwrap(err).Error() + ")"
	}
	return string(data)
}

// change gives files new contents in one go; "-" removes one.
func (d *desk) change(call string, want map[string]string) error {
	d.t.Helper()
	var paths []files.Path
	for name := range want {
		paths = append(paths, d.path(name))
	}
	claim, err := d.files.Claim(d.t.Context(), paths...)
	if err != nil {
		d.t.Fatal(err)
	}
	defer claim.Release()
	var changes []files.Change
	for _, p := range paths {
		held, err := claim.Get(p)
		if err != nil {
			return err
		}
		text := want[p.Title()]
		changes = append(changes, files.Change{Held: held, Data: []byte(text), Remove: text == "-"})
	}
	landing, err := claim.Commit(d.t.Context(), files.By{Session: "s", Call: call, Dir: d.ws}, changes)
	if err != nil {
		return err
	}
	_, err = landing.Settle()
	return err
}

func TestCheck(t *testing.T) {
	d := newDesk(t)
	d.put("a", "one")
	check := func(session string) error {
		claim, err := d.files.Claim(t.Context(), d.path("a"))
		if err != nil {
			t.Fatal(err)
		}
		defer claim.Release()
		held, err := claim.Get(d.path("a"))
		if err != nil {
			t.Fatal(err)
		}
		return d.files.Check(session, held)
	}
	if err := check("s"); err == nil || !strings.HasPrefix(err.Error(), "You must read file "+d.ws+"/a before overwriting it.") {
		t.Errorf("unread: %v", err)
	}
	seen := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)
	d.files.MarkRead("s", d.path("a"), files.ReadMark{Hash: files.HashOf([]byte("one")), When: seen})
	if err := check("s"); err != nil {
		t.Errorf("read: %v", err)
	}
	if err := check("other"); err == nil {
		t.Error("what one session has read counts for another")
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(d.ws, "a"), later, later); err != nil {
		t.Fatal(err)
	}
	if err := check("s"); err != nil {
		t.Errorf("a touch is a change: %v", err)
	}
	d.put("a", "two")
	err := check("s")
	if _, ok := errors.AsType[*files.StaleError](err); !ok || !strings.Contains(err.Error(), "Last read: 2026-01-02T03:04:05.006Z\n") {
		t.Errorf("changed: %v", err)
	}
	d.put("a", "one")
	if err := check("s"); err != nil {
		t.Errorf("the same contents again: %v", err)
	}
	d.files.Unchecked = true
	if err := check("nobody"); err != nil {
		t.Errorf("switched off: %v", err)
	}
}

// A large file is known by its size and time.
func TestCheckByStamp(t *testing.T) {
	d := newDesk(t)
	d.put("a", "one")
	info, err := os.Stat(filepath.Join(d.ws, "a"))
	if err != nil {
		t.Fatal(err)
	}
	d.files.MarkRead("s", d.path("a"), files.ReadMark{Hash: files.StampOf(info)})
	claim, err := d.files.Claim(t.Context(), d.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	held, err := claim.Get(d.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.files.Check("s", held); err != nil {
		t.Error(err)
	}
}

func TestCommitAndUndo(t *testing.T) {
	d := newDesk(t)
	d.put("a", "a1")
	d.put("gone", "g1")
	if err := d.change("c1", map[string]string{"a": "a2", "new/b": "b1", "gone": "-"}); err != nil {
		t.Fatal(err)
	}
	if err := d.change("c2", map[string]string{"a": "a3"}); err != nil {
		t.Fatal(err)
	}
	if d.get("a")+d.get("new/b")+d.get("gone") != "a3b1(no such file or directory)" || len(d.told) != 4 {
		t.Fatalf("got %q %q %q, told %v", d.get("a"), d.get("new/b"), d.get("gone"), d.told)
	}
	// The first alone is in the way of nothing but a.
	plan := d.undo("c1")
	if got := states(plan); got != "a conflict, gone create, new/b remove" {
		t.Errorf("undoing the first: %s", got)
	}
	if d.get("gone") != "g1" || !strings.HasPrefix(d.get("new/b"), "(") || d.get("a") != "a3" {
		t.Errorf("after it: %q %q %q", d.get("a"), d.get("new/b"), d.get("gone"))
	}
	d.put("a", "theirs")
	if got := states(d.undo("c2")); got != "a conflict" || d.get("a") != "theirs" {
		t.Errorf("what somebody else wrote: %s, %q", got, d.get("a"))
	}
	d.put("a", "a3")
	if got := states(d.undo("c2")); got != "a restore" || d.get("a") != "a2" {
		t.Errorf("undoing the second: %s, %q", got, d.get("a"))
	}
}

func (d *desk) undo(call string) files.UndoPlan {
	d.t.Helper()
	var sets []files.ChangeSet
	for s, err := range d.files.History.Sets(d.t.Context(), files.HistoryQuery{Call: call}) {
		if err != nil {
			d.t.Fatal(err)
		}
		sets = append(sets, s)
	}
	plan, _, err := d.files.Undo(d.t.Context(), files.By{Session: "s", Dir: d.ws}, sets)
	if err != nil {
		d.t.Fatal(err)
	}
	return plan
}

func states(p files.UndoPlan) string {
	var out []string
	for _, i := range p.Items {
		out = append(out, i.Title+" "+string(i.State))
	}
	return strings.Join(out, ", ")
}

// What was put back is no change to who had seen what was taken away.
func TestUndoIsNoChangeToTheSession(t *testing.T) {
	d := newDesk(t)
	d.put("a", "old")
	d.files.MarkRead("s", d.path("a"), files.ReadMark{Hash: files.HashOf([]byte("old"))})
	if err := d.change("c", map[string]string{"a": "new"}); err != nil {
		t.Fatal(err)
	}
	d.undo("c")
	if s, ok := d.files.ReadMark("s", d.path("a")); !ok || s.Hash != files.HashOf([]byte("old")) {
		t.Errorf("seen is %v %v", s, ok)
	}
}

// Somebody else's change that comes between reading and writing is kept.
func TestChangedMeanwhile(t *testing.T) {
	d := newDesk(t)
	d.put("a", "one")
	claim, err := d.files.Claim(t.Context(), d.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	held, err := claim.Get(d.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	d.put("a", "theirs")
	_, err = claim.Commit(t.Context(), files.By{}, []files.Change{{Held: held, Data: []byte("mine")}})
	if !errors.Is(err, disk.ErrChanged) || d.get("a") != "theirs" {
		t.Errorf("%v, and the file holds %q", err, d.get("a"))
	}
	for s := range d.files.History.Sets(t.Context(), files.HistoryQuery{}) {
		t.Errorf("a change that was not made is on record: %v", s)
	}
}

// A change of two files that was made in part, by a process that is gone, is
// taken back by the next one.
func TestRecover(t *testing.T) {
	d := newDesk(t)
	d.put("a", "a2") // was a1: this half was made
	d.put("b", "b1") // was to become b2
	d.put(".helve-left.tmp", "x")
	set := files.ChangeSet{By: files.By{Call: "c", Dir: d.ws}, Changes: []files.KeptChange{
		{Path: filepath.Join(d.ws, "a"), Title: "a", Before: files.DescribeContent([]byte("a1"), true, 0o644), After: files.DescribeContent([]byte("a2"), true, 0o644)},
		{Path: filepath.Join(d.ws, "b"), Title: "b", Before: files.DescribeContent([]byte("b1"), true, 0o644), After: files.DescribeContent([]byte("b2"), true, 0o644)},
	}}
	before := map[string][]byte{set.Changes[0].Path: []byte("a1"), set.Changes[1].Path: []byte("b1")}
	abandon(t, d.files.History, set, before, filepath.Join(d.ws, ".helve-left.tmp"))
	if err := d.files.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.get("a") != "a1" || d.get("b") != "b1" || !strings.HasPrefix(d.get(".helve-left.tmp"), "(") {
		t.Errorf("a is %q, b is %q, and what was left is %q", d.get("a"), d.get("b"), d.get(".helve-left.tmp"))
	}
}

// abandon begins a change as a process does that dies before it ends: the
// file that is locked while it lives is not locked any more.
func abandon(t *testing.T, store *files.History, set files.ChangeSet, before map[string][]byte, temps ...string) {
	t.Helper()
	if _, err := store.Begin(set, before, temps); err != nil {
		t.Fatal(err)
	}
	pending, err := filepath.Glob(filepath.Join(filepath.Dir(set.Dir), "history", "pending", "*.json"))
	if err != nil || len(pending) != 1 {
		t.Fatalf("%q %v", pending, err)
	}
	data, err := os.ReadFile(pending[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(pending[0]), os.WriteFile(pending[0], data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// What the history had no room for lies beside the file until a change has
// ended, and is put back from there.
func TestRecoverWithoutRoom(t *testing.T) {
	d := newDesk(t)
	d.files.History = files.NewHistory(files.HistoryOptions{Dir: filepath.Join(filepath.Dir(d.ws), "history"), FileCap: 1})
	d.put("a", "a2")
	d.put("b", "b1")
	left := filepath.Join(d.ws, ".helve-left.tmp")
	d.put(".helve-left.tmp", "a1")
	set := files.ChangeSet{By: files.By{Call: "c", Dir: d.ws}, Changes: []files.KeptChange{
		{Path: filepath.Join(d.ws, "a"), Title: "a", Before: files.DescribeContent([]byte("a1"), true, 0o644), After: files.DescribeContent([]byte("a2"), true, 0o644)},
		{Path: filepath.Join(d.ws, "b"), Title: "b", Before: files.DescribeContent([]byte("b1"), true, 0o644), After: files.DescribeContent([]byte("b2"), true, 0o644)},
	}}
	abandon(t, d.files.History, set, map[string][]byte{set.Changes[0].Path: []byte("a1"), set.Changes[1].Path: []byte("b1")}, left)
	if err := d.files.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.get("a") != "a1" || d.get("b") != "b1" {
		t.Errorf("a is %q, b is %q", d.get("a"), d.get("b"))
	}
}
