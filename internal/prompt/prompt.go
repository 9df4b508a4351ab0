// Package prompt holds what models are told beside what people say: the first
// texts of agents, the place they work in, and notes on the way. Every text is
// a file here.
package prompt

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var texts embed.FS

// Options say who is told what.
type Options struct {
	Agent string // its name; one that helve does not know is told what build is
	Own   string // the agent's own prompt, instead of helve's

	Model         string // as it is known to people; may be empty
	Dir, Worktree string
	Git           bool   // the worktree is a repository
	Platform      string // such as linux
	Date          string // the day, such as 2026-02-03: the time of day would spoil every cache

	// Instructions are further texts, such as those of AGENTS.md, each with
	// where it is from.
	Instructions []string
}

// System is what a model is told before the conversation, in the order of how
// seldom it changes: providers keep what they have read up to the first
// difference. Agents that only write about a conversation are told nothing of
// where it takes place.
func System(o Options) []string {
	first := strings.TrimSpace(o.Own)
	if first == "" {
		first = agentText(o.Agent)
	}
	switch o.Agent {
	case "compaction", "title", "summary":
		return []string{first}
	}
	second := environment(o)
	for _, said := range o.Instructions {
		if said = strings.TrimSpace(said); said != "" {
			second += "\n\n" + said
		}
	}
	return []string{first, second}
}

// agentText is the text of an agent that comes with helve, and build's for
// others.
func agentText(name string) string {
	switch name {
	case "plan", "general", "explore", "compaction", "title", "summary":
		return text(name)
	}
	return text("build")
}

// environment says where the work takes place.
func environment(o Options) string {
	var b strings.Builder
	b.WriteString("<env>\n")
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", what, strings.Join(strings.Fields(value), " "))
		}
	}
	line("Working directory", o.Dir)
	if o.Worktree != o.Dir && o.Worktree != "/" {
		line("Root of the project", o.Worktree)
	}
	if o.Git {
		line("Git repository", "yes")
	} else {
		line("Git repository", "no")
	}
	line("Platform", o.Platform)
	line("Model", o.Model)
	line("Today", o.Date)
	b.WriteString("</env>")
	return b.String()
}

// PlanReminder reminds an agent that it only plans. file is where the plan
// goes, "" for nowhere; there says that it is there already.
func PlanReminder(file string, there bool) string {
	said := text("plan_reminder")
	switch {
	case file == "":
	case there:
		said += fmt.Sprintf("\n\nThe plan is in %s. Go on with it: read it, and hand in the whole of it when it is complete.", file)
	default:
		said += fmt.Sprintf("\n\nThe plan will be kept in %s, which is not there yet.", file)
	}
	return reminder(said)
}

// BuildReminder tells an agent that planning is over. file is the plan that
// was agreed on, "" where there is none.
func BuildReminder(file string) string {
	said := text("build_reminder")
	if file != "" {
		said += fmt.Sprintf("\n\nThe plan is in %s. Read it first, and follow it.", file)
	}
	return reminder(said)
}

// LastStep tells a model that it has to come to an end.
func LastStep() string { return reminder(text("last_step")) }

// Resumed tells a model that its work was interrupted, and which calls were
// under way then, each in a few words.
func Resumed(calls []string) string {
	said := text("resumed")
	if len(calls) > 0 {
		said += "\n\nThese calls were interrupted:"
	}
	for _, c := range calls {
		said += "\n- " + strings.Join(strings.Fields(c), " ")
	}
	return reminder(said)
}

// Compact is the message that asks for a summary of all before it.
func Compact() string { return text("compact") }

// TitleOf is the message that asks for a title of a conversation that begins
// with these words.
func TitleOf(words string) string {
	return "The first message of the conversation:\n\n<message>\n" + strings.TrimSpace(words) + "\n</message>"
}

// reminder marks a text as said by nobody of the conversation.
func reminder(said string) string { return "<system-reminder>\n" + said + "\n</system-reminder>" }

func text(name string) string {
	data, err := texts.ReadFile(name + ".md")
	if err != nil { // the names are ours, and a test reads them all
		panic(err)
	}
	return strings.TrimSpace(string(data))
}
