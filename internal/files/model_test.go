package files

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A version is what a file held at some time, and who wrote it. Number 0 is
// what was there first.
type version struct {
	n      int
	theirs bool
	file   *file
}

// A model follows a disk by versions: undoing brings a version back, where
// the store sees contents only.
type model struct {
	store *History
	disk  *memDisk
	last  int
	now   map[string]version
	log   []*record
	seen  map[string]map[string]bool // what tools left, by path; to tell what only others wrote
}

// A record is a set as the model sees it.
type record struct {
	set           ChangeSet
	before, after map[string]version // of its files
	all           map[string]version // of all files, before
	foreign       int                // how often others had written before it
}

func (v version) key() string {
	if v.file == nil {
		return "-"
	}
	return "+" + v.file.data
}

// draw makes up what somebody writes; contents come again at times.
func (m *model) draw(t *rapid.T, theirs bool) version {
	m.last++
	v := version{n: m.last, theirs: theirs}
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1:
	case 2, 3:
		v.file = &file{rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "text"), 0o644}
	default:
		v.file = &file{fmt.Sprintf("%d %v", m.last, theirs), rapid.SampledFrom([]fs.FileMode{0o644, 0o755}).Draw(t, "mode")}
	}
	return v
}

func (m *model) put(versions map[string]version) {
	for path, v := range versions {
		m.now[path] = v
		m.disk.put(map[string]*file{path: v.file})
	}
}

// record writes what is recorded, and remembers it.
func (m *model) record(t *rapid.T, set ChangeSet, to map[string]version, foreign int) *record {
	r := &record{before: map[string]version{}, after: to, all: maps.Clone(m.now), foreign: foreign}
	files := map[string]*file{}
	for path, v := range to {
		r.before[path] = m.now[path]
		files[path] = v.file
		m.seen[path][v.key()] = true
	}
	r.set = m.disk.change(t, m.store, set, files)
	m.put(to)
	m.log = append(m.log, r)
	for _, c := range r.set.Changes {
		t.Logf("set %d %s undoes %v: %s %s to %s", len(m.log)-1, r.set.ID, set.Undoes, c.Title, r.before[c.Path].key(), to[c.Path].key())
	}
	return r
}

// undo plans and perhaps does an undo, and checks the laws.
func (m *model) undo(t *rapid.T, chosen []*record, foreign int) {
	var sets []ChangeSet
	for _, r := range chosen {
		sets = append(sets, r.set)
	}
	plan := m.disk.plan(t, m.store, sets...)
	to := map[string]version{}
	whole := true
	for _, item := range plan.Items {
		m.check(t, chosen, item)
		if item.State == UndoConflict || item.State == UndoLost {
			whole = false
			continue
		}
		if item.State != UndoNothing {
			to[item.Path] = m.wanted(t, chosen, item)
		}
	}
	if rapid.Bool().Draw(t, "preview only") {
		return
	}
	all := maps.Clone(m.disk.files)
	set := ChangeSet{By: By{Tool: "undo"}}
	for _, s := range plan.Sets {
		set.Undoes = append(set.Undoes, s.ID)
	}
	u := m.record(t, set, to, foreign)
	if whole {
		for _, item := range m.disk.plan(t, m.store, sets...).Items {
			if item.State != UndoNothing {
				t.Fatalf("undone twice: %+v", item)
			}
		}
	}
	// Undo of the undo gives back.
	back := m.disk.plan(t, m.store, u.set)
	after := maps.Clone(all)
	for _, item := range back.Items {
		if f, ok := all[item.Path]; !ok && item.Want.Exists || ok && !DescribeContent([]byte(f.data), true, f.mode).is(item.Want) {
			t.Fatalf("undo of the undo: %+v", item)
		}
	}
	if rapid.Bool().Draw(t, "redo") {
		redo := map[string]version{}
		for _, item := range back.Items {
			if item.State != UndoNothing {
				redo[item.Path] = u.before[item.Path]
			}
		}
		m.record(t, ChangeSet{By: By{Undoes: []string{u.set.ID}}}, redo, foreign)
		want(t, m.disk.files, after)
	}
}

// stands reports whether what a set did to a file was not taken back, or the
// taking back was.
func (m *model) stands(r *record, path string) bool {
	for _, u := range m.log[slices.Index(m.log, r)+1:] {
		if changes(u, path) && slices.Contains(u.set.Undoes, r.set.ID) && m.stands(u, path) {
			return false
		}
	}
	return true
}

// wanted finds the version an item brings back: what a chosen set replaced.
func (m *model) wanted(t *rapid.T, chosen []*record, item UndoItem) version {
	for _, r := range chosen {
		v, ok := r.before[item.Path]
		if !ok {
			continue
		}
		if c := describe(v); c.sameBytes(item.Want) {
			if v.file != nil { // a mode that others have set stays
				v.file = &file{v.file.data, item.Want.Mode}
			}
			return v
		}
	}
	t.Fatalf("nobody chosen replaced what is wanted: %+v", item)
	return version{}
}

func describe(v version) KeptContent {
	if v.file == nil {
		return KeptContent{}
	}
	return DescribeContent([]byte(v.file.data), true, v.file.mode)
}

// check tests an item against what the model knows.
func (m *model) check(t *rapid.T, chosen []*record, item UndoItem) {
	cur := m.now[item.Path]
	touches := item.State == UndoRestore || item.State == UndoCreate || item.State == UndoRemove || item.State == UndoLost
	if !item.Now.is(describe(cur)) {
		t.Fatalf("looked wrongly: %+v", item)
	}
	if item.State == UndoLost {
		t.Fatalf("lost: %+v", item)
	}
	if cur.theirs && touches && !m.seen[item.Path][cur.key()] {
		t.Fatalf("what others wrote would be overwritten: %+v", item)
	}
	if len(chosen) != 1 {
		return
	}
	r := chosen[0]
	// A later set that stands is in the way.
	i := slices.Index(m.log, r)
	for _, l := range m.log[i+1:] {
		if touches && changes(l, item.Path) && len(l.set.Undoes) == 0 && m.stands(l, item.Path) {
			t.Fatalf("%s is in the way: %+v", l.set.ID, item)
		}
	}
	// What the set left is there, be it by undoing what came later.
	if changes(r, item.Path) && cur.n == r.after[item.Path].n && len(r.set.Undoes) == 0 && m.stands(r, item.Path) {
		if item.State == UndoConflict || !item.Want.sameBytes(describe(r.before[item.Path])) {
			t.Fatalf("could be undone: %+v", item)
		}
	}
}

func changes(r *record, path string) bool {
	return slices.ContainsFunc(r.set.Changes, func(c KeptChange) bool { return c.Path == path })
}

// TestModel lets tools and others write some files at random, and undoes
// calls, runs of calls and what is left of the way to a point, undoes of
// undoes among them.
func TestModel(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		dir := fmt.Sprintf("%s/%d", root, runs)
		defer os.RemoveAll(dir)
		m := &model{store: NewHistory(HistoryOptions{Dir: dir}), disk: newMemDisk(), now: map[string]version{}, seen: map[string]map[string]bool{}}
		var paths []string
		for _, name := range []string{"a", "b", "c"} {
			paths = append(paths, m.disk.path(name))
			m.seen[m.disk.path(name)] = map[string]bool{}
		}
		foreign := 0
		rt.Repeat(map[string]func(*rapid.T){
			"tool": func(rt *rapid.T) {
				to := map[string]version{}
				for _, path := range rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 1, 3, rapid.ID).Draw(rt, "paths") {
					to[path] = m.draw(rt, false)
				}
				m.record(rt, ChangeSet{}, to, foreign)
			},
			"move": func(rt *rapid.T) {
				two := rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 2, 2, rapid.ID).Draw(rt, "paths")
				m.last += 2
				m.record(rt, ChangeSet{}, map[string]version{
					two[0]: {n: m.last}, two[1]: {n: m.last - 1, file: m.now[two[0]].file},
				}, foreign)
			},
			"other": func(rt *rapid.T) {
				foreign++
				m.put(map[string]version{rapid.SampledFrom(paths).Draw(rt, "path"): m.draw(rt, true)})
			},
			"undo one": func(rt *rapid.T) {
				if len(m.log) > 0 {
					m.undo(rt, []*record{m.log[rapid.IntRange(0, len(m.log)-1).Draw(rt, "set")]}, foreign)
				}
			},
			"undo some": func(rt *rapid.T) {
				if len(m.log) == 0 {
					return
				}
				var chosen []*record
				for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(m.log)-1), 1, min(3, len(m.log)), rapid.ID).Draw(rt, "sets") {
					chosen = append(chosen, m.log[i])
				}
				m.undo(rt, chosen, foreign)
			},
			"undo to a point": func(rt *rapid.T) {
				if len(m.log) == 0 {
					return
				}
				i := rapid.IntRange(0, len(m.log)-1).Draw(rt, "point")
				point := m.log[i]
				plan := m.disk.plan(rt, m.store, setsOf(m.log[i:])...)
				if point.foreign == foreign {
					for _, item := range plan.Items {
						if !item.Want.is(describe(point.all[item.Path])) || item.State == UndoConflict {
							rt.Fatalf("not as it was then: %+v", item)
						}
					}
				}
				m.undo(rt, m.log[i:], foreign)
			},
		})
	})
}

func setsOf(records []*record) []ChangeSet {
	var out []ChangeSet
	for _, r := range records {
		out = append(out, r.set)
	}
	return out
}
