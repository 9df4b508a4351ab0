package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/model"
)

// runFlags are the options of helve run, and of helve sessions resume.
type runFlags struct {
	agent, model, session, title string
	last                         bool
	files                        []string
	asJSON, quiet                bool
	noInput, strict              bool
	budget                       agent.Budget
	before                       model.Ref // that the session was worked on with last
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [PROMPT …]",
		Short: "Give a model a task and let it work until it is done",
		Long: `Run gives a prompt to a model, runs the tools that it calls, and ends when the
model has said its last word. The prompt is the words of the command line; without
any it is read from standard input, and a word - stands for what is read there.

What the model says goes to standard output, as it says it. What it does goes to
standard error. With --json every event is a line of JSON on standard output, and
the last line is of type turn.finished.

Where a rule says ask, a person at the terminal is asked. Without a terminal, or
with --no-input, nobody is: the call fails, the model is told so and goes on, and
the rules to add are summed up at the end. The exit code is 0 all the same if the
model came to its end; with --strict it is 4.

A session that broke off goes on with 'helve sessions resume'.
Exit codes: 'helve help exit-codes'.`,
		Example: `  helve run "why does the test of the parser fail?"
  helve run --continue "now fix it"
  git diff | helve run "review this change" -
  helve run --json --max-cost 0.50 --agent plan "what would it take to drop Go 1.24?"`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return a.run(c.Context(), &f, args)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.session, "session", "", "go on with this session; the beginning of its id is enough")
	fs.BoolVar(&f.last, "continue", false, "go on with the last session of this folder")
	fs.StringVar(&f.title, "title", "", "the title of a new session")
	f.register(c)
	a.completeFlags(c)
	return c
}

// register adds the flags that every command has which lets a model work.
func (f *runFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.agent, "agent", "", "work as this agent, under its rules")
	fs.StringVar(&f.model, "model", "", "use this model, as `provider/model`")
	fs.StringArrayVar(&f.files, "file", nil, "add the text, image or PDF at this `path` to the prompt; may be given again")
	fs.BoolVar(&f.asJSON, "json", false, "print events as JSON, one a line")
	fs.BoolVar(&f.quiet, "quiet", false, "print only the last that the model says")
	fs.BoolVar(&f.noInput, "no-input", false, "ask nobody: what has to be asked for fails")
	fs.BoolVar(&f.strict, "strict", false, "end with exit code 4 if something failed because nobody could be asked")
	fs.IntVar(&f.budget.Steps, "max-steps", 0, "let the model answer at most so often")
	fs.IntVar(&f.budget.Tokens, "max-tokens", 0, "use at most so many tokens")
	fs.Float64Var(&f.budget.Cost, "max-cost", 0, "spend at most so many US dollars")
	fs.DurationVar(&f.budget.Time, "timeout", 0, "give up after this long, as in 10m")
}

// check refuses flags that make no sense.
func (f *runFlags) check(c *cobra.Command) error {
	switch {
	case f.asJSON && f.quiet:
		return usagef("--json and --quiet do not go together")
	case f.session != "" && f.last:
		return usagef("--session and --continue do not go together")
	case f.title != "" && (f.session != "" || f.last):
		return usagef("--title is for a new session")
	case c.Flags().Changed("model") && !strings.Contains(strings.Trim(f.model, "/"), "/"):
		return usagef("a model is given as provider/model, and %q is not", f.model)
	case f.budget.Steps < 0 || f.budget.Tokens < 0 || f.budget.Cost < 0 || f.budget.Time < 0:
		return usagef("a limit can not be below 0")
	}
	return nil
}

// modelRef is the model that was asked for.
func (f *runFlags) modelRef() model.Ref {
	provider, name, _ := strings.Cut(f.model, "/")
	return model.Ref{Provider: provider, Model: name}
}

// run gives a model a prompt from the command line.
func (a *app) run(ctx context.Context, f *runFlags, words []string) error {
	if f.session != "" || f.last {
		s, err := a.findSession(ctx, f.session)
		if err != nil {
			return err
		}
		a.resumeSession(s, f)
	}
	said, err := a.promptText(ctx, words)
	if err != nil {
		return err
	}
	if strings.TrimSpace(said) == "" {
		if slices.Contains(words, "-") || len(words) == 0 && !isTerminal(a.Stdin) {
			return usagef("what is to be done? Standard input was empty: give the prompt as words of the command line")
		}
		return usagef("what is to be done? Give a prompt, or - to read it from standard input")
	}
	if !f.quiet && !f.asJSON {
		a.unread(words)
	}
	return a.runTurn(ctx, f, func(ctx context.Context, rt *helve.Runtime) (*agent.Turn, error) {
		said, files, err := a.enclose(ctx, said, f.files)
		if err != nil {
			return nil, err
		}
		return rt.Turns().Prompt(ctx, agent.Prompt{
			Session: f.session, Agent: f.agent, Model: f.modelRef(), Text: said, Files: files, Title: f.title,
		})
	})
}

// runTurn sets up a runtime, has it make a turn, and shows what happens.
func (a *app) runTurn(ctx context.Context, f *runFlags, turn func(context.Context, *helve.Runtime) (*agent.Turn, error)) error {
	rt, err := a.agentRuntime(f)
	if err != nil {
		return err
	}
	// A reader that goes away shows as an error of the write, and ends the turn
	// before the process.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := outlet{a.Stdout, end}
	d := &audience{view: a.viewOf(f, out)}
	if !f.noInput && a.attended() {
		d.ask = newPrompter(a.Stdin, a.Stderr, rt.Requests())
		d.ask.style = a.style(a.Stderr)
	}
	asking, stop := context.WithCancel(ctx)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		d.followEvents(asking, rt)
	}()
	t, err := turn(ctx, rt)
	stop()
	closed := rt.Close()
	<-followed
	if t != nil && f.asJSON {
		jsonView{out, isTerminal(a.Stdout)}.write(finishedTurn{"turn.finished", t})
	}
	if t != nil && f.quiet {
		a.printText(out, t.Text)
	}
	switch {
	case context.Cause(ctx) == errBroken:
		return &silent{exitFailed}
	case err != nil:
		return err
	}
	if err := a.reportTurn(f, t, &d.refused); err != nil {
		return err
	}
	return closed
}

// A finishedTurn is the last line of a stream of events.
type finishedTurn struct {
	Type       string      `json:"type"`
	Properties *agent.Turn `json:"properties"`
}

// printText prints a model's text.
func (a *app) printText(out io.Writer, said string) {
	if said == "" {
		return
	}
	if isTerminal(a.Stdout) {
		said = safe(said)
	}
	if !strings.HasSuffix(said, "\n") {
		said += "\n"
	}
	fmt.Fprint(out, said)
}

// viewOf is how a turn is shown.
func (a *app) viewOf(f *runFlags, out io.Writer) viewer {
	shown := isTerminal(a.Stdout)
	switch {
	case f.asJSON:
		return jsonView{out, shown}
	case f.quiet:
		return quietView{}
	}
	opt := terminal.TranscriptOptions{Out: a.Stderr, Session: f.session, Color: a.style(a.Stderr).On, Live: isTerminal(a.Stderr)}
	if opt.Live {
		opt.Width = cmp.Or(width(a.Stderr), width(a.Stdout))
	}
	return terminal.NewSplit(terminal.NewTranscript(opt), out, shown)
}

// agentRuntime is a runtime in which a model works.
func (a *app) agentRuntime(f *runFlags) (*helve.Runtime, error) {
	s, err := a.load()
	if err != nil {
		return nil, err
	}
	a.warn(s.cfg, voiding(s.cfg)...) // the turn says why it does not begin
	if err := s.checkReady(f.agent); err != nil {
		return nil, err
	}
	opt := a.options(s)
	if opt.Models, err = f.models(a, s); err != nil {
		return nil, err
	}
	// Limits of the command line go over those of the config.
	b := &opt.Loop.Session
	b.Time, b.Cost = cmp.Or(f.budget.Time, b.Time), cmp.Or(f.budget.Cost, b.Cost)
	b.Tokens, b.Steps = cmp.Or(f.budget.Tokens, b.Tokens), cmp.Or(f.budget.Steps, b.Steps)
	if opt.Loop.Session.Cost > 0 {
		a.unpriced(s, opt.Models, f)
	}
	if opt.Unattended = f.noInput || !a.attended(); opt.Unattended { // a tool that asks could only fail
		opt.Client = cmp.Or(opt.Client, "headless")
		opt.Loop.PlanTools = false
	}
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Plugins.Watch = watchFiles
	opt.Repair = s.cfg.Repair == nil || *s.cfg.Repair
	return helve.Open(opt)
}

// models returns the model that answers, if there is one.
func (f *runFlags) models(a *app, s *setup) (agent.Models, error) {
	out, err := s.models(a)
	if err != nil {
		return out, err
	}
	find := out.Find
	out.Find = func(ref model.Ref) (model.Model, error) {
		m, err := find(ref)
		if err != nil {
			err = &modelError{err}
		}
		return m, err
	}
	agent, err := s.agent(f.agent)
	switch {
	case err != nil:
		return out, err
	case agent.Mode == "subagent" && f.agent != "":
		return out, usagef("%s is one that other agents start: give --agent another, or none", agent.Name)
	}
	none := model.Ref{}
	if f.modelRef() == none && f.before == none && agent.Model == none && out.Default == none {
		_, err = out.Find(none) // it says what to do
	}
	return out, err
}

// unpriced notes that a cost limit has no effect, because the price of the model is unknown.
func (a *app) unpriced(s *setup, models agent.Models, f *runFlags) {
	agent, err := s.agent(f.agent)
	if err != nil {
		return // that is reported
	}
	ref := cmp.Or(f.modelRef(), agent.Model)
	if ref == (model.Ref{}) {
		ref = cmp.Or(f.before, models.Default)
		if _, err := models.Find(ref); err != nil {
			ref = models.Default // the one of before is no more
		}
	}
	if m, err := models.Find(ref); err != nil || m.Info.Price != (model.Price{}) || s.free(ref) {
		return
	}
	a.printNote(fmt.Sprintf("the cost can not be counted for %s: its price is not known; set provider.%s.models.%s.cost in the config, or use --max-tokens",
		ref, ref.Provider, ref.Model))
}

// free reports whether the config says that a model costs nothing.
func (s *setup) free(ref model.Ref) bool {
	return slices.ContainsFunc(s.cfg.Providers, func(p config.Provider) bool {
		return p.ID == ref.Provider && slices.ContainsFunc(p.Models, func(m config.Model) bool { return m.ID == ref.Model && m.Price != nil })
	})
}

// A modelError is a turn that could not begin because of its model.
type modelError struct{ error }

// Unwrap returns the cause.
func (e *modelError) Unwrap() error { return e.error }
