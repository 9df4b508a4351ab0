package lspclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/lsp"
)

// A FileChange is a file that has changed on disk, with what happened to it as
// the protocol numbers it.
type FileChange struct {
	Path string
	Kind int
}

// What happened to a file.
const (
	Created = 1
	Altered = 2
	Deleted = 3
)

// Options configure the servers of a [Set].
type Options struct {
	lsp.Options
	// Dir is the folder that is worked in, and Worktree the root of the project.
	Dir, Worktree string
	// Getenv reads a variable; os.Getenv when nil.
	Getenv func(string) string

	// StartProcess starts the process of a server, which prints to out.
	StartProcess func(ctx context.Context, s lsp.Server, cmd process.Command, out *os.File) (*process.Process, error)

	// Brief says that the process ends soon: nothing is started unless a caller waits for it.
	Brief bool

	// Logs is the folder for the output of servers, and Board the one where other processes see the
	// running servers; "" for none.
	Logs, Board string

	// OnChange is called when a server started, ended or failed, OnDiagnostics when one has sent
	// diagnostics. Both must return at once.
	OnChange      func()
	OnDiagnostics func(server, path string)
}

// ErrNone says that there is no server for a file.
var ErrNone = errors.New("No LSP server available for this file type.") //nolint:staticcheck // ST1005: models know these words

// An Unavailable error says why the servers of a file cannot be queried.
type Unavailable struct {
	Server string
	Why    string
}

// Error names the server and why.
func (e *Unavailable) Error() string {
	return fmt.Sprintf("The language server %s is not available: %s", e.Server, e.Why)
}

// An Unanswered is the error for a request that a server has not answered in time.
type Unanswered struct {
	Server, Method string
	After          time.Duration
}

// Error names the server and what it was asked.
func (e *Unanswered) Error() string {
	return fmt.Sprintf("The language server %s has not answered %s within %s.", e.Server, e.Method, e.After)
}

// A Missing is the error for something that a server needs and that is not on this machine.
type Missing struct {
	Server string
	Why    string // a sentence that says what to do
}

// Error says what is missing and what to do.
func (e *Missing) Error() string { return e.Why }
