package helve

import (
	"context"
	"io"
	"time"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// What a model is told when its output was truncated.
const (
	hintSaved    = "The tool call succeeded but the output was truncated. Full output saved to: "
	hintDelegate = "Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context."
	hintSearch   = "Use Grep to search the full content or Read with offset/limit to view specific sections."
)

// truncate shortens an output that is too long and keeps all of it in a file. A tool that has
// truncated its own output says so in its metadata.
func (r *Runtime) truncate(c *callState, res *tool.Result) {
	r.completeResult(res)
	lim := r.limits(&c.Call)
	if _, ok := res.Metadata["truncated"]; ok && (!lim.Whole || len(res.Output) <= lim.Bytes) {
		return
	}
	b := text.Bound(res.Output, lim, text.Spill{
		Open: func() (io.WriteCloser, string, error) {
			if kept, _ := res.Metadata["outputPath"].(string); kept != "" { // the tool has kept all of it
				return discardSpill{}, kept, nil
			}
			return r.keepOutput()
		},
		Hint: func(path string) string { return hintSaved + path + "\n" + r.hintFor(&c.Call, c.agent) },
	})
	if b.Err != nil {
		r.log.Warn("a full output could not be kept", "call", c.ID, "error", b.Err)
	}
	res.Output = b.Content
	if was, _ := res.Metadata["truncated"].(bool); !was {
		res.Metadata["truncated"] = b.Truncated
	}
	if b.Truncated && b.Path != "" {
		res.Metadata["outputPath"] = b.Path
	}
}

// limits returns how much of an output the caller of a call is shown: what the caller can show,
// unless the person has configured something else. For a call made by another call, it is always
// what that one can show.
func (r *Runtime) limits(c *tool.Call) text.Limits {
	l := text.Limits{Lines: r.opt.Limits.Lines, Bytes: r.opt.Limits.Bytes, MaxSpill: r.opt.Limits.Quota, Whole: c.Show > 0}
	if l.Whole && (l.Bytes == text.MaxBytes || c.Parent != "") {
		l.Bytes = min(l.Bytes, c.Show)
	}
	return l
}

// discardSpill discards what is written, for an output that the tool has already kept.
type discardSpill struct{}

func (discardSpill) Write(p []byte) (int, error) { return len(p), nil }
func (discardSpill) Close() error                { return nil }

// hintFor returns the advice for reading a kept output: by a subagent, if the caller may start one
// and is offered the tool for it.
func (r *Runtime) hintFor(c *tool.Call, agent *agent.Spec) string {
	if agent == nil {
		return hintSearch
	}
	a := r.audience(c)
	for _, e := range r.registry.newestByName() {
		if !e.spec.Delegates || hides(agent, e.spec) || agent.Policy.Decide(e.spec.Permission, "*").Action == permission.Deny {
			continue
		}
		if _, ok := r.registry.offer(e, a); ok {
			return hintDelegate
		}
	}
	return hintSearch
}

func (r *Runtime) keepOutput() (io.WriteCloser, string, error) {
	s, err := r.store.get()
	if err != nil {
		return nil, "", err
	}
	s.Sweep(r.now(), r.opt.Limits.Retention, r.opt.Limits.Quota) // so that short runs clean up too
	f, err := s.Spill(r.newID("tool"))
	if err != nil {
		return nil, "", err
	}
	return f, f.Name(), nil
}

// sweepHourly removes kept outputs that are too old or too many. It starts after a minute, so that
// short runs do not pay for it.
func (r *Runtime) sweepHourly(ctx context.Context) {
	for wait := time.Minute; ; wait = time.Hour {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if s, err := r.store.get(); err == nil {
			s.Sweep(r.now(), r.opt.Limits.Retention, r.opt.Limits.Quota)
		}
	}
}
