package helve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/files"
)

// openFiles opens the workspace, through which all file access goes.
func (r *Runtime) openFiles() {
	r.files = &files.Workspace{
		Worktree: r.worktree, Project: r.project, Own: slices.Clone(r.opt.Protected),
		Unchecked: r.opt.Unread, Sync: true, Now: r.now,
		History: files.NewHistory(files.HistoryOptions{
			Dir: r.ownFolder("history"), Quota: r.opt.Limits.History, Sync: r.opt.Durable, Now: r.now, Logger: r.log,
		}),
		OnChange: func(ch files.Changed) {
			publish := r.events.publish
			if isBackgroundID(ch.Call) {
				publish = r.events.publishQuietly // otherwise the plugin that did it would be told, and do it again
			}
			if ch.Event != "unlink" {
				publish(event.FileEdited{Session: ch.Session, File: ch.File})
			}
			publish(event.FileChanged{File: ch.File, Event: ch.Event})
			r.notifyServers(ch)
		},
	}
	r.files.OnTrouble = func(err error) { r.log.Warn("the end of an earlier change was not cleaned up", "error", err) }
	if r.opt.DataDir != "" {
		r.files.Memory = readMarks{r.store}
		r.files.Own = append(r.files.Own, r.opt.DataDir)
	}
}

// ownFolder returns a folder for the runtime's own files: in DataDir, or a temporary one that Close
// removes.
func (r *Runtime) ownFolder(name string) string {
	if r.opt.DataDir != "" {
		return filepath.Join(r.opt.DataDir, name)
	}
	return strings.Replace(r.outputs, "helve-output-", "helve-"+name+"-", 1)
}

// removeTemporary removes the runtime's temporary files.
func (r *Runtime) removeTemporary() error {
	if r.opt.DataDir != "" {
		return nil
	}
	var errs []error
	for _, name := range []string{"history", "jobs", "wall"} {
		errs = append(errs, os.RemoveAll(r.ownFolder(name)))
	}
	return errors.Join(errs...)
}

// formatters returns what formats files after a change; nil for nothing.
func (r *Runtime) formatters() builtin.Formatters {
	if r.opt.Formatters == nil {
		return nil
	}
	opt := files.FormatterOptions{
		Builtin: r.opt.Formatters.Builtin, Experimental: r.opt.Formatters.Experimental, Dir: r.dir, Worktree: r.worktree, Logger: r.log,
	}
	for _, f := range r.opt.Formatters.Own {
		opt.Formatters = append(opt.Formatters, files.Formatter(f))
	}
	return formatterHost{files.NewFormatters(opt)}
}

type formatterHost struct{ *files.Formatters }

// Run formats a file and returns the formatters that failed.
func (f formatterHost) Run(ctx context.Context, file string) (failures []builtin.FormatFailure) {
	reports, err := f.Formatters.Run(ctx, file)
	if err != nil {
		failures = append(failures, builtin.FormatFailure{Name: "of this file", Err: err})
	}
	for _, rep := range reports {
		if rep.Err != nil {
			failures = append(failures, builtin.FormatFailure{Name: rep.Name, Err: rep.Err})
		}
	}
	return failures
}
