package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/helve-dev/helve/internal/regex"
	"github.com/helve-dev/helve/internal/search"
)

// An engine is the search alone, without the road of a call: what is left of a
// figure when permission, formatting and record are taken away.
type engine struct {
	engine *search.Engine
	order  search.Order
}

func newEngine(kind string) (contender, error) {
	opt := search.EngineOptions{Idle: time.Hour}
	c := &engine{order: search.Newest}
	switch kind {
	case kindNone:
	case kindFirst:
		c.order = search.First
	case kindTree:
		opt.Keep, opt.Memory = true, -1 // no index
	case kindIndex:
		opt.Keep, opt.Memory = true, 512<<20
	default:
		return nil, fmt.Errorf("there is no contender %q", kind)
	}
	c.engine = search.New(opt)
	return c, nil
}

func (c *engine) answer(ctx context.Context, q query, dir string) (answer, error) {
	where := search.Options{Dir: dir, Exact: true, Hidden: true, Closed: true, Worktree: dir}
	switch q.Op {
	case opGrep:
		if q.Include != "" {
			where.Globs = []string{q.Include}
		}
		return c.grep(ctx, q, where)
	case opGlob:
		where.Globs = []string{q.Pattern}
		found, err := c.engine.Glob(ctx, search.Glob{Where: where, Limit: limit, Order: c.order})
		if err != nil {
			return answer{}, err
		}
		names := make([]string, len(found.Files))
		for i, f := range found.Files {
			names[i] = filepath.Join(dir, f.Name)
		}
		return showNames(names, found.More), nil
	default:
		where.Globs, where.Max = listGlobs(), limit
		var names []string
		for name, err := range search.Files(ctx, where) {
			if err != nil {
				return answer{}, err
			}
			names = append(names, name)
		}
		return showNames(names, len(names) == limit), nil
	}
}

func (c *engine) grep(ctx context.Context, q query, where search.Options) (answer, error) {
	pattern, err := regex.Compile(q.Pattern, regex.Options{})
	if err != nil {
		return answer{}, err
	}
	found, err := c.engine.Grep(ctx, search.Grep{Where: where, Pattern: pattern, Limit: limit, Order: c.order})
	if err != nil {
		return answer{}, err
	}
	var hits []hit
	for _, f := range found.Files {
		name := filepath.Join(where.Dir, f.Name)
		for _, l := range f.Lines {
			hits = append(hits, hit{name, l.Number, string(l.Text), f.Time})
		}
	}
	a := show(hits, found.More)
	if c.order != search.Newest {
		a.Digest = 0
	}
	return a, nil
}
