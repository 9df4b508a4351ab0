package helve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/record"
)

// Changes returns the changes that tools made on disk, newest first. Records that cannot be read
// are left out and named in the error.
func (r Records) Changes(ctx context.Context, q record.ChangeQuery) ([]record.ChangeSet, error) {
	sets, err := r.rt.sets(ctx, q)
	return changeSets(sets), err
}

func (r *Runtime) sets(ctx context.Context, q record.ChangeQuery) ([]files.ChangeSet, error) {
	var t storeError
	out := slices.Collect(r.eachSet(ctx, q, &t))
	return out, errors.Join(t...)
}

// A storeError lists why records could not be read.
type storeError []error

// text returns the messages of the errors.
func (t storeError) text() (out []string) {
	for _, err := range t {
		out = append(out, err.Error())
	}
	return out
}

// eachSet yields change sets, newest first, and reads no more than are consumed. Records that
// cannot be read are skipped and added to t.
func (r *Runtime) eachSet(ctx context.Context, q record.ChangeQuery, t *storeError) iter.Seq[files.ChangeSet] {
	hq := files.HistoryQuery{Session: q.Session, Message: q.Message, Call: q.Call, Path: q.File, Until: q.Before, Limit: q.Limit, Project: r.project}
	if q.AllProjects {
		hq.Project = ""
	}
	return func(yield func(files.ChangeSet) bool) {
		if err := r.files.Recover(ctx); err != nil {
			*t = append(*t, err)
		}
		for s, err := range r.files.History.Sets(ctx, hq) {
			if err != nil {
				*t = append(*t, err)
			} else if !yield(s) {
				return
			}
		}
	}
}

func changeSet(s files.ChangeSet) record.ChangeSet {
	out := record.ChangeSet{
		ID: s.ID, Time: s.Time, Session: s.Session, Message: s.Message, Call: s.Call, Tool: s.Tool, Agent: s.Agent,
		Undoes: s.Undoes, UndoneBy: s.UndoneBy, Files: []record.FileChange{},
	}
	for _, c := range s.Changes {
		out.Files = append(out.Files, record.FileChange{
			File: c.Path, Title: c.Title, Kind: c.Kind(), Before: c.Before.Size, After: c.After.Size,
			Kept: c.Before.Kept || !c.Before.Exists,
		})
	}
	return out
}

// ErrNothingToUndo says that no change matches an [record.UndoRequest].
var ErrNothingToUndo = errors.New("there is nothing to undo")

// Undo reverts changes. A file that somebody else has changed since is reported and left alone; the
// others are restored all together. The undo is a change set itself and can be undone.
func (r Records) Undo(ctx context.Context, req record.UndoRequest) (*record.UndoReport, error) {
	ctx, release, err := r.rt.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var t storeError
	sets, err := r.rt.chosen(ctx, req, &t)
	if err != nil {
		return nil, errors.Join(append(storeError{err}, t...)...)
	}
	plan, err := r.rt.files.PlanUndo(ctx, sets)
	if err != nil {
		return nil, err
	}
	diffs := r.rt.undoDiffs(plan)
	if req.Preview {
		return &record.UndoReport{Sets: changeSets(plan.Sets), Files: undoFiles(plan, diffs), Preview: true, Problems: t.text()}, nil
	}
	by := files.By{Session: req.Session, Tool: "undo", Dir: r.rt.dir}
	plan, id, err := r.rt.files.Undo(ctx, by, sets)
	if err != nil {
		return nil, fmt.Errorf("undoing: %w", err)
	}
	return &record.UndoReport{ID: id, Sets: changeSets(plan.Sets), Files: undoFiles(plan, diffs), Problems: t.text()}, nil
}

// nothingToUndo returns an error that says what was not found.
func nothingToUndo(req record.UndoRequest) error {
	for what, id := range map[string]string{"change set": strings.Join(req.Sets, ", "), "call": req.Call, "message": req.Message} {
		if id != "" {
			return fmt.Errorf("%w: no change of the %s %q is on record here", ErrNothingToUndo, what, id)
		}
	}
	return ErrNothingToUndo
}

// checkUndo returns an error if a request is invalid.
func checkUndo(req record.UndoRequest) error {
	given := 0
	for _, is := range []bool{len(req.Sets) > 0, req.Call != "", req.Message != "", req.To != "", req.Last > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return errors.New("say what to undo: one of a change set, a call, a message, a point to go back to, or how many")
	}
	return nil
}

// chosen returns the change sets that a request selects, newest first. It reads no further back
// than necessary.
func (r *Runtime) chosen(ctx context.Context, req record.UndoRequest, t *storeError) (out []files.ChangeSet, err error) {
	if err := checkUndo(req); err != nil {
		return nil, err
	}
	query := record.ChangeQuery{Session: req.Session, Call: req.Call, Message: req.Message}
	if req.Last > 0 {
		query.Session = "" // what was done while hearing an event may be of none
	}
	all := r.eachSet(ctx, query, t)
	if req.Last > 0 {
		out = lastCalls(all, req)
	} else if out, err = between(all, req); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // these may not be all
	}
	if len(out) == 0 {
		return nil, nothingToUndo(req)
	}
	return out, nil
}

// between returns the sets that the request names, or those after the one that is to stay, or all.
func between(all iter.Seq[files.ChangeSet], req record.UndoRequest) (out []files.ChangeSet, err error) {
	oldest := req.To
	if len(req.Sets) > 0 {
		oldest = slices.Min(req.Sets)
	}
	found := req.To == ""
	for s := range all {
		if s.ID < oldest {
			break
		}
		if s.ID == req.To {
			found = true
		} else if len(req.Sets) == 0 || slices.Contains(req.Sets, s.ID) {
			out = append(out, s)
		}
	}
	if !found {
		return nil, fmt.Errorf("there is no change set %q to go back to", req.To)
	}
	return out, nil
}

// lastCalls returns what the newest calls changed, from sets that are newest first: as many calls
// as requested, of the requested session or of any. It ignores undone sets and the undos
// themselves. The sets of one call are adjacent; a set without a call stands alone.
func lastCalls(all iter.Seq[files.ChangeSet], req record.UndoRequest) (out []files.ChangeSet) {
	var sets []files.ChangeSet // up to the oldest one that was chosen
	calls, end := 0, 0
	var last files.ChangeSet
	chosen := map[string]bool{}
	for s := range all {
		foreign := req.Session != "" && s.Session != req.Session
		if foreign || s.UndoneBy != "" || len(s.Undoes) > 0 || isBackgroundID(s.Call) {
			sets = append(sets, s)
			continue
		}
		if calls == 0 || s.Call == "" || s.Call != last.Call || s.Session != last.Session {
			calls++
		}
		if calls > req.Last {
			break
		}
		sets = append(sets, s)
		last, end, chosen[s.ID] = s, len(sets), true
	}
	withEvents(sets[:end], chosen)
	for _, s := range sets[:end] {
		if chosen[s.ID] {
			out = append(out, s)
		}
	}
	return out
}

// withEvents also chooses sets made while handling an event, if they changed a file after a chosen
// set did, because that file could not be restored otherwise.
func withEvents(sets []files.ChangeSet, chosen map[string]bool) {
	changed := map[string]bool{}
	for _, s := range slices.Backward(sets) {
		heard := s.UndoneBy == "" && isBackgroundID(s.Call)
		if heard && slices.ContainsFunc(s.Changes, func(c files.KeptChange) bool { return changed[c.Path] }) {
			chosen[s.ID] = true
		}
		for _, c := range s.Changes {
			if chosen[s.ID] {
				changed[c.Path] = true
			}
		}
	}
}

func changeSets(sets []files.ChangeSet) []record.ChangeSet {
	out := make([]record.ChangeSet, len(sets))
	for i, s := range sets {
		out[i] = changeSet(s)
	}
	return out
}

// An undoChange identifies the change of a file in an undo.
type undoChange struct {
	path  string
	state files.UndoState
}

// undoDiffs returns the text differences that a plan makes. They must be computed before the plan
// is carried out.
func (r *Runtime) undoDiffs(plan files.UndoPlan) map[undoChange]string {
	out := map[undoChange]string{}
	for _, item := range plan.Items {
		switch item.State {
		case files.UndoRestore, files.UndoRemove, files.UndoCreate:
			out[undoChange{item.Path, item.State}] = r.undoDiff(item)
		}
	}
	return out
}

// undoFiles returns the outcome for each file of a plan.
func undoFiles(plan files.UndoPlan, diffs map[undoChange]string) []record.UndoFile {
	out := []record.UndoFile{}
	for _, item := range plan.Items {
		out = append(out, record.UndoFile{
			File: item.Path, Title: item.Title, Action: string(item.State), Reason: item.Reason, Diff: diffs[undoChange{item.Path, item.State}],
		})
	}
	return out
}

func (r *Runtime) undoDiff(item files.UndoItem) string {
	const most = 1 << 20
	var now, want []byte
	if item.Now.Exists && item.Now.Size <= most {
		now = r.files.Glance(item.Path, most)
	}
	if item.Want.Exists && item.Want.Size <= most {
		want, _ = r.files.History.Content(item.Want.Hash)
	}
	if !utf8.Valid(now) || !utf8.Valid(want) || len(now) > most {
		return ""
	}
	return diff.Unified(text.VisibleLine(item.Path), string(now), string(want))
}
