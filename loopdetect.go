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
	// doomTimes is how many repetitions make a loop.
	doomTimes = 3
	// doomPeriod is how many different calls a loop may consist of.
	doomPeriod = 4
	// doomSessions limits how many sessions are remembered.
	doomSessions = 1024
)

// A loopDetector detects a model that repeats itself: the same call, or the same few calls in turn,
// three times with the same results. The next repetition has to be asked about. Calls made by other
// calls do not count.
type loopDetector struct {
	ask func(ctx context.Context, req permission.Request, policy permission.Policy) error

	mu       sync.Mutex
	sessions map[string][]pastCall // the latest calls, the newest last
}

// A pastCall is what is remembered of a call.
type pastCall struct {
	id     string
	call   [sha256.Size]byte // tool and arguments
	result [sha256.Size]byte // zero until it has one
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

// invalid returns the error of an invalid call. It also stops a model that repeats the same
// mistake.
func (d *loopDetector) invalid(ctx context.Context, c *callState, err error) error {
	if c.agent == nil || ctx.Err() != nil {
		return err
	}
	if stop := d.check(ctx, c); stop != nil {
		return stop
	}
	return err
}

// observe records a call and reports whether it closes a loop. A loop is reported once, and again
// only after further repetitions.
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

// isLoop reports whether the last calls repeat the same few.
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

// finished records the result of a call: with another result, a call is no repetition.
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

// removeSession forgets a session.
func (d *loopDetector) removeSession(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.sessions, session)
}
