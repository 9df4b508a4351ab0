package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/helve-dev/helve/internal/page"
)

//go:embed known.txt
var knownText string

// A count is how often one kind of piece came out of each converter.
type count struct{ theirs, ours, same, known, open int }

// structure compares the pieces of every page.
func structure(ctx context.Context, s *settings) error {
	pages, err := samples(s.pages)
	if err != nil {
		return err
	}
	if s.recordings != "" {
		recorded, err := recordings(s.recordings)
		if err != nil {
			return err
		}
		pages = append(pages, recorded...)
	}
	turndown, err := install(ctx, s.dir)
	if err != nil {
		return err
	}
	theirs, err := turndown.convert(ctx, pages)
	if err != nil {
		return err
	}
	known, err := readKnown(knownText)
	if err != nil {
		return err
	}
	c := &comparison{out: s.out, counts: map[string]*count{}, known: known}
	for _, p := range pages {
		if err := c.page(ctx, p, theirs[p.name]); err != nil {
			return err
		}
	}
	return c.report(len(pages))
}

// An exception is a difference that is meant to be.
type exception struct {
	page, kind string // patterns
	why        string
	used       bool
}

// readKnown reads the list of exceptions: a page, a kind and a reason a line.
func readKnown(text string) (all []*exception, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.SplitN(line, " ", 3)
		if len(words) < 3 {
			return nil, fmt.Errorf("a known difference needs a page, a kind and a reason: %s", line)
		}
		all = append(all, &exception{page: words[0], kind: words[1], why: words[2]})
	}
	return all, nil
}

// A comparison collects what is the same and what differs.
type comparison struct {
	out      io.Writer
	counts   map[string]*count
	known    []*exception
	notes    []string
	recorded count
}

func (c *comparison) page(ctx context.Context, p sample, theirs made) error {
	doc, err := page.Parse(ctx, p.html)
	if err != nil {
		return err
	}
	ours, _, err := doc.Markdown(ctx, true)
	if err != nil {
		return err
	}
	if theirs.Error != "" {
		c.notes = append(c.notes, fmt.Sprintf("%s: turndown failed: %s", p.name, theirs.Error))
		return nil
	}
	if p.recorded != "" {
		c.recorded.ours++
		if theirs.Markdown == p.recorded {
			c.recorded.same++
		} else {
			c.notes = append(c.notes, fmt.Sprintf("%s: turndown now writes %q", p.name, theirs.Markdown))
		}
	}
	c.pieces(p.name, outline(theirs.Markdown), outline(ours))
	c.cells(p.name, theirs.Cells, ours)
	return nil
}

// pieces compares two outlines of a page, without regard to the order.
func (c *comparison) pieces(name string, theirs, ours []piece) {
	missing := map[piece]int{}
	for _, t := range theirs {
		c.count(t.kind).theirs++
		missing[t]++
	}
	for _, o := range ours {
		c.count(o.kind).ours++
		if missing[o] > 0 {
			missing[o]--
			c.count(o.kind).same++
			continue
		}
		c.differs(name, o, "only helve")
	}
	for _, t := range theirs {
		if missing[t] > 0 {
			missing[t]--
			c.differs(name, t, "only turndown")
		}
	}
}

// cells looks for what the cells of tables say, one after the other. turndown
// has no tables, so its side is what the cells of the page hold.
func (c *comparison) cells(name string, cells []string, ours string) {
	n := c.count("cell")
	rest := bare(regexp.MustCompile("(?m)^[ >]*```.*$").ReplaceAllString(ours, ""))
	for _, cell := range cells {
		want := bare(strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(cell))
		if want == "" {
			continue
		}
		n.theirs++
		at := strings.Index(rest, want)
		if at < 0 {
			c.differs(name, piece{"cell", want}, "only turndown")
			continue
		}
		n.ours++
		n.same++
		rest = rest[at+len(want):]
	}
}

func (c *comparison) count(kind string) *count {
	if c.counts[kind] == nil {
		c.counts[kind] = &count{}
	}
	return c.counts[kind]
}

// differs notes a difference unless it is known.
func (c *comparison) differs(name string, p piece, side string) {
	for _, e := range c.known {
		onPage, _ := path.Match(e.page, name)
		if onPage && (e.kind == "*" || e.kind == p.kind) {
			e.used = true
			c.count(p.kind).known++
			return
		}
	}
	c.count(p.kind).open++
	c.notes = append(c.notes, fmt.Sprintf("%s: %s %s: %.200q", name, side, p.kind, p.value))
}

// report prints the table and then what is left to explain.
func (c *comparison) report(pages int) error {
	out := bufio.NewWriter(c.out)
	fmt.Fprintf(out, "%d pages, turndown %s\n", pages, turndownVersion)
	if c.recorded.ours > 0 {
		fmt.Fprintf(out, "recordings that turndown reproduces: %d of %d\n", c.recorded.same, c.recorded.ours)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\tturndown\thelve\tsame\tagreement\tknown\tunexplained\t")
	open := 0
	for _, kind := range append(kinds(), "cell") {
		n := c.count(kind)
		open += n.open
		all := n.theirs + n.ours - n.same
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%.1f %%\t%d\t%d\t\n", kind, n.theirs, n.ours, n.same, 100*float64(n.same)/float64(max(all, 1)), n.known, n.open)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, note := range c.notes {
		fmt.Fprintln(out, note)
	}
	for _, e := range c.known {
		if !e.used {
			fmt.Fprintf(out, "known, and seen no more: %s %s %s\n", e.page, e.kind, e.why)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if open > 0 {
		return errors.New("there are differences nobody has explained")
	}
	return nil
}
