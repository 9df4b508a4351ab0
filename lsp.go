package helve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/process"
)

// LSP says which language servers look at files that tools change. A server is
// started when a file of its language is first used, and never downloaded.
type LSP struct {
	// Builtin lets the servers be used that helve knows, where they are
	// installed. Own are further ones; one with a name that helve knows changes
	// that one.
	Builtin bool
	Own     []LanguageServer

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

// A LanguageServer is a program that knows a language.
type LanguageServer struct {
	Name           string
	Command        []string
	Extensions     []string // with the dot, or whole names of files
	Environment    map[string]string
	Initialization json.RawMessage // sent to it when it starts
	Disabled       bool
	Wall           bool // it runs behind the wall, or not at all
}

// An LSPStatus is how a language server is that was started.
type LSPStatus = lspclient.Status

// An LSPFound is a language server that could be started here, or why not.
type LSPFound = lspclient.Found

// An LSPReport is what language servers say about files.
type LSPReport = lspclient.Report

// ErrNoLSP says that there are no language servers, because they are not
// switched on.
var ErrNoLSP = errors.New("language servers are not switched on: set Options.LSP")

// openLSP makes the room for language servers. Nothing is started.
func (r *Runtime) openLSP() error {
	opt := r.opt.LSP
	if opt == nil {
		return nil
	}
	var own []lspclient.Server
	for _, s := range opt.Own {
		own = append(own, lspclient.Server{
			ID: s.Name, Command: s.Command, Extensions: s.Extensions, Env: s.Environment,
			Initialization: s.Initialization, Disabled: s.Disabled, Wall: s.Wall,
		})
	}
	servers, err := lspclient.Merge(own)
	if err != nil {
		return fmt.Errorf("setting up language servers: %w", err)
	}
	if !opt.Builtin {
		servers = lspclient.Only(servers, own)
	}
	o := lspclient.Options{
		Dir: r.dir, Worktree: r.worktree, Servers: servers, Trusted: opt.Trusted, Brief: r.opt.Shell.Ephemeral,
		Start: func(ctx context.Context, s lspclient.Server, cmd process.Command, out *os.File) (*process.Process, error) {
			return r.startServer(ctx, serverProcess{s.Env, s.Wall}, cmd, out)
		},
		Wait: opt.Wait, Request: opt.Request, Init: opt.Start, Idle: opt.Idle, Memory: opt.Memory,
		OnChange: func() { r.events.publish(event.LSPChanged{}) },
		OnDiagnostics: func(server, path string) {
			r.events.publish(event.LSPDiagnostics{Server: server, Path: path})
		},
	}
	if r.opt.DataDir != "" {
		o.Logs, o.Board = r.ownFolder("lsp-logs"), r.ownFolder("lsp")
	}
	r.languages = lspclient.New(o)
	return nil
}

// notifyServers tells the language servers of a file that a tool has
// changed.
func (r *Runtime) notifyServers(ch files.Changed) {
	if r.languages == nil {
		return
	}
	kind := lspclient.Altered
	switch ch.Event {
	case "add":
		kind = lspclient.Created
	case "unlink":
		kind = lspclient.Deleted
	}
	r.languages.Changed(lspclient.FileChange{Path: ch.File, Kind: kind})
}

// invalidateFiles says that something may have changed files without the door to
// the disk, which tells of its changes itself.
func (r *Runtime) invalidateFiles() {
	if r.languages != nil {
		r.languages.Doubt()
	}
}

// LSP returns how the language servers are that were started.
func (r *Runtime) LSP() []LSPStatus {
	if r.languages == nil {
		return nil
	}
	return r.languages.Status()
}

// LSPFound returns the language servers that helve knows or that are
// configured, and which of them could be started here.
func (r *Runtime) LSPFound() []LSPFound {
	if r.languages == nil {
		return nil
	}
	return r.languages.Found()
}

// LSPLog returns the newest lines that a language server has printed.
func (r *Runtime) LSPLog(server string) []string {
	if r.languages == nil {
		return nil
	}
	return r.languages.Log(server)
}

// RestartLSP starts the language servers of a file anew, or with "" all that
// were started. It returns what they are called.
func (r *Runtime) RestartLSP(ctx context.Context, file string) ([]string, error) {
	if r.languages == nil {
		return nil, ErrNoLSP
	}
	return r.languages.Restart(ctx, r.absolute(file))
}

// Diagnostics returns what the language servers find in files as they are on
// disk. It waits for servers that have to start, as long as ctx lasts and the
// options say.
func (r *Runtime) Diagnostics(ctx context.Context, files ...string) (LSPReport, error) {
	if r.languages == nil {
		return LSPReport{}, ErrNoLSP
	}
	files = slices.Clone(files)
	for i := range files {
		files[i] = r.absolute(files[i])
		if !r.languages.Has(files[i]) {
			return LSPReport{}, fmt.Errorf("%s: %w", files[i], lspclient.ErrNone)
		}
	}
	return r.languages.Check(ctx, lspclient.Question{Files: files}), nil
}

func (r *Runtime) absolute(file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.dir, file)
}
