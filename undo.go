package helve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"helve/internal/diff"
	"helve/internal/history"
	"helve/internal/text"
	"helve/internal/workspace"
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
	out := make([]ChangeSet, len(sets))
	for i, s := range sets {
		out[i] = changeSet(s)
	}
	return out, err
}

func (r *Runtime) sets(ctx context.Context, q ChangeQuery) ([]history.Set, error) {
	hq := history.Query{Session: q.Session, Message: q.Message, Call: q.Call, Path: q.File, Until: q.Before, Limit: q.Limit, Project: r.project}
	if q.AllProjects {
		hq.Project = ""
	}
	errs := []error{r.files.Recover(ctx)}
	var out []history.Set
	for s, err := range r.files.History.Sets(ctx, hq) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, s)
	}
	return out, errors.Join(errs...)
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
	ctx, land, err := r.takeOff(ctx)
	if err != nil {
		return nil, err
	}
	defer land()
	sets, err := r.chosen(ctx, req)
	if err != nil {
		return nil, err
	}
	if len(sets) == 0 {
		return nil, req.nothing()
	}
	plan, err := r.files.PlanUndo(ctx, sets)
	if err != nil {
		return nil, err
	}
	report := r.report(plan)
	if report.Preview = req.Preview; req.Preview {
		return report, nil
	}
	by := workspace.By{Session: req.Session, Tool: "undo", Dir: r.dir}
	plan, id, err := r.files.Undo(ctx, by, sets)
	if err != nil {
		return nil, fmt.Errorf("undoing: %w", err)
	}
	done := r.report(plan)
	done.ID = id
	for i, f := range done.Files { // the differences are gone now
		done.Files[i].Diff = ""
		for _, before := range report.Files {
			if before.File == f.File && before.Action == f.Action {
				done.Files[i].Diff = before.Diff
			}
		}
	}
	return done, nil
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

// chosen finds the change sets that a request is about, newest first.
func (r *Runtime) chosen(ctx context.Context, req UndoRequest) ([]history.Set, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	query := ChangeQuery{Session: req.Session, Call: req.Call, Message: req.Message}
	if req.Last > 0 {
		query.Session = "" // what was done while hearing an event may be of none
	}
	sets, err := r.sets(ctx, query)
	if len(sets) == 0 && err != nil {
		return nil, err
	}
	if req.To != "" && !slices.ContainsFunc(sets, func(s history.Set) bool { return s.ID == req.To }) {
		return nil, fmt.Errorf("there is no change set %q to go back to", req.To)
	}
	if req.Last > 0 {
		return lastCalls(sets, req), nil
	}
	return slices.DeleteFunc(sets, func(s history.Set) bool {
		return len(req.Sets) > 0 && !slices.Contains(req.Sets, s.ID) || req.To != "" && s.ID <= req.To
	}), nil
}

// eventCall is how the call of a change begins that was made while hearing an
// event, and not in a call.
const eventCall = "event_"

// lastCalls finds what the newest calls changed, of sets that are newest first:
// so many calls as asked for, of the session asked for or of any. Sets that were taken back, and the taking back itself, are no part of
// it. Sets of one call follow each other; one of no call stands for itself.
func lastCalls(sets []history.Set, req UndoRequest) (out []history.Set) {
	calls, end := 0, 0
	var last history.Set
	chosen := map[string]bool{}
	for i, s := range sets {
		foreign := req.Session != "" && s.Session != req.Session
		if foreign || s.UndoneBy != "" || len(s.Undoes) > 0 || strings.HasPrefix(s.Call, eventCall) {
			continue
		}
		if calls == 0 || s.Call == "" || s.Call != last.Call || s.Session != last.Session {
			calls++
		}
		if calls > req.Last {
			break
		}
		last, end, chosen[s.ID] = s, i+1, true
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
		heard := s.UndoneBy == "" && strings.HasPrefix(s.Call, eventCall)
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

// report says what a plan is, with the difference it makes to texts.
func (r *Runtime) report(plan history.Plan) *UndoReport {
	out := &UndoReport{Sets: []ChangeSet{}, Files: []UndoFile{}}
	for _, s := range plan.Sets {
		out.Sets = append(out.Sets, changeSet(s))
	}
	for _, item := range plan.Items {
		f := UndoFile{File: item.Path, Title: item.Title, Action: string(item.State), Reason: item.Reason}
		switch item.State {
		case history.Restore, history.Remove, history.Create:
			f.Diff = r.undoDiff(item)
		}
		out.Files = append(out.Files, f)
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
