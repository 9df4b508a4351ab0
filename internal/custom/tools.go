package custom

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A shelf is the set of registered tools.
type shelf struct {
	turn sync.Mutex // held by who changes it

	mu     sync.Mutex
	on     map[string]*offer // by the name of the tool
	losses map[string]losses // by file
	shape  string            // of all there was, when it was last changed
}

// losses are what of a file's tools is not to be had.
type losses struct {
	notes  []string // about all
	failed []string // those that cannot be used
}

// An offer is a tool that a file has.
type offer struct {
	id     string
	key    string // equal keys are equal tools
	path   string // of the file
	make   func() (tool.Tool, error)
	remove func()
}

// syncTools registers the tools that the units have now, and unregisters those they no longer have.
// Unchanged tools are left alone.
func (s *Set) syncTools() {
	s.shelf.turn.Lock()
	defer s.shelf.turn.Unlock()
	winners, lost := map[string]*offer{}, map[string]losses{}
	lose := func(path, note string, failed ...string) {
		l := lost[path]
		lost[path] = losses{append(l.notes, note), append(l.failed, failed...)}
	}
	var order []string
	for _, o := range s.offers() {
		if first := winners[o.id]; first == nil {
			order = append(order, o.id)
		} else if first.path != o.path {
			lose(first.path, fmt.Sprintf("Its tool %s is hidden by that of %s.", o.id, o.path))
		}
		winners[o.id] = o
	}
	old := s.shelf.on
	on := map[string]*offer{}
	for _, id := range order {
		o := winners[id]
		if was := old[id]; was != nil && was.key == o.key {
			on[id] = was
			continue
		}
		made, err := o.make()
		if err == nil {
			o.remove, err = s.opt.Register(made)
		}
		if err != nil {
			lose(o.path, fmt.Sprintf("Its tool %s can not be used: %v.", id, err), id)
			continue
		}
		on[id] = o
	}
	for id, was := range old {
		if on[id] != was {
			was.remove()
		}
	}
	shape := s.shape()
	s.shelf.mu.Lock()
	changed := s.shelf.shape != shape
	s.shelf.on, s.shelf.losses, s.shelf.shape = on, lost, shape
	s.shelf.mu.Unlock()
	if changed {
		s.opt.Changed()
	}
}

// shape returns a text that changes with the tools of the units.
func (s *Set) shape() string {
	var all []string
	for _, u := range s.units {
		u.mu.Lock()
		if u.build != nil {
			all = append(all, u.root, u.denied, u.build.failed, u.build.result.Hash)
		}
		for _, name := range slices.Sorted(maps.Keys(u.facts)) {
			f := u.facts[name]
			all = append(all, name, string(f.state), f.engine, f.problem, strings.Join(f.hooks, " "))
			for _, d := range f.defs {
				all = append(all, d.ID, d.Hash)
			}
		}
		u.mu.Unlock()
	}
	return hashTexts(all...)
}

// offers returns the tools of all units, those with precedence last: tools of files and programs,
// folder by folder, then those of plugins.
func (s *Set) offers() (all []*offer) {
	for _, u := range s.units {
		all = append(all, u.offers(kindTool)...)
		all = append(all, u.offers(kindProgram)...)
	}
	for _, u := range s.units {
		all = append(all, u.offers(kindPlugin)...)
	}
	return all
}

func (u *unit) offers(kind string) (all []*offer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	entries := u.programs
	if u.build != nil && kind != kindProgram {
		entries = u.build.entries
	}
	for _, e := range entries {
		f := u.facts[e.name]
		if e.kind != kind || f == nil {
			continue
		}
		for _, t := range f.tools {
			if t.Error == nil {
				all = append(all, u.offer(e, t))
			}
		}
		for _, d := range f.defs {
			all = append(all, &offer{id: d.ID, path: d.File, key: hashTexts(d.File, d.ID, d.Name, d.Hash), make: func() (tool.Tool, error) { return u.programTool(d) }})
		}
	}
	return all
}

// offer makes an offer of a tool that a script defines.
func (u *unit) offer(e userFile, t script.Tool) *offer {
	path, at := u.path(u.build.root, e), u.build.locationOf(e)
	return &offer{
		id: t.ID, path: path,
		key: hashTexts(path, e.name, strconv.Itoa(int(at)), t.Export, t.Name, t.ID, t.Description, string(t.Schema)),
		make: func() (tool.Tool, error) {
			schema, err := schemaOf(t.Schema)
			if err != nil {
				return tool.Tool{}, err
			}
			return tool.Dynamic(tool.Spec{Name: t.ID, Description: t.Description, Schema: schema, AsGiven: true}, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
				return u.execute(ctx, c, e, t, path, at)
			})
		},
	}
}

// schemaOf reads the schema of a tool's arguments.
func schemaOf(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	schema := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, schema); err != nil {
		return nil, fmt.Errorf("its schema can not be read: %w", err)
	}
	return schema, nil
}

func (s *shelf) clear() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	on := s.on
	s.on, s.losses = nil, nil
	s.mu.Unlock()
	for _, o := range on {
		o.remove()
	}
}

// lostTools returns which tools of the files are not available, by path.
func (s *shelf) lostTools() map[string]losses {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.losses
}

// execute runs a tool of a script for a call.
func (u *unit) execute(ctx context.Context, c *tool.Call, def userFile, t script.Tool, path string, at place) (*tool.Result, error) {
	id := t.ID
	if err := c.Ask(ctx, permission.Request{
		Permission: id, Patterns: []string{"*"}, Always: []string{"*"}, Metadata: map[string]any{"file": path},
	}); err != nil {
		return nil, err
	}
	e, err := u.acquire(ctx, at)
	if err != nil {
		return nil, u.toolError(id, err)
	}
	defer u.release(e)
	ctx, leave, err := e.waitTurn(ctx, owner(c))
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx = scripthost.Ending(ctx, end, c, id)
	defer e.over(ctx)
	out, err := e.run.Execute(ctx, script.ToolCall{
		File: def.name, Export: t.Export, Tool: t.Name, Args: c.Input,
		Context: script.ToolContext{
			SessionID: c.Session, MessageID: c.Message, Agent: c.Agent, CallID: c.ID, Directory: dirOf(c, u.set.opt.Dir), Worktree: u.set.opt.Worktree,
		},
	})
	if err != nil {
		e.recordError(err)
		return nil, u.toolFailure(ctx, id, err)
	}
	return u.result(id, out), nil
}

// toolFailure is the error of a failed tool.
func (u *unit) toolFailure(ctx context.Context, id string, err error) error {
	_, threw := errors.AsType[*script.Fault](err)
	exit, exits := errors.AsType[*scripthost.Exit](context.Cause(ctx))
	switch {
	case exits && !threw: // in a timer, or where the script caught what exit throws
		return exited(id, exit.Error())
	case !exits && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return refusedOr(ctx, u.toolError(id, err))
}

func dirOf(c *tool.Call, other string) string {
	if c.Dir != "" {
		return c.Dir
	}
	return other
}

// maxTitle bounds the titles of results, in bytes.
const maxTitle = 200

// result converts what a tool returned. Parts that cannot be used are left out.
func (u *unit) result(id string, out script.Outcome) *tool.Result {
	r := &tool.Result{Title: titleOf(out.Title), Output: out.Output, Metadata: map[string]any{}}
	if len(out.Metadata) > 0 {
		if err := json.Unmarshal(out.Metadata, &r.Metadata); err != nil || r.Metadata == nil {
			r.Metadata = map[string]any{}
		}
		delete(r.Metadata, "truncated") // by these a tool of ours says that it has bounded its output itself
		delete(r.Metadata, "outputPath")
	}
	var all []json.RawMessage
	if len(out.Attachments) > 0 && json.Unmarshal(out.Attachments, &all) != nil {
		all = nil
	}
	for i, raw := range all {
		var a tool.Attachment
		if err := attachmentOf(raw, &a); err != nil {
			u.set.log.Warn("an attachment of a result was left out", "tool", id, "number", i+1, "error", err)
			continue
		}
		r.Attachments = append(r.Attachments, a)
	}
	return r
}

// titleOf is a title on one line.
func titleOf(title string) string {
	title, cut := text.Cut(title, maxTitle)
	if strings.ContainsAny(title, "\n\r") {
		title = strings.Join(strings.Fields(title), " ")
	}
	if cut {
		title += "…"
	}
	return title
}

// attachmentOf decodes an attachment, or says what is wrong with it.
func attachmentOf(raw json.RawMessage, a *tool.Attachment) error {
	if json.Unmarshal(raw, a) != nil || a.Mime == "" || a.URL == "" {
		return errors.New("it has no mime or no url")
	}
	a.ID, a.Type = "", "file"
	data, ok := strings.CutPrefix(a.URL, "data:")
	if !ok {
		return nil
	}
	head, body, ok := strings.Cut(data, ",")
	if !ok {
		return errors.New("its data URL has no data")
	}
	if !strings.HasSuffix(strings.ToLower(head), ";base64") {
		return nil
	}
	if _, err := io.Copy(io.Discard, base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(strings.TrimRight(body, "=")))); err != nil {
		return errors.New("its data is not base64")
	}
	return nil
}
