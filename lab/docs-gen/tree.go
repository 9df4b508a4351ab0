package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helve-dev/helve/internal/cli"
)

// tree is the command with all below it, as people find it.
func tree() *cobra.Command {
	root := cli.Tree()
	root.AddCommand(completion())
	return root
}

// completion is the command that the library of commands adds by itself, in
// our words, and without its four commands below, which are much alike.
func completion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes command lines in your shell",
		Long: `Completion prints a script for bash, zsh, fish or powershell. A shell that has
read it completes commands, flags, and names of tools, agents and sessions.

'helve completion SHELL --help' says where each shell looks for it.`,
		Example: `  source <(helve completion bash)
  helve completion fish > ~/.config/fish/completions/helve.fish`,
		Run: func(*cobra.Command, []string) {},
	}
}

// walk goes to every command that is shown, those above first.
func walk(c *cobra.Command, see func(*cobra.Command)) {
	see(c)
	for _, sub := range below(c) {
		walk(sub, see)
	}
}

// below are the commands of a command that are shown, sorted.
func below(c *cobra.Command) []*cobra.Command {
	list := slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
		return sub.Hidden || sub.Deprecated != "" || sub.Name() == "help"
	})
	slices.SortFunc(list, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// topic tells whether a command is only a text to read.
func topic(c *cobra.Command) bool { return !c.Runnable() && !c.HasSubCommands() }

// An option is a flag as it is shown.
type option struct {
	short, long string
	value       string // what it takes; "" for nothing
	usage       string
	preset      string // what it is where it is not given; "" where that says nothing
	optional    bool   // its value may be left out
}

// options are the flags of a command: its own, or those of all commands.
func options(set *pflag.FlagSet) (list []option) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		o := option{long: "--" + f.Name, value: value, usage: usage, optional: f.NoOptDefVal != "" && f.Value.Type() != "bool"}
		if f.Shorthand != "" {
			o.short = "-" + f.Shorthand
		}
		if f.Value.Type() == "bool" {
			o.value = ""
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) && !strings.Contains(usage, "(default") {
			o.preset = f.DefValue
		}
		list = append(list, o)
	})
	return list
}

// A block is a paragraph of a text, or lines that are to stay as they are.
type block struct {
	text     string // a paragraph in one line, or lines
	verbatim bool
}

// blocks cuts a help text. Lines that begin with two spaces are shown as they
// are, without these.
func blocks(text string) (list []block) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(part, "\n"), "\n")
		for len(lines) > 0 {
			verbatim := strings.HasPrefix(lines[0], "  ")
			n := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "  ") != verbatim })
			if n < 0 {
				n = len(lines)
			}
			list = appendBlock(list, lines[:n], verbatim)
			lines = lines[n:]
		}
	}
	return list
}

func appendBlock(list []block, lines []string, verbatim bool) []block {
	if !verbatim {
		return append(list, block{text: strings.Join(lines, " ")})
	}
	bare := make([]string, len(lines))
	for i, line := range lines {
		bare[i] = strings.TrimPrefix(line, "  ")
	}
	text := strings.Join(bare, "\n")
	if n := len(list); n > 0 && list[n-1].verbatim {
		list[n-1].text += "\n\n" + text
		return list
	}
	return append(list, block{text: text, verbatim: true})
}

// A span is a piece of a line of help.
type span struct {
	text string
	code bool // it is typed as it stands
}

// spans finds what is typed in a line of help: 'helve …' in quotes, flags, and
// names of variables.
func spans(line string) (list []span) {
	plain := 0
	for i := 0; i < len(line); {
		n, skip := 0, 0
		switch begins := i == 0 || strings.IndexByte(" (/", line[i-1]) >= 0; {
		case strings.HasPrefix(line[i:], "'helve"):
			n, skip = strings.IndexByte(line[i+1:], '\''), 1
		case begins && strings.HasPrefix(line[i:], "--"):
			n = 2 + flagLength(line[i+2:])
		case begins:
			n = nameLength(line[i:])
		}
		if n <= 2 {
			i++
			continue
		}
		list = append(list, span{text: line[plain:i]}, span{line[i+skip : i+skip+n], true})
		i += n + 2*skip
		plain = i
	}
	return append(list, span{text: line[plain:]})
}

// flagLength is how much of a text is the name of a flag.
func flagLength(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] == '-' && n > 0 && n+1 < len(s) && s[n+1] >= 'a' && s[n+1] <= 'z') {
		n++
	}
	return n
}

// nameLength is how much of a text is the name of a variable, which has a _.
func nameLength(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'A' && s[n] <= 'Z' || s[n] == '_') {
		n++
	}
	if !strings.Contains(s[:n], "_") {
		return 0
	}
	return n
}
