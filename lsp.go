package helve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/lsp"
)

// openLSP prepares the language servers. It starts none.
func (r *Runtime) openLSP() error {
	opt := r.opt.LSP
	if opt == nil {
		return nil
	}
	o := lspclient.Options{
		Options: *opt, Dir: r.dir, Worktree: r.worktree, Brief: r.opt.Shell.Ephemeral,
		StartProcess: func(ctx context.Context, s lsp.Server, cmd process.Command, out *os.File) (*process.Process, error) {
			return r.startServer(ctx, s.Environment, s.Wall, cmd, out)
		},
		OnChange: func() { r.events.publish(event.LSPChanged{}) },
		OnDiagnostics: func(server, path string) {
			r.events.publish(event.LSPDiagnostics{Server: server, Path: path})
		},
	}
	if r.opt.DataDir != "" {
		o.Logs, o.Board = r.ownFolder("lsp-logs"), r.ownFolder("lsp")
	}
	var err error
	if r.languages, err = lspclient.New(o); err != nil {
		return fmt.Errorf("setting up language servers: %w", err)
	}
	return nil
}

// notifyServers tells the language servers that a tool has changed a file.
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

// invalidateFiles says that files may have changed other than through the workspace, which reports
// its own changes.
func (r *Runtime) invalidateFiles() {
	if r.languages != nil {
		r.languages.Doubt()
	}
}

// LSP gives access to the language servers of a runtime. See [Runtime.LSP].
type LSP struct{ rt *Runtime }

// LSP returns access to the language servers.
func (r *Runtime) LSP() LSP { return LSP{r} }

// Status returns the states of the language servers that were started.
func (r LSP) Status() []lsp.Status {
	if r.rt.languages == nil {
		return nil
	}
	return r.rt.languages.Status()
}

// Found returns the known and the configured language servers, and which of them can be started on
// this machine.
func (r LSP) Found() []lsp.Found {
	if r.rt.languages == nil {
		return nil
	}
	return r.rt.languages.Found()
}

// Log returns the last lines that a language server has printed.
func (r LSP) Log(server string) []string {
	if r.rt.languages == nil {
		return nil
	}
	return r.rt.languages.Log(server)
}

// Restart restarts the language servers of a file, or all that were started if file is "". It
// returns their names.
func (r LSP) Restart(ctx context.Context, file string) ([]string, error) {
	if r.rt.languages == nil {
		return nil, lsp.ErrOff
	}
	return r.rt.languages.Restart(ctx, r.rt.absolute(file))
}

// Diagnostics returns the diagnostics of files as they are on disk. It waits for servers that have
// to start, within ctx and the limits of the options.
func (r LSP) Diagnostics(ctx context.Context, files ...string) (lsp.Report, error) {
	if r.rt.languages == nil {
		return lsp.Report{}, lsp.ErrOff
	}
	files = slices.Clone(files)
	for i := range files {
		files[i] = r.rt.absolute(files[i])
		if !r.rt.languages.Has(files[i]) {
			return lsp.Report{}, fmt.Errorf("%s: %w", files[i], lspclient.ErrNone)
		}
	}
	return r.rt.languages.Check(ctx, lspclient.Question{Files: files}), nil
}

func (r *Runtime) absolute(file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.dir, file)
}
