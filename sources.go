package helve

import (
	"context"
	"slices"
	"strings"
	"time"

	"helve/tool"
)

// A source brings tools that are not there from the start, because bringing
// them means starting other programs.
type source interface {
	// Need brings the tool of a name, if it is one of the source's.
	Need(ctx context.Context, tool string)
	// Gather brings all tools of the source, or as many as it can before ctx
	// ends.
	Gather(ctx context.Context)
	Close() error
}

// Gather brings the tools of other programs in, so that [Runtime.Tools] shows
// them: all of them, or those that are there when ctx ends. The others follow,
// each with an event. A call that names such a tool needs no Gather.
func (r *Runtime) Gather(ctx context.Context) {
	for _, s := range r.sources {
		s.Gather(ctx)
	}
}

// Fetch brings the tool of a name in, if another program has it, so that
// [Runtime.Tools] shows it. [Runtime.Call] does that by itself.
func (r *Runtime) Fetch(ctx context.Context, name string) {
	for _, s := range r.sources {
		s.Need(ctx, name)
	}
}

// gatherLimit bounds how long a call waits for other programs to say whether a
// tool of ours is of use.
const gatherLimit = 5 * time.Second

// bring brings in what a call of a tool that is not offered may be waiting
// for: the tool, or, where it is one of ours, what it is about. It reports
// whether that may have changed something.
func (r *Runtime) bring(ctx context.Context, name string) bool {
	if len(r.sources) == 0 {
		return false
	}
	if _, ours := r.registry.newest(name); !ours {
		r.Fetch(ctx, name)
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, gatherLimit)
	defer cancel()
	r.Gather(ctx)
	return true
}

// compactFlag is the switch that keeps the tools of other programs out of what
// a model is shown. It finds them by searching.
const compactFlag = "compact"

// shown leaves out what models are not shown. Tools of other programs come
// last, by name: they arrive in any order, and a list that stays the same keeps
// prompt caches warm.
func shown(specs []tool.Spec, a tool.Audience) []tool.Spec {
	specs = slices.DeleteFunc(specs, func(s tool.Spec) bool { return s.Catches || s.External && a.Flags[compactFlag] })
	slices.SortStableFunc(specs, func(a, b tool.Spec) int {
		switch {
		case a.External && b.External:
			return strings.Compare(a.Name, b.Name)
		case a.External:
			return 1
		case b.External:
			return -1
		}
		return 0
	})
	return specs
}
