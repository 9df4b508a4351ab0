package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

// A rig is a runtime with the tools of real servers in it, and a person.
type rig struct {
	rt    *helve.Runtime
	leave func() // sends the person away

	asked    atomic.Int32 // questions
	reported atomic.Int32 // reports of progress
}

// openRig makes a runtime in which everything is allowed, and brings the tools
// of the servers in.
func openRig(ctx context.Context, w *world, servers ...helve.MCPServer) (*rig, error) {
	rt, err := helve.New(helve.Options{
		Dir: w.project, Worktree: w.project, DataDir: filepath.Join(w.root, "data"), Agents: allowAll(),
		MCP: helve.MCP{Servers: servers, Version: "proof"},
	})
	if err != nil {
		return nil, err
	}
	r := &rig{rt: rt}
	r.leave = attend(ctx, rt, func(e helve.Event) {
		switch p := e.Properties.(type) {
		case helve.QuestionAsked:
			answer(rt, p, r.say)
		case helve.CallProgress:
			r.reported.Add(1)
		}
	})
	rt.Gather(ctx)
	for _, s := range rt.MCP() {
		if s.State != "connected" {
			return nil, errors.Join(fmt.Errorf("%s is %s: %s %s", s.Name, s.State, s.Error, s.Detail), r.close())
		}
	}
	return r, nil
}

func (r *rig) close() error {
	r.leave()
	return r.rt.Close()
}

// say fills in a form as a person in a hurry would: a name, the first of
// several choices, and whatever is proposed.
func (r *rig) say(q tool.Question) []string {
	r.asked.Add(1)
	switch {
	case strings.Contains(q.Question, "legal name"):
		return []string{"Ada Lovelace"}
	case len(q.Options) > 0:
		return []string{q.Options[0].Label}
	}
	return nil
}

// A trial is one call of a foreign tool and what has to come of it.
type trial struct {
	tool string
	args string
	kind string // of content that it shows
	// want says what is wrong with the result, or nothing.
	want func(*rig, *tool.Result, error) string
	// optional marks a tool that the server offers only to clients with
	// abilities that helve does not have.
	optional bool
}

// trialRow is what came of a trial.
type trialRow struct {
	Server, Tool, Kind string
	Why                string // empty when it went well
	Skipped            bool
}

// holds wants parts in the output.
func holds(parts ...string) func(*rig, *tool.Result, error) string {
	return func(_ *rig, res *tool.Result, err error) string {
		if err != nil {
			return err.Error()
		}
		for _, p := range parts {
			if !strings.Contains(res.Output, p) {
				return fmt.Sprintf("the output lacks %q: %s", p, clip(res.Output, 200))
			}
		}
		return ""
	}
}

// carries wants a file of a type, and parts in the output.
func carries(mime string, parts ...string) func(*rig, *tool.Result, error) string {
	return func(r *rig, res *tool.Result, err error) string {
		if why := holds(parts...)(r, res, err); why != "" {
			return why
		}
		for _, a := range res.Attachments {
			_, data, _ := strings.Cut(a.URL, ";base64,")
			if raw, err := base64.StdEncoding.DecodeString(data); a.Mime == mime && err == nil && len(raw) > 0 {
				return ""
			}
		}
		return fmt.Sprintf("there is no file of type %s among %d: %.80v", mime, len(res.Attachments), res.Attachments)
	}
}

// fails wants an error with a text in it.
func fails(part string) func(*rig, *tool.Result, error) string {
	return func(_ *rig, _ *tool.Result, err error) string {
		if err == nil || !strings.Contains(err.Error(), part) {
			return fmt.Sprintf("the error should hold %q: %v", part, err)
		}
		return ""
	}
}

// structured wants data for programs.
func structured(part string) func(*rig, *tool.Result, error) string {
	return func(r *rig, res *tool.Result, err error) string {
		if why := holds(part)(r, res, err); why != "" {
			return why
		}
		if data, ok := res.Data.(tool.Structured); !ok || !strings.Contains(string(data), part) {
			return fmt.Sprintf("the data for programs is %v", res.Data)
		}
		return ""
	}
}

// asked wants that the person was asked, and the answer in the output.
func asked(parts ...string) func(*rig, *tool.Result, error) string {
	return func(r *rig, res *tool.Result, err error) string {
		if r.asked.Load() == 0 {
			return "nobody was asked"
		}
		return holds(parts...)(r, res, err)
	}
}

// reported wants that there was progress on the way.
func reported(parts ...string) func(*rig, *tool.Result, error) string {
	return func(r *rig, res *tool.Result, err error) string {
		if r.reported.Load() == 0 {
			return "no progress was reported"
		}
		return holds(parts...)(r, res, err)
	}
}

// everything are the trials of server-everything: all of its tools.
func everything(w *world) []trial {
	return []trial{
		{tool: "echo", args: `{"message": "hello there"}`, kind: "text", want: holds("hello there")},
		{tool: "get-sum", args: `{"a": 40, "b": 2}`, kind: "text", want: holds("42")},
		{tool: "get-sum", args: `{"a": "x"}`, kind: "arguments that do not fit: refused", want: fails("a")},
		{tool: "get-env", args: `{}`, kind: "text", want: holds("PATH")},
		{tool: "get-tiny-image", args: `{}`, kind: "image", want: carries("image/png")},
		{tool: "get-annotated-message", args: `{"messageType": "success", "includeImage": true}`, kind: "annotations", want: carries("image/png", "Operation completed successfully")},
		{tool: "get-annotated-message", args: `{"messageType": "error"}`, kind: "annotations", want: holds("Error: Operation failed")},
		{tool: "get-resource-links", args: `{"count": 3}`, kind: "resource links", want: holds("Blob Resource 1", "demo://resource/dynamic/text/2")},
		{tool: "get-resource-reference", args: `{"resourceType": "Text", "resourceId": 1}`, kind: "embedded text", want: holds("demo://resource/dynamic/text/1")},
		{tool: "get-resource-reference", args: `{"resourceType": "Blob", "resourceId": 1}`, kind: "embedded file", want: holds("demo://resource/dynamic/blob/1")},
		{tool: "gzip-file-as-resource", args: `{"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}`, kind: "embedded file", want: carries("application/gzip")},
		{tool: "gzip-file-as-resource", args: `{"name": "b.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"}`, kind: "resource link", want: holds("b.gz")},
		{tool: "get-structured-content", args: `{"location": "New York"}`, kind: "structured", want: structured("Cloudy")},
		{tool: "trigger-long-running-operation", args: `{"duration": 1, "steps": 5}`, kind: "progress", want: reported("completed")},
		{tool: "toggle-simulated-logging", args: `{}`, kind: "log messages", want: holds("Started")},
		{tool: "toggle-subscriber-updates", args: `{}`, kind: "text", want: holds("tarted")},
		{tool: "get-roots-list", args: `{}`, kind: "roots", want: holds(filepath.Base(w.project))},
		{tool: "trigger-elicitation-request", args: `{}`, kind: "elicitation", want: asked("Ada Lovelace", "42")},
		{tool: "trigger-url-elicitation", args: `{"url": "http://127.0.0.1:9/page"}`, kind: "elicitation of an address", want: asked("accept"), optional: true},
		{tool: "trigger-sampling-request", args: `{"prompt": "x"}`, kind: "sampling", want: holds(""), optional: true},
		{tool: "trigger-sampling-request-async", args: `{"prompt": "x"}`, kind: "sampling, as a task", want: holds(""), optional: true},
		{tool: "trigger-elicitation-request-async", args: `{}`, kind: "elicitation, as a task", want: holds(""), optional: true},
		{tool: "simulate-research-query", args: `{"topic": "x"}`, kind: "a task: refused, and says why", want: fails("task"), optional: true},
	}
}

// filesystem are the trials of server-filesystem.
func filesystem(w *world) []trial {
	at := func(name string) string { return fmt.Sprintf("{%q: %q}", "path", filepath.Join(w.project, name)) }
	return []trial{
		{tool: "list_allowed_directories", args: `{}`, kind: "text", want: holds(w.project)},
		{tool: "read_text_file", args: at("note.txt"), kind: "text", want: holds("the first line")},
		{tool: "read_media_file", args: at("pixel.png"), kind: "image", want: carries("image/png")},
		{tool: "read_media_file", args: at("silence.wav"), kind: "audio", want: carries("audio/wav")},
		{tool: "list_directory", args: at(""), kind: "text", want: holds("note.txt", "keep")},
		{tool: "directory_tree", args: at(""), kind: "structured", want: holds("file.txt")},
		{tool: "get_file_info", args: at("note.txt"), kind: "text", want: holds("size: 15")},
		{tool: "write_file", args: fmt.Sprintf(`{"path": %q, "content": "new"}`, filepath.Join(w.project, "new.txt")), kind: "a change", want: holds("new.txt")},
		{tool: "read_text_file", args: at("../elsewhere"), kind: "an error of the tool: passed on", want: fails("denied")},
	}
}

// proveServers drives the real servers through helve's client.
func proveServers(ctx context.Context, t *toolbox, log io.Writer) (rows []trialRow, err error) {
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.furnish(); err != nil {
		return nil, err
	}
	for name, data := range map[string]string{"pixel.png": pixel, "silence.wav": silence} {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, err
		}
		if err := w.write("project/"+name, string(raw)); err != nil {
			return nil, err
		}
	}
	every, err := t.script("@modelcontextprotocol/server-everything", "dist/index.js")
	if err != nil {
		return nil, err
	}
	files, err := t.script("@modelcontextprotocol/server-filesystem", "dist/index.js")
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, e := range w.env(t.node) {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	r, err := openRig(ctx, w, helve.MCPServer{Name: "everything", Command: every, Environment: env},
		helve.MCPServer{Name: "filesystem", Command: append(files, w.project), Environment: env})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, s := range r.rt.MCP() {
		fmt.Fprintf(log, "servers: %s is %s with %d tools\n", s.Name, s.State, s.Tools)
	}
	rows = append(rows, r.tryAll(ctx, "everything", everything(w))...)
	rows = append(rows, r.tryAll(ctx, "filesystem", filesystem(w))...)
	return append(rows, r.tryResources(ctx)...), nil
}

// tryAll makes the calls, and notes tools that no trial is about.
func (r *rig) tryAll(ctx context.Context, server string, trials []trial) (rows []trialRow) {
	names := map[string]string{}
	tools, err := r.rt.MCPTools(ctx, server)
	if err != nil {
		return []trialRow{{Server: server, Tool: "tools/list", Why: err.Error()}}
	}
	for _, i := range tools {
		names[i.Tool] = i.Name
	}
	for _, t := range trials {
		row := trialRow{Server: server, Tool: t.tool, Kind: t.kind}
		name, ok := names[t.tool]
		switch {
		case !ok && t.optional:
			row.Skipped = true
		case !ok || name == "":
			row.Why = "the tool is not offered"
		default:
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			res, err := r.rt.Call(ctx, tool.Call{Tool: name, Input: []byte(t.args)})
			cancel()
			row.Why = t.want(r, res, err)
		}
		rows = append(rows, row)
	}
	if server != "everything" {
		return rows
	}
	for name := range names {
		if !slices.ContainsFunc(trials, func(t trial) bool { return t.tool == name }) {
			rows = append(rows, trialRow{Server: server, Tool: name, Kind: "?", Why: "nothing tries this tool"})
		}
	}
	return rows
}

// tryResources lists and reads what is no tool, as a model does.
func (r *rig) tryResources(ctx context.Context) []trialRow {
	try := func(name, args, kind string, want func(*rig, *tool.Result, error) string) trialRow {
		res, err := r.rt.Call(ctx, tool.Call{Tool: name, Input: []byte(args)})
		return trialRow{Server: "everything", Tool: name, Kind: kind, Why: want(r, res, err)}
	}
	return []trialRow{
		try("list_mcp_resources", `{}`, "resources and templates", holds("demo://resource")),
		try("read_mcp_resource", `{"server": "everything", "uri": "demo://resource/dynamic/text/1"}`, "a resource", holds("1")),
	}
}
