package helve

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// Notify publishes an event that the runtime cannot detect itself, such as that a session is idle,
// to plugins, hook commands and subscribers. name is OpenCode's name for the event where it has
// one; properties is JSON.
func (r Plugins) Notify(name string, properties json.RawMessage) {
	r.rt.events.publish(event.Notice{Name: name, Body: asJSON([]byte(properties))})
}

// notifyHooks starts passing events to plugins and hook commands, if there are any.
func (r *Runtime) notifyHooks() {
	commands := r.opt.Plugins.Commands.Event
	if len(commands) == 0 && len(r.opt.Plugins.Folders) == 0 && len(r.opt.Plugins.Entries) == 0 {
		return
	}
	t := &hookNotifier{r: r, commands: commands, sessions: map[string]bool{}, queue: make(chan notification, 256)}
	r.events.tap = t.observe
	if len(commands) > 0 {
		r.notifier = t
		r.workers.run(t.runCommands)
	}
}

// drain waits up to limit until commands have received all events, so that a program that makes one
// call and exits delivers its events too.
func (t *hookNotifier) drain(limit time.Duration) {
	if t == nil {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	last := notification{done: make(chan struct{})}
	select {
	case t.queue <- last:
	case <-timer.C:
		return
	}
	select {
	case <-last.done:
	case <-timer.C:
	}
}

// A hookNotifier passes events to plugins and commands, under OpenCode's names.
type hookNotifier struct {
	r        *Runtime
	commands []plugin.HookCommand
	queue    chan notification // for the commands; an event that does not fit is dropped

	mu       sync.Mutex
	sessions map[string]bool // sessions that have been announced
}

type notification struct {
	name string
	body json.RawMessage
	done chan struct{} // set for no event: closed once everything queued before is delivered
}

// observe receives every event, in order, from the goroutine that publishes it. It must not block.
func (t *hookNotifier) observe(h event.Payload) {
	toPlugins := t.r.custom != nil && t.r.custom.Has("event")
	if !toPlugins && len(t.commands) == 0 {
		return
	}
	for _, e := range t.translate(h) {
		if toPlugins {
			t.r.custom.Event(e.name, e.body)
		}
		if slices.ContainsFunc(t.commands, func(h plugin.HookCommand) bool { return plugins.Matches(h.Events, e.name) }) {
			select {
			case t.queue <- e:
			default:
				t.r.log.Warn("an event was not told to a command, because too many wait", "event", e.name)
			}
		}
	}
}

// runCommands passes events to the commands, one after the other.
func (t *hookNotifier) runCommands() {
	for {
		var e notification
		select {
		case <-t.r.ctx.Done():
			return
		case e = <-t.queue:
		}
		if e.done != nil {
			close(e.done)
			continue
		}
		body := asJSON(map[string]any{"type": e.name, "properties": e.body})
		for _, h := range t.commands {
			if !plugins.Matches(h.Events, e.name) || h.Trusted != nil && !h.Trusted() {
				continue
			}
			if err := t.r.programs.Event(t.r.ctx, body, h); err != nil && t.r.ctx.Err() == nil {
				t.r.log.Warn("a hook failed", "hook", h.Command[0], "event", e.name, "error", err)
			}
		}
	}
}

// translate converts an event to OpenCode's events. An event that OpenCode does not have keeps
// helve's form.
func (t *hookNotifier) translate(h event.Payload) []notification {
	var out []notification
	add := func(name string, body any) { out = append(out, notification{name: name, body: asJSON(body)}) }
	switch h := h.(type) {
	case event.SessionCreated:
		if t.firstEvent(h.Info.ID) {
			add(h.Type(), h)
		}
	case event.SessionUpdated:
		t.firstEvent(h.Info.ID)
		add(h.Type(), h)
	case event.CallStarted:
		if t.firstEvent(h.Call.Session) {
			add("session.created", map[string]any{"info": t.r.sessionInfo(h.Call.Session)})
		}
		add("message.part.updated", partUpdate(h.Call, map[string]any{"status": "pending", "input": h.Call.Input}))
	case event.CallRunning:
		add("message.part.updated", partUpdate(tool.Call{ID: h.ID, Session: h.Session, Tool: h.Tool}, map[string]any{"status": "running", "input": h.Input}))
	case event.CallFinished:
		state := map[string]any{"status": h.State}
		if h.Result != nil {
			state["title"], state["output"], state["metadata"] = h.Result.Title, h.Result.Output, h.Result.Metadata
		}
		if h.Error != nil {
			state["error"] = h.Error.Message
		}
		add("message.part.updated", partUpdate(tool.Call{ID: h.ID, Session: h.Session, Tool: h.Tool}, state))
	case event.CallProgress, event.PartDelta, event.ScriptLogged, event.HookRan, event.Missed:
		// The others are too frequent, or of interest only to people.
	default:
		add(h.Type(), h)
	}
	return out
}

// firstEvent reports whether a session has not been announced before.
func (t *hookNotifier) firstEvent(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions[session] {
		return false
	}
	if len(t.sessions) > 4096 {
		clear(t.sessions)
	}
	t.sessions[session] = true
	return true
}

// partUpdate returns a call as a message part.
func partUpdate(c tool.Call, state map[string]any) map[string]any {
	return map[string]any{"part": map[string]any{
		"id": c.ID, "sessionID": c.Session, "messageID": c.Message, "type": "tool", "callID": c.ID, "tool": c.Tool, "state": state,
	}}
}

// notifySessionDeleted tells plugins that the session is over, before they are closed.
func (r *Runtime) notifySessionDeleted(ctx context.Context, session string) {
	if ctx.Err() == nil {
		r.Plugins().Notify("session.deleted", asJSON(map[string]any{"info": r.sessionInfo(session)}))
	}
}
