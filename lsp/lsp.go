// Package lsp describes, as data, the language servers of a runtime: which there are, their states
// and their diagnostics. Runtime.LSP reaches the servers themselves.
package lsp

import (
	"encoding/json"
	"errors"
	"time"
)

// Options configure the language servers that check the files that tools change. A server starts
// when a file of its language is first used. Servers are never downloaded.
type Options struct {
	// Builtin enables the servers that helve knows, where they are installed. Own adds further
	// ones; one with the name of a known server changes that server.
	Builtin bool
	Own     []Server

	// Trusted allows programs that lie in the project, and servers that run code of the project.
	Trusted bool

	// Wait is how long a change of a file waits for diagnostics, 5 s when 0. Request is how long a
	// request to a server may take, 15 s when 0. Start is how long a server may take to start, 45 s
	// when 0. Idle is how long an unused server keeps running, 10 min when 0.
	Wait, Request, Start, Idle time.Duration
	// Memory limits the memory of a server with all its processes, in bytes: 4 GiB when 0, no limit
	// when negative.
	Memory int64
}

// A Server configures a language server.
type Server struct {
	// Name is what messages call it; that of a known server changes that one.
	Name string
	// Command is the program and its arguments. A program without a path separator is looked for
	// on the PATH.
	Command []string
	// Extensions are the files that the server is for: extensions with their dot, or whole names
	// such as Dockerfile. An empty list that is not nil stands for all files.
	Extensions []string
	// Environment is added to that of the process.
	Environment map[string]string
	// Initialization is sent to it when it starts, and answers its requests for its configuration.
	Initialization json.RawMessage
	Disabled       bool // do not start it
	Wall           bool // run it in the sandbox, or not at all
}

// ErrOff says that language servers are not enabled.
var ErrOff = errors.New("language servers are not switched on: set Options.LSP")

// The states of a server.
const (
	StateStarting = "starting"
	StateReady    = "connected"
	StateStopped  = "stopped" // nobody used it, or it was asked to
	StateFailed   = "error"   // it ended or did not start; starting it is tried again
	StateBroken   = "broken"  // starting it is not tried again
)

// A Status is the state of a server that was started, or that should have been.
type Status struct {
	ID       string    `json:"id"`
	Root     string    `json:"root"`
	State    string    `json:"status"`
	Error    string    `json:"error,omitempty"` // the reason, with the last output of the server
	PID      int       `json:"pid,omitempty"`
	Memory   int64     `json:"memory,omitempty"` // bytes, of all its processes
	Since    time.Time `json:"since,omitzero"`
	Restarts int       `json:"restarts,omitempty"`
	Files    int       `json:"files,omitempty"` // open in it
	Program  string    `json:"program,omitempty"`
	Owner    int       `json:"owner,omitempty"` // the id of the process that it belongs to
}

// A Report is what servers say about changed files.
type Report struct {
	Files  []FileReport // the requested files about which something is known, in order
	Others []FileReport // further files with errors, those with new errors first
	Known  []FileReport // what else is known, for programs
	// Pending are servers that have not yet reported on the new text. Missing are servers that are
	// not installed here.
	Pending, Missing []Pending
}

// A FileReport holds the diagnostics of one file.
type FileReport struct {
	Path        string
	Diagnostics []Diagnostic // ordered by server
}

// A Pending server has not yet reported on the current text of a file.
type Pending struct {
	Server string
	Path   string
	Why    string // such as "it is still starting"
	Failed bool   // it does not run: it has ended, or cannot be started
}

// A Found is a known or configured server, with the program that it would start on this machine.
type Found struct {
	ID         string   `json:"id"`
	Extensions []string `json:"extensions"`
	Command    []string `json:"command,omitempty"`
	Missing    string   `json:"missing,omitempty"` // why it cannot be started, and what to do
}

// A Position is a place in a text, counted from 0, in the units that client and server have agreed
// on.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is a part of a text. Its end is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Diagnostic is a problem that a server reports in a file. Its positions count UTF-16 code units.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"` // 1 error, 2 warning, 3 information, 4 hint; 0 where the server does not say
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`

	Raw   json.RawMessage `json:"-"` // as the server sent it, for programs
	About []string        `json:"-"` // other files that it mentions
	Old   bool            `json:"-"` // known to have existed before the change
}
