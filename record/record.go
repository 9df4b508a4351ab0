// Package record describes, as data, what helve keeps about the work of agents: sessions, their
// calls, background commands, and changes on disk. A runtime returns these types, and so does the
// HTTP API.
package record

import (
	"errors"
	"slices"
	"time"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// ErrNotFound says that there is no such session, call or file.
var ErrNotFound = errors.New("not found")

// A Session is a conversation, or the group of all calls made without one.
type Session struct {
	ID      string       `json:"id"`
	Slug    string       `json:"slug,omitempty"`
	Project string       `json:"projectID,omitempty"`
	Dir     string       `json:"directory"`
	Parent  string       `json:"parentID,omitempty"` // the session whose call started this one
	Title   string       `json:"title"`
	First   string       `json:"first,omitempty"` // its first call, tool and subject, where there is no title
	Agent   string       `json:"agent,omitempty"` // the last agent
	Model   model.Ref    `json:"model"`           // the last model
	Time    SessionTime  `json:"time"`
	Tokens  model.Tokens `json:"tokens"` // of its own messages
	Cost    float64      `json:"cost"`   // in US dollars

	Rules permission.Ruleset `json:"-"` // its own, beside those of its agent; where they cannot be read, one that denies everything
}

// SessionTime holds when a session was created and last used, in milliseconds since the epoch.
type SessionTime struct {
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`
}

// A SessionQuery selects sessions, most recently used first. Empty fields select all.
type SessionQuery struct {
	Limit  int    // 100 when 0
	Before string // only those after the page that returned this cursor
	Dir    string // of this folder
}

// A MessageQuery selects the newest Limit messages (100 when 0) of a session, before the one with
// the id Before if that is set.
type MessageQuery struct {
	Session, Before string
	Limit           int
}

// A Call is the record of a tool call. Times are milliseconds since the epoch.
type Call struct {
	ID      string       `json:"id"`
	Session string       `json:"session,omitempty"`
	Parent  string       `json:"parent,omitempty"` // the call that made this one
	Tool    string       `json:"tool"`
	Agent   string       `json:"agent,omitempty"`
	Model   string       `json:"model,omitempty"`
	State   string       `json:"state"`           // [Running], [Completed], [Failed] or [Interrupted]
	Title   string       `json:"title,omitempty"` // of the result
	Input   string       `json:"input,omitempty"` // as received, JSON or not
	Result  *tool.Result `json:"result,omitempty"`
	Error   *Failure     `json:"error,omitempty"`
	Started int64        `json:"started"`
	Ended   int64        `json:"ended,omitempty"` // 0 while it runs
	Exit    int64        `json:"exit,omitempty"`  // exit code of the command that the call ran, -1 if a signal ended it
	Cursor  string       `json:"-"`               // for [CallQuery.Before]
}

// The states of a call. A call starts as Running and ends in one of the others.
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
	Reason  string    `json:"reason,omitempty"` // in words for a person, where the message is worded for a model
}

// A CallQuery selects calls. Empty fields select all.
type CallQuery struct {
	Session, Tool, State string
	Before               string // only calls recorded before the one with this cursor
	Limit                int    // how many of the newest; 100 when 0
	Brief                bool   // without input, output, metadata and attachments
}

// A Job is a command that runs or has run in the background.
type Job struct {
	ID      string    `json:"id"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"` // the call that started it
	Command string    `json:"command"`
	Title   string    `json:"title,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	State   string    `json:"state"`            // running, ended or lost
	Exited  bool      `json:"exited,omitempty"` // the command itself has ended, with Code or Signal; processes it started may still run
	Code    *int      `json:"code,omitempty"`   // nil until it has exited
	Signal  string    `json:"signal,omitempty"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended,omitzero"`
	Bytes   int64     `json:"bytes"` // of output so far
}

// A JobOutput is a piece of the output of a job.
type JobOutput struct {
	Text    string `json:"text"`
	Offset  int64  `json:"offset"`            // where the piece begins in the whole output
	Next    int64  `json:"next"`              // where the next piece begins
	Skipped int64  `json:"skipped,omitempty"` // bytes before the piece that are no longer kept
	Done    bool   `json:"done,omitempty"`    // no more output will come
}

// A ChangeSet is what one call changed on disk. The previous contents are kept.
type ChangeSet struct {
	ID       string       `json:"id"` // greater ids are newer
	Time     time.Time    `json:"time"`
	Session  string       `json:"session,omitempty"`
	Message  string       `json:"message,omitempty"`
	Call     string       `json:"call,omitempty"`
	Tool     string       `json:"tool,omitempty"`
	Agent    string       `json:"agent,omitempty"`
	Files    []FileChange `json:"files"`
	Undoes   []string     `json:"undoes,omitempty"`   // the sets that this one undid
	UndoneBy string       `json:"undoneBy,omitempty"` // the set that undid this one
}

// A FileChange is the change of one file.
type FileChange struct {
	File   string `json:"file"`  // absolute
	Title  string `json:"title"` // relative to the worktree
	Kind   string `json:"kind"`  // add, update or delete
	Before int64  `json:"before,omitempty"`
	After  int64  `json:"after,omitempty"` // in bytes
	Kept   bool   `json:"kept"`            // the previous content can be restored
}

// A ChangeQuery selects change sets of a project. Empty fields select all.
type ChangeQuery struct {
	Session, Message, Call string
	File                   string // absolute: this file, or one below this folder
	Before                 string // only sets older than the one with this id
	Limit                  int    // how many of the newest; all when 0
	AllProjects            bool
}

// An UndoRequest selects what to undo. Exactly one of Sets, Call, Message, To and Last is given;
// Session narrows any of them.
type UndoRequest struct {
	Sets    []string // these change sets
	Call    string   // the changes of a call
	Message string   // the changes of the calls of a message
	To      string   // everything after this change set, which itself stays
	// Last undoes the newest so many calls that have not been undone yet. A change made while
	// handling an event belongs to no call: it is undone only along with a call whose files it
	// changed later.
	Last    int
	Session string
	Preview bool // change nothing, only report what would be done
}

// An UndoReport says what an undo did, or would do.
type UndoReport struct {
	// ID is the change set of the undo itself, which can be undone in turn; "" if nothing was done.
	ID      string      `json:"id,omitempty"`
	Sets    []ChangeSet `json:"sets"`
	Files   []UndoFile  `json:"files"`
	Preview bool        `json:"preview,omitempty"`
	// Problems lists records that could not be read and were skipped, and leftovers of an earlier
	// process that could not be repaired.
	Problems []string `json:"problems,omitempty"`
}

// Conflicts reports whether some file could not be put back.
func (u *UndoReport) Conflicts() bool {
	return slices.ContainsFunc(u.Files, func(f UndoFile) bool { return f.Action == "conflict" || f.Action == "lost" })
}

// An UndoFile is the outcome of an undo for one file.
type UndoFile struct {
	File  string `json:"file"`
	Title string `json:"title"`
	// Action is "restore", "remove" or "create", or, if nothing is done, "same", "conflict" or
	// "lost".
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
	Diff   string `json:"diff,omitempty"` // from the current content to the previous one
}
