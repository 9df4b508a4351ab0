package permission

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// Together returns requests with those for one permission put together, in the
// order in which the permissions come first. Of their details those stay that
// are not at odds.
func Together(reqs []Request) []Request {
	if len(reqs) == 1 {
		return reqs
	}
	var out []Request
	var patterns, always, odds []map[string]bool // what is known, and details that differ, by request
	for _, r := range reqs {
		i := slices.IndexFunc(out, r.joins)
		if i < 0 {
			first := r
			first.Patterns, first.Always, first.Metadata = nil, nil, map[string]any{}
			first.Forms, first.Spellings, first.Guards, first.Uncertainties = nil, nil, nil, nil
			out, i = append(out, first), len(out)
			patterns, always, odds = append(patterns, map[string]bool{}), append(always, map[string]bool{}), append(odds, map[string]bool{})
		}
		o := &out[i]
		o.Patterns, o.Always = added(o.Patterns, r.Patterns, patterns[i]), added(o.Always, r.Always, always[i])
		o.Forms, o.Spellings, o.Guards = union(o.Forms, r.Forms), union(o.Spellings, r.Spellings), union(o.Guards, r.Guards)
		o.Uncertainties = union(o.Uncertainties, r.Uncertainties)
		for key, value := range r.Metadata {
			if other, said := o.Metadata[key]; said && !reflect.DeepEqual(value, other) || odds[i][key] {
				odds[i][key] = true
				delete(o.Metadata, key)
				continue
			}
			o.Metadata[key] = value
		}
	}
	return out
}

// joins reports whether two requests differ in nothing but what they are about.
// Of addresses a place is said for all of them, so these stay apart.
func (r Request) joins(o Request) bool {
	return r.Permission == o.Permission && !r.Addresses && !o.Addresses && r.Fingerprint == o.Fingerprint && r.Changed == o.Changed
}

func added(list, more []string, known map[string]bool) []string {
	for _, s := range more {
		if !known[s] {
			known[s] = true
			list = append(list, s)
		}
	}
	return list
}

// union adds to each list of a map what another has more.
func union[T comparable](a, b map[string][]T) map[string][]T {
	for key, list := range b {
		if a == nil {
			a = map[string][]T{}
		}
		all := a[key][:len(a[key]):len(a[key])] // not in the memory of who made it
		for _, x := range list {
			if !slices.Contains(all, x) {
				all = append(all, x)
			}
		}
		a[key] = all
	}
	return a
}

// An Asker asks for all the requests that it is given with one question.
type Asker interface {
	Ask(ctx context.Context, reqs ...Request) error
}

// A Batch collects what has to be allowed before something is done. Nobody is
// asked before [Batch.Submit], so that all of it is one decision. A Batch
// belongs to one goroutine.
type Batch struct {
	by   Asker
	open []Request
	done []Request
}

// NewBatch returns a batch for by, or by itself where it is one already.
func NewBatch(by Asker) *Batch {
	if g, ok := by.(*Batch); ok {
		return g
	}
	return &Batch{by: by}
}

// Ask adds requests. What this batch was allowed before is not asked again.
func (g *Batch) Ask(_ context.Context, reqs ...Request) error {
	for _, req := range reqs {
		if !slices.ContainsFunc(g.done, req.coveredBy) {
			g.open = append(g.open, req)
		}
	}
	return nil
}

// Open returns what was added and not asked yet.
func (g *Batch) Open() []Request { return g.open }

// Submit asks for all that was added. Before it has returned nil, nothing may
// be done, and nothing said of what was looked at.
func (g *Batch) Submit(ctx context.Context) error {
	open := g.open
	if g.open = nil; len(open) == 0 {
		return nil
	}
	if err := g.by.Ask(ctx, open...); err != nil {
		return err // and it is not asked again
	}
	g.done = append(g.done, open...)
	return nil
}

// Fail returns why something can not be done, to who may know it: what was
// added is asked first, and where that is not allowed, its error is the answer.
// A refusal is told as it is.
func (g *Batch) Fail(ctx context.Context, err error) error {
	for _, refusal := range []error{ErrDenied, ErrRejected, ErrUnattended} {
		if errors.Is(err, refusal) {
			return err
		}
	}
	if no := g.Submit(ctx); no != nil {
		return no
	}
	return err
}

// coveredBy reports whether a request asks for nothing that another does not ask
// for in the same words.
func (r Request) coveredBy(o Request) bool {
	if !r.joins(o) || len(r.Uncertainties) > 0 {
		return false
	}
	return !slices.ContainsFunc(r.Patterns, func(p string) bool {
		return !slices.Contains(o.Patterns, p) || !subset(r.Forms[p], o.Forms[p]) || !subset(r.Spellings[p], o.Spellings[p]) || !subset(r.Guards[p], o.Guards[p])
	})
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
