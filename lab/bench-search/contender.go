package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

// The kinds of contenders.
const (
	kindEra     = "era"
	kindNew     = "new"
	kindProcess = "process"
	kindNone    = "none"  // calls in this process, nothing kept between them
	kindFirst   = "first" // the same, the first lines found instead of the newest
	kindTree    = "tree"  // the tree is kept
	kindIndex   = "index" // the tree and the index are kept
)

// How calls are made.
const (
	driveCall   = "call"   // the road of a call, without its record
	driveDisk   = "disk"   // the whole road, with records on disk
	driveEngine = "engine" // no road: only the search
)

// A caller makes calls of the tools in this process.
type caller struct {
	rt    *helve.Runtime
	first bool
}

func newCaller(kind string, s setup) (contender, error) {
	if s.Drive == driveEngine {
		return newEngine(kind)
	}
	opt := helve.Options{Dir: s.Dir, Worktree: s.Dir, Unattended: true, Search: helve.Search{Budget: -1, Limit: limit}}
	opt.Unrecorded = s.Drive == driveCall
	if s.Drive == driveDisk {
		opt.DataDir = filepath.Join(s.Data, kind)
	}
	switch kind {
	case kindNone:
		opt.Search.Stateless = true
	case kindFirst:
		opt.Search.Stateless, opt.Search.Order = true, "first"
	case kindTree:
		opt.Search.Memory = -1 // no index
	case kindIndex:
	default:
		return nil, fmt.Errorf("there is no contender %q", kind)
	}
	rt, err := helve.New(opt)
	return &caller{rt, kind == kindFirst}, err
}

func (c *caller) answer(ctx context.Context, q query, dir string) (answer, error) {
	args := map[string]string{"path": dir}
	if q.Pattern != "" {
		args["pattern"] = q.Pattern
	}
	if q.Include != "" {
		args["include"] = q.Include
	}
	input, err := json.Marshal(args)
	if err != nil {
		return answer{}, err
	}
	res, err := c.rt.Call(ctx, tool.Call{Tool: q.Op, Session: "bench", Input: input})
	if err != nil {
		return answer{}, err
	}
	a := answer{Bytes: len(res.Output)}
	if hits, ok := res.Data.(*tool.Hits); ok {
		a.Lines = max(len(hits.Lines), len(hits.Names))
		if q.Op == opGrep && !c.first {
			a.Digest = c.digest(hits.Lines)
		}
	}
	return a, nil
}

func (c *caller) digest(lines []tool.Match) uint64 {
	hits := make([]hit, len(lines))
	for i, m := range lines {
		hits[i] = hit{file: m.File, line: m.Line}
	}
	return digest(hits)
}
