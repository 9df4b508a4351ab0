package custom

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// programsIn finds the programs of a config folder.
func programsIn(root string) (all []userFile) {
	for _, path := range plugins.ProgramFiles(root) {
		if rel, err := filepath.Rel(root, path); err == nil {
			all = append(all, userFile{name: filepath.ToSlash(rel), kind: kindProgram})
		}
	}
	for _, path := range plugins.NotExecutable(root) {
		if rel, err := filepath.Rel(root, path); err == nil {
			all = append(all, userFile{name: filepath.ToSlash(rel), kind: kindProgram, problem: "it is not executable: run 'chmod +x' on it, or begin its name with _ if it is no tool"})
		}
	}
	return all
}

// describePrograms reads the descriptions of programs: those that are wanted, or were before and
// have changed.
func (u *unit) describePrograms(ctx context.Context, all []userFile, w want) (changed bool) {
	u.mu.Lock()
	root := u.root
	var ask []userFile
	marks := map[string]string{}
	for _, e := range all {
		mark := markOf(u.path(root, e))
		switch {
		case u.facts[e.name] == nil && !w.includes(e):
			continue
		case u.facts[e.name] == nil || u.marks[e.name] != mark:
			ask = append(ask, e)
		}
		marks[e.name] = mark
	}
	for name := range u.marks {
		if _, stays := marks[name]; !stays {
			delete(u.facts, name)
			changed = true
		}
	}
	u.marks = marks
	u.mu.Unlock()
	facts := make([]*fact, len(ask))
	var waits sync.WaitGroup
	for i, e := range ask {
		if e.problem != "" {
			facts[i] = &fact{state: plugin.Failed, engine: kindProgram, problem: u.path(root, e) + ": " + e.problem}
			continue
		}
		waits.Go(func() {
			facts[i], _ = u.soon(func() (*fact, error) { return u.describeProgram(ctx, u.path(root, e)), nil },
				func(_ context.Context, late, f *fact, _ error) { u.arrived(e.name, late, f) })
		})
	}
	waits.Wait()
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, e := range ask {
		u.facts[e.name] = facts[i]
	}
	return changed || len(ask) > 0
}

// programTool makes a tool of a program. The program is checked again before every call, because it
// is not copied.
func (u *unit) programTool(d plugins.ProgramTool) (tool.Tool, error) {
	made, err := u.set.runs.Tool(d)
	if err != nil || u.trusted == nil {
		return made, err
	}
	return tool.Dynamic(made.Spec(), func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		if !u.trusted() {
			return nil, tool.Fail("not-trusted", "The tool %s was not run: its folder has changed since it was trusted. Look at it and run 'helve trust'.", d.ID)
		}
		return made.Run(ctx, c)
	})
}

// describeProgram has a program describe itself.
func (u *unit) describeProgram(ctx context.Context, path string) *fact {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, u.set.opt.LoadTimeout, errLate)
	defer cancel()
	defs, err := u.set.runs.Describe(ctx, path)
	f := &fact{state: plugin.Ready, engine: kindProgram, defs: slices.Clone(defs), took: time.Since(began)}
	if err != nil {
		f.problem = err.Error()
		if !strings.Contains(f.problem, path) {
			f.problem = path + ": " + f.problem
		}
		if len(defs) == 0 {
			f.state = plugin.Failed
		}
	}
	return f
}

// markOf returns the file attributes of a program and of the files that may describe it.
func markOf(path string) string {
	var b strings.Builder
	for _, name := range []string{path, path + ".tool.json", strings.TrimSuffix(path, filepath.Ext(path)) + ".tool.json"} {
		if st, err := os.Stat(name); err == nil {
			fmt.Fprintf(&b, "%d %d %v\n", st.Size(), st.ModTime().UnixNano(), st.Mode())
		} else {
			b.WriteString("-\n")
		}
	}
	return b.String()
}
