package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"helve"
	"helve/internal/screen"
	"helve/message"
	"helve/model"
)

// Bounds on what is shown again of a session that is gone on with.
const (
	mostAsked    = 5  // lines of the prompt
	mostAnswered = 20 // lines of the answer
)

// nothingBroke is said where there is nothing to go on with.
const nothingBroke = "Nothing had broken off. Say what to do next."

// adopt makes a session the one that is talked in, and shows what was said in
// it last. It reports whether that broke off; goesOn says that it is going to be
// gone on with.
func (c *chat) adopt(ctx context.Context, id string, goesOn bool) (broken bool) {
	s, err := c.rt.Session(ctx, id)
	if err != nil {
		c.fail(err)
		return false
	}
	c.session, c.todos = s.ID, nil
	c.usage = message.Info{Model: s.Model}
	if s.Agent != "" {
		c.agent = s.Agent
	}
	said, err := c.rt.Messages(ctx, id)
	if err != nil {
		c.fail(err)
		return false
	}
	c.say(c.con.style.dim(screen.Safe(fmt.Sprintf("Session %s: %s (%d messages)", s.ID, s.Title, len(said)))))
	for _, m := range slices.Backward(said) {
		if m.Info.Role == message.Assistant && m.Info.Tokens != (message.Tokens{}) {
			c.usage = m.Info
			break
		}
	}
	c.recall(said)
	why := brokenBy(said)
	switch {
	case why == "":
	case goesOn:
		c.say(c.con.style.yellow(screen.Safe("This broke off (" + why + ") and goes on now.")))
	default:
		c.say(c.con.style.yellow(screen.Safe("This broke off (" + why + "): " + goOnLine + " goes on with it.")))
	}
	return why != ""
}

// recall prints the last prompt of the person and what was answered.
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
			c.say(c.con.style.bold(mark + screen.Safe(line)))
		}
		break
	}
	var out strings.Builder
	laid := screen.NewMarkdown(&out, screen.Options{Width: columns, Color: c.con.style.on})
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
	c.say(strings.Join(lines, "\n"))
}

// wordsOf is what was said in a message by who sent it.
func wordsOf(m message.Message) string {
	var out strings.Builder
	for _, p := range m.Parts {
		if p.Type == message.Text && !p.Synthetic && !m.Info.Summary {
			out.WriteString(strings.TrimRight(p.Text, "\n") + "\n\n")
		}
	}
	return out.String()
}

// brokenBy says why something is left to be answered in a conversation; "" where
// nothing is.
func brokenBy(said []message.Message) string {
	if len(said) == 0 {
		return ""
	}
	last := said[len(said)-1]
	called := slices.ContainsFunc(last.Parts, func(p message.Part) bool { return p.Type == message.Tool })
	switch finish := model.Reason(last.Info.Finish); {
	case last.Info.Role == message.User:
		return "there is no answer"
	case last.Info.Error != nil:
		return failedBy(last.Info.Error)
	case slices.ContainsFunc(last.Parts, atWork):
		return "a call had not ended"
	case finish == model.Length:
		return "the answer was too long"
	case called || finish == "" || finish == model.Calls:
		return "the answer has no end"
	}
	return ""
}

// failedBy says why an answer broke off.
func failedBy(e *message.Failure) string {
	switch {
	case e.Name == "MessageAbortedError":
		return "it was stopped"
	case e.Data.Message != "":
		return firstSentence(e.Data.Message)
	}
	return e.Name
}

// atWork reports whether a part is a call that has not ended.
func atWork(p message.Part) bool {
	return p.Type == message.Tool && p.State != nil && (p.State.Status == message.Pending || p.State.Status == message.Running)
}

func (c *chat) goOn(ctx context.Context, id string) {
	all, err := c.here(ctx)
	if err != nil {
		c.fail(err)
		return
	}
	if id != "" || c.session == "" {
		i := slices.IndexFunc(all, func(s helve.Session) bool { return strings.HasPrefix(s.ID, id) })
		if i < 0 {
			c.say(c.con.style.red("There is no such session in this folder. /sessions lists those that there are."))
			return
		}
		if !c.adopt(ctx, all[i].ID, true) {
			c.say(nothingBroke)
			return
		}
	}
	t := c.turn(ctx, func(ctx context.Context) (*helve.Turn, error) { return c.rt.Resume(ctx, c.session) })
	if t != nil && t.End == helve.TurnDone && t.Steps == 0 {
		c.say(nothingBroke)
	}
}
