package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// look returns the current content of a file, for the history. The content of a link is its target,
// and a folder has none.
func look(name string) (KeptContent, error) {
	state, err := disk.Look(name)
	if err != nil {
		return KeptContent{}, err
	}
	switch {
	case state.Mode.IsDir():
		return DescribeContent(nil, true, state.Mode), nil
	case state.Mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		return DescribeContent([]byte(to), true, state.Mode), err
	}
	data, state, err := disk.Read(name, MaxEdit)
	if errors.Is(err, fs.ErrNotExist) {
		return KeptContent{}, nil
	}
	if errors.Is(err, disk.ErrNotRegular) || errors.Is(err, disk.ErrTooLarge) {
		return KeptContent{Exists: true}, nil // something else than what we wrote
	}
	if err != nil {
		return KeptContent{}, err
	}
	return DescribeContent(data, state.Exists, state.Mode), nil
}

// Glance returns the current content of a file of the history for display; nil if it is too large
// or no regular file.
func (f *Workspace) Glance(name string, most int64) []byte {
	data, _, err := disk.Read(name, most)
	if err != nil {
		return nil
	}
	return data
}

// PlanUndo returns what undoing change sets would do; they are ordered newest first.
func (f *Workspace) PlanUndo(ctx context.Context, sets []ChangeSet) (UndoPlan, error) {
	return f.History.Plan(ctx, sets, look)
}

// Undo undoes change sets, newest first, and returns what was done. A file that somebody else has
// changed since stays as it is. The undo is a change set itself and can be undone in turn; id is
// its own, or "" if there was nothing to do.
func (f *Workspace) Undo(ctx context.Context, by By, sets []ChangeSet) (plan UndoPlan, id string, err error) {
	if err := f.Recover(ctx); err != nil {
		return plan, "", err
	}
	return f.undoSets(ctx, by, sets)
}

func (f *Workspace) undoSets(ctx context.Context, by By, sets []ChangeSet) (plan UndoPlan, id string, err error) {
	first, err := f.PlanUndo(ctx, sets)
	if err != nil {
		return first, "", err
	}
	var paths []Path
	for _, item := range first.Items {
		paths = append(paths, Path{abs: item.Path, real: item.Path, shown: f.relativeTitle(by.Dir, item.Path), dir: by.Dir})
	}
	claim, err := f.claimLocked(ctx, paths)
	if err != nil {
		return first, "", err
	}
	defer claim.Release()
	plan, err = f.PlanUndo(ctx, sets) // again, now that nobody else can write
	if err != nil {
		return plan, "", err
	}
	by.Undoes = takenBack(plan, sets)
	id, err = f.restore(ctx, by, plan)
	return plan, id, err
}

// takenBack returns the sets of which a plan undoes something. A set that is completely in conflict
// can still be undone later.
func takenBack(plan UndoPlan, sets []ChangeSet) (ids []string) {
	stays := map[string]bool{}
	for _, item := range plan.Items {
		stays[item.Path] = item.State == UndoConflict || item.State == UndoLost
	}
	for _, s := range sets {
		if slices.ContainsFunc(s.Changes, func(c KeptChange) bool { return !stays[c.Path] }) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Recover cleans up after killed processes: it removes their temporary files, and undoes a change
// of several files that was made in part. It runs once; later calls do nothing.
func (f *Workspace) Recover(ctx context.Context) error {
	if f.History == nil {
		return nil
	}
	f.recovering.Lock()
	defer f.recovering.Unlock()
	if f.recovered {
		return nil
	}
	err := f.recover(context.WithoutCancel(ctx))
	f.recovered = err == nil
	return err
}

func (f *Workspace) recover(ctx context.Context) error {
	left, err := f.History.Recover(ctx, look)
	for _, r := range left {
		good := true
		if r.Half() {
			undoErr := f.fromTemps(ctx, r)
			if undoErr == nil {
				_, _, undoErr = f.undoSets(ctx, r.Set.By, []ChangeSet{r.Set})
			}
			good = undoErr == nil
			err = errors.Join(err, undoErr)
		}
		for _, temp := range r.Temps {
			if good && strings.HasPrefix(filepath.Base(temp), ".helve-") {
				_ = os.Remove(temp) // gone already, mostly
				_ = os.Remove(replacedBy(temp))
			}
		}
	}
	return err
}

// replacedBy returns where the old content is on a file system that cannot swap two names.
func replacedBy(temp string) string { return strings.TrimSuffix(temp, ".tmp") + ".old" }

// fromTemps restores what the history had no room for: until a change has ended, what it replaced
// lies beside the file.
func (f *Workspace) fromTemps(ctx context.Context, r RecoveredSet) error {
	for _, ch := range r.Set.Changes {
		if !ch.Before.Exists || ch.Before.Kept {
			continue
		}
		data, state, err := disk.Read(ch.Path, MaxEdit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if now := DescribeContent(data, state.Exists, state.Mode); now.Exists != ch.After.Exists || now.Hash != ch.After.Hash {
			continue // somebody else has been here
		}
		old, ok := replaced(ch, r.Temps)
		if !ok {
			continue
		}
		back := disk.Change{Name: ch.Path, Data: old, Was: state, WasData: data, Mode: cmp.Or(ch.Before.Mode.Perm(), 0o600)}
		if err := disk.Commit(ctx, []disk.Change{back}, f.diskOptions()); err != nil {
			return err
		}
	}
	return nil
}

// replaced finds what a change replaced among its temporary files.
func replaced(ch KeptChange, temps []string) ([]byte, bool) {
	for _, temp := range temps {
		for _, name := range []string{temp, replacedBy(temp)} {
			if filepath.Dir(name) != filepath.Dir(ch.Path) {
				continue
			}
			if data, _, err := disk.Read(name, MaxEdit); err == nil && HashOf(data) == ch.Before.Hash {
				return data, true
			}
		}
	}
	return nil, false
}
