package files

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// brief is an item without what differs from run to run.
type brief struct {
	Name  string
	State UndoState
	Want  string // what the file would hold; - for none
}

func briefs(t *testing.T, s *History, plan UndoPlan) []brief {
	t.Helper()
	var out []brief
	for _, i := range plan.Items {
		b := brief{i.Title, i.State, "-"}
		if i.Want.Exists {
			data, err := s.Content(i.Want.Hash)
			if b.Want = string(data); err != nil {
				b.Want = "?"
			}
		}
		out = append(out, b)
	}
	return out
}

// reason returns why the only item is in the state.
func reason(t *testing.T, plan UndoPlan, state UndoState) string {
	t.Helper()
	if len(plan.Items) != 1 || plan.Items[0].State != state {
		t.Fatalf("no %s: %+v", state, plan.Items)
	}
	return plan.Items[0].Reason
}

func mentions(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not mention %q", text, p)
		}
	}
}

func TestUndoKinds(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a, b, c, e := d.path("a"), d.path("b"), d.path("c"), d.path("e")
	d.put(map[string]*file{a: text("old a"), b: text("old b"), e: {"moved", 0o755}})
	set := d.change(t, s, ChangeSet{By: By{Call: "1"}}, map[string]*file{
		a: text("new a"), b: nil, c: text("new c"), e: nil, d.path("f"): {"moved", 0o755},
	})
	var kinds []string
	for _, c := range set.Changes {
		kinds = append(kinds, c.Kind())
	}
	want(t, kinds, []string{Update, Delete, Add, Delete, Add})
	plan := d.plan(t, s, set)
	want(t, briefs(t, s, plan), []brief{
		{"a", UndoRestore, "old a"}, {"b", UndoCreate, "old b"}, {"c", UndoRemove, "-"}, {"e", UndoCreate, "moved"}, {"f", UndoRemove, "-"},
	})
	undo := d.undo(t, s, plan)
	want(t, d.files[e], file{"moved", 0o755})
	want(t, len(d.files), 3)

	again := d.plan(t, s, set)
	for _, i := range again.Items {
		want(t, i.State, UndoNothing)
		mentions(t, i.Reason, undo.ID)
	}
	sets := list(t, s, HistoryQuery{})
	want(t, ids(sets), []string{undo.ID, set.ID})
	want(t, sets[1].UndoneBy, undo.ID)

	redo := d.undo(t, s, d.plan(t, s, undo))
	want(t, d.files[c], *text("new c"))
	want(t, len(d.files), 3)
	sets = list(t, s, HistoryQuery{})
	want(t, []string{sets[2].UndoneBy, sets[1].UndoneBy, sets[0].UndoneBy}, []string{"", redo.ID, ""})

	// The call can now be undone again, and the redo too.
	want(t, d.plan(t, s, set).Items[0].State, UndoRestore)
	want(t, d.plan(t, s, redo).Items[0].State, UndoRestore)
	reason(t, d.plan(t, s, ChangeSet{ID: undo.ID, Changes: undo.Changes[:1]}), UndoNothing)
}

func TestUndoChain(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a := d.path("a")
	var sets []ChangeSet
	for _, v := range []string{"1", "2", "3"} {
		sets = append([]ChangeSet{d.change(t, s, ChangeSet{By: By{Tool: "edit", Call: "call_" + v}}, map[string]*file{a: text(v)})}, sets...)
	}
	want(t, briefs(t, s, d.plan(t, s, sets...)), []brief{{"a", UndoRemove, "-"}})
	want(t, briefs(t, s, d.plan(t, s, sets[:2]...)), []brief{{"a", UndoRestore, "1"}})
	want(t, briefs(t, s, d.plan(t, s, sets[1], sets[0])), []brief{{"a", UndoRestore, "1"}}) // in any order
	mentions(t, reason(t, d.plan(t, s, sets[1]), UndoConflict), "later", sets[0].ID, "edit", "call_3")
	mentions(t, reason(t, d.plan(t, s, sets[0], sets[2]), UndoConflict), "later", sets[1].ID, "call_2")

	// Once the later set is undone the earlier one is free.
	undo := d.undo(t, s, d.plan(t, s, sets[0]))
	want(t, d.files[a].data, "2")
	want(t, briefs(t, s, d.plan(t, s, sets[1])), []brief{{"a", UndoRestore, "1"}})
	want(t, briefs(t, s, d.plan(t, s, sets...)), []brief{{"a", UndoRemove, "-"}})
	want(t, briefs(t, s, d.plan(t, s, append([]ChangeSet{undo}, sets...)...)), []brief{{"a", UndoRemove, "-"}})

	// The same text written anew is not what the undone set wrote.
	d.change(t, s, ChangeSet{}, map[string]*file{a: text("3")})
	mentions(t, reason(t, d.plan(t, s, sets[0]), UndoNothing), undo.ID)
}

func TestUndoForeign(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a := d.path("a")
	d.put(map[string]*file{a: text("0")})
	first := d.change(t, s, ChangeSet{}, map[string]*file{a: text("1")})
	d.put(map[string]*file{a: text("theirs")})
	mentions(t, reason(t, d.plan(t, s, first), UndoConflict), "someone else", first.ID)
	item := d.plan(t, s, first).Items[0]
	want(t, item.Want.Kept, true) // whoever insists can have it
	want(t, string(must(s.Content(item.Want.Hash))(t)), "0")

	second := d.change(t, s, ChangeSet{}, map[string]*file{a: text("2")})
	want(t, briefs(t, s, d.plan(t, s, second)), []brief{{"a", UndoRestore, "theirs"}})
	mentions(t, reason(t, d.plan(t, s, second, first), UndoConflict), "someone else", first.ID, second.ID)

	// Somebody removes it; somebody puts it back by hand.
	d.put(map[string]*file{a: nil})
	mentions(t, reason(t, d.plan(t, s, second), UndoConflict), "someone else")
	d.put(map[string]*file{a: text("theirs")})
	reason(t, d.plan(t, s, second), UndoNothing)

	broken := func(string) (KeptContent, error) { return KeptContent{}, errors.New("no such door") }
	mentions(t, reason(t, must(s.Plan(t.Context(), []ChangeSet{second}, broken))(t), UndoConflict), "no such door")
}

func TestUndoMode(t *testing.T) {
	t.Parallel()
	s, d := NewHistory(HistoryOptions{Dir: t.TempDir()}), newMemDisk()
	a := d.path("a")
	d.put(map[string]*file{a: {"0", 0o755}})
	set := d.change(t, s, ChangeSet{}, map[string]*file{a: {"1", 0o644}})
	want(t, d.plan(t, s, set).Items[0].Want.Mode, fs.FileMode(0o755))
	d.put(map[string]*file{a: {"1", 0o600}}) // theirs stays
	want(t, d.plan(t, s, set).Items[0].Want.Mode, fs.FileMode(0o600))

	// Only the mode.
	set = d.change(t, s, ChangeSet{}, map[string]*file{a: {"1", 0o700}})
	plan := d.plan(t, s, set)
	want(t, plan.Items[0].State, UndoRestore)
	d.undo(t, s, plan)
	want(t, d.files[a], file{"1", 0o600})
}

func TestLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, d := NewHistory(HistoryOptions{Dir: dir, FileCap: 10000}), newMemDisk()
	a, b, c := d.path("a"), d.path("b"), d.path("c")
	d.put(map[string]*file{a: text(strings.Repeat("x", 10001)), b: text(strings.Repeat("y", 10000)), c: text("small")})
	set := d.change(t, s, ChangeSet{}, map[string]*file{a: text("1"), b: text("1"), c: text("1")})
	want(t, []bool{set.Changes[0].Before.Kept, set.Changes[1].Before.Kept}, []bool{false, true})
	states := func() []UndoState {
		var out []UndoState
		for _, i := range d.plan(t, s, set).Items {
			out = append(out, i.State)
		}
		return out
	}
	want(t, states(), []UndoState{UndoLost, UndoRestore, UndoRestore})

	// Any damage of a blob is found, and repaired when the contents are seen again.
	for i, path := range []string{s.blobPath(set.Changes[1].Before.Hash), s.blobPath(set.Changes[2].Before.Hash)} {
		good := must(os.ReadFile(path))(t)
		for _, at := range []int{0, 1, blobHeader, len(good) - 1} {
			bad := append([]byte(nil), good...)
			bad[at] ^= 0x40
			ok(t, os.WriteFile(path, bad, 0o600))
			if got := states()[1+i]; got != UndoLost {
				t.Errorf("damage at %d: %s", at, got)
			}
			if data, err := s.Content(set.Changes[1+i].Before.Hash); !errors.Is(err, ErrLost) {
				t.Errorf("damaged contents are read: %q, %v", data, err)
			}
		}
		ok(t, os.WriteFile(path, good[:len(good)-1], 0o600))
		want(t, states()[1+i], UndoLost)
	}
	e := d.path("e")
	d.put(map[string]*file{e: text("small")})
	d.change(t, s, ChangeSet{}, map[string]*file{e: nil})
	want(t, states(), []UndoState{UndoLost, UndoLost, UndoRestore})
	ok(t, os.Remove(s.blobPath(set.Changes[2].Before.Hash)))
	want(t, states(), []UndoState{UndoLost, UndoLost, UndoLost})
}
