package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"helve/internal/disk"
	"helve/internal/history"
)

// look says what a file holds now, for the history.
func look(name string) (history.Content, error) {
	data, state, err := disk.Read(name, MaxEdit)
	if errors.Is(err, fs.ErrNotExist) {
		return history.Content{}, nil
	}
	if errors.Is(err, disk.ErrNotRegular) || errors.Is(err, disk.ErrTooLarge) {
		return history.Content{Exists: true}, nil // there is something, and it is not what we wrote
	}
	if err != nil {
		return history.Content{}, err
	}
	return history.Describe(data, state.Exists, state.Mode), nil
}

// Glance returns what a file of the history holds now, for people to see;
// nil where it is too large or no file any more.
func (f *Files) Glance(name string, most int64) []byte {
	data, _, err := disk.Read(name, most)
	if err != nil {
		return nil
	}
	return data
}

// PlanUndo says what taking change sets back, newest first, would do.
func (f *Files) PlanUndo(ctx context.Context, sets []history.Set) (history.Plan, error) {
	return f.History.Plan(ctx, sets, look)
}

// Undo takes change sets back, newest first, and returns what was done. A
// file that somebody else has changed since is left as it is. It is a change
// like any other and can be taken back in turn.
func (f *Files) Undo(ctx context.Context, by By, sets []history.Set) (history.Plan, error) {
	first, err := f.PlanUndo(ctx, sets)
	if err != nil {
		return first, err
	}
	var paths []Path
	for _, item := range first.Items {
		paths = append(paths, Path{abs: item.Path, real: item.Path, shown: f.shown(by.Dir, item.Path), dir: by.Dir})
	}
	claim, err := f.Claim(ctx, paths...)
	if err != nil {
		return first, err
	}
	defer claim.Release()
	plan, err := f.PlanUndo(ctx, sets) // again, now that nobody else can write
	if err != nil {
		return plan, err
	}
	changes, err := f.backwards(claim, plan, paths)
	if err != nil || len(changes) == 0 {
		return plan, err
	}
	for _, s := range sets {
		by.Undoes = append(by.Undoes, s.ID)
	}
	landing, err := claim.Commit(ctx, by, changes)
	if err != nil {
		return plan, err
	}
	now, err := landing.Settle()
	for i, h := range now {
		err = errors.Join(err, f.turned(h.Path.real, landing.changes[i].Hash(), h.Hash()))
	}
	return plan, err
}

// backwards are the changes that carry out a plan.
func (f *Files) backwards(claim *Claim, plan history.Plan, paths []Path) ([]Change, error) {
	byName := map[string]Path{}
	for _, p := range paths {
		byName[p.real] = p
	}
	var changes []Change
	for _, item := range plan.Items {
		switch item.State {
		case history.Restore, history.Remove, history.Create:
		default:
			continue
		}
		held, err := claim.Get(byName[item.Path])
		if err != nil {
			return nil, err
		}
		ch := Change{Held: held, Remove: !item.Want.Exists, Mode: item.Want.Mode.Perm()}
		if item.Want.Exists {
			if ch.Data, err = f.History.Content(item.Want.Hash); err != nil {
				return nil, fmt.Errorf("reading what %s held: %w", item.Path, err)
			}
		}
		changes = append(changes, ch)
	}
	return changes, nil
}

// Recover ends what a process that was killed has left: files it had put
// beside others are removed, and a change of several files that was made in
// part is taken back. It does so once; later calls do nothing.
func (f *Files) Recover(ctx context.Context) error {
	if f.History == nil || !f.recovered.CompareAndSwap(false, true) {
		return nil
	}
	left, err := f.History.Recover(ctx, look)
	for _, r := range left {
		for _, temp := range r.Temps {
			if strings.HasPrefix(filepath.Base(temp), ".helve-") {
				_ = os.Remove(temp) // gone already, mostly
			}
		}
		if len(r.Missed) == 0 || len(r.Set.Changes) == 0 {
			continue
		}
		by := By{Session: r.Set.Session, Message: r.Set.Message, Call: r.Set.Call, Tool: r.Set.Tool, Agent: r.Set.Agent, Dir: r.Set.Dir}
		_, undoErr := f.Undo(ctx, by, []history.Set{r.Set})
		err = errors.Join(err, undoErr)
	}
	return err
}
