// Package record holds what helve keeps of the work of agents, as data: the
// sessions, their calls, the commands in the background, and what was changed
// on disk. A runtime gives it out, and so does the HTTP API.
package record

import (
	"errors"
	"slices"
	"time"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

// ErrNotFound is a session, a call or a file that there is not.
var ErrNotFound = errors.New("not found")

// A Session is a conversation, or what calls without one share.
type Session struct {
	ID      string       `json:"id"`
	Slug    string       `json:"slug,omitempty"`
	Project string       `json:"projectID,omitempty"`
	Dir     string       `json:"directory"`
	Parent  string       `json:"parentID,omitempty"` // the session whose call started this one
	Title   string       `json:"title"`
	First   string       `json:"first,omitempty"` // its first call, tool and what about, where there is no title
	Agent   string       `json:"agent,omitempty"` // who worked on it last
	Model   model.Ref    `json:"model"`           // and with what
	Time    SessionTime  `json:"time"`
	Tokens  model.Tokens `json:"tokens"` // of its own messages
	Cost    float64      `json:"cost"`   // in US dollars
}

// SessionTime is when a session began and was used last, in milliseconds since
// the epoch.
type SessionTime struct {
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`
}

// A SessionQuery selects sessions, those used last first. Empty fields select
// all.
type SessionQuery struct {
	Limit  int    // 100 when 0
	Before string // those that follow a page whose next this was
	Dir    string // of this folder
}

// A MessageQuery selects messages of a session: the Limit newest (100 when 0)
// that come before the one of the id Before, or of all where that is "".
type MessageQuery struct {
	Session, Before string
	Limit           int
}

// A Call is what is kept of a call. Times are milliseconds since the epoch.
type Call struct {
	ID      string       `json:"id"`
	Session string       `json:"session,omitempty"`
	Parent  string       `json:"parent,omitempty"` // the call that made this one
	Tool    string       `json:"tool"`
	Agent   string       `json:"agent,omitempty"`
	Model   string       `json:"model,omitempty"`
	State   string       `json:"state"`           // [Running], [Completed], [Failed] or [Interrupted]
	Title   string       `json:"title,omitempty"` // of the result
	Input   string       `json:"input,omitempty"` // as it came, JSON or not
	Result  *tool.Result `json:"result,omitempty"`
	Error   *Failure     `json:"error,omitempty"`
	Started int64        `json:"started"`
	Ended   int64        `json:"ended,omitempty"` // 0 while it runs
	Exit    int64        `json:"exit,omitempty"`  // the code of a command that the call ran, -1 where a signal ended it
	Cursor  string       `json:"-"`               // for [CallQuery.Before]
}

// The states of a call. It starts as Running and ends as one of the others.
const (
	Running     = "running"
	Completed   = "completed"
	Failed      = "error"
	Interrupted = "interrupted" // its process ended before it did
)

// A Failure is the error of a call as data.
type Failure struct {
	Kind    tool.Kind `json:"kind"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Reason  string    `json:"reason,omitempty"` // in words for a person, where the message is for a model
}

// A CallQuery selects calls. Empty fields select all.
type CallQuery struct {
	Session, Tool, State string
	Before               string // recorded before the call of this cursor
	Limit                int    // the newest so many; 100 when 0
	Brief                bool   // without input, output, metadata and attachments
}

// A Job is a command that runs or ran in the background.
type Job struct {
	ID      string    `json:"id"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"` // that started it
	Command string    `json:"command"`
	Title   string    `json:"title,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	State   string    `json:"state"`            // running, ended or lost
	Exited  bool      `json:"exited,omitempty"` // the command itself has ended, with Code or Signal; what it started may go on
	Code    *int      `json:"code,omitempty"`   // nil before it has exited
	Signal  string    `json:"signal,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Bytes   int64     `json:"bytes"` // of output so far
}

// A JobOutput is a piece of what a job has printed.
type JobOutput struct {
	Text    string `json:"text"`
	Offset  int64  `json:"offset"`            // where in all of its output the piece begins
	Next    int64  `json:"next"`              // where the next one does
	Skipped int64  `json:"skipped,omitempty"` // bytes before the piece that are no longer kept
	Done    bool   `json:"done,omitempty"`    // nothing comes after it
}

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

// A ChangeQuery selects change sets of a project. Empty fields select all.
type ChangeQuery struct {
	Session, Message, Call string
	File                   string // absolute: this file, or one below this folder
	Before                 string // older than the set of this id
	Limit                  int    // the newest so many; all when 0
	AllProjects            bool
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

// Conflicts reports whether some file could not be put back.
func (u *UndoReport) Conflicts() bool {
	return slices.ContainsFunc(u.Files, func(f UndoFile) bool { return f.Action == "conflict" || f.Action == "lost" })
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
