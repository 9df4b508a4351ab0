package helve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/history"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/workspace"
)

// A ChangeSet is what one call changed on disk. What it replaced is kept.
type ChangeSet struct {
	ID       string       `json:"id"` // greater ids are newer
	Time     time.Time    `json:"time"`
	Session  string       `json:"session,omitempty"`
	Message  string       `json:"message,omitempty"`
	Call     string       `json:"call,omitempty"`
	Tool     string       `json:"tool,omitempty"`
	Agent    string       `json:"agent,omitempty"`
	Files    []FileChange `json:"files"`
	Undoes   []string     `json:"undoes,omitempty"`   // the sets that this one took back
	UndoneBy string       `json:"undoneBy,omitempty"` // the set that took this one back
}

// A FileChange is what happened to one file.
type FileChange struct {
	File   string `json:"file"`  // absolute
	Title  string `json:"title"` // from the worktree
	Kind   string `json:"kind"`  // add, update or delete
	Before int64  `json:"before,omitempty"`
	After  int64  `json:"after,omitempty"` // bytes
	Kept   bool   `json:"kept"`            // what was there can be put back
}

// A ChangeQuery selects change sets of this project. Empty fields select all.
type ChangeQuery struct {
	Session, Message, Call string
	File                   string // absolute: this file, or one below this folder
	Before                 string // older than the set of this id
	Limit                  int    // the newest so many; all when 0
	AllProjects            bool
}

// Changes returns what tools changed on disk, newest first. A record that can
// not be read is left out and told in the error.
func (r *Runtime) Changes(ctx context.Context, q ChangeQuery) ([]ChangeSet, error) {
	sets, err := r.sets(ctx, q)
	return changeSets(sets), err
}

func (r *Runtime) sets(ctx context.Context, q ChangeQuery) ([]history.Set, error) {
	var t storeError
	out := slices.Collect(r.eachSet(ctx, q, &t))
	return out, errors.Join(t...)
}

// A storeError is what kept records from being read.
type storeError []error

// resolvePrompt are the words of it.
func (t storeError) text() (out []string) {
	for _, err := range t {
		out = append(out, err.Error())
	}
	return out
}

// eachSet yields change sets, newest first, and reads no more of them than are
// taken. What can not be read is passed over and noted.
func (r *Runtime) eachSet(ctx context.Context, q ChangeQuery, t *storeError) iter.Seq[history.Set] {
	hq := history.Query{Session: q.Session, Message: q.Message, Call: q.Call, Path: q.File, Until: q.Before, Limit: q.Limit, Project: r.project}
	if q.AllProjects {
		hq.Project = ""
	}
	return func(yield func(history.Set) bool) {
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

func changeSet(s history.Set) ChangeSet {
	out := ChangeSet{
		ID: s.ID, Time: s.Time, Session: s.Session, Message: s.Message, Call: s.Call, Tool: s.Tool, Agent: s.Agent,
		Undoes: s.Undoes, UndoneBy: s.UndoneBy, Files: []FileChange{},
	}
	for _, c := range s.Changes {
		out.Files = append(out.Files, FileChange{
			File: c.Path, Title: c.Title, Kind: c.Kind(), Before: c.Before.Size, After: c.After.Size,
			Kept: c.Before.Kept || !c.Before.Exists,
		})
	}
	return out
}

// An UndoRequest says what to take back. Exactly one of Sets, Call, Message,
// To and Last is given; Session narrows any of them.
type UndoRequest struct {
	Sets    []string // these change sets
	Call    string   // what a call changed
	Message string   // what the calls of a message changed
	To      string   // everything after this change set, which itself stays
	// Last is what the newest so many calls changed that was not taken back
	// yet. What was done while hearing an event is no call: it is taken back
	// only along with a call whose files it changed later.
	Last    int
	Session string
	Preview bool // change nothing, only say what would be done
}

// An UndoReport says what an undo did, or would do.
type UndoReport struct {
	// ID is the change set of the undo itself, with which it can be taken
	// back; "" where nothing was done.
	ID      string      `json:"id,omitempty"`
	Sets    []ChangeSet `json:"sets"`
	Files   []UndoFile  `json:"files"`
	Preview bool        `json:"preview,omitempty"`
	// Problems are records that could not be read and were passed over, and
	// what an earlier process had left that could not be mended.
	Problems []string `json:"problems,omitempty"`
}

// An UndoFile is what becomes of one file.
type UndoFile struct {
	File  string `json:"file"`
	Title string `json:"title"`
	// Action is "restore", "remove", "create" or, where nothing is done,
	// "same", "conflict" or "lost".
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
	Diff   string `json:"diff,omitempty"` // from what is there to what was
}

// Conflicts reports whether some file could not be put back.
func (u *UndoReport) Conflicts() bool {
	return slices.ContainsFunc(u.Files, func(f UndoFile) bool { return f.Action == "conflict" || f.Action == "lost" })
}

// ErrNothingToUndo says that no change fits an [UndoRequest].
var ErrNothingToUndo = errors.New("there is nothing to undo")

// Undo takes changes back. A file that somebody else has changed since is
// reported and left alone; the others are put back all together. An undo is
// a change set itself and can be taken back.
func (r *Runtime) Undo(ctx context.Context, req UndoRequest) (*UndoReport, error) {
	ctx, release, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var t storeError
	sets, err := r.chosen(ctx, req, &t)
	if err != nil {
		return nil, errors.Join(append(storeError{err}, t...)...)
	}
	plan, err := r.files.PlanUndo(ctx, sets)
	if err != nil {
		return nil, err
	}
	diffs := r.undoDiffs(plan)
	if req.Preview {
		return &UndoReport{Sets: changeSets(plan.Sets), Files: undoFiles(plan, diffs), Preview: true, Problems: t.text()}, nil
	}
	by := workspace.By{Session: req.Session, Tool: "undo", Dir: r.dir}
	plan, id, err := r.files.Undo(ctx, by, sets)
	if err != nil {
		return nil, fmt.Errorf("undoing: %w", err)
	}
	return &UndoReport{ID: id, Sets: changeSets(plan.Sets), Files: undoFiles(plan, diffs), Problems: t.text()}, nil
}

// nothing says what was not found.
func (req UndoRequest) nothing() error {
	for what, id := range map[string]string{"change set": strings.Join(req.Sets, ", "), "call": req.Call, "message": req.Message} {
		if id != "" {
			return fmt.Errorf("%w: no change of the %s %q is on record here", ErrNothingToUndo, what, id)
		}
	}
	return ErrNothingToUndo
}

func (req UndoRequest) check() error {
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

// chosen finds the change sets that a request is about, newest first. It reads
// no further back than it has to.
func (r *Runtime) chosen(ctx context.Context, req UndoRequest, t *storeError) (out []history.Set, err error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	query := ChangeQuery{Session: req.Session, Call: req.Call, Message: req.Message}
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
		return nil, req.nothing()
	}
	return out, nil
}

// between finds the sets that are named, or those after the one that is to stay,
// or takes all.
func between(all iter.Seq[history.Set], req UndoRequest) (out []history.Set, err error) {
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

// lastCalls finds what the newest calls changed, of sets that are newest first:
// so many calls as asked for, of the session asked for or of any. Sets that were
// taken back, and the taking back itself, are no part of it. Sets of one call
// follow each other; one of no call stands for itself.
func lastCalls(all iter.Seq[history.Set], req UndoRequest) (out []history.Set) {
	var sets []history.Set // as far as the oldest one that was chosen
	calls, end := 0, 0
	var last history.Set
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

// withEvents chooses also what was done while hearing an event to a file that a
// chosen set had changed before: the file could not be put back otherwise.
func withEvents(sets []history.Set, chosen map[string]bool) {
	changed := map[string]bool{}
	for _, s := range slices.Backward(sets) {
		heard := s.UndoneBy == "" && isBackgroundID(s.Call)
		if heard && slices.ContainsFunc(s.Changes, func(c history.Change) bool { return changed[c.Path] }) {
			chosen[s.ID] = true
		}
		for _, c := range s.Changes {
			if chosen[s.ID] {
				changed[c.Path] = true
			}
		}
	}
}

func changeSets(sets []history.Set) []ChangeSet {
	out := make([]ChangeSet, len(sets))
	for i, s := range sets {
		out[i] = changeSet(s)
	}
	return out
}

// An undoChange is something that becomes of a file.
type undoChange struct {
	path  string
	state history.State
}

// undoDiffs are the differences that a plan makes to texts. They have to be
// looked at before it is carried out.
func (r *Runtime) undoDiffs(plan history.Plan) map[undoChange]string {
	out := map[undoChange]string{}
	for _, item := range plan.Items {
		switch item.State {
		case history.Restore, history.Remove, history.Create:
			out[undoChange{item.Path, item.State}] = r.undoDiff(item)
		}
	}
	return out
}

// undoFiles says what becomes of each file of a plan.
func undoFiles(plan history.Plan, diffs map[undoChange]string) []UndoFile {
	out := []UndoFile{}
	for _, item := range plan.Items {
		out = append(out, UndoFile{
			File: item.Path, Title: item.Title, Action: string(item.State), Reason: item.Reason, Diff: diffs[undoChange{item.Path, item.State}],
		})
	}
	return out
}

func (r *Runtime) undoDiff(item history.Item) string {
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
