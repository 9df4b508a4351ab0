package helve

import (
	"context"
	"slices"

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

// compactFlag is the switch that keeps the tools of other programs out of what
// a model is shown. It finds them by searching.
const compactFlag = "compact"

// shown leaves out what models are not shown.
func shown(specs []tool.Spec, a tool.Audience) []tool.Spec {
	return slices.DeleteFunc(specs, func(s tool.Spec) bool { return s.Catches || s.External && a.Flags[compactFlag] })
}
