package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/tool"
)

func (a *app) chatCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "chat [PROMPT …]",
		Short: "Talk to a model that works with the tools here",
		Long: `Chat is a conversation at the terminal: you say what is to be done, the model
answers and works with the tools, and what a rule says to ask about is asked in
place. Words on the command line are the first prompt.

Enter sends a prompt; Alt-Enter, or a backslash at the end, begins a new line.
@name points the model to a file, !command runs a command of yours, and /help
lists what else there is. Ctrl-C stops the model; what was done so far stays, and
the session can go on. What you type meanwhile is kept for the next prompt. Ctrl-D,
or Ctrl-C twice on an empty line, leaves.

Without a terminal use 'helve run'.`,
		Example: `  helve chat
  helve chat --continue
  helve chat --agent plan "what would it take to drop Go 1.24?"`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case !isTerminal(a.Stdin) || !isTerminal(a.Stdout):
				return usagef("helve chat needs a terminal to talk at: use 'helve run' to give a model a task from a script or a pipe")
			case a.Getenv("TERM") == "dumb":
				return usagef("this terminal (TERM=dumb) can not move its cursor: use 'helve run' instead")
			}
			if err := f.check(c); err != nil {
				return err
			}
			return a.chat(c.Context(), &f, strings.Join(args, " "))
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.agent, "agent", "", "begin with this agent")
	fs.StringVar(&f.model, "model", "", "use this model, as `provider/model`")
	fs.StringVar(&f.session, "session", "", "go on with this session; the beginning of its id is enough")
	fs.BoolVar(&f.last, "continue", false, "go on with the last session of this folder")
	a.completeFlags(c)
	return c
}

// A chat is a conversation at the terminal.
type chat struct {
	app    *app // whose standard error is the console
	rt     *helve.Runtime
	models agent.Models
	agents []agent.Spec
	con    *console
	events <-chan event.Event

	session   string
	agent     string    // who works; the session's, or the default one, when empty
	model     model.Ref // with what; likewise
	reasoning bool      // what the model thinks is shown
	todos     []tool.Todo
	usage     message.Info // of the newest answer
	done      time.Time    // when the last turn came to its end
	warned    time.Time    // when it was said last that another Ctrl-C leaves
	leaving   bool
}

// chat sets up a conversation and runs it.
func (a *app) chat(ctx context.Context, f *runFlags, first string) error {
	if f.session != "" || f.last {
		s, err := a.findSession(ctx, f.session)
		if err != nil {
			return err
		}
		a.resumeSession(s, f)
	}
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	if err := s.checkReady(f.agent); err != nil {
		return err
	}
	var later notices // what is noted while the console is open
	defer func() {
		for _, line := range later.take() {
			fmt.Fprintln(a.Stderr, line)
		}
	}()
	heard := *a
	heard.Stderr = &later
	models, err := f.models(&heard, s)
	if err != nil {
		return err
	}
	con, err := a.openConsole(filepath.Join(s.data, "chat", projectName(s.opt.Worktree, s.opt.Dir)+".history"))
	if err != nil {
		return err
	}
	defer con.close()
	con.notices = &later
	opt := heard.options(s)
	opt.Models = models
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Plugins.Watch = watchFiles
	opt.Repair = s.cfg.Repair == nil || *s.cfg.Repair
	opt.Flags["question"] = true // someone can answer
	rt, err := helve.Open(opt)
	if err != nil {
		return err
	}
	c := &chat{
		app: &heard, rt: rt, models: models, agents: opt.Agents, con: con, events: eagerly(rt.Events(context.Background(), 0)),
		session: f.session, agent: f.agent, model: f.modelRef(), reasoning: true,
	}
	con.editor.Complete = c.completions
	c.talk(ctx, first)
	err = rt.Close()
	for range c.events { // until the runtime has said its last
	}
	c.con.close()
	c.con.printNotices()
	if c.session != "" {
		c.printLine("To go on with this session: helve sessions resume " + terminal.Safe(c.session))
	}
	return err
}

// projectName names a project in a file name.
func projectName(worktree, dir string) string {
	if worktree == "" || worktree == string(filepath.Separator) {
		worktree = dir
	}
	sum := sha256.Sum256([]byte(worktree))
	return hex.EncodeToString(sum[:8])
}

// talk runs the conversation until the person leaves.
func (c *chat) talk(ctx context.Context, first string) {
	broken := c.greet(ctx, first == goOnLine)
	if first == goOnLine && c.session != "" && !broken {
		c.printLine(nothingBroke)
		first = ""
	}
	if first != "" {
		c.handle(ctx, first)
	}
	for !c.leaving && ctx.Err() == nil {
		c.con.printNotices()
		stop := c.idle()
		line, err := c.con.editor.Read(ctx, terminal.Line{
			Prompt: c.con.style.Bold(c.agentName() + "> "), More: c.con.style.Dim("  … "), Text: strings.TrimRight(c.con.ahead.Take(), "\n"),
		})
		stop()
		if errors.Is(err, terminal.ErrInterrupted) && c.warn() {
			continue
		}
		if err != nil {
			return
		}
		if err := c.con.editor.History.Err(); err != nil {
			c.printLine(c.con.style.Yellow("The prompt is not in the history: " + err.Error()))
		}
		c.handle(ctx, line)
	}
}

// goOnLine is the line that resumes a turn that broke off.
const goOnLine = "/resume"

// warn says that another Ctrl-C leaves. It returns false for that second one.
func (c *chat) warn() bool {
	if time.Since(c.warned) < leaveTime {
		return false
	}
	c.warned = time.Now()
	if time.Since(c.done) < tooLate {
		c.printLine("It is done already. Ctrl-C again leaves.")
	} else {
		c.printLine("Ctrl-C again leaves.")
	}
	return true
}

// handle does what a line asks for.
func (c *chat) handle(ctx context.Context, line string) {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
	case strings.HasPrefix(line, "!"):
		c.shell(ctx, strings.TrimSpace(line[1:]))
	case isCommand(line):
		name, rest, _ := strings.Cut(line, " ")
		c.runCommand(ctx, name, strings.TrimSpace(rest))
	default:
		c.prompt(ctx, line)
	}
}

// prompt gives the model a prompt.
func (c *chat) prompt(ctx context.Context, line string) {
	said, files, err := c.attach(ctx, line)
	if err != nil {
		c.printError(err)
		return
	}
	c.turn(ctx, func(ctx context.Context) (*agent.Turn, error) {
		return c.rt.Turns().Prompt(ctx, agent.Prompt{Session: c.session, Agent: c.agent, Model: c.model, Text: said, Files: files})
	})
}

// printLine prints a line of our own.
func (c *chat) printLine(line string) { fmt.Fprintln(c.con, line) }

func (c *chat) printError(err error) {
	c.printLine(c.con.style.Red("helve: ") + safe(shownError(err)))
	if hint := hintOf(err); hint != "" {
		c.printLine(safe(hint))
	}
}

// agentName is who works on the next prompt.
func (c *chat) agentName() string {
	if c.agent != "" {
		return c.agent
	}
	if len(c.agents) > 0 {
		return c.agents[0].Name
	}
	return ""
}

// modelName is what works on the next prompt.
func (c *chat) modelName() model.Ref {
	none := model.Ref{}
	if c.model != none {
		return c.model
	}
	for _, a := range c.agents {
		if a.Name == c.agentName() && a.Model != none {
			return a.Model
		}
	}
	if c.usage.Model != none {
		return c.usage.Model
	}
	return c.models.Default
}

// greet prints the model and the agent. It reports whether the last turn of the opened session
// broke off; goesOn says that it will be resumed.
func (c *chat) greet(ctx context.Context, goesOn bool) (broken bool) {
	if c.session != "" {
		wanted := c.agent
		broken = c.adopt(ctx, c.session, goesOn)
		c.agent = cmp.Or(wanted, c.agent)
	}
	c.printLine(c.con.style.Dim(terminal.Safe(fmt.Sprintf("helve chat: %s with %s. /help lists what you can do, Ctrl-D leaves.", c.agentName(), c.modelName()))))
	return broken
}

// A console is the terminal in raw mode: its output and its keys.
type console struct {
	in      *os.File
	out     io.Writer
	style   terminal.Style
	keys    *terminal.Keys
	editor  *terminal.Editor
	ahead   terminal.Ahead // what was typed while no line was read
	notices *notices
	restore func() error // nil once the terminal is as it was

	mu   sync.Mutex
	line string // the line that the cursor stands in, as far as it was printed
}

// openConsole switches the terminal to raw mode.
func (a *app) openConsole(history string) (*console, error) {
	in, inOK := a.Stdin.(*os.File)
	out, outOK := a.Stdout.(*os.File)
	if !inOK || !outOK {
		return nil, errors.New("there is no terminal to talk at")
	}
	c := &console{in: in, out: out, style: a.style(a.Stdout), notices: &notices{}}
	past, err := terminal.OpenHistory(history)
	if err != nil {
		a.printNote(err.Error())
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("the terminal can not be read key by key: %w", err)
	}
	c.restore = func() error { return term.Restore(int(in.Fd()), before) }
	c.keys = terminal.NewKeys(in)
	c.editor = terminal.NewEditor(c.keys, out, func() (columns, rows int) {
		columns, rows, _ = term.GetSize(int(out.Fd())) // 0 where it is not known
		return columns, rows
	})
	c.editor.History = past
	return c, nil
}

// close makes the terminal as it was.
func (c *console) close() {
	if c.restore == nil {
		return
	}
	c.keys.Close()
	_ = c.restore() // a terminal that is gone needs nothing
	c.restore = nil
}

// Write prints. In raw mode a line feed does not return to the beginning of the line, so it adds
// that.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := string(p)
	if at := strings.LastIndexByte(s, '\n'); at >= 0 {
		c.line = s[at+1:]
	} else {
		c.line += s
	}
	if c.restore != nil {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	_, err := io.WriteString(c.out, s)
	return len(p), err
}

// printNotices prints the pending notices.
func (c *console) printNotices() {
	for _, line := range c.notices.take() {
		fmt.Fprintln(c, c.style.Yellow(line))
	}
}
