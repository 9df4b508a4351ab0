package cli

import (
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
)

// Bounds on what is shown again of a resumed session.
const (
	mostAsked    = 5  // lines of the prompt
	mostAnswered = 20 // lines of the answer
)

// nothingBroke is printed if there is nothing to resume.
const nothingBroke = "Nothing had broken off. Say what to do next."

// adopt continues a session in this chat, and shows its last messages. It reports whether its last
// turn broke off; goesOn says that the turn will be resumed.
func (c *chat) adopt(ctx context.Context, id string, goesOn bool) (broken bool) {
	s, err := c.rt.Records().Session(ctx, id)
	if err != nil {
		c.printError(err)
		return false
	}
	c.session, c.todos = s.ID, nil
	c.usage = message.Info{Model: s.Model}
	if s.Agent != "" {
		c.agent = s.Agent
	}
	said, err := c.rt.Records().Messages(ctx, id)
	if err != nil {
		c.printError(err)
		return false
	}
	c.printLine(c.con.style.Dim(terminal.Safe(fmt.Sprintf("Session %s: %s (%s)", s.ID, s.Title, text.Count(len(said), "message", "messages")))))
	for _, m := range slices.Backward(said) {
		if m.Info.Role == message.Assistant && m.Info.Tokens != (model.Tokens{}) {
			c.usage = m.Info
			break
		}
	}
	c.recall(said)
	why := terminal.BrokenTurn(said)
	switch {
	case why == "":
	case goesOn:
		c.printLine(c.con.style.Yellow(terminal.Safe("This broke off (" + why + ") and goes on now.")))
	default:
		c.printLine(c.con.style.Yellow(terminal.Safe("This broke off (" + why + "): " + goOnLine + " goes on with it.")))
	}
	return why != ""
}

// recall prints the last prompt of the person and its answer.
func (c *chat) recall(said []message.Message) {
	columns, _ := c.con.editor.Size()
	from := 0
	for i, m := range slices.Backward(said) {
		words := strings.TrimSpace(wordsOf(m))
		if m.Info.Role != message.User || words == "" {
			continue
		}
		from = i + 1
		lines := strings.Split(words, "\n")
		if len(lines) > mostAsked {
			lines = append(lines[:mostAsked], "…")
		}
		for n, line := range lines {
			mark := "> "
			if n > 0 {
				mark = "  "
			}
			c.printLine(c.con.style.Bold(mark + terminal.Safe(line)))
		}
		break
	}
	var out strings.Builder
	laid := terminal.NewMarkdown(&out, terminal.Options{Width: columns, Color: c.con.style.On})
	for _, m := range said[from:] {
		if words := wordsOf(m); m.Info.Role == message.Assistant && words != "" {
			_, _ = io.WriteString(laid, words) // a builder never fails
		}
	}
	_ = laid.Close() // a builder never fails
	shown := strings.TrimRight(out.String(), "\n")
	if shown == "" {
		return
	}
	lines := strings.Split(shown, "\n")
	if n := len(lines); n > mostAnswered {
		lines = append([]string{"…"}, lines[n-mostAnswered:]...)
	}
	c.printLine(strings.Join(lines, "\n"))
}

// wordsOf returns the text of a message.
func wordsOf(m message.Message) string {
	var out strings.Builder
	for _, p := range m.Parts {
		if p.Type == message.Text && !p.Synthetic && !m.Info.Summary {
			out.WriteString(strings.TrimRight(p.Text, "\n") + "\n\n")
		}
	}
	return out.String()
}

func (c *chat) goOn(ctx context.Context, id string) {
	all, err := c.here(ctx)
	if err != nil {
		c.printError(err)
		return
	}
	if id != "" || c.session == "" {
		i := slices.IndexFunc(all, func(s record.Session) bool { return strings.HasPrefix(s.ID, id) })
		if i < 0 {
			c.printLine(c.con.style.Red("There is no such session in this folder. /sessions lists those that there are."))
			return
		}
		if !c.adopt(ctx, all[i].ID, true) {
			c.printLine(nothingBroke)
			return
		}
	}
	t := c.turn(ctx, func(ctx context.Context) (*agent.Turn, error) { return c.rt.Turns().Resume(ctx, c.session) })
	if t != nil && t.End == agent.EndDone && t.Steps == 0 {
		c.printLine(nothingBroke)
	}
}
