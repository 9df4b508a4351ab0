package helve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"helve/permission"
)

// doomAfter is how many equal calls in one message make a loop.
const doomAfter = 3

// doomMessages bounds how many messages are remembered.
const doomMessages = 1024

// A doom watches for a model that repeats itself: the same call three times
// running in one message has to be asked about before it runs. Calls made by
// another call are not the model's and do not count.
type doom struct {
	ask func(ctx context.Context, req permission.Request, policy permission.Policy) error

	mu       sync.Mutex
	messages map[string]*repetition // by session and message
}

type repetition struct {
	call  [sha256.Size]byte // tool and arguments
	count int
}

func (d *doom) check(ctx context.Context, c *flight) error {
	if c.Message == "" || c.Parent != "" || d.count(c) < doomAfter {
		return nil
	}
	var input any
	_ = json.Unmarshal(c.Input, &input) // checked before
	return d.ask(ctx, permission.Request{
		Session: c.Session, Permission: "doom_loop",
		Patterns: []string{c.Tool}, Always: []string{c.Tool},
		Metadata: map[string]any{"tool": c.Tool, "input": input},
		Call:     &permission.CallRef{Message: c.Message, Call: c.ID},
	}, c.agent.Policy)
}

func (d *doom) count(c *flight) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := c.Session + "\x00" + c.Message
	rep := d.messages[key]
	if rep == nil {
		if len(d.messages) >= doomMessages {
			clear(d.messages)
		}
		rep = &repetition{}
		d.messages[key] = rep
	}
	if call := sha256.Sum256(append([]byte(c.Tool+"\x00"), c.Input...)); rep.call != call {
		*rep = repetition{call: call}
	}
	rep.count++
	return rep.count
}
