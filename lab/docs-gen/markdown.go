package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// reference is docs/commands.md.
func reference(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nEvery command with its flags, as `--help` says it too; this page is written by `make commands`. `make man` makes manual pages of the same.\n\n")
	b.WriteString("| command | |\n|---|---|\n")
	walk(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), cell(c.Short))
	})
	b.WriteString("\n## Flags of all commands\n\n")
	flagTable(&b, options(root.PersistentFlags()))
	b.WriteString("\n`-h` and `--help` show the help of a command.\n")
	walk(root, func(c *cobra.Command) { section(&b, c) })
	return b.Bytes()
}

// section describes one command.
func section(b *bytes.Buffer, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n", c.CommandPath())
	if !topic(c) {
		fmt.Fprintf(b, "\n```\n%s\n```\n", useLine(c))
	}
	for _, part := range blocks(longOf(c)) {
		if part.verbatim {
			fmt.Fprintf(b, "\n```\n%s\n```\n", part.text)
			continue
		}
		fmt.Fprintf(b, "\n%s\n", inline(part.text))
	}
	if own := options(c.LocalNonPersistentFlags()); len(own) > 0 {
		b.WriteString("\n")
		flagTable(b, own)
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", dedent(c.Example))
	}
}

func flagTable(b *bytes.Buffer, list []option) {
	b.WriteString("| flag | |\n|---|---|\n")
	for _, o := range list {
		names := "`" + o.long
		if o.short != "" {
			names = "`" + o.short + "`, " + names
		}
		switch {
		case o.optional:
			names += "[=" + o.value + "]"
		case o.value != "":
			names += " " + o.value
		}
		usage := cell(o.usage)
		if o.preset != "" {
			usage += " (default `" + o.preset + "`)"
		}
		fmt.Fprintf(b, "| %s` | %s |\n", names, usage)
	}
}

// useLine is how a command is called, by itself and with those below it.
func useLine(c *cobra.Command) string {
	line := strings.TrimSuffix(c.UseLine(), " [flags]")
	if len(options(c.LocalNonPersistentFlags())) > 0 {
		line += " [flags]"
	}
	if !c.Runnable() {
		line = ""
	}
	if len(below(c)) > 0 {
		line = strings.TrimPrefix(line+"\n"+c.CommandPath()+" COMMAND", "\n")
	}
	return line
}

func longOf(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
}

// dedent takes two spaces from the beginning of every line.
func dedent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

// inline is a line of help as Markdown.
func inline(line string) string {
	var b strings.Builder
	for _, s := range spans(line) {
		if s.code {
			b.WriteString("`" + s.text + "`")
			continue
		}
		b.WriteString(escape(s.text))
	}
	return b.String()
}

// escape keeps Markdown from finding marks in a text.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>#", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cell is a line of help as a cell of a table.
func cell(line string) string { return strings.ReplaceAll(inline(line), "|", "\\|") }
