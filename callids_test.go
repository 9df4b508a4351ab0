package helve_test

import (
	"context"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/tool"
)

// Of two calls of one id at a time the later one is refused, also where nothing
// is recorded, and the earlier one goes on as if there had been no other.
func TestOneCallOfAnID(t *testing.T) {
	for _, unrecorded := range []bool{false, true} {
		rt := open(t, helve.Options{Unrecorded: unrecorded})
		runs, goOn := make(chan *tool.Call, 2), make(chan struct{})
		register(t, rt, echo("slow", func(_ context.Context, c *tool.Call, _ echoInput) (*tool.Result, error) {
			runs <- c
			<-goOn
			c.Progress("still here", nil)
			return &tool.Result{Output: "done"}, nil
		}))
		c := say("slow", "x")
		c.ID, c.Session = "one", "ses_1"
		first := make(chan error, 1)
		go func() {
			_, err := rt.Call(t.Context(), c)
			first <- err
		}()
		<-runs
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, err := rt.Call(ctx, c)
		cancel()
		close(goOn)
		if e := kindOf(t, err); e.Code != "duplicate-id" {
			t.Errorf("unrecorded %v: the second ended with %+v", unrecorded, e)
		}
		if err := <-first; err != nil {
			t.Errorf("unrecorded %v: the first ended with %v", unrecorded, err)
		}
		told := false
		for e := range rt.Events(t.Context(), 0) {
			if p, ok := e.Properties.(event.CallProgress); ok {
				told = p.Title == "still here"
			}
			if f, ok := e.Properties.(event.CallFinished); ok && f.State == "completed" {
				break
			}
		}
		if !told {
			t.Errorf("unrecorded %v: the first was not heard any more", unrecorded)
		}
	}
}

// A call of an agent that there is not is refused, and says who there is.
func TestNoSuchAgent(t *testing.T) {
	rt := open(t, helve.Options{})
	c := tool.Call{Tool: "list", Agent: "nobody", Input: []byte(`{}`)}
	_, err := rt.Call(t.Context(), c)
	if e := kindOf(t, err); e.Code != "unknown-agent" || e.Kind != tool.InvalidInput {
		t.Errorf("%+v", e)
	}
}
