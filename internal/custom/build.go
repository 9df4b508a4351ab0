package custom

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/plugin"
)

// A build is the program of a unit's files, compiled.
type build struct {
	unit    *unit
	root    string
	entries []userFile
	opts    bundle.Options
	result  *bundle.Result
	parts   []byte // the modules it uses, bytecode
	program []byte // itself, bytecode
	failed  string // why there is no program
	made    time.Time

	first bool // nothing of the unit was there before, and its plugins are not started yet; guarded by the unit

	mu      sync.Mutex
	bad     map[string]string // files that ruin an engine, and how
	stopped int               // how often a file was stopped that was not to blame
}

// bundleOptions returns the options for bundling the files of a folder.
func (s *Set) bundleOptions(root string, entries []userFile) bundle.Options {
	virtual := script.Modules()
	maps.Copy(virtual, script.PluginModules())
	o := bundle.Options{Root: root, Virtual: virtual, Also: s.opt.Also}
	for _, e := range entries {
		if e.kind != kindProgram && e.problem == "" {
			o.Files = append(o.Files, e.name)
		}
	}
	return o
}

// newBuild compiles files, or finds them compiled.
func newBuild(ctx context.Context, u *unit, root string, entries []userFile) *build {
	b := &build{unit: u, root: root, entries: entries, made: time.Now(), bad: map[string]string{}, opts: u.set.bundleOptions(root, entries)}
	b.opts.Also = slices.Concat(b.opts.Also, u.stowed(root))
	if len(b.opts.Files) == 0 {
		b.result = &bundle.Result{}
		return b
	}
	if err := u.set.store.compiled(ctx, b); err != nil {
		b.result = &bundle.Result{}
		b.failed = err.Error()
	}
	return b
}

// retryPause is how long it takes until a failed build is tried again.
const retryPause = 2 * time.Second

// isCurrent reports whether the files are still those of the build.
func (b *build) isCurrent(root string, entries []userFile) bool {
	if root != b.root || !slices.Equal(entries, b.entries) {
		return false
	}
	if len(b.opts.Files) == 0 {
		return true
	}
	if b.failed != "" { // it is unknown what would fix it
		return time.Since(b.made) < retryPause
	}
	return b.result.Inputs.Fresh(b.opts)
}

// blame remembers that a file ruins engines.
func (b *build) blame(e userFile, how string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad[e.name] = how
}

// runnable returns those of some files that the engine of a place can load, and the facts about
// those that it cannot.
func (b *build) runnable(at place, some []userFile, facts map[string]*fact) (run []userFile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range some {
		if b.locationOf(e) != at {
			continue
		}
		problem := e.problem
		path := filepath.Join(b.root, filepath.FromSlash(e.name))
		switch {
		case problem != "":
		case b.failed != "":
			problem = path + ": " + b.failed
		case b.bad[e.name] != "":
			problem = path + ": " + b.bad[e.name]
		default:
			problem = b.mistake(e)
		}
		if problem != "" {
			facts[e.name] = &fact{state: plugin.Failed, engine: embedded, problem: problem}
			continue
		}
		run = append(run, e)
	}
	return run
}

// A place is where a file runs.
type place int

// The places: the embedded engine, and bun or node. places is how many there are.
const (
	within place = iota
	outside
	places
)

// locationOf returns where a file runs.
func (b *build) locationOf(e userFile) place {
	if len(b.needs(e)) > 0 {
		return outside
	}
	return within
}

// file returns the compiler's result for a file.
func (b *build) file(e userFile) (bundle.File, bool) {
	i := slices.IndexFunc(b.result.Files, func(f bundle.File) bool { return f.Name == e.name })
	if i < 0 {
		return bundle.File{}, false
	}
	return b.result.Files[i], true
}

// mistake says why a file cannot be loaded; "" if it can.
func (b *build) mistake(e userFile) string {
	f, ok := b.file(e)
	if !ok || f.Loads() {
		return ""
	}
	for _, p := range f.Problems {
		if p.Late {
			continue
		}
		if p.Package != "" {
			return fmt.Sprintf("%s. %s", p, howToInstall(p.Package, b.root))
		}
		return p.String()
	}
	return ""
}

// needs are the APIs a file uses that the embedded engine does not have.
func (b *build) needs(e userFile) (all []string) {
	f, _ := b.file(e)
	for _, n := range f.Needs {
		if !n.Guarded {
			all = append(all, n.API)
		}
	}
	return sorted(all)
}

// hashFile is a hash of a file's contents.
func (b *build) hashFile(e userFile) string {
	path, err := filepath.EvalSymlinks(filepath.Join(b.root, filepath.FromSlash(e.name)))
	if err != nil {
		return ""
	}
	for _, m := range b.result.Inputs.Files {
		if m.Path == path {
			return m.Sum
		}
	}
	return ""
}
