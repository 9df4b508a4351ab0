package permission

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// Together returns requests with those for the same permission merged, in the order in which the
// permissions first appear. Details that contradict each other are dropped.
func Together(reqs []Request) []Request {
	if len(reqs) == 1 {
		return reqs
	}
	var out []Request
	var patterns, always, odds []map[string]bool // what has been collected, and the details that differ, by request
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

// joins reports whether two requests differ only in their patterns. Requests for addresses never
// join, because Place holds for all addresses of a request.
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

// union adds to each list of a the elements that only b has.
func union[T comparable](a, b map[string][]T) map[string][]T {
	for key, list := range b {
		if a == nil {
			a = map[string][]T{}
		}
		all := a[key][:len(a[key]):len(a[key])] // a copy, so that the caller's slice stays unchanged
		for _, x := range list {
			if !slices.Contains(all, x) {
				all = append(all, x)
			}
		}
		a[key] = all
	}
	return a
}

// An Asker asks for all given requests with one question.
type Asker interface {
	Ask(ctx context.Context, reqs ...Request) error
}

// A Batch collects requests until [Batch.Submit] asks for all of them at once, before any of the
// work is done. A Batch belongs to one goroutine.
type Batch struct {
	by   Asker
	open []Request
	done []Request
}

// NewBatch returns a batch that asks through by, or by itself if it already is a batch.
func NewBatch(by Asker) *Batch {
	if g, ok := by.(*Batch); ok {
		return g
	}
	return &Batch{by: by}
}

// Ask adds requests. What this batch has already been allowed is not asked again.
func (g *Batch) Ask(_ context.Context, reqs ...Request) error {
	for _, req := range reqs {
		if !slices.ContainsFunc(g.done, req.coveredBy) {
			g.open = append(g.open, req)
		}
	}
	return nil
}

// Open returns the added requests that have not been submitted.
func (g *Batch) Open() []Request { return g.open }

// Submit asks for everything added. Until it has returned nil, the caller must not act, nor reveal
// anything about what it looked at.
func (g *Batch) Submit(ctx context.Context) error {
	open := g.open
	if g.open = nil; len(open) == 0 {
		return nil
	}
	if err := g.by.Ask(ctx, open...); err != nil {
		return err // the requests are not asked again
	}
	g.done = append(g.done, open...)
	return nil
}

// Fail returns why something cannot be done, once the caller may know it: it submits the added
// requests first and, if they are not allowed, returns that error instead.
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

// coveredBy reports whether o asks for everything that r does, in the same words.
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
