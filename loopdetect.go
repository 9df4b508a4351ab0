package helve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/helve-dev/helve/internal/loop"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

const (
	// doomTimes is how often the same has to be done to be a loop.
	doomTimes = 3
	// doomPeriod is how many different calls a loop may be made of.
	doomPeriod = 4
	// doomSessions bounds how many sessions are remembered.
	doomSessions = 1024
)

// A loopDetector watches for a model that repeats itself: the same call, or the same
// few in turn, three times running and with the same results, has to be asked
// about before it is made again. Calls made by another call are not the
// model's and do not count.
type loopDetector struct {
	ask func(ctx context.Context, req permission.Request, policy permission.Policy) error

	mu       sync.Mutex
	sessions map[string][]pastCall // the last calls, the newest last
}

// A pastCall is what is remembered of a call.
type pastCall struct {
	id     string
	call   [sha256.Size]byte // tool and arguments
	result [sha256.Size]byte // zero while there is none
}

func (d *loopDetector) check(ctx context.Context, c *callState) error {
	if c.Message == "" || c.Parent != "" || !d.observe(c) {
		return nil
	}
	var input any
	_ = json.Unmarshal(c.Input, &input) // checked before
	err := d.ask(ctx, permission.Request{
		Session: c.Session, Permission: "doom_loop",
		Patterns: []string{c.Tool}, Always: []string{c.Tool},
		Metadata: map[string]any{"tool": c.Tool, "input": input},
		Call:     &permission.CallRef{Message: c.Message, Call: c.ID},
	}, c.agent.Policy)
	if errors.Is(err, permission.ErrUnattended) {
		return &tool.Error{Kind: tool.Unattended, Code: loop.RepeatsCode, Err: fmt.Errorf(
			"this repeats what was just done %d times with the same result, so it was not done again: try something else. %w", doomTimes-1, err)}
	}
	return err
}

// invalid is the error of a call that could not be made. A model that makes the
// same mistake again and again is stopped too.
func (d *loopDetector) invalid(ctx context.Context, c *callState, err error) error {
	if c.agent == nil || ctx.Err() != nil {
		return err
	}
	if stop := d.check(ctx, c); stop != nil {
		return stop
	}
	return err
}

// observe notes a call and reports whether it closes a loop. A loop is told
// once; it has to be run through again to be told again.
func (d *loopDetector) observe(c *callState) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.sessions) >= doomSessions {
		clear(d.sessions)
	}
	calls := append(d.sessions[c.Session], pastCall{id: c.ID, call: sha256.Sum256(append([]byte(c.Tool+"\x00"), c.Input...))})
	calls = calls[max(0, len(calls)-doomTimes*doomPeriod):]
	d.sessions[c.Session] = calls
	for period := 1; period <= doomPeriod; period++ {
		if isLoop(calls, period) {
			delete(d.sessions, c.Session)
			return true
		}
	}
	return false
}

// isLoop reports whether the last calls are the same few again and again.
func isLoop(calls []pastCall, period int) bool {
	n := doomTimes * period
	if len(calls) < n {
		return false
	}
	last := calls[len(calls)-n:]
	var none [sha256.Size]byte
	for i := period; i < n; i++ {
		a, b := last[i-period], last[i]
		if a.call != b.call || a.result != b.result && a.result != none && b.result != none {
			return false
		}
	}
	return true
}

// finished notes what came of a call: what has another result is no repetition.
func (d *loopDetector) finished(c *callState, res *tool.Result, err error) {
	if c.Message == "" || c.Parent != "" {
		return
	}
	said := ""
	switch {
	case err != nil:
		said = "error\x00" + err.Error()
	case res != nil:
		said = "output\x00" + res.Output
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	calls := d.sessions[c.Session]
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].id == c.ID {
			calls[i].result = sha256.Sum256([]byte(said))
			return
		}
	}
}

// removeTemporary drops what is remembered of a session.
func (d *loopDetector) removeSession(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, session)
}
