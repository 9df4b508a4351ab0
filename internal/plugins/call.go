package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

const (
	maxAnswer     = 16 << 20               // bytes that a program may print in answer
	progressEvery = 100 * time.Millisecond // reports to who watches
	maxReport     = 8 << 10                // bytes of one
	maxVariable   = 64 << 10               // bytes of an argument that is a variable too
	maxVariables  = 256 << 10              // and of all of them
)

// Tool makes a tool of a definition. Each call asks for the permission of the
// tool's name first. The error is about the name or the schema.
func (r *Programs) Tool(d ProgramTool) (tool.Tool, error) {
	spec, err := d.spec()
	if err != nil {
		return tool.Tool{}, faulty(d.File, err)
	}
	return tool.Dynamic(spec, func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
		err := c.Ask(ctx, permission.Request{
			Permission: d.ID, Patterns: []string{"*"}, Always: []string{"*"}, Metadata: map[string]any{"program": r.shown(d.File)},
		})
		if err != nil {
			return nil, err
		}
		return r.call(ctx, c, d)
	})
}

// A question is what a program is asked in a call.
type question struct {
	Tool    string          `json:"tool"`
	Name    string          `json:"name,omitempty"`
	Args    json.RawMessage `json:"args"`
	Context hookContext     `json:"context"`
}

// call runs the program for a call.
func (r *Programs) call(ctx context.Context, c *tool.Call, d ProgramTool) (*tool.Result, error) {
	asked, err := encodeJSON(question{Tool: d.ID, Name: d.Name, Args: argumentsOf(c), Context: r.context(c)})
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s: %w", d.ID, err)
	}
	p := r.prepare(c, d.File, "call")
	p.Set["HELVE_TOOL"] = d.ID
	arm(p.Set, c.Input)
	reply, err := r.follow(ctx, c, p, process.Dialog{Question: asked, Limit: maxAnswer, Time: d.Timeout})
	if err != nil {
		return nil, r.unanswered(ctx, d, reply, err)
	}
	res, said, err := readAnswer(reply.Out)
	name := r.shown(d.File)
	switch {
	case said != "":
		return nil, tool.Fail("program-error", "%s", said)
	case unknownToEnv(d.File, reply):
		return nil, tool.Fail("program-start", "%s", unstarted(name, d.File, fs.ErrNotExist))
	case reply.Code != 0:
		return nil, tool.Fail("program-failed", "%s %s", name, programEndText(reply))
	case err != nil:
		return nil, tool.Fail("program-answer", "%s gave an answer that can not be used: %w. This is a mistake in the tool itself; do without it or have it mended.", name, err)
	}
	return res, nil
}

// arm passes the arguments to a program as variables too, for programs that cannot read JSON:
// HELVE_ARG_name holds a string as it is, and anything else as JSON. Values that no variable can
// hold are left out.
func arm(set map[string]string, input json.RawMessage) {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return
	}
	room := maxVariables
	for _, name := range slices.Sorted(maps.Keys(args)) {
		raw := args[name]
		if name == "" || strings.Trim(name, letters) != "" || isNull(raw) {
			continue
		}
		var value string
		if json.Unmarshal(raw, &value) != nil {
			value = compact(raw)
		}
		if len(value) > maxVariable || len(value) > room || strings.Contains(value, "\x00") {
			continue
		}
		room -= len(value)
		set["HELVE_ARG_"+name] = value
	}
}

// letters are what the name of a variable is made of.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// argumentsOf returns the arguments of a call, always as an object.
func argumentsOf(c *tool.Call) json.RawMessage {
	if len(bytes.TrimSpace(c.Input)) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}

// unanswered says why there is no answer.
func (r *Programs) unanswered(ctx context.Context, d ProgramTool, reply process.Reply, err error) error {
	name := r.shown(d.File)
	said := readable(reply.Said, maxComplaint)
	if said != "" {
		said = " It said: " + said
	}
	var walled *process.SandboxError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, process.ErrLate):
		return tool.Fail("program-timeout", "%s took longer than %s and was ended. Give it less to do, or a longer \"timeout\" in its description.%s", name, d.Timeout, said)
	case errors.Is(err, process.ErrTooMuch):
		return tool.Fail("program-too-much", "%s printed more than %d bytes and was ended. Ask it for less, or have it write to a file and print the file's name.", name, maxAnswer)
	case errors.As(err, &walled):
		return tool.Fail("wall", "%w", err)
	}
	return tool.Fail("program-start", "%s", unstarted(name, d.File, err))
}

// A report is how a call is getting on.
type report struct {
	title    string
	metadata map[string]any
}

// follow runs a program and passes on its reports: at a readable rate, and always the newest.
func (r *Programs) follow(ctx context.Context, c *tool.Call, p process.Program, t process.Dialog) (process.Reply, error) {
	reports := make(chan report, 1) // the newest
	t.Line = func(said []byte) bool {
		news, ok := readReport(said)
		if !ok {
			return false
		}
		select {
		case <-reports: // older
		default:
		}
		reports <- news // the buffer has space: only this goroutine writes
		return true
	}
	type end struct {
		reply process.Reply
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		reply, err := r.opt.Shell.Converse(ctx, p, t)
		ended <- end{reply, err}
	}()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for listen := (<-chan report)(nil); ; {
		select {
		case <-pause.C:
			listen = reports
		case news := <-listen:
			c.Progress(news.title, news.metadata)
			listen = nil
			pause.Reset(progressEvery)
		case e := <-ended:
			select {
			case news := <-reports:
				c.Progress(news.title, news.metadata)
			default:
			}
			return e.reply, e.err
		}
	}
}

// readReport reads a line of standard error that reports how a call is getting
// on: {"progress": {"title", "metadata"}}. Another line is not one.
func readReport(said []byte) (report, bool) {
	said = bytes.TrimSpace(said)
	if !bytes.HasPrefix(said, []byte("{")) || !bytes.Contains(said, []byte(`"progress"`)) {
		return report{}, false
	}
	keys, err := readObject(said)
	if err != nil || keys["progress"] == nil {
		return report{}, false
	}
	var news report
	if take(keys, "progress", &news.title) == nil { // a title alone
		news.title = line(news.title, maxQuote)
		return news, news.title != ""
	}
	inner, err := readObject(keys["progress"])
	if err != nil || take(inner, "title", &news.title) != nil || len(inner["metadata"]) > maxReport {
		return report{}, false
	}
	if take(inner, "metadata", &news.metadata) != nil {
		return report{}, false
	}
	news.title = line(news.title, maxQuote)
	return news, news.title != "" || news.metadata != nil
}
