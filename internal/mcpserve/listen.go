package mcpserve

import (
	"context"
	"maps"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/permission"
)

// maxErrands is how deep subagents may nest before the session whose person is asked can no longer
// be found.
const maxErrands = 32

// An asked is a request or a set of questions that is shown to a person.
type asked struct {
	withdraw context.CancelFunc
}

// forwardEvents hands on the events of the runtime until it closes. It never waits
// for a client.
func (h *sharedRuntime) forwardEvents() {
	defer close(h.changed)
	for e := range h.rt.Events(h.life, 0) {
		h.handleEvent(e)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.asked {
		a.withdraw()
	}
}

func (h *sharedRuntime) handleEvent(e event.Event) {
	switch p := e.Properties.(type) {
	case event.CallStarted:
		h.mu.Lock()
		h.tools[callKey{p.Call.Session, p.Call.ID}] = p.Call.Tool
		if p.Call.Parent != "" {
			h.parents[callKey{p.Call.Session, p.Call.ID}] = p.Call.Parent
		}
		h.mu.Unlock()
	case event.CallProgress:
		h.noteErrand(p)
		if f, inner := h.findCall(p.Session, p.ID); f != nil && f.report != nil {
			f.report.report(inner, p)
		}
	case event.CallFinished:
		h.mu.Lock()
		delete(h.parents, callKey{p.Session, p.ID})
		delete(h.tools, callKey{p.Session, p.ID})
		maps.DeleteFunc(h.errands, func(_ string, of callKey) bool { return of == callKey{p.Session, p.ID} })
		h.mu.Unlock()
	case event.PermissionAsked:
		h.askPermission(p.Request)
	case event.PermissionReplied:
		h.withdrawRequest(p.Request)
	case event.QuestionAsked:
		h.askQuestions(p.QuestionRequest)
	case event.QuestionReplied:
		h.withdrawRequest(p.Request)
	case event.QuestionRejected:
		h.withdrawRequest(p.Request)
	case event.ToolsChanged:
		h.toolsChanged()
	case event.Missed:
		h.catchUp()
	default:
		h.hearServers(e)
	}
}

// catchUp handles requests whose events were missed: such a request would wait forever.
func (h *sharedRuntime) catchUp() {
	h.mu.Lock()
	clear(h.parents)
	clear(h.tools)
	clear(h.errands)
	gone := map[string]*asked{}
	for id, a := range h.asked {
		gone[id] = a
	}
	h.mu.Unlock()
	for _, r := range h.rt.Requests().Pending() {
		delete(gone, r.ID)
		h.askPermission(r)
	}
	for _, q := range h.rt.Requests().Questions() {
		delete(gone, q.ID)
		h.askQuestions(q)
	}
	for id := range gone {
		h.withdrawRequest(id)
	}
	h.toolsChanged()
	// Anything may have changed.
	h.relisted(event.MCPRelisted{Resources: true, Prompts: true})
	for _, se := range h.everybody() {
		for _, w := range se.watched(h) {
			se.notify(h, notice{method: updatedMethod, uri: w.uri})
		}
	}
}

// withdrawRequest cancels a request that was answered elsewhere, or needs no answer any more.
func (h *sharedRuntime) withdrawRequest(id string) {
	h.mu.Lock()
	a := h.asked[id]
	h.mu.Unlock()
	if a != nil {
		a.withdraw()
	}
}

// findCall finds the call under way that a call belongs to: itself, or the one
// that made it. inner is the id of a call that was made by another.
func (h *sharedRuntime) findCall(session, id string) (f *callState, inner string) {
	h.mu.Lock()
	se := h.sessions[session]
	parent := h.parents[callKey{session, id}]
	h.mu.Unlock()
	if se == nil {
		return nil, ""
	}
	se.mu.Lock()
	defer se.mu.Unlock()
	if f := se.calls[id]; f != nil {
		return f, ""
	}
	return se.calls[parent], id
}

// noteErrand notes which session works for a call.
func (h *sharedRuntime) noteErrand(p event.CallProgress) {
	child, _ := p.Metadata["sessionId"].(string)
	if child == "" || child == p.Session {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errands[child] = callKey{p.Session, p.ID}
}

// clientFor finds the client whose person answers for a session: its own, or that of the call for
// which another agent works there. f is that call, nil if unknown.
func (h *sharedRuntime) clientFor(session string, call *permission.CallRef) (se *session, f *callState) {
	id := ""
	if call != nil {
		id = call.Call
	}
	for range maxErrands {
		if se := h.session(session); se != nil {
			f, _ := h.findCall(session, id)
			return se, f
		}
		h.mu.Lock()
		of, ok := h.errands[session]
		h.mu.Unlock()
		if !ok { // nothing was reported of it yet
			row, err := h.rt.Records().Session(context.Background(), session)
			if err != nil || row.Parent == "" {
				return nil, nil
			}
			of = callKey{session: row.Parent}
		}
		session, id = of.session, of.id
	}
	return nil, nil
}

// put has a request answered by the person of its session, unless that is in progress already. It
// does not wait. ask shows the request and returns the outcome, and whether the person gave it; its
// ctx ends when the request can no longer be answered. If the session is gone, nobody is called
// instead.
func (h *sharedRuntime) put(id, session string, call *permission.CallRef, nobody func(), ask func(ctx context.Context, se *session) (settle func(), clear bool)) {
	se, f := h.clientFor(session, call)
	if h.leave != nil && (se == nil || !se.asks) {
		return // whoever shares the runtime answers
	}
	if se == nil {
		nobody()
		return
	}
	life, stream := se.life, context.Context(nil)
	if f != nil {
		life, stream = f.ctx, f.stream
	}
	ctx, cancel := context.WithCancel(life)
	h.mu.Lock()
	if h.asked[id] != nil {
		h.mu.Unlock()
		cancel()
		return
	}
	h.asked[id] = &asked{withdraw: cancel}
	h.mu.Unlock()
	h.talk(func() {
		defer cancel()
		talk, hangUp := context.WithCancel(ctx)
		defer hangUp()
		if stream != nil { // over HTTP the person is gone with the stream
			defer context.AfterFunc(stream, hangUp)()
		}
		settle, clear := ask(talk, se)
		if ctx.Err() == nil && (clear || h.leave == nil) { // else it has been answered, the call is over, or others answer
			settle()
		}
		h.mu.Lock()
		delete(h.asked, id)
		h.mu.Unlock()
	})
}
