// Package lsp says which language servers a runtime uses, how they are doing
// and what they find, as data. The servers themselves are reached by
// Runtime.LSP.
package lsp

import (
	"encoding/json"
	"errors"
	"time"
)

// Options say which language servers look at files that tools change. A server is
// started when a file of its language is first used, and never downloaded.
type Options struct {
	// Builtin lets the servers be used that helve knows, where they are
	// installed. Own are further ones; one with a name that helve knows changes
	// that one.
	Builtin bool
	Own     []Server

	// Trusted lets programs run that lie in the project, and servers that run
	// code of the project.
	Trusted bool

	// Wait is how long a change of a file waits for what servers find, 5 s when
	// 0; Request how long one question to a server may take, 15 s when 0; Start
	// how long a server may take to start, 45 s when 0; and Idle how long one
	// stays that nobody uses, 10 min when 0.
	Wait, Request, Start, Idle time.Duration
	// Memory is how many bytes a server with all its processes may hold, 4 GiB
	// when 0; less than 0 is no limit.
	Memory int64
}

// A Server is a program that knows a language.
type Server struct {
	Name           string
	Command        []string
	Extensions     []string // with the dot, or whole names of files
	Environment    map[string]string
	Initialization json.RawMessage // sent to it when it starts
	Disabled       bool
	Wall           bool // it runs behind the wall, or not at all
}

// ErrOff says that there are no language servers, because they are not
// switched on.
var ErrOff = errors.New("language servers are not switched on: set Options.LSP")

// The states of a server.
const (
	StateStarting = "starting"
	StateReady    = "connected"
	StateStopped  = "stopped" // nobody used it, or it was asked to
	StateFailed   = "error"   // it ended or did not start; it is tried again
	StateBroken   = "broken"  // it is not tried again
)

// A Status is how a server is that was started, or was to be.
type Status struct {
	ID       string    `json:"id"`
	Root     string    `json:"root"`
	State    string    `json:"status"`
	Error    string    `json:"error,omitempty"` // why, with its last words
	PID      int       `json:"pid,omitempty"`
	Memory   int64     `json:"memory,omitempty"` // bytes of all its processes
	Since    time.Time `json:"since,omitzero"`
	Restarts int       `json:"restarts,omitempty"`
	Files    int       `json:"files,omitempty"` // that are open in it
	Program  string    `json:"program,omitempty"`
	Owner    int       `json:"owner,omitempty"` // the process that it belongs to
}

// A Report is what servers say about files that were changed.
type Report struct {
	Files  []FileReport // those that were asked about and that something is known of, in order
	Others []FileReport // further ones with errors: those with new ones first
	Known  []FileReport // what else is known, for programs
	// Pending are servers that have not yet said anything about the new text,
	// and Missing those that are not on this machine.
	Pending, Missing []Pending
}

// A FileReport is what is wrong with one file.
type FileReport struct {
	Path        string
	Diagnostics []Diagnostic // in the order of the servers
}

// A Pending server has not said anything about the text of a file.
type Pending struct {
	Server string
	Path   string
	Why    string // such as "it is still starting"
	Failed bool   // it is not at work: it has ended, or can not be started
}

// A Found is a server that helve knows or that is configured, with the program
// that it would start here.
type Found struct {
	ID         string   `json:"id"`
	Extensions []string `json:"extensions"`
	Command    []string `json:"command,omitempty"`
	Missing    string   `json:"missing,omitempty"` // why it can not be started, and what to do
}

// A Position is a place in a text, counted from 0, in the units that the
// server and we have agreed on.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is a part of a text; its end is not in it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A Diagnostic is something that a server has found in a file. Its positions
// are counted in UTF-16 units.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"` // 1 error, 2 warning, 3 information, 4 hint; 0 where the server does not say
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`

	Raw   json.RawMessage `json:"-"` // as the server sent it, for programs
	About []string        `json:"-"` // further files that it speaks of
	Old   bool            `json:"-"` // it is known to have been there before the change
}
