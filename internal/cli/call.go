package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// callFlags are the options of helve call.
type callFlags struct {
	session, agent, model, provider string
	timeout                         time.Duration
	noInput, strict, asJSON         bool
	saveTo                          string
	jsonl, events, repair           bool
}

func (a *app) callCommand() *cobra.Command {
	var f callFlags
	c := &cobra.Command{
		Use:   "call TOOL [JSON | key=value …]",
		Short: "Call a tool and show its result",
		Long: `Call runs one tool. Its arguments are key=value pairs, one JSON object, or
JSON on standard input. A value is text where the tool wants text, and JSON
otherwise; key:=value is always JSON. Standard input is read only where the
command line gives no arguments, or - in their place; beside arguments it is
ignored.

The output goes to standard output and everything else to standard error.
Where a rule says ask, a person at the terminal is asked. Without a terminal, or
with --no-input, nobody is: the call fails with exit code 4 and the rule to add.
Slips in the arguments that can be put right without loss are, and are named; so
are keys that the tool does not know, which are left out. --strict refuses both.

The exit code is that of the call, and not that of a command which bash ran: a
command that ends with another code than 0 is told on standard error, and the
call has worked. With --json that code is metadata.exit.

With --jsonl it serves a program: one request a line on standard input, one
answer a line on standard output.

What your own tools write with console.warn and console.error is told on
standard error. All that they write is in the events of --jsonl --events, as
script.said.

Exit codes: 'helve help exit-codes'.`,
		Example: `  helve call read filePath=go.mod limit=5
  helve call read '{"filePath": "go.mod", "offset": 2}'
  echo '{"id":"1","tool":"read","args":{"filePath":"go.mod"}}' | helve call --jsonl`,
		Args: func(c *cobra.Command, args []string) error {
			if f.jsonl {
				if len(args) > 0 {
					return usagef("with --jsonl the calls come from standard input, and not from the command line")
				}
				for _, name := range []string{"json", "no-input", "save-attachments"} {
					if c.Flags().Changed(name) {
						return usagef("--%s does not go with --jsonl", name)
					}
				}
				return nil
			}
			switch {
			case len(args) == 0:
				return usagef("which tool? 'helve tools' lists them")
			case f.events || f.repair:
				return usagef("--events and --repair go with --jsonl")
			}
			return nil
		},
		ValidArgsFunction: a.completeTool,
		RunE: func(c *cobra.Command, args []string) error {
			if f.jsonl {
				return a.serveLines(c.Context(), &f)
			}
			return a.runCall(c.Context(), &f, args)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.session, "session", "", "make the call part of this session")
	fs.StringVar(&f.agent, "agent", "", "call as this agent, under its rules")
	fs.StringVar(&f.model, "model", "", "the model that calls; some tools are only for some")
	fs.StringVar(&f.provider, "provider", "", "whose model calls")
	fs.DurationVar(&f.timeout, "timeout", 0, "give up after this long, as in 30s")
	fs.BoolVar(&f.noInput, "no-input", false, "ask nobody: what has to be asked for fails")
	fs.BoolVar(&f.strict, "strict", false, "put nothing right in the arguments, and leave nothing out")
	fs.BoolVar(&f.asJSON, "json", false, "print the whole result as JSON")
	fs.StringVar(&f.saveTo, "save-attachments", "", "write attachments into this `folder`")
	fs.BoolVar(&f.jsonl, "jsonl", false, "serve a program, one JSON object a line")
	fs.BoolVar(&f.events, "events", false, "with --jsonl: write events too, and let the program answer requests")
	fs.BoolVar(&f.repair, "repair", false, "with --jsonl: put slips in arguments right, as the config key repair does")
	a.completeFlags(c)
	return c
}

// runCall runs one call from the command line.
func (a *app) runCall(ctx context.Context, f *callFlags, args []string) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg, voiding(s.cfg)...) // the call itself ends with that
	if err := s.checkReady(f.agent); err != nil {
		return err
	}
	opt := a.options(s)
	opt.Unattended = f.noInput || !a.attended()
	opt.Strict = f.strict
	opt.Repair = s.cfg.Repair == nil || *s.cfg.Repair
	rt, err := helve.Open(opt)
	if err != nil {
		return err
	}
	defer rt.Close()
	req := tool.Call{
		ID: rt.NewID("call"), Session: f.session, Agent: f.agent, Model: f.model, Provider: f.provider, Tool: args[0],
	}
	spec := findSpec(ctx, rt, req)
	in, enough, err := a.input(spec, args[1:])
	if err != nil {
		return err
	}
	if !enough {
		fmt.Fprint(a.Stderr, safe(teach(*spec)))
		return usagef("%s needs arguments", spec.Name)
	}
	req.Input = in
	res, err := a.callWithPrompts(ctx, rt, f, req)
	if !f.asJSON {
		a.noteSaid(rt, req.ID)
	}
	return a.printResult(f, req, res, err)
}

// findSpec returns the tool that a call is probably meant for, or nil. It starts the MCP server of
// the tool if needed.
func findSpec(ctx context.Context, rt *helve.Runtime, req tool.Call) *tool.Spec {
	if spec := offeredSpec(rt, req); spec != nil {
		return spec
	}
	rt.Fetch(ctx, req.Tool)
	return offeredSpec(rt, req)
}

func offeredSpec(rt *helve.Runtime, req tool.Call) *tool.Spec {
	specs := rt.Tools(tool.Audience{Provider: req.Provider, Model: req.Model, Agent: req.Agent})
	for _, name := range []string{req.Tool, strings.ToLower(req.Tool)} {
		if i := slices.IndexFunc(specs, func(s tool.Spec) bool { return s.Name == name }); i >= 0 {
			return &specs[i]
		}
	}
	return nil
}

// callWithPrompts makes the call, and asks the person at the terminal its permission requests.
func (a *app) callWithPrompts(ctx context.Context, rt *helve.Runtime, f *callFlags, req tool.Call) (*tool.Result, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	if !isTerminal(a.Stderr) {
		return rt.Call(ctx, req)
	}
	watching, done := context.WithCancel(ctx)
	w := &watcher{rt: rt, out: a.Stderr, style: a.style(a.Stderr)}
	if !f.noInput && a.attended() {
		w.ask = newPrompter(a.Stdin, a.Stderr, rt.Requests())
		w.ask.style = w.style
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		w.followEvents(watching)
	}()
	res, err := rt.Call(ctx, req)
	done()
	<-finished
	return res, err
}

// printResult prints how a call ended.
func (a *app) printResult(f *callFlags, req tool.Call, res *tool.Result, err error) error {
	if err == nil && f.saveTo != "" {
		if err := a.saveAttachments(res, f.saveTo); err != nil {
			return err
		}
	}
	if f.asJSON {
		line := server.EndLine(quoted(req.ID), req.Tool, res, err)
		if isTerminal(a.Stdout) {
			line = []byte(text.VisibleJSON(string(line)))
		}
		if _, werr := a.Stdout.Write(line); werr != nil {
			return fmt.Errorf("writing the result: %w", werr)
		}
		if err != nil {
			return &silent{exitOf(tool.KindOf(err))}
		}
		return nil
	}
	if err != nil {
		// A failed call may have a result all the same, such as a command's output.
		err := forPeople(req, err)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Answer == nil || e.Kind == tool.InvalidInput || e.Kind == tool.UnknownTool {
			return err
		}
		if shown := a.showResult(e.Answer); shown != nil {
			return shown
		}
		brief := *e
		brief.Err = fmt.Errorf("the call did not come to its end: %s", e.Code)
		return &brief
	}
	return a.showResult(res)
}

// showResult prints the output to standard output, and the rest to standard error.
func (a *app) showResult(res *tool.Result) error {
	if repairs, ok := res.Metadata["repairs"].([]tool.Repair); ok {
		for _, r := range repairs {
			if r.Dropped {
				a.printNote(r.String())
				continue
			}
			a.printNote("put right: " + r.String())
		}
	}
	if isTerminal(a.Stderr) && res.Title != "" {
		fmt.Fprintln(a.Stderr, a.style(a.Stderr).Dim(text.VisibleLine(res.Title)))
	}
	out := res.Output
	if isTerminal(a.Stdout) {
		out = safe(out)
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	if _, err := fmt.Fprint(a.Stdout, out); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	if code, ok := res.Metadata["exit"].(int); ok && code != 0 {
		a.printNote(fmt.Sprintf("the command ended with exit code %d", code))
	}
	for i, at := range res.Attachments {
		a.printNote(fmt.Sprintf("attachment %d: %s, %d bytes", i+1, at.Mime, attachmentSize(at)))
	}
	return nil
}

// attachmentSize returns the size of an attachment in bytes.
func attachmentSize(at tool.Attachment) int {
	data, err := attachmentData(at)
	if err != nil {
		return len(at.URL)
	}
	return len(data)
}

func attachmentData(at tool.Attachment) ([]byte, error) {
	head, body, ok := strings.Cut(at.URL, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return nil, errors.New("it is not held in the result")
	}
	return base64.StdEncoding.DecodeString(body)
}

// saveAttachments writes attachments as files that were not there before.
func (a *app) saveAttachments(res *tool.Result, dir string) error {
	dir = a.abs(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("saving attachments: %w", err)
	}
	for i, at := range res.Attachments {
		data, err := attachmentData(at)
		if err != nil {
			return fmt.Errorf("saving attachment %d: %w", i+1, err)
		}
		file, err := newFile(dir, at.Filename, fmt.Sprintf("attachment-%d%s", i+1, extension(at.Mime)))
		if err != nil {
			return fmt.Errorf("saving attachments: %w", err)
		}
		_, err = file.Write(data)
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("saving attachments: %w", err)
		}
		a.printNote("wrote " + file.Name())
	}
	return nil
}

// newFile makes a file of the name that is wanted, or, where that is no plain
// name or is taken, of the other.
func newFile(dir, wanted, other string) (*os.File, error) {
	if isPlainName(wanted) {
		file, err := os.OpenFile(filepath.Join(dir, wanted), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return file, nil
		}
	}
	return os.OpenFile(filepath.Join(dir, other), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// isPlainName reports whether a name is one of a file on every system, that
// nothing hides in and no program takes for its settings.
func isPlainName(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	return name != "" && len(name) <= 200 && name[0] != '.' && name[0] != '-' && !strings.HasSuffix(name, ".") && strings.TrimSpace(name) == name &&
		!strings.ContainsAny(name, `/\:*?"<>|`+"`$") && filepath.IsLocal(name) && filepath.IsLocal(stem) && !text.HasHidden(name) && text.VisibleLine(name) == name
}

// extension is the ending of files of a type.
func extension(kind string) string {
	switch kind {
	case "image/jpeg":
		return ".jpg"
	case "image/png":
		return ".png"
	}
	if all, err := mime.ExtensionsByType(kind); err == nil && len(all) > 0 {
		return all[0]
	}
	return ".bin"
}
