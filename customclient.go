package helve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A clientAnswer is an answer in the form of OpenCode's client.
type clientAnswer struct {
	Data  any `json:"data,omitempty"`
	Error any `json:"error,omitempty"`
}

// clientArgs are the arguments of the client's methods.
type clientArgs struct {
	Path struct {
		ID string `json:"id"`
	} `json:"path"`
	Query map[string]any  `json:"query"`
	Body  json.RawMessage `json:"body"`

	SessionID string `json:"sessionID"` // the name in later versions
}

// clientCall answers the requests that plugins send through their client.
func (r *Runtime) clientCall(ctx context.Context, _ *tool.Call, method string, raw json.RawMessage) (json.RawMessage, error) {
	var args clientArgs
	if len(raw) > 0 && string(raw) != "null" {
		if err := json.Unmarshal(raw, &args); err != nil {
			return asJSON(clientAnswer{Error: clientError("BadRequest", "the argument of "+method+" can not be read: "+err.Error())}), nil
		}
	}
	if args.Path.ID == "" {
		args.Path.ID = args.SessionID
	}
	data, err := r.clientData(ctx, method, args)
	if errors.Is(err, errNoMethod) {
		if r.opt.Plugins.Client != nil {
			return r.opt.Plugins.Client(ctx, method, raw)
		}
		err = fmt.Errorf("%s is not known here, and the program behind this client does not answer it either", method)
	}
	switch {
	case errors.Is(err, record.ErrNotFound):
		return asJSON(clientAnswer{Error: clientError("NotFoundError", "there is no session "+args.Path.ID)}), nil
	case err != nil:
		return asJSON(clientAnswer{Error: clientError("UnknownError", err.Error())}), nil
	}
	return asJSON(clientAnswer{Data: data}), nil
}

func clientError(name, message string) map[string]any {
	return map[string]any{"name": name, "message": message, "data": map[string]string{"message": message}}
}

var errNoMethod = errors.New("no such method")

// clientData answers requests about what the runtime knows itself. errNoMethod leaves a request to
// the embedding program.
func (r *Runtime) clientData(ctx context.Context, method string, args clientArgs) (any, error) {
	switch method {
	case "app.log":
		return r.clientLog(args.Body)
	case "app.agents":
		return r.clientAgents(), nil
	case "config.get":
		return asJSON([]byte(r.opt.Plugins.Config)), nil
	case "path.get":
		return map[string]string{"directory": r.dir, "worktree": r.worktree}, nil
	case "project.current":
		return r.projectInfo(), nil
	case "tool.ids":
		var names []string
		for _, s := range r.Tools(tool.Audience{}) {
			names = append(names, s.Name)
		}
		return names, nil
	case "provider.list", "config.providers":
		return map[string]any{"providers": []any{}, "default": map[string]string{}}, nil
	case "tui.showToast", "tui.appendPrompt", "tui.executeCommand", "tui.publish":
		return r.clientScreen(method, args.Body), nil
	}
	return r.clientSession(ctx, method, args)
}

// clientScreen publishes what a plugin would show on a screen.
func (r *Runtime) clientScreen(method string, body json.RawMessage) bool {
	name := map[string]string{
		"tui.showToast": "tui.toast.show", "tui.appendPrompt": "tui.prompt.append", "tui.executeCommand": "tui.command.execute",
	}[method]
	if method == "tui.publish" {
		var e struct {
			Type       string
			Properties json.RawMessage
		}
		if json.Unmarshal(body, &e) != nil || e.Type == "" {
			return false
		}
		name, body = e.Type, e.Properties
	}
	r.Plugins().Notify(name, body)
	return true
}

func (r *Runtime) clientLog(body json.RawMessage) (any, error) {
	var l struct {
		Service, Level, Message string
		Extra                   map[string]any
	}
	if err := json.Unmarshal(body, &l); err != nil {
		return nil, fmt.Errorf("a log entry can not be read: %w", err)
	}
	level := slog.LevelInfo
	switch l.Level {
	case "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	r.log.Log(context.Background(), level, l.Message, "plugin", l.Service, "extra", l.Extra)
	r.events.publish(event.ScriptLogged{Tool: l.Service, Level: l.Level, Text: l.Message})
	return true, nil
}

func (r *Runtime) clientAgents() []map[string]any {
	var out []map[string]any
	for _, a := range r.agents {
		out = append(out, map[string]any{"name": a.Name, "description": a.Description, "mode": a.Mode, "hidden": a.Hidden})
	}
	return out
}

// clientSession answers requests about sessions.
func (r *Runtime) clientSession(ctx context.Context, method string, args clientArgs) (any, error) {
	s, err := r.store.get()
	if err != nil {
		return nil, err
	}
	switch method {
	case "session.get":
		return r.clientInfo(ctx, s, args.Path.ID)
	case "session.list":
		all, err := s.Sessions(ctx, 100)
		return forPlugins(all...), err
	case "session.create":
		return r.clientCreate(ctx, s, args.Body)
	case "session.update":
		var b struct{ Title string }
		if err := json.Unmarshal(args.Body, &b); err != nil || b.Title == "" {
			return nil, errors.New("only the title of a session can be changed")
		}
		if err := r.retitle(ctx, args.Path.ID, b.Title); err != nil {
			return nil, err
		}
		return r.clientInfo(ctx, s, args.Path.ID)
	case "session.children":
		all, err := s.SessionChildren(ctx, args.Path.ID)
		return forPlugins(all...), err
	case "session.prompt":
		return r.clientPrompt(ctx, args)
	case "session.todo":
		return s.Todos(ctx, args.Path.ID)
	case "session.messages":
		return r.clientMessages(ctx, s, args.Path.ID)
	}
	return nil, errNoMethod
}

// clientInfo returns a session that is recorded, or the runtime's own.
func (r *Runtime) clientInfo(ctx context.Context, s *store.Store, id string) (any, error) {
	v, err := s.Session(ctx, id)
	if errors.Is(err, record.ErrNotFound) && id == r.session() {
		return r.sessionInfo(id), nil
	}
	return forPlugins(v)[0], err
}

func (r *Runtime) clientCreate(ctx context.Context, s *store.Store, body json.RawMessage) (any, error) {
	var b struct{ Title string }
	_ = json.Unmarshal(body, &b) // only the title counts, and it may be missing
	row := r.newSession()
	row.Title = b.Title
	row, err := r.createSession(ctx, s, row)
	return forPlugins(row)[0], err
}

// maxMessages limits how many calls of a session plugins are shown.
const maxMessages = 1000

// clientPrompt lets an agent answer a plugin's message in a session.
func (r *Runtime) clientPrompt(ctx context.Context, args clientArgs) (any, error) {
	if !r.hasModel() {
		return nil, errNoMethod
	}
	var b struct {
		Agent string
		Model model.Ref
		Parts []message.Part
	}
	if err := json.Unmarshal(args.Body, &b); err != nil {
		return nil, fmt.Errorf("the prompt can not be read: %w", err)
	}
	p := agent.Prompt{Session: args.Path.ID, Agent: b.Agent, Model: b.Model}
	for _, part := range b.Parts {
		if part.Type == message.Text {
			p.Text = strings.TrimPrefix(p.Text+"\n\n"+part.Text, "\n\n")
		}
	}
	turn, err := r.Turns().Prompt(ctx, p)
	if err != nil {
		return nil, err
	}
	msgs, err := r.Records().Messages(ctx, turn.Session)
	if err != nil || len(msgs) == 0 {
		return nil, err
	}
	return msgs[len(msgs)-1], nil
}

// clientMessages returns the messages of a session or, if it has none, its calls, each as a message
// with one part.
func (r *Runtime) clientMessages(ctx context.Context, s *store.Store, session string) (any, error) {
	if msgs, err := s.Messages(ctx, session); err != nil || len(msgs) > 0 {
		return msgs, err
	}
	calls, err := s.Calls(ctx, record.CallQuery{Session: session, Limit: maxMessages})
	out := []map[string]any{}
	for _, c := range slices.Backward(calls) { // the newest comes first
		state := map[string]any{"status": string(c.State), "input": json.RawMessage(asJSON([]byte(c.Input)))}
		if c.Result != nil {
			state["title"], state["output"], state["metadata"] = c.Result.Title, c.Result.Output, c.Result.Metadata
		}
		if c.Error != nil {
			state["error"] = c.Error.Message
		}
		out = append(out, map[string]any{
			"info":  map[string]any{"id": c.ID, "sessionID": session, "role": "assistant"},
			"parts": []any{partUpdate(tool.Call{ID: c.ID, Session: session, Tool: c.Tool}, state)["part"]},
		})
	}
	return out, err
}

// sessionInfo describes, for plugins, a session that may not be recorded.
func (r *Runtime) sessionInfo(id string) pluginSession {
	return forPlugins(record.Session{ID: id, Dir: r.dir, Project: r.project, Time: record.SessionTime{Created: r.now().UnixMilli()}})[0]
}

// A pluginSession is a session as plugins see it.
type pluginSession struct {
	record.Session
	Version string `json:"version"` // OpenCode puts the program's version here
}

func forPlugins(rows ...record.Session) []pluginSession {
	out := make([]pluginSession, len(rows))
	for i, v := range rows {
		v.Time.Updated = max(v.Time.Created, v.Time.Updated)
		out[i] = pluginSession{v, "helve"}
	}
	return out
}

// projectInfo describes the project for plugins.
func (r *Runtime) projectInfo() map[string]any {
	return map[string]any{"id": r.project, "worktree": r.worktree}
}
