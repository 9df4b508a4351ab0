package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// A clerk is a process of the command that takes calls of many callers, and who
// waits for their ends.
type clerk struct {
	*program
	ended chan struct{} // its output is at its end

	mu      sync.Mutex
	waiting map[string]chan line
	err     error // what it said that is no answer
}

func (p place) clerk(ctx context.Context, d *desk) (*clerk, error) {
	r, err := p.open(ctx, d, d.helve, "call", "--jsonl")
	if err != nil {
		return nil, err
	}
	c := &clerk{program: r, ended: make(chan struct{}), waiting: map[string]chan line{}}
	go c.hear()
	return c, nil
}

// hear hands the ends of calls to who waits for them.
func (c *clerk) hear() {
	defer close(c.ended)
	for {
		text, err := c.out.ReadBytes('\n')
		if err != nil {
			return // what is left is no whole line, and so no answer
		}
		var l line
		err = json.Unmarshal(text, &l)
		c.mu.Lock()
		to := c.waiting[l.ID]
		delete(c.waiting, l.ID)
		if err != nil || to == nil {
			c.err = fmt.Errorf("an answer that nobody waits for: %.300s", text)
		}
		c.mu.Unlock()
		if to != nil {
			to <- l
		}
	}
}

// call makes a call in a session and waits for its end.
func (c *clerk) call(id, session, tool string, args map[string]any) (line, error) {
	to := make(chan line, 1)
	text, err := json.Marshal(map[string]any{"id": id, "session": session, "tool": tool, "args": args})
	if err != nil {
		return line{}, err
	}
	c.mu.Lock()
	c.waiting[id] = to
	_, err = c.in.Write(append(text, '\n'))
	c.mu.Unlock()
	if err != nil {
		return line{}, err
	}
	select {
	case l := <-to:
		return l, nil
	case <-c.ended:
		return line{}, fmt.Errorf("the process ended before the call %s", id)
	}
}

// leave lets it come to its end, and says whether it has only answered calls.
func (c *clerk) leave() error {
	err := c.in.Close()
	<-c.ended
	if wait := c.cmd.Wait(); err == nil {
		err = wait
	}
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.err
	}
	return err
}

// drop ends it at once.
func (c *clerk) drop() {
	c.end()
	<-c.ended
	_ = c.cmd.Wait() // it was ended, or has left
}
