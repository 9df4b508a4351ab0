package main

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

//go:embed trials.yml
var trialsText string

// A trial is a call of trials.yml, and what is wanted of it; zero values want
// nothing.
type trial struct {
	Tool, Args, Kind    string
	Output              []string
	Mime, Data, Fails   string
	Questions, Progress bool
	Optional            bool
}

// happened is what a runtime told while tools ran.
type happened struct{ questions, progress atomic.Int32 }

// wrong says what is wrong with a result, or nothing.
func (t trial) wrong(h *happened, res *tool.Result, err error) string {
	if t.Fails != "" {
		if err == nil || !strings.Contains(err.Error(), t.Fails) {
			return fmt.Sprintf("the error should hold %q: %v", t.Fails, err)
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	for _, part := range t.Output {
		if !strings.Contains(res.Output, part) {
			return fmt.Sprintf("the output lacks %q: %s", part, clip(res.Output, 200))
		}
	}
	hasFile := func(a tool.Attachment) bool {
		_, data, _ := strings.Cut(a.URL, ";base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		return a.Mime == t.Mime && err == nil && len(raw) > 0
	}
	data, _ := res.Data.(tool.Structured)
	switch {
	case t.Mime != "" && !slices.ContainsFunc(res.Attachments, hasFile):
		return fmt.Sprintf("there is no file of type %s among %d: %.80v", t.Mime, len(res.Attachments), res.Attachments)
	case !strings.Contains(string(data), t.Data):
		return fmt.Sprintf("the data for programs is %v", res.Data)
	case t.Questions && h.questions.Load() == 0:
		return "nobody was asked"
	case t.Progress && h.progress.Load() == 0:
		return "no progress was reported"
	}
	return ""
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
	see := func(e event.Event) {
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
		if name != "" || !t.Optional {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			res, err := rt.Call(ctx, tool.Call{Tool: name, Input: []byte(t.Args)})
			note = t.wrong(&h, res, err)
			works = tick(note == "")
			if note != "" {
				s.fail("%s, %s (%s): %s", server, t.Tool, t.Kind, note)
			}
		}
		s.row(server, "`"+t.Tool+"`", t.Kind, works, note)
	}
	var trials map[string][]trial
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(trialsText, "$PROJECT", w.Project)), &trials); err != nil {
		return s.broken(err)
	}
	for _, server := range []string{"everything", "filesystem"} {
		tools, err := rt.MCP().Tools(ctx, server)
		if err != nil {
			return s.broken(err)
		}
		names := map[string]string{}
		for _, i := range tools {
			names[i.Tool] = i.Name
			if server == "everything" && !slices.ContainsFunc(trials[server], func(t trial) bool { return t.Tool == i.Tool }) {
				s.fail("%s, %s: nothing tries this tool", server, i.Tool)
			}
		}
		for _, t := range trials[server] {
			try(server, names[t.Tool], t)
		}
	}
	for _, t := range trials["resources"] {
		try("everything", t.Tool, t)
	}
	return s
}
