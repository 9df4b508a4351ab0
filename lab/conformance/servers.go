package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

// A trial is one call of a foreign tool and what has to come of it.
type trial struct {
	tool string
	args string
	kind string // of content that it shows
	want want
	// optional marks a tool that the server offers only to clients with
	// abilities that helve does not have.
	optional bool
}

// A want is what is wanted of a result; zero values want nothing.
type want struct {
	output    []string // parts of it
	mime      string   // of a file
	data      string   // part of what is there for programs
	fails     string   // part of the error
	questions bool     // the person was asked
	progress  bool     // there was progress on the way
}

// happened is what a runtime told while tools ran.
type happened struct{ questions, progress atomic.Int32 }

// wrong says what is wrong with a result, or nothing.
func (w want) wrong(h *happened, res *tool.Result, err error) string {
	if w.fails != "" {
		if err == nil || !strings.Contains(err.Error(), w.fails) {
			return fmt.Sprintf("the error should hold %q: %v", w.fails, err)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	for _, part := range w.output {
		if !strings.Contains(res.Output, part) {
			return fmt.Sprintf("the output lacks %q: %s", part, clip(res.Output, 200))
		}
	}
	hasFile := func(a tool.Attachment) bool {
		_, data, _ := strings.Cut(a.URL, ";base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		return a.Mime == w.mime && err == nil && len(raw) > 0
	}
	data, _ := res.Data.(tool.Structured)
	switch {
	case w.mime != "" && !slices.ContainsFunc(res.Attachments, hasFile):
		return fmt.Sprintf("there is no file of type %s among %d: %.80v", w.mime, len(res.Attachments), res.Attachments)
	case !strings.Contains(string(data), w.data):
		return fmt.Sprintf("the data for programs is %v", res.Data)
	case w.questions && h.questions.Load() == 0:
		return "nobody was asked"
	case w.progress && h.progress.Load() == 0:
		return "no progress was reported"
	}
	return ""
}

// everything are the trials of server-everything: all of its tools.
func everything(w *proof.World) []trial {
	return []trial{
		{tool: "echo", args: `{"message": "hello there"}`, kind: "text", want: want{output: []string{"hello there"}}},
		{tool: "get-sum", args: `{"a": 40, "b": 2}`, kind: "text", want: want{output: []string{"42"}}},
		{tool: "get-sum", args: `{"a": "x"}`, kind: "arguments that do not fit: refused", want: want{fails: "a"}},
		{tool: "get-env", args: `{}`, kind: "text", want: want{output: []string{"PATH"}}},
		{tool: "get-tiny-image", args: `{}`, kind: "image", want: want{mime: "image/png"}},
		{tool: "get-annotated-message", args: `{"messageType": "success", "includeImage": true}`, kind: "annotations", want: want{mime: "image/png", output: []string{"Operation completed successfully"}}},
		{tool: "get-annotated-message", args: `{"messageType": "error"}`, kind: "annotations", want: want{output: []string{"Error: Operation failed"}}},
		{tool: "get-resource-links", args: `{"count": 3}`, kind: "resource links", want: want{output: []string{"Blob Resource 1", "demo://resource/dynamic/text/2"}}},
		{tool: "get-resource-reference", args: `{"resourceType": "Text", "resourceId": 1}`, kind: "embedded text", want: want{output: []string{"demo://resource/dynamic/text/1"}}},
		{tool: "get-resource-reference", args: `{"resourceType": "Blob", "resourceId": 1}`, kind: "embedded file", want: want{output: []string{"demo://resource/dynamic/blob/1"}}},
		{tool: "gzip-file-as-resource", args: `{"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}`, kind: "embedded file", want: want{mime: "application/gzip"}},
		{tool: "gzip-file-as-resource", args: `{"name": "b.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"}`, kind: "resource link", want: want{output: []string{"b.gz"}}},
		{tool: "get-structured-content", args: `{"location": "New York"}`, kind: "structured", want: want{data: "Cloudy", output: []string{"Cloudy"}}},
		{tool: "trigger-long-running-operation", args: `{"duration": 1, "steps": 5}`, kind: "progress", want: want{progress: true, output: []string{"completed"}}},
		{tool: "toggle-simulated-logging", args: `{}`, kind: "log messages", want: want{output: []string{"Started"}}},
		{tool: "toggle-subscriber-updates", args: `{}`, kind: "text", want: want{output: []string{"tarted"}}},
		{tool: "get-roots-list", args: `{}`, kind: "roots", want: want{output: []string{filepath.Base(w.Project)}}},
		{tool: "trigger-elicitation-request", args: `{}`, kind: "elicitation", want: want{questions: true, output: []string{"Ada Lovelace", "42"}}},
		{tool: "trigger-url-elicitation", args: `{"url": "http://127.0.0.1:9/page"}`, kind: "elicitation of an address", want: want{questions: true, output: []string{"accept"}}, optional: true},
		{tool: "trigger-sampling-request", args: `{"prompt": "x"}`, kind: "sampling", want: want{}, optional: true},
		{tool: "trigger-sampling-request-async", args: `{"prompt": "x"}`, kind: "sampling, as a task", want: want{}, optional: true},
		{tool: "trigger-elicitation-request-async", args: `{}`, kind: "elicitation, as a task", want: want{}, optional: true},
		{tool: "simulate-research-query", args: `{"topic": "x"}`, kind: "a task: refused, and says why", want: want{fails: "task"}, optional: true},
	}
}

// filesystem are the trials of server-filesystem.
func filesystem(w *proof.World) []trial {
	at := func(name string) string { return fmt.Sprintf("{%q: %q}", "path", filepath.Join(w.Project, name)) }
	return []trial{
		{tool: "list_allowed_directories", args: `{}`, kind: "text", want: want{output: []string{w.Project}}},
		{tool: "read_text_file", args: at("note.txt"), kind: "text", want: want{output: []string{"the first line"}}},
		{tool: "read_media_file", args: at("pixel.png"), kind: "image", want: want{mime: "image/png"}},
		{tool: "read_media_file", args: at("silence.wav"), kind: "audio", want: want{mime: "audio/wav"}},
		{tool: "list_directory", args: at(""), kind: "text", want: want{output: []string{"note.txt", "keep"}}},
		{tool: "directory_tree", args: at(""), kind: "structured", want: want{output: []string{"file.txt"}}},
		{tool: "get_file_info", args: at("note.txt"), kind: "text", want: want{output: []string{"size: 15"}}},
		{tool: "write_file", args: fmt.Sprintf(`{"path": %q, "content": "new"}`, filepath.Join(w.Project, "new.txt")), kind: "a change", want: want{output: []string{"new.txt"}}},
		{tool: "read_text_file", args: at("../elsewhere"), kind: "an error of the tool: passed on", want: want{fails: "denied"}},
	}
}

// tryServers drives the real servers through helve's client.
func tryServers(ctx context.Context, p *programs) section {
	s := section{title: "Real servers"}
	w, err := newWorld()
	if err != nil {
		return s.broken(err)
	}
	defer func() { _ = w.Close() }() // a temporary folder
	every, err := p.script("@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		return s.broken(err)
	}
	files, err := p.script("@modelcontextprotocol/server-filesystem/dist/index.js")
	if err != nil {
		return s.broken(err)
	}
	env := map[string]string{}
	for _, e := range p.env(w) {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	var h happened
	// The person fills in a form in a hurry: a name, the first of several choices,
	// and whatever is proposed.
	say := func(q tool.Question) []string {
		h.questions.Add(1)
		switch {
		case strings.Contains(q.Question, "legal name"):
			return []string{"Ada Lovelace"}
		case len(q.Options) > 0:
			return []string{q.Options[0].Label}
		}
		return nil
	}
	see := func(e helve.Event) {
		if _, ok := e.Properties.(event.CallProgress); ok {
			h.progress.Add(1)
		}
	}
	rt, end, err := openRuntime(ctx, w.Project, see, say, mcp.Server{Name: "everything", Command: every, Env: env},
		mcp.Server{Name: "filesystem", Command: append(files, w.Project), Env: env})
	if err != nil {
		return s.broken(err)
	}
	defer func() { _ = end() }() // nothing was written that is to stay
	rt.Gather(ctx)
	s.text = fmt.Sprintf("server-everything %s and server-filesystem %s, through helve's client.\n\n",
		p.version("@modelcontextprotocol/server-everything"), p.version("@modelcontextprotocol/server-filesystem"))
	s.head("server", "tool", "shows", "works", "")
	try := func(server, name string, t trial) {
		works, note := "–", "offered only to clients with an ability that helve does not have"
		if name != "" || !t.optional {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			res, err := rt.Call(ctx, tool.Call{Tool: name, Input: []byte(t.args)})
			note = t.want.wrong(&h, res, err)
			works = tick(note == "")
			if note != "" {
				s.fail("%s, %s (%s): %s", server, t.tool, t.kind, note)
			}
		}
		s.row(server, "`"+t.tool+"`", t.kind, works, note)
	}
	for _, server := range []string{"everything", "filesystem"} {
		trials := map[string][]trial{"everything": everything(w), "filesystem": filesystem(w)}[server]
		tools, err := rt.MCP().Tools(ctx, server)
		if err != nil {
			return s.broken(err)
		}
		names := map[string]string{}
		for _, i := range tools {
			names[i.Tool] = i.Name
			if server == "everything" && !slices.ContainsFunc(trials, func(t trial) bool { return t.tool == i.Tool }) {
				s.fail("%s, %s: nothing tries this tool", server, i.Tool)
			}
		}
		for _, t := range trials {
			try(server, names[t.tool], t)
		}
	}
	// What is no tool, as a model lists and reads it.
	for _, t := range []trial{
		{tool: "list_mcp_resources", args: `{}`, kind: "resources and templates", want: want{output: []string{"demo://resource"}}},
		{tool: "read_mcp_resource", args: `{"server": "everything", "uri": "demo://resource/dynamic/text/1"}`, kind: "a resource", want: want{output: []string{"1"}}},
	} {
		try("everything", t.tool, t)
	}
	return s
}
