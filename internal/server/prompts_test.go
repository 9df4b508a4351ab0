package server

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/openai"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// think is a house with a model.
func think(t testing.TB, c changes) (*house, *modeltest.Server) {
	t.Helper()
	server := modeltest.Start(t)
	provider, err := openai.NewProvider(openai.Options{Key: "sk-test", BaseURL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	before := c.runtime
	c.runtime = func(o *helve.Options) {
		o.Models = agent.Models{
			Default: model.Ref{Provider: "test", Model: "scripted"},
			Find: func(model.Ref) (model.Model, error) {
				return model.Model{Provider: provider, Info: model.Info{Context: 200_000, Output: 8_000, Price: model.Price{Input: 1, Output: 2}}}, nil
			},
		}
		if before != nil {
			before(o)
		}
	}
	return build(t, c), server
}

func idle(t testing.TB, h *house, id string) {
	t.Helper()
	eventually(t, "the end of the turn", func() bool {
		return do[session](t, h, 200, "GET /v1/sessions/"+id, nil).Status.Type == "idle" && len(h.turns.sessions()) == 0
	})
}

func TestPromptWaits(t *testing.T) {
	t.Parallel()
	h, m := think(t, changes{})
	m.Script("write", modeltest.Reply{Calls: []modeltest.Call{{Name: "write", Args: `{"filePath":"a.txt","content":"hello\n"}`}}},
		modeltest.Reply{Text: "I wrote <it>."})
	turn := do[agent.Turn](t, h, 200, "POST /v1/prompts", fields{"text": "write a file", "title": "Writing", "wait": true})
	if turn.End != agent.EndDone || turn.Text != "I wrote <it>." || turn.Steps != 2 || h.read(t, "a.txt") != "hello\n" {
		t.Errorf("%+v", turn)
	}
	s := do[session](t, h, 200, "GET /v1/sessions/"+turn.Session, nil)
	if s.Title != "Writing" || s.Agent != "build" || s.Model.Model != "scripted" || s.Status.Type != "idle" {
		t.Errorf("%+v", s)
	}
	page := do[messages](t, h, 200, "GET /v1/sessions/"+turn.Session+"/messages", nil)
	if len(page.Messages) != 3 || page.More || page.Messages[0].Info.Role != message.User || page.Messages[1].Info.Model.Model != "scripted" {
		t.Errorf("%+v", page)
	}
	last := do[messages](t, h, 200, "GET /v1/sessions/"+turn.Session+"/messages?limit=1", nil)
	if len(last.Messages) != 1 || !last.More || last.Messages[0].Info.ID != page.Messages[2].Info.ID {
		t.Errorf("%+v", last)
	}
	first := do[messages](t, h, 200, "GET /v1/sessions/"+turn.Session+"/messages?limit=2&before="+page.Messages[1].Info.ID, nil)
	if len(first.Messages) != 1 || first.More || first.Messages[0].Info.ID != page.Messages[0].Info.ID {
		t.Errorf("%+v", first)
	}
	fails(t, h, "GET /v1/sessions/none/messages", nil, problem{Status: 404, Code: "not-found"})
}

// A prompt that nobody waits for is answered with its session, goes on, and
// can be stopped and resumed.
func TestPromptGoesOn(t *testing.T) {
	t.Parallel()
	h, m := think(t, changes{})
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release)
	m.Script("slow", modeltest.Reply{Text: "at last", Hold: hold})
	on := do[started](t, h, 202, "POST /v1/prompts", fields{"text": "slow work"})
	at := "/v1/sessions/" + on.Session
	if s := do[session](t, h, 200, "GET "+at, nil); s.Status.Type != "busy" {
		t.Errorf("%+v", s)
	}
	busy := problem{Status: 409, Code: "busy"}
	fails(t, h, "POST /v1/prompts", fields{"text": "more", "session": on.Session}, busy)
	fails(t, h, "POST /v1/prompts", fields{"text": "more", "session": on.Session, "wait": true}, busy)
	fails(t, h, "POST "+at+"/resume", nil, busy)
	fails(t, h, "POST "+at+"/compact", fields{"wait": true}, busy)
	do[none](t, h, 204, "POST "+at+"/cancel", nil)
	idle(t, h, on.Session)
	fails(t, h, "POST "+at+"/cancel", nil, problem{Status: 404, Code: "not-found"})
	release()
	turn := do[agent.Turn](t, h, 200, "POST "+at+"/resume", fields{"wait": true})
	if turn.Session != on.Session || turn.End != agent.EndDone {
		t.Errorf("%+v", turn)
	}
	again := do[started](t, h, 202, "POST /v1/prompts", fields{"text": "more", "session": on.Session})
	if again.Session != on.Session {
		t.Errorf("%+v", again)
	}
	idle(t, h, on.Session)
	do[started](t, h, 202, "POST "+at+"/resume", nil)
	idle(t, h, on.Session)
	if turn := do[agent.Turn](t, h, 200, "POST "+at+"/compact", fields{"wait": true}); turn.End != agent.EndDone {
		t.Errorf("%+v", turn)
	}
}

// Each of many new prompts is told its own session, whatever else makes some.
func TestManyPrompts(t *testing.T) {
	t.Parallel()
	h, m := think(t, changes{})
	m.Script("child", modeltest.Reply{Calls: []modeltest.Call{{Name: "task", Args: `{"description":"look","prompt":"look around","subagent_type":"explore"}`}}})
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			title := "title " + string(rune('a'+i))
			var id string
			switch i % 4 {
			case 0:
				id = do[session](t, h, 201, "POST /v1/sessions", fields{"title": title}).ID
			case 1:
				id = do[agent.Turn](t, h, 200, "POST /v1/prompts", fields{"text": "hello", "title": title, "wait": true}).Session
			case 2:
				id = do[started](t, h, 202, "POST /v1/prompts", fields{"text": "hello", "title": title}).Session
			default:
				id = do[started](t, h, 202, "POST /v1/prompts", fields{"text": "child", "title": title}).Session
			}
			if s := do[session](t, h, 200, "GET /v1/sessions/"+id, nil); s.Title != title {
				t.Errorf("%q is %q", s.Title, title)
			}
		})
	}
	wg.Wait()
	eventually(t, "the end of all", func() bool { return len(h.turns.sessions()) == 0 })
}

func TestPromptFails(t *testing.T) {
	t.Parallel()
	h, _ := think(t, changes{})
	failed := problem{Status: 422, Kind: tool.Failed, Code: "failed"}
	bad := problem{Status: 422, Kind: tool.InvalidInput, Code: "bad-request"}
	for _, wait := range []bool{true, false} {
		fails(t, h, "POST /v1/prompts", fields{"text": " ", "wait": wait}, failed)
		fails(t, h, "POST /v1/prompts", fields{"text": "x", "agent": "nonesuch", "wait": wait}, failed)
		fails(t, h, "POST /v1/prompts", fields{"text": "x", "agent": "title", "wait": wait}, failed)
		fails(t, h, "POST /v1/prompts", fields{"text": "x", "session": "none", "wait": wait}, problem{Status: 404, Code: "not-found"})
		fails(t, h, "POST /v1/sessions/none/resume", fields{"wait": wait}, problem{Status: 404, Code: "not-found"})
		fails(t, h, "POST /v1/sessions/none/compact", fields{"wait": wait}, problem{Status: 404, Code: "not-found"})
	}
	for _, in := range []fields{{}, {"text": 1}, {"text": "x", "more": 1}, {"text": "x", "model": "a/b"}, {"text": "x", "model": fields{"modelID": "a"}},
		{"text": "x", "title": strings.Repeat("x", 201)}, {"text": "x", "files": []fields{{"url": "data:,"}}}} {
		fails(t, h, "POST /v1/prompts", in, bad)
	}
	fails(t, h, "POST /v1/sessions/none/resume", fields{"more": 1}, bad)
	if left := do[sessions](t, h, 200, "GET /v1/sessions", nil); len(left.Sessions) != 0 {
		t.Errorf("prompts that failed left %+v", left)
	}
	without := build(t, changes{})
	fails(t, without, "POST /v1/prompts", fields{"text": "x"}, problem{Status: 422, Kind: tool.Failed, Code: "failed", Detail: "no model"})
}

// A turn that is waited for ends when the client leaves; all end with the
// server.
func TestTurnsEnd(t *testing.T) {
	t.Parallel()
	h, m := think(t, changes{})
	hold := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(hold) }))
	m.Script("slow", modeltest.Reply{Text: "never", Hold: hold})
	ctx, leave := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = h.send(ctx, "POST /v1/prompts", fields{"text": "slow", "wait": true}) })
	eventually(t, "a turn", func() bool { return len(h.turns.sessions()) == 1 })
	leave()
	eventually(t, "its end", func() bool { return len(h.turns.sessions()) == 0 })
	wg.Wait()
	on := do[started](t, h, 202, "POST /v1/prompts", fields{"text": "slow"})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if len(h.turns.sessions()) != 0 || len(h.rooms) != 0 || on.Session == "" {
		t.Error("a turn goes on")
	}
}

// A turn that somebody else started is ended too, and the end of a session ends
// its turn.
func TestStopTurns(t *testing.T) {
	t.Parallel()
	h, m := think(t, changes{})
	hold := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(hold) }))
	m.Script("slow", modeltest.Reply{Text: "never", Hold: hold})
	for _, how := range []string{"cancel", "end"} {
		id := h.rt.NewID("ses")
		over := make(chan *agent.Turn, 1)
		go func() {
			turn, _ := h.rt.Turns().Prompt(t.Context(), agent.Prompt{New: id, Text: "slow"})
			over <- turn
		}()
		eventually(t, "the turn", func() bool {
			g, err := h.send(t.Context(), "GET /v1/sessions/"+id, nil)
			return err == nil && g.status == 200 && strings.Contains(string(g.body), `"type":"busy"`)
		})
		do[none](t, h, 204, "POST /v1/sessions/"+id+"/"+how, nil)
		if turn := <-over; turn == nil || turn.End == agent.EndDone {
			t.Errorf("%s: %+v", how, turn)
		}
		fails(t, h, "POST /v1/sessions/"+id+"/cancel", nil, problem{Status: 404, Code: "not-found"})
		own := do[started](t, h, 202, "POST /v1/prompts", fields{"text": "slow"})
		do[none](t, h, 204, "POST /v1/sessions/"+own.Session+"/"+how, nil)
		idle(t, h, own.Session)
	}
}

// What an agent asks is answered by a person over HTTP.
func TestPromptAsks(t *testing.T) {
	t.Parallel()
	h, m := think(t, changes{rules: permission.Ruleset{ask("edit", "*")}})
	m.Script("write", modeltest.Reply{Calls: []modeltest.Call{{Name: "write", Args: `{"filePath":"a.txt","content":"hello\n"}`}}}, modeltest.Reply{Text: "done"})
	on := do[started](t, h, 202, "POST /v1/prompts", fields{"text": "write a file"})
	r := nextRequest(t, h)
	if r.Session != on.Session {
		t.Errorf("%+v", r)
	}
	do[none](t, h, 204, "POST /v1/permissions/"+r.ID, fields{"reply": "once"})
	idle(t, h, on.Session)
	if h.read(t, "a.txt") != "hello\n" {
		t.Error("it was not written")
	}
	calls := do[calls](t, h, 200, "GET /v1/sessions/"+on.Session+"/calls", nil)
	if len(calls.Calls) != 1 || calls.Calls[0].Tool != "write" {
		t.Errorf("%+v", calls)
	}
}

// Whoever waits for a turn to begin goes on where the event that told it is lost.
func TestTurns(t *testing.T) {
	t.Parallel()
	ts := newTurns()
	mine := newTurn("mine")
	if err := ts.claimSession(mine); err != nil {
		t.Fatal(err)
	}
	if err := ts.claimSession(newTurn("mine")); err == nil {
		t.Error("two turns on one session")
	}
	if got := ts.sessions(); len(got) != 1 || got[0] != "mine" {
		t.Errorf("%q", got)
	}
	<-mine.began
	ts.release(mine)
	if ts.on("mine") || ts.stop("mine") {
		t.Error("it is still there")
	}
}
