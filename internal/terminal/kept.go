package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
)

// PartText formats a stored part of a message; "" for one that is not shown to people.
func PartText(p message.Part) string {
	switch {
	case p.Type == message.Text && !p.Synthetic:
		return text.VisibleLines(strings.TrimSuffix(p.Text, "\n"))
	case p.Type == message.File:
		return text.VisibleLine(fmt.Sprintf("[file] %s %s", p.Mime, p.Filename))
	case p.Type == message.Compaction:
		return "[compaction] what was said so far is summed up"
	case p.Type == message.Tool && p.State != nil:
		return keptCall(p)
	}
	return ""
}

// keptCall formats a stored call: its title in a line, and below it its error, or the end of its
// output.
func keptCall(p message.Part) string {
	mark, end, below := "…", "", []string(nil)
	o, how := outcomeOf(p, nil), CommandEnd(p.State.Metadata)
	switch p.State.Status {
	case message.Completed:
		mark = "✓"
		output, ok := p.State.Metadata["output"].(string)
		if !ok {
			output = p.State.Output
		}
		switch {
		case o.failed:
			mark, end = "✗", o.why
		case how != "":
			mark, end = "✗", "("+how+")"
		}
		below = lastLines(printed(output, o.failed), mostOutput+1)
		if len(below) > mostOutput {
			below[0] = "…"
		}
	case message.Failed:
		mark = "✗"
		why, _, _ := strings.Cut(cmp.Or(p.State.Reason, Reason(p.State.Error, "")), "\n")
		below = []string{why}
	default:
		end = "(" + string(p.State.Status) + ")"
	}
	words := slices.DeleteFunc([]string{mark, text.VisibleLines(o.tool), titleOf(p), end}, func(s string) bool { return s == "" })
	lines := []string{strings.Join(words, " ")}
	for _, line := range below {
		line, cut := text.Cut(line, longTitle)
		if cut {
			line += "…"
		}
		lines = append(lines, "    "+text.VisibleLines(line))
	}
	return strings.Join(lines, "\n")
}

// BrokenTurn says why a conversation has an unanswered message; "" if it has none.
func BrokenTurn(said []message.Message) string {
	if len(said) == 0 {
		return ""
	}
	last := said[len(said)-1]
	called := slices.ContainsFunc(last.Parts, func(p message.Part) bool { return p.Type == message.Tool })
	switch finish := model.Reason(last.Info.Finish); {
	case last.Info.Role == message.User:
		return "there is no answer"
	case last.Info.Error != nil:
		e := last.Info.Error
		switch {
		case e.Name == "MessageAbortedError":
			return "it was stopped"
		case e.Data.Message != "":
			return firstSentence(e.Data.Message)
		}
		return e.Name
	case slices.ContainsFunc(last.Parts, atWork):
		return "a call had not ended"
	case finish == model.Length:
		return "the answer was too long"
	case called || finish == "" || finish == model.Calls:
		return "the answer has no end"
	}
	return ""
}

// atWork reports whether a part is a call that has not ended.
func atWork(p message.Part) bool {
	return p.Type == message.Tool && p.State != nil && (p.State.Status == message.Pending || p.State.Status == message.Running)
}
