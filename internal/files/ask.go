package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve/permission"
)

// AskRead asks for permission to read p; see [Workspace.AskFor].
func (f *Workspace) AskRead(ctx context.Context, a Asker, p Path) error {
	return f.AskFor(ctx, a, permission.Request{Permission: "read"}, p)
}

// AskFor asks for a permission for p, under the requested name and, if links lead elsewhere, under
// the real name too.
func (f *Workspace) AskFor(ctx context.Context, a Asker, req permission.Request, p Path) error {
	asked, leads := req, req
	asked.Patterns, asked.Always = []string{p.abs}, []string{"*"}
	top, rel := f.cache.real(f.baseDir(p.dir)), relativeNames(f.baseDir(p.dir), p.abs)
	asked.Forms = map[string][]string{p.abs: rel}
	if p.real != p.abs && rel != nil && filepath.Join(top, rel[0]) == p.real {
		// Only the path to the workspace is spelled differently: one file, two names.
		asked.Forms[p.abs] = append(asked.Forms[p.abs], p.real)
		return a.Ask(ctx, asked)
	}
	if p.real == p.abs {
		return a.Ask(ctx, asked)
	}
	leads.Patterns, leads.Always = []string{p.real}, []string{"*"}
	leads.Forms = map[string][]string{p.real: relativeNames(top, p.real)}
	return a.Ask(ctx, asked, leads)
}

// relativeNames returns the name of a file relative to a folder.
func relativeNames(top, file string) []string {
	rel, err := filepath.Rel(top, file)
	if err != nil {
		return nil
	}
	return []string{rel}
}

// AskEdit asks in one request for permission to change files, each under its name relative to the
// worktree and, if links lead elsewhere, the real one too.
func (f *Workspace) AskEdit(ctx context.Context, a Asker, metadata map[string]any, paths ...Path) error {
	req := f.EditRequest(paths...)
	req.Metadata = metadata
	return a.Ask(ctx, req)
}

// MayEdit reports whether files may be changed without asking.
func (f *Workspace) MayEdit(a Decider, paths ...Path) bool { return a.Allowed(f.EditRequest(paths...)) }

// EditRequest returns the request that [Workspace.AskEdit] makes.
func (f *Workspace) EditRequest(paths ...Path) permission.Request {
	if f.cache == nil {
		f = f.WithCache() // the same few folders are resolved many times
	}
	req := permission.Request{
		Permission: "edit", Always: []string{"*"},
		Forms: map[string][]string{}, Guards: map[string][]string{},
	}
	leads, made := map[string][]guardedTarget{}, madeBy(paths)
	add := func(name, abs, top string, p Path) {
		if _, known := leads[p.dir]; !known {
			leads[p.dir] = f.guardedTargets(p.dir)
		}
		req.Patterns = append(req.Patterns, name)
		req.Forms[name] = append(relativeNames(top, abs), abs)
		if words := f.guards(p, leads[p.dir], made); words != nil {
			req.Guards[name] = words
		}
	}
	for _, p := range paths {
		top := f.baseDir(p.dir)
		add(p.shown, p.abs, top, p)
		if rel := relativeNames(top, p.abs); rel != nil && filepath.Join(f.cache.real(top), rel[0]) == p.real {
			req.Forms[p.shown] = append(req.Forms[p.shown], p.real)
			continue
		}
		name := p.real
		if rel := relativeNames(f.cache.real(top), p.real); rel != nil {
			name = rel[0]
		}
		add(name, p.real, f.cache.real(top), p)
	}
	return req
}

// MayRead reports whether p may be read without asking.
func (f *Workspace) MayRead(a Decider, p Path) bool { return f.underEveryName(p, a.Allowed) }

// Withheld reports whether the contents of p must not be shown, even to a person who is asked about
// something else than reading it: a rule denies or asks about reading it under one of its names. An
// ask about everything does not count.
func (f *Workspace) Withheld(a Filterer, p Path) bool {
	passes, _ := a.Filter("read")
	return passes != nil && !f.underEveryName(p, func(req permission.Request) bool {
		name := req.Patterns[0]
		return a.Allowed(req) || passes(append([]string{name}, req.Forms[name]...)...)
	})
}

// underEveryName reports whether fine accepts reading p under each of its names.
func (f *Workspace) underEveryName(p Path, fine func(permission.Request) bool) bool {
	top := f.baseDir(p.dir)
	for name, top := range map[string]string{p.abs: top, p.real: f.cache.real(top)} {
		req := permission.Request{
			Permission: "read", Patterns: []string{name},
			Forms: map[string][]string{name: append(relativeNames(top, name), p.abs)},
		}
		if !fine(req) {
			return false
		}
	}
	info, err := os.Lstat(p.real)
	if err != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, name := range f.otherNames(ctx, p, info) {
		req := permission.Request{
			Permission: "read", Patterns: []string{name},
			Forms: map[string][]string{name: relativeNames(f.cache.real(top), name)},
		}
		if !fine(req) {
			return false
		}
	}
	return ctx.Err() == nil // a file that was not checked may be anything
}

// A Decider decides without asking.
type Decider interface {
	Allowed(req permission.Request) bool
}

// outsideRequest returns the request for leaving the workspace.
func outsideRequest(target string, folder bool) permission.Request {
	parent := filepath.Dir(target)
	if folder {
		parent = target
	}
	about, literal := filepath.Join(parent, "*"), parent
	if !folder && isRoot(parent) { // a star there would match the whole disk
		about, literal = target, target
	}
	req := permission.Request{
		Permission: "external_directory", Patterns: []string{about}, Always: []string{about},
		Metadata: map[string]any{"filepath": target, "parentDir": parent},
	}
	if strings.ContainsAny(literal, "*?") {
		req.Always = nil // as a pattern it would approve other files
	}
	return req
}
