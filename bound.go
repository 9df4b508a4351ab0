package helve

import (
	"context"
	"io"
	"time"

	"helve/internal/text"
	"helve/permission"
	"helve/tool"
)

// What a model is told when its output was cut.
const (
	hintSaved    = "The tool call succeeded but the output was truncated. Full output saved to: "
	hintDelegate = "Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context."
	hintSearch   = "Use Grep to search the full content or Read with offset/limit to view specific sections."
)

// bound cuts an output that is too long and keeps the whole of it in a file.
// A tool that has cut its own output says so in its metadata.
func (r *Runtime) bound(c *flight, res *tool.Result) {
	r.complete(res)
	if _, ok := res.Metadata["truncated"]; ok {
		return
	}
	lim := text.Limits{Lines: r.opt.Limits.Lines, Bytes: r.opt.Limits.Bytes, MaxSpill: r.opt.Limits.Quota}
	b := text.Bound(res.Output, lim, text.Spill{
		Open: func() (io.WriteCloser, string, error) { return r.spill() },
		Hint: func(path string) string { return hintSaved + path + "\n" + r.hintFor(&c.Call, c.agent) },
	})
	if b.Err != nil {
		r.log.Warn("a full output could not be kept", "call", c.ID, "error", b.Err)
	}
	res.Output = b.Content
	res.Metadata["truncated"] = b.Truncated
	if b.Truncated && b.Path != "" {
		res.Metadata["outputPath"] = b.Path
	}
}

// hintFor says how to look into a kept output: by a subagent where the caller
// may start one, and is offered the tool for it.
func (r *Runtime) hintFor(c *tool.Call, agent *Agent) string {
	if agent == nil {
		return hintSearch
	}
	a := r.audience(c)
	for _, e := range r.registry.all() {
		if !e.spec.Delegates || agent.hides(e.spec) || agent.Policy.Decide(e.spec.Permission, "*").Action == permission.Deny {
			continue
		}
		if _, ok := r.registry.offer(e, a); ok {
			return hintDelegate
		}
	}
	return hintSearch
}

func (r *Runtime) spill() (io.WriteCloser, string, error) {
	s, err := r.vault.get()
	if err != nil {
		return nil, "", err
	}
	s.Sweep(r.now(), r.opt.Limits.Retention, r.opt.Limits.Quota) // short runs clean up too
	f, err := s.Spill(r.newID("tool"))
	if err != nil {
		return nil, "", err
	}
	return f, f.Name(), nil
}

// sweepHourly removes kept outputs that are too old or too many, first a
// minute after the start, so that short runs do not pay for it.
func (r *Runtime) sweepHourly(ctx context.Context) {
	for wait := time.Minute; ; wait = time.Hour {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if s, err := r.vault.get(); err == nil {
			s.Sweep(r.now(), r.opt.Limits.Retention, r.opt.Limits.Quota)
		}
	}
}
