package tooltest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A bench is a runtime with a simulated person, who answers from prepared lists.
type bench struct {
	opt   helve.Options
	rules permission.Ruleset
	tools []tool.Tool

	rt   *helve.Runtime
	stop func()

	mu      sync.Mutex
	replies []permission.Reply
	answers []scriptedAnswer
	asked   []permission.Request
	lost    []string // requests for which no answer was left
	// onAsk, if set, is called for what waits, and nobody answers it.
	onAsk func()
	// auto, if set, answers every request, and every question by its first option.
	auto permission.Verdict
}

type scriptedAnswer struct {
	dismiss bool
	words   [][]string
}

// open opens the runtime, unless it is open.
func (b *bench) open() error {
	if b.rt != nil {
		return nil
	}
	opt := b.opt
	if opt.Agents == nil {
		opt.Agents = agent.Specs(agent.SpecOptions{DataDir: opt.DataDir, Worktree: opt.Worktree, User: b.rules})
	} else {
		opt.Agents = slices.Clone(opt.Agents)
		for i, a := range opt.Agents {
			opt.Agents[i].Policy.Rules = slices.Concat(a.Policy.Rules, b.rules)
		}
	}
	rt, err := helve.Open(opt)
	if err != nil {
		return fmt.Errorf("making the runtime: %w", err)
	}
	for _, t := range b.tools {
		if _, err := rt.Register(t); err != nil {
			_ = rt.Close()
			return fmt.Errorf("registering %s: %w", t.Spec().Name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.answerRequests(ctx, rt)
	}()
	b.rt, b.stop = rt, func() { cancel(); <-done }
	return nil
}

// close closes the runtime; open opens another.
func (b *bench) close() error {
	if b.rt == nil {
		return nil
	}
	rt, stop := b.rt, b.stop
	b.rt = nil
	err := rt.Close()
	stop()
	return err
}

// answerRequests answers requests and questions until ctx ends.
func (b *bench) answerRequests(ctx context.Context, rt *helve.Runtime) {
	for e := range rt.Events(ctx, 0) {
		switch p := e.Properties.(type) {
		case event.PermissionAsked:
			if r, ok := b.reply(p.Request); ok {
				_ = rt.Requests().Reply(p.ID, r) // it may have been answered together with another
			}
		case event.QuestionAsked:
			if a, ok := b.nextAnswer(p.QuestionRequest); ok && a.dismiss {
				_ = rt.Requests().Dismiss(p.ID)
			} else if ok {
				_ = rt.Requests().Answer(p.ID, a.words)
			}
		}
	}
}

func (b *bench) reply(req permission.Request) (permission.Reply, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, req)
	switch {
	case b.onAsk != nil:
		b.onAsk()
		return permission.Reply{}, false
	case b.auto != "":
		return permission.Reply{Verdict: b.auto}, true
	case len(b.replies) == 0:
		b.lost = append(b.lost, fmt.Sprintf("the permission %s for %q", req.Permission, req.Patterns))
		return permission.Reply{Verdict: permission.ReplyReject, Message: "the test has no answer to this"}, true
	}
	r := b.replies[0]
	b.replies = b.replies[1:]
	return r, true
}

func (b *bench) nextAnswer(req tool.QuestionRequest) (scriptedAnswer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.onAsk != nil:
		b.onAsk()
		return scriptedAnswer{}, false
	case b.auto == permission.ReplyReject:
		return scriptedAnswer{dismiss: true}, true
	case b.auto != "":
		var a scriptedAnswer
		for _, q := range req.Questions {
			var labels []string
			if len(q.Options) > 0 {
				labels = append(labels, q.Options[0].Label)
			}
			a.words = append(a.words, labels)
		}
		return a, true
	case len(b.answers) == 0:
		b.lost = append(b.lost, fmt.Sprintf("%d questions", len(req.Questions)))
		return scriptedAnswer{dismiss: true}, true
	}
	a := b.answers[0]
	b.answers = b.answers[1:]
	return a, true
}

// takeAsked returns the requests since its last call.
func (b *bench) takeAsked() []permission.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

// takeLost returns the requests for which no answer was left.
func (b *bench) takeLost() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := b.lost
	b.lost = nil
	return lost
}

// left returns the number of unused answers.
func (b *bench) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.replies) + len(b.answers)
}
