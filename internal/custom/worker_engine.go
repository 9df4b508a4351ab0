package custom

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
)

var errNoWorker = errors.New("and nothing is set up here to run it in. Install bun or node and allow it by the config key custom.worker")

// askKey is the context key of the function that requests permission for a call while files are
// loaded.
type askKey struct{}

// mayRun decides whether a file may run in Bun or Node: by asking the call that needs it, or else
// by the rules alone.
func (u *unit) mayRun(ctx context.Context, e userFile, req permission.Request) error {
	if ask, ok := ctx.Value(askKey{}).(func(permission.Request) error); ok {
		return ask(req)
	}
	if u.set.opt.Quiet == nil {
		return errors.New("there is nobody who could allow it")
	}
	return u.set.opt.Quiet(e.settingsName()).Ask(ctx, req)
}

// permitted requests permission for files that are to run in Bun or Node, where single requests
// cannot be checked.
func (b *build) permitted(ctx context.Context, some []userFile, facts map[string]*fact) (may []userFile) {
	u := b.unit
	for _, e := range some {
		path := u.path(b.root, e)
		name := path
		if rel, err := filepath.Rel(u.set.opt.Worktree, path); u.set.opt.Worktree != "" && err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
		err := u.mayRun(ctx, e, permission.Request{
			Permission: "worker", Patterns: []string{name}, Always: []string{name}, Metadata: map[string]any{"file": path, "needs": b.needs(e)},
		})
		if err != nil {
			facts[e.name] = &fact{state: plugin.Failed, engine: "worker", refused: true, problem: b.why(e, err.Error())}
			continue
		}
		may = append(may, e)
	}
	return may
}

// newWorker starts bun or node for files.
func newWorker(ctx context.Context, b *build, some []userFile) (*engine, error) {
	u := b.unit
	opt := u.set.opt
	if opt.Shell == nil {
		return nil, errNoWorker
	}
	host := scripthost.New(opt.Services)
	how := WorkerOptions{
		Shell: opt.Shell, Runtime: opt.Worker, Dir: opt.Dir, Logger: u.set.log,
		Requests: func(ctx context.Context, op string, arg json.RawMessage) (json.RawMessage, error) {
			return hostAnswer(ctx, host, op, arg)
		},
	}
	if opt.Tell != nil {
		how.Tell = func(level, text string) { opt.Tell("", level, text) }
	}
	e := &engine{unit: u, build: b, at: outside, over: host.Over}
	ctx, cancel := context.WithTimeoutCause(e.quiet(ctx, names(some)), opt.LoadTimeout, errLate)
	defer cancel()
	folder := WorkerFolder{Root: b.root, Also: slices.Concat(opt.Also, u.stowed(b.root)), Reads: b.imports()}
	for _, en := range some {
		folder.Files = append(folder.Files, en.name)
	}
	w, err := StartWorker(ctx, how, folder)
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	e.kind, e.load, e.run = w.Runtime().Name, w, w
	e.close = func() error { return errors.Join(w.Close(), host.Close()) }
	return e, nil
}

// imports returns the files that the files of a build consist of, except those of installed
// packages, which are visible in the sandbox anyway. Within the config folder it returns whole
// folders, because the runtime looks for names in them; beside the config itself only what is
// imported.
func (b *build) imports() (paths []string) {
	root, err := filepath.EvalSymlinks(b.root)
	if err != nil {
		return nil
	}
	for _, m := range b.result.Inputs.Files {
		path := m.Path
		if slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "node_modules") {
			continue
		}
		if dir := filepath.Dir(path); dir != root && disk.Within(root, dir) {
			path = dir
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// hostAnswer is what a script in a worker gets: the same as one in the embedded engine.
func hostAnswer(ctx context.Context, host *scripthost.Host, op string, arg json.RawMessage) (json.RawMessage, error) {
	got, err := host.Later(ctx, op, script.Data{JSON: arg})
	if f, ok := errors.AsType[*script.Failure](err); ok {
		return nil, &script.Fault{Name: f.Name, Message: f.Message, Code: f.Code, Data: f.Data}
	}
	return got.JSON, err
}
