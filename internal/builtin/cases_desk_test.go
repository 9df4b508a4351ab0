package builtin_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A desk is a runtime over real files: a project, a folder beside it, and a
// person who says yes and notes what was asked. The cases_ files use it for
// the cases of the reference, each by its name there.
type desk struct {
	t        *testing.T
	rt       *helve.Runtime
	dir, out string // the project, and a folder outside of it
	person   *person
}

// newDesk makes a desk at which every permission is answered with one action,
// "ask" by the person. change may alter the options.
func newDesk(t *testing.T, action permission.Action, change ...func(*helve.Options)) *desk {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: filepath.Join(base, "project"), out: filepath.Join(base, "outside")}
	mkdir(t, d.dir)
	mkdir(t, d.out)
	opt := helve.Options{Dir: d.dir, Worktree: d.dir}
	for _, f := range change {
		f(&opt)
	}
	if opt.Agents == nil {
		user := permission.Ruleset{{Permission: "*", Pattern: "*", Action: action}}
		opt.Agents = agent.Specs(agent.SpecOptions{Worktree: opt.Worktree, User: user})
	}
	if d.rt, err = helve.Open(opt); err != nil {
		t.Fatal(err)
	}
	d.person = &person{rt: d.rt}
	stop := func() {}
	if action == permission.Ask {
		stop = d.person.sit()
	}
	t.Cleanup(func() {
		stop()
		if err := d.rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) put(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	mkdir(d.t, filepath.Dir(path))
	write(d.t, path, []byte(text))
	return path
}

// get returns what a file holds; "(none)" where there is none.
func (d *desk) get(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// files returns everything in the project by name.
func (d *desk) files() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for name := range scan(d.t, d.dir, nil) {
		out[filepath.ToSlash(name)] = d.get(name)
	}
	return out
}

func (d *desk) call(name string, args map[string]any) (*tool.Result, error) {
	d.t.Helper()
	return d.callIn("s", name, args)
}

// callIn makes a call of a session.
func (d *desk) callIn(session, name string, args map[string]any) (*tool.Result, error) {
	d.t.Helper()
	return d.rt.Call(d.t.Context(), tool.Call{Session: session, Tool: name, Input: asInput(d.t, args)})
}

func (d *desk) read(name string) (*tool.Result, error) {
	d.t.Helper()
	return d.call("read", map[string]any{"filePath": name})
}

// mustRead reads a file that has to be readable.
func (d *desk) mustRead(name string) *tool.Result {
	d.t.Helper()
	res, err := d.read(name)
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

func (d *desk) edit(name, old, new string) (*tool.Result, error) {
	d.t.Helper()
	return d.call("edit", map[string]any{"filePath": name, "oldString": old, "newString": new})
}

func (d *desk) write(name, content string) (*tool.Result, error) {
	d.t.Helper()
	return d.call("write", map[string]any{"filePath": name, "content": content})
}

func (d *desk) patch(text string) (*tool.Result, error) {
	d.t.Helper()
	return d.call("apply_patch", map[string]any{"patchText": text})
}

// asked returns the requests for a permission that the person has seen.
func (d *desk) asked(name string) (out []map[string]any) {
	d.person.mu.Lock()
	defer d.person.mu.Unlock()
	for _, a := range d.person.asks {
		if m := a.(map[string]any); m["permission"] == name {
			out = append(out, m)
		}
	}
	return out
}

// outside returns the patterns of every request to leave the workspace.
func (d *desk) outside() (patterns []string) {
	for _, a := range d.asked("external_directory") {
		patterns = append(patterns, a["patterns"].([]string)...)
	}
	return patterns
}

// events returns everything that has happened until a file tool's call ended.
func (d *desk) events(call string) (out []event.Event) {
	d.t.Helper()
	for e := range d.rt.Events(d.t.Context(), 0) {
		out = append(out, e)
		if end, ok := e.Properties.(event.CallFinished); ok && end.ID == call {
			return out
		}
	}
	d.t.Fatalf("the end of %s was not told", call)
	return nil
}

// wantFail checks that a call has failed as a tool does, with a code and a
// part of its text.
func wantFail(t *testing.T, err error, code, part string) {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case !ok:
		t.Errorf("got %v, want an error %s: %q", err, code, part)
	case e.Code != code || !strings.Contains(e.Error(), part):
		t.Errorf("got the error %s: %v; want %s: %q", e.Code, e, code, part)
	}
}

// wantFiles checks what lies in the project.
func (d *desk) wantFiles(want map[string]string) {
	d.t.Helper()
	if got := d.files(); encoded(got) != encoded(want) {
		d.t.Errorf("the files are\n%s\nand not\n%s", encoded(got), encoded(want))
	}
}

// at looks up a value in metadata, which may hold structs, by the way that
// its JSON has.
func at(t *testing.T, metadata any, way ...any) any {
	t.Helper()
	v := asJSON(t, metadata)
	for _, step := range way {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

func contains(list any, item string) bool {
	all, _ := list.([]any)
	return slices.ContainsFunc(all, func(v any) bool { return v == item })
}

func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(encoded(v)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
