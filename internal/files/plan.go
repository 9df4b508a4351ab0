package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// An UndoPlan is what undoing sets would do.
type UndoPlan struct {
	Items []UndoItem  // one per file, sorted by path
	Sets  []ChangeSet // the sets to undo, newest first
}

// An UndoItem is what an undo would do to one file.
type UndoItem struct {
	Path   string
	Title  string
	Now    KeptContent // its current content
	Want   KeptContent // its content after the undo; for a conflict, what it would be without the conflict
	State  UndoState
	Reason string // for people, if State does not say it
	Last   string // the newest set that changed the file
}

// An UndoState says what an undo does to a file.
type UndoState string

// The states of an item. Only the first three change the file.
const (
	UndoRestore  UndoState = "restore"  // write Want over it
	UndoRemove   UndoState = "remove"   // it did not exist
	UndoCreate   UndoState = "create"   // it does not exist now
	UndoNothing  UndoState = "same"     // nothing to do
	UndoConflict UndoState = "conflict" // it holds something that is not ours to overwrite
	UndoLost     UndoState = "lost"     // its earlier content is not kept
)

// A chainLink is one of the successive changes of a file.
type chainLink struct {
	set    *ChangeSet
	change KeptChange
	chosen bool // to be undone
}

// Plan returns what undoing sets would do to the current files, as look finds them. It changes
// nothing.
//
// For each file the chosen changes are undone from the newest to the oldest, each only if the file
// then holds what that change left. A file that does not, because somebody else wrote it, is a
// conflict; so is one that a later set changed which is not chosen, unless that was undone itself.
// A chosen change that was already undone does not count. A mode that somebody else has set since
// stays.
func (s *History) Plan(ctx context.Context, sets []ChangeSet, look func(path string) (KeptContent, error)) (UndoPlan, error) {
	var plan UndoPlan
	if len(sets) == 0 {
		return plan, nil
	}
	sets = slices.Clone(sets)
	slices.SortFunc(sets, func(a, b ChangeSet) int { return cmp.Compare(b.ID, a.ID) })
	plan.Sets = slices.CompactFunc(sets, func(a, b ChangeSet) bool { return a.ID == b.ID })
	chains, err := s.chains(ctx, plan.Sets)
	if err != nil {
		return UndoPlan{}, fmt.Errorf("planning an undo: %w", err)
	}
	for path, chain := range chains {
		if err := ctx.Err(); err != nil {
			return UndoPlan{}, err
		}
		item := UndoItem{Path: path, Title: chainTitle(chain), Last: chain[0].set.ID}
		item.Now, err = look(path)
		if err != nil {
			item.Want = oldest(chain).change.Before
			item.conflict("cannot be looked at: %v", err)
		} else {
			item.walk(chain)
		}
		s.verify(&item)
		plan.Items = append(plan.Items, item)
	}
	slices.SortFunc(plan.Items, func(a, b UndoItem) int { return cmp.Compare(a.Path, b.Path) })
	return plan, nil
}

// chains returns, newest first, all changes of the chosen files since the oldest chosen set.
func (s *History) chains(ctx context.Context, chosen []ChangeSet) (map[string][]chainLink, error) {
	chains := map[string][]chainLink{}
	byID := map[string]bool{}
	for _, set := range chosen {
		byID[set.ID] = true
		for _, c := range set.Changes {
			chains[c.Path] = nil
		}
	}
	since := chosen[len(chosen)-1].ID
	all := slices.Clone(chosen)
	for set, err := range s.Sets(ctx, HistoryQuery{Since: since}) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && set.ID == "" {
			return nil, err
		}
		if err != nil { // the files show what it did
			s.opt.Logger.Warn("history: a set is passed over", "err", err)
			continue
		}
		touches := slices.ContainsFunc(set.Changes, func(c KeptChange) bool { _, ok := chains[c.Path]; return ok })
		if touches && !byID[set.ID] {
			all = append(all, set)
		}
	}
	slices.SortFunc(all, func(a, b ChangeSet) int { return cmp.Compare(b.ID, a.ID) })
	for i := range all {
		set := &all[i]
		for _, c := range set.Changes {
			if chain, ok := chains[c.Path]; ok {
				chains[c.Path] = append(chain, chainLink{set, c, byID[set.ID]})
			}
		}
	}
	return chains, nil
}

// dead returns the links that other, unchosen sets have undone, and by which set. Such a pair
// leaves the file as it was; undo says which links are the second half of one.
func dead(chain []chainLink) (by map[string]*ChangeSet, undo map[string]bool) {
	by, undo = map[string]*ChangeSet{}, map[string]bool{}
	there := map[string]bool{}
	for _, l := range chain {
		there[l.set.ID] = true
	}
	for _, l := range chain {
		if l.chosen || by[l.set.ID] != nil {
			continue
		}
		for _, id := range l.set.Undoes {
			if there[id] {
				undo[l.set.ID] = true
				if by[id] == nil {
					by[id] = l.set
				}
			}
		}
	}
	return by, undo
}

// walk decides about a file. The chain has at least one chosen link.
func (item *UndoItem) walk(chain []chainLink) {
	by, undo := dead(chain)
	last := -1 // the oldest link to be taken back
	for i, l := range chain {
		if l.chosen && by[l.set.ID] == nil {
			last = i
		}
	}
	if last < 0 {
		item.Want, item.State = item.Now, UndoNothing
		item.Reason = "taken back already by " + name(by[oldest(chain).set.ID])
		return
	}
	item.Want = chain[last].change.Before
	cur := item.Now
	var newer *chainLink // the one taken back before
	for i := range chain[:last+1] {
		l := &chain[i]
		switch {
		case by[l.set.ID] != nil || undo[l.set.ID] && !l.chosen:
			continue
		case !l.chosen:
			item.conflict("changed later by %s", name(l.set))
			return
		case cur.sameBytes(l.change.After):
			// A mode that the change did not set is kept.
			want := l.change.Before
			if want.Exists && cur.Exists && bits(cur.Mode) != bits(l.change.After.Mode) {
				want.Mode = cur.Mode
			}
			cur = want
		case cur.sameBytes(l.change.Before): // somebody has put it back
		case newer != nil:
			item.conflict("changed by someone else between %s and %s", name(l.set), name(newer.set))
			return
		default:
			item.conflict("changed by someone else since %s", name(l.set))
			return
		}
		newer = l
	}
	// How the file gets its wanted content.
	item.Want = cur
	switch {
	case item.Now.is(cur):
		item.State, item.Reason = UndoNothing, "holds that already"
	case !cur.Exists:
		item.State = UndoRemove
	case !item.Now.Exists:
		item.State = UndoCreate
	default:
		item.State = UndoRestore
	}
}

func (item *UndoItem) conflict(format string, args ...any) {
	item.State, item.Reason = UndoConflict, fmt.Sprintf(format, args...)
}

// verify checks that the wanted content is in the store.
func (s *History) verify(item *UndoItem) {
	item.Want.Kept = false
	if item.State != UndoRestore && item.State != UndoCreate && item.State != UndoConflict || !item.Want.Exists {
		return
	}
	err := s.copyBlob(io.Discard, item.Want.Hash)
	item.Want.Kept = err == nil
	if err == nil || item.State == UndoConflict || item.Now.sameBytes(item.Want) {
		return
	}
	item.State = UndoLost
	if errors.Is(err, ErrLost) {
		item.Reason = "what it held is not kept, or damaged"
	} else {
		item.Reason = "what it held cannot be read: " + err.Error()
	}
}

func oldest(chain []chainLink) chainLink {
	for _, l := range slices.Backward(chain) {
		if l.chosen {
			return l
		}
	}
	return chainLink{set: &ChangeSet{}}
}

func chainTitle(chain []chainLink) string {
	for _, l := range chain {
		if l.chosen {
			return l.change.Title
		}
	}
	return ""
}

// name returns the name of a set for people.
func name(set *ChangeSet) string {
	switch {
	case set == nil:
		return "another set"
	case set.Tool != "" && set.Call != "":
		return fmt.Sprintf("%s (%s, call %s)", set.ID, set.Tool, set.Call)
	case set.Tool != "":
		return fmt.Sprintf("%s (%s)", set.ID, set.Tool)
	}
	return set.ID
}
