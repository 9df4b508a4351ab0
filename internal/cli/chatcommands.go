package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
	"github.com/helve-dev/helve/tool"
)

// A deed is a slash command.
type deed struct {
	name, takes, does string
	do                func(*chat, context.Context, string)
}

func deeds() []deed {
	return []deed{
		{"/help", "", "list what you can do", (*chat).help},
		{"/agent", "[name]", "switch to another agent, such as plan or build, or list them", (*chat).switchAgent},
		{"/model", "[provider/model]", "switch to another model, or say which it is", (*chat).switchModel},
		{"/new", "", "begin a new session", (*chat).begin},
		{"/sessions", "", "list the sessions of this folder", (*chat).listSessions},
		{goOnLine, "[id]", "go on with what broke off, here or in another session", (*chat).goOn},
		{"/compact", "", "sum the conversation up, so that it takes less room", (*chat).compact},
		{"/undo", "", "put back the files that the last turn changed", (*chat).undoTurn},
		{"/todos", "", "show what is to be done", (*chat).showTodos},
		{"/tools", "", "list the tools that the model has", (*chat).listTools},
		{"/cost", "", "say what the session has taken", (*chat).showCost},
		{"/reasoning", "", "show what the model thinks, or do not", (*chat).toggleReasoning},
		{"/exit", "", "leave; the session is kept", (*chat).leave},
	}
}

// isCommand reports whether a line is a command, and not a prompt that begins with a file name.
func isCommand(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return len(word) > 1 && word[0] == '/' && strings.Trim(word[1:], "abcdefghijklmnopqrstuvwxyz-") == ""
}

// runCommand runs a slash command.
func (c *chat) runCommand(ctx context.Context, name, rest string) {
	if name == "/quit" {
		name = "/exit"
	}
	all := deeds()
	names := make([]string, len(all))
	for i, d := range all {
		if d.name == name {
			d.do(c, ctx, rest)
			return
		}
		names[i] = d.name
	}
	hint := "/help lists what there is."
	if near, ok := text.Nearest(name, names); ok {
		hint = "Did you mean " + near + "? " + hint
	}
	c.printLine(c.con.style.Red("There is no " + terminal.Safe(name) + ". " + hint))
}

func (c *chat) help(context.Context, string) {
	tw := columns(c.con)
	for _, d := range deeds() {
		fmt.Fprintf(tw, "%s\t%s\n", strings.TrimSpace(d.name+" "+d.takes), d.does)
	}
	fmt.Fprintln(tw, "!command\trun a command of yours; the model does not see it")
	fmt.Fprintln(tw, "@file\tpoint the model to a file; images and PDFs are sent along")
	fmt.Fprintln(tw, "Alt-Enter\tbegin a new line, as a backslash at the end does")
	fmt.Fprintln(tw, "Tab\tcomplete a command or a file")
	fmt.Fprintln(tw, "Ctrl-C\tstop the model; clear the line; twice on an empty line leave, as Ctrl-D does")
	_ = tw.Flush() // the console never fails
}

func (c *chat) switchAgent(_ context.Context, name string) {
	i := slices.IndexFunc(c.agents, func(a agent.Spec) bool { return a.Name == name && a.Mode != "subagent" && !a.Hidden })
	if i >= 0 {
		c.agent = name
		c.printLine("From now on " + terminal.Safe(name) + " works.")
		return
	}
	if name != "" {
		c.printLine(c.con.style.Red("There is no agent called " + terminal.Safe(name) + " to talk to. There are:"))
	}
	tw := columns(c.con)
	for _, a := range c.agents {
		if a.Mode == "subagent" || a.Hidden {
			continue
		}
		mark := " "
		if a.Name == c.agentName() {
			mark = "*"
		}
		fmt.Fprintf(tw, "%s %s\t%s\n", mark, terminal.Safe(a.Name), terminal.Clip(terminal.Safe(strings.TrimSpace(a.Description)), 60))
	}
	_ = tw.Flush() // the console never fails
}

func (c *chat) switchModel(_ context.Context, name string) {
	if name == "" {
		c.printLine("The model is " + terminal.Safe(c.modelName().String()) + ". /model provider/model switches to another; 'helve models' lists them.")
		return
	}
	provider, id, ok := strings.Cut(name, "/")
	if !ok || provider == "" || id == "" {
		c.printLine(c.con.style.Red("A model is given as provider/model, and " + terminal.Safe(name) + " is not."))
		return
	}
	ref := model.Ref{Provider: provider, Model: id}
	if _, err := c.models.Find(ref); err != nil {
		c.printError(err)
		return
	}
	c.model = ref
	c.printLine("From now on " + terminal.Safe(name) + " answers.")
}

func (c *chat) begin(context.Context, string) {
	if c.session != "" {
		c.printLine(c.con.style.Dim("The session " + terminal.Safe(c.session) + " is kept: /resume goes on with it."))
	}
	c.session, c.todos, c.usage = "", nil, message.Info{}
	c.printLine("A new session begins with your next prompt.")
}

// here are the conversations of this folder, those used last first.
func (c *chat) here(ctx context.Context) ([]record.Session, error) {
	all, err := c.rt.Records().Sessions(ctx, 500)
	dir := c.app.workDir()
	return slices.DeleteFunc(all, func(s record.Session) bool {
		return s.Dir != dir || s.Parent != "" || s.Model == model.Ref{}
	}), err
}

// mostSessions is how many sessions are listed.
const mostSessions = 15

func (c *chat) listSessions(ctx context.Context, _ string) {
	all, err := c.here(ctx)
	if err != nil {
		c.printError(err)
		return
	}
	if len(all) == 0 {
		c.printLine("There is no session of this folder yet.")
		return
	}
	tw := columns(c.con)
	for _, s := range all[:min(len(all), mostSessions)] {
		mark := " "
		if s.ID == c.session {
			mark = "*"
		}
		fmt.Fprintf(tw, "%s %s\t%s\t%s\n", mark, terminal.Safe(s.ID), formatTime(s.Time.Updated), terminal.Clip(terminal.Safe(cmp.Or(s.Title, s.First)), 50))
	}
	_ = tw.Flush() // the console never fails
}

func (c *chat) compact(ctx context.Context, _ string) {
	if c.session == "" {
		c.printLine("Nothing was said yet.")
		return
	}
	c.turn(ctx, func(ctx context.Context) (*agent.Turn, error) { return c.rt.Turns().Compact(ctx, c.session) })
}

// undoTurn takes back what the newest turn changed that was not taken back yet.
func (c *chat) undoTurn(ctx context.Context, _ string) {
	sets, err := c.lastChanges(ctx)
	if err != nil {
		c.printError(err)
		return
	}
	if len(sets) == 0 {
		c.printLine("No turn of this session has changed a file, or all of it is undone.")
		return
	}
	preview, err := c.rt.Records().Undo(ctx, record.UndoRequest{Sets: sets, Preview: true})
	if err != nil {
		c.printError(err)
		return
	}
	for _, f := range preview.Files {
		c.printLine(strings.TrimRight(terminal.Safe(f.Action+"  "+c.app.fromHere(f.File)+"  "+f.Reason), " "))
		if f.Diff != "" {
			_, _ = io.WriteString(c.con, terminal.Diff(f.Diff, terminal.MostDiff, terminal.Options{Color: c.con.style.On, Prefix: "  "})) // the console never fails
		}
	}
	if !c.confirm(ctx, "Put these files back? Type y or n, then Enter [y/N] ") {
		c.printLine("Nothing was changed.")
		return
	}
	report, err := c.rt.Records().Undo(ctx, record.UndoRequest{Sets: sets})
	switch {
	case err != nil:
		c.printError(err)
	case report.Conflicts():
		c.printLine(c.con.style.Yellow("Some files were left as they are, because somebody else has changed them since."))
	default:
		c.printLine("Done. 'helve undo " + terminal.Safe(report.ID) + "' takes this back.")
	}
}

// confirm asks until the answer is yes or no. End of input is no.
func (c *chat) confirm(ctx context.Context, question string) bool {
	c.con.discardTyped()
	for {
		word, err := c.con.editor.Read(ctx, terminal.Line{Prompt: c.con.style.Bold(question), Answer: true})
		switch word = strings.ToLower(strings.TrimSpace(word)); {
		case err != nil, word == "", word == "n", word == "no":
			return false
		case word == "y", word == "yes":
			return true
		}
	}
}

// lastChanges are the change sets of the newest turn that changed something,
// and was not undone.
func (c *chat) lastChanges(ctx context.Context) (ids []string, err error) {
	if c.session == "" {
		return nil, nil
	}
	said, err := c.rt.Records().Messages(ctx, c.session)
	if err != nil {
		return nil, err
	}
	changes, err := c.changes(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range slices.Backward(said) {
		if m.Info.Role != message.User || len(m.Parts) > 0 && m.Parts[0].Synthetic {
			continue
		}
		for _, s := range changes {
			if s.Time.UnixMilli() >= m.Info.Time.Created {
				ids = append(ids, s.ID)
			}
		}
		if len(ids) > 0 {
			break
		}
	}
	return ids, nil
}

// changes returns the change sets of the session and its descendants, without those that were
// undone.
func (c *chat) changes(ctx context.Context) ([]record.ChangeSet, error) {
	all, err := c.rt.Records().Sessions(ctx, 500)
	if err != nil {
		return nil, err
	}
	mine := map[string]bool{c.session: true}
	for range 8 { // as deep as agents start agents, whatever their order
		for _, s := range all {
			mine[s.ID] = mine[s.ID] || s.Parent != "" && mine[s.Parent]
		}
	}
	sets, err := c.rt.Records().Changes(ctx, record.ChangeQuery{})
	if len(sets) > 0 {
		err = nil // what cannot be read cannot be undone
	}
	return slices.DeleteFunc(sets, func(s record.ChangeSet) bool {
		return !mine[s.Session] || s.UndoneBy != "" || len(s.Undoes) > 0
	}), err
}

func (c *chat) showTodos(ctx context.Context, _ string) {
	list := c.todos
	if list == nil && c.session != "" {
		res, err := c.rt.Call(ctx, tool.Call{ID: c.rt.NewID("call"), Session: c.session, Agent: c.agent, Tool: "todoread", Input: []byte("{}")})
		if err != nil {
			c.printError(err)
			return
		}
		list, _ = res.Metadata["todos"].([]tool.Todo)
	}
	if len(list) == 0 {
		c.printLine("There is no list.")
		return
	}
	columns, _ := c.con.editor.Size()
	shown := make([]terminal.Todo, len(list))
	for i, t := range list {
		shown[i] = terminal.Todo{Text: t.Content, Status: t.Status}
	}
	_, _ = io.WriteString(c.con, terminal.Todos(shown, terminal.Options{Width: columns, Color: c.con.style.On})) // the console never fails
}

func (c *chat) listTools(ctx context.Context, _ string) {
	c.rt.Ready(ctx)
	ref := c.modelName()
	width, _ := c.con.editor.Size()
	tw := columns(c.con)
	for _, s := range c.rt.Tools(tool.Audience{Provider: ref.Provider, Model: ref.Model, Agent: c.agentName()}) {
		first, _, _ := strings.Cut(strings.TrimSpace(s.Description), "\n")
		fmt.Fprintf(tw, "%s\t%s\n", terminal.Safe(s.Name), terminal.Clip(terminal.Safe(first), max(width-24, 20)))
	}
	_ = tw.Flush() // the console never fails
}

func (c *chat) showCost(ctx context.Context, _ string) {
	if c.session == "" {
		c.printLine("Nothing was said yet.")
		return
	}
	s, err := c.rt.Records().Session(ctx, c.session)
	if err != nil {
		c.printError(err)
		return
	}
	u := s.Tokens.Usage()
	line := fmt.Sprintf("%d tokens: %d in, %d out, %d from the cache, %d to it", u.Total(), u.Input, u.Output, u.CacheRead, u.CacheWrite)
	if dollars := cost(s.Cost); dollars != "" {
		line += "; " + dollars
	}
	if share := c.share(); share != "" {
		line += "; " + share
	}
	c.printLine(line)
}

func (c *chat) toggleReasoning(context.Context, string) {
	c.reasoning = !c.reasoning
	if c.reasoning {
		c.printLine("What the model thinks is shown.")
	} else {
		c.printLine("What the model thinks is not shown.")
	}
}

func (c *chat) leave(context.Context, string) { c.leaving = true }
