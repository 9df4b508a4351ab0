package helve_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

func offering(name string, offer func(tool.Audience) (string, bool)) tool.Tool {
	return tool.New(tool.Spec{Name: name, Description: "A tool.", Offer: offer},
		func(context.Context, *tool.Call, struct{}) (*tool.Result, error) { return &tool.Result{}, nil })
}

// Two tools that each wait for the other to be asked can only both answer
// when they are asked at once.
func TestToolsAreAskedAtOnce(t *testing.T) {
	rt := open(t, helve.Options{})
	var both sync.WaitGroup
	both.Add(2)
	wait := func(tool.Audience) (string, bool) {
		both.Done()
		both.Wait()
		return "asked", true
	}
	register(t, rt, offering("one", wait))
	register(t, rt, offering("two", wait))
	specs := rt.Tools(tool.Audience{})
	if last := specs[len(specs)-1]; last.Name != "two" || last.Description != "asked" {
		t.Errorf("got %+v", last)
	}
}

func TestSlowAndBrokenOffersAreLogged(t *testing.T) {
	var log strings.Builder
	rt := open(t, helve.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	register(t, rt, offering("slow", func(tool.Audience) (string, bool) {
		<-time.After(150 * time.Millisecond)
		return "", true
	}))
	remove := register(t, rt, offering("broken", func(tool.Audience) (string, bool) { panic("no") }))
	rt.Tools(tool.Audience{})
	remove()
	for _, want := range []string{"slow to say", "tool=slow", "panicked", "tool=broken"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
}

func TestAudiences(t *testing.T) {
	rt := open(t, helve.Options{Flags: map[string]bool{"batch": true}})
	some := []string{"question", "read", "todowrite", "todoread", "batch"} // others come and go
	shown := func(a tool.Audience) string {
		var names []string
		for _, s := range rt.Tools(a) {
			if slices.Contains(some, s.Name) {
				names = append(names, s.Name)
			}
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		audience tool.Audience
		want     string
	}{
		{tool.Audience{}, "question read todowrite todoread batch"},
		{tool.Audience{Client: "acp"}, "read todowrite todoread batch"},
		{tool.Audience{Client: "acp", Flags: map[string]bool{"question": true}}, "question read todowrite todoread"},
		{tool.Audience{Agent: "build"}, "question read todowrite todoread batch"},
		{tool.Audience{Agent: "general"}, "read batch"},
		{tool.Audience{Agent: "explore"}, "read"},
		{tool.Audience{Agent: "title"}, ""},
		{tool.Audience{Agent: "nobody"}, ""},
	} {
		if got := shown(c.audience); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.audience, got, c.want)
		}
	}
}
