package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// settings is the manual page of the config file.
const settings = "helve.json"

// manual makes the manual pages, by their file names. What variables and
// settings mean is taken from docs/config.md below root.
func manual(root string, at stamp) (map[string][]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "config.md"))
	if err != nil {
		return nil, err
	}
	doc, err := readConfigDoc(string(data))
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{}
	top := tree()
	walk(top, func(c *cobra.Command) {
		pages[fmt.Sprintf("%s.%d", pageName(c), pageNumber(c))] = []byte(commandPage(c, doc, at))
	})
	page, err := configPage(doc, at)
	if err != nil {
		return nil, err
	}
	pages[settings+".5"] = []byte(page)
	return pages, nil
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// pageNumber is the part of the manual: commands are in the first, what is only
// to be read in the seventh.
func pageNumber(c *cobra.Command) int {
	if topic(c) {
		return 7
	}
	return 1
}

// commandPage is the page of a command.
func commandPage(c *cobra.Command, doc configDoc, at stamp) string {
	s := newSheet(pageName(c), pageNumber(c), at)
	s.name(pageName(c), lowerFirst(c.Short))
	if !topic(c) {
		s.heading("SYNOPSIS")
		for i, line := range strings.Split(useLine(c), "\n") {
			if i > 0 {
				s.WriteString(".br\n")
			}
			rest := strings.TrimPrefix(line, c.CommandPath())
			s.WriteString(bold(c.CommandPath()) + roff(rest) + "\n")
		}
	}
	s.heading("DESCRIPTION")
	s.help(longOf(c))
	if subs := below(c); len(subs) > 0 {
		s.heading("COMMANDS")
		for _, sub := range subs {
			s.item(pageRef(pageName(sub), pageNumber(sub)), roffSpans(spans(sub.Short))+".")
		}
	}
	if own := options(c.LocalNonPersistentFlags()); len(own) > 0 {
		s.heading("OPTIONS")
		s.options(own)
	}
	if !topic(c) {
		s.heading("OPTIONS OF ALL COMMANDS")
		s.options(append(options(c.Root().PersistentFlags()), option{short: "-h", long: "--help", usage: "show how it is used"}))
	}
	if c.Example != "" {
		s.heading("EXAMPLES")
		s.lines(dedent(c.Example))
	}
	if c == c.Root() {
		s.whole(c, doc)
	} else if !topic(c) {
		s.heading("EXIT STATUS")
		s.paragraph("0 where it worked; what others mean is in " + pageRef("helve-exit-codes", 7) + ".")
	}
	s.heading("SEE ALSO")
	s.paragraph(strings.Join(related(c), ", "))
	return s.String()
}

// whole writes what holds for the program as a whole.
func (s *sheet) whole(root *cobra.Command, doc configDoc) {
	if i := slices.IndexFunc(root.Commands(), topic); i >= 0 {
		s.heading("EXIT STATUS")
		s.help(root.Commands()[i].Long)
	}
	s.heading("ENVIRONMENT")
	for _, row := range doc.variables {
		s.item(markdown(row[0]), markdown(row[1]))
	}
	s.heading("FILES")
	s.files(doc)
}

// files lists where settings are looked for.
func (s *sheet) files(doc configDoc) {
	s.paragraph("Settings are read from these places, from the lowest to the highest; a later one overrides an earlier one.")
	for _, row := range doc.places {
		s.point(markdown(row[0]) + "; trusted: " + markdown(row[1]))
	}
}

// options writes flags.
func (s *sheet) options(list []option) {
	for _, o := range list {
		tag := bold(o.long)
		if o.short != "" {
			tag = bold(o.short) + ", " + tag
		}
		switch {
		case o.optional:
			tag += "[=" + italic(o.value) + "]"
		case o.value != "":
			tag += " " + italic(o.value)
		}
		usage := roffSpans(spans(o.usage))
		if o.preset != "" {
			usage += " (default " + bold(o.preset) + ")"
		}
		s.item(tag, usage)
	}
}

// related are the pages to read next: those above, below and about settings.
func related(c *cobra.Command) (list []string) {
	var found []*cobra.Command
	if c.HasParent() {
		found = append(found, c.Parent())
	}
	found = append(found, below(c)...)
	if !topic(c) && c != c.Root() {
		for _, other := range c.Root().Commands() {
			if topic(other) {
				found = append(found, other)
			}
		}
	}
	for _, other := range found {
		list = append(list, pageRef(pageName(other), pageNumber(other)))
	}
	return append(list, pageRef(settings, 5))
}

// pageRef names another page.
func pageRef(name string, number int) string { return fmt.Sprintf("%s(%d)", bold(name), number) }

// lowerFirst makes a sentence a part of one.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
