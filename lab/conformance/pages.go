package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/helve-dev/helve/internal/page"
)

//go:embed known.txt
var knownText string

//go:embed turndown.js
var turndownScript []byte

// comparePages compares the Markdown that helve makes of web pages with that of
// turndown, the converter that agents commonly use: the headings, links, images,
// code, items, quotes and cells that are in it.
func comparePages(ctx context.Context, p *programs, out io.Writer) error {
	pages, err := samples("internal/page/testdata/pages", "internal/builtin/testdata/parity/webfetch.json")
	if err != nil {
		return err
	}
	theirs, err := turndown(ctx, p, pages)
	if err != nil {
		return err
	}
	known, err := readKnown(knownText)
	if err != nil {
		return err
	}
	c := &comparison{out: out, counts: map[string]*count{}, known: known}
	for _, p := range pages {
		if err := c.page(ctx, p, theirs[p.name]); err != nil {
			return err
		}
	}
	return c.report(len(pages), p.version("turndown"))
}

// A sample is a page to convert.
type sample struct {
	name     string // ARCHIVE/NAME
	html     string
	recorded string // what was seen to come out of turndown, "" where nobody looked
}

// samples reads the pages that helve is tested with, and those of a file of
// recorded calls that asked for Markdown and got HTML.
func samples(folder, recordings string) (all []sample, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no archives of pages in %s (run this in the root of the module)", folder)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return nil, err
		}
		for _, f := range archive.Files {
			name, isPage := strings.CutSuffix(f.Name, ".html")
			if !isPage {
				continue
			}
			text, err := expand(string(f.Data))
			if err != nil {
				return nil, fmt.Errorf("reading %s of %s: %w", f.Name, file, err)
			}
			text, _ = page.Decode([]byte(text), "")
			all = append(all, sample{name: strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + name, html: text})
		}
	}
	text, err := os.ReadFile(recordings)
	if err != nil {
		return nil, err
	}
	var recorded []struct {
		Name string
		HTTP []struct {
			Text    json.RawMessage
			Headers map[string]string
		}
		Expected struct {
			Calls []struct {
				Status string
				Output json.RawMessage // text, or what stands for a text that is too long
				Input  struct{ Format string }
			}
		}
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		return nil, fmt.Errorf("reading %s: %w", recordings, err)
	}
	for _, r := range recorded {
		if len(r.HTTP) != 1 || len(r.Expected.Calls) != 1 {
			continue
		}
		call := r.Expected.Calls[0]
		var html, output string
		if call.Status == "completed" && call.Input.Format == "markdown" && strings.HasPrefix(r.HTTP[0].Headers["Content-Type"], "text/html") &&
			json.Unmarshal(call.Output, &output) == nil && json.Unmarshal(r.HTTP[0].Text, &html) == nil {
			all = append(all, sample{name: "recorded/" + r.Name, html: html, recorded: output})
		}
	}
	return all, nil
}

// expand replaces the marks of a page of an archive: $[repeat N]TEXT$[end] and
// $[hex 0d0a].
func expand(text string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$[")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		mark, rest, _ := strings.Cut(rest, "]")
		word, value, _ := strings.Cut(mark, " ")
		switch word {
		case "repeat":
			times, err := strconv.Atoi(value)
			unit, after, ended := strings.Cut(rest, "$[end]")
			if err != nil || !ended {
				return "", fmt.Errorf("bad mark $[%s]", mark)
			}
			if unit, err = expand(unit); err != nil {
				return "", err
			}
			out.WriteString(strings.Repeat(unit, times))
			rest = after
		case "hex":
			b, err := hex.DecodeString(value)
			if err != nil {
				return "", fmt.Errorf("bad mark $[%s]: %w", mark, err)
			}
			out.Write(b)
		default:
			return "", fmt.Errorf("bad mark $[%s]", mark)
		}
		text = rest
	}
}

// A made is what turndown makes of a page.
type made struct {
	Name     string
	Markdown string
	Cells    []string // what the cells of its innermost tables say
	Error    string
}

// turndown converts all pages in one process.
func turndown(ctx context.Context, p *programs, pages []sample) (map[string]made, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	script := filepath.Join(dir, "turndown.js")
	if err := os.WriteFile(script, turndownScript, 0o600); err != nil {
		return nil, err
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, p := range pages {
		if err := enc.Encode(map[string]string{"name": p.name, "html": p.html}); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, p.node, script, p.dirs[0])
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running turndown: %w", err)
	}
	all := map[string]made{}
	for line := range bytes.Lines(out) {
		var m made
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("reading turndown's answer: %w", err)
		}
		all[m.Name] = m
	}
	if len(all) != len(pages) {
		return nil, fmt.Errorf("turndown answered %d of %d pages", len(all), len(pages))
	}
	return all, nil
}

// A piece is something of a Markdown text that both converters should find in a
// page: its kind, and what it says in a form that can be compared.
type piece struct{ kind, value string }

// outline lists the pieces of a Markdown text.
func outline(markdown string) (found []piece) {
	source := []byte(markdown)
	items, quotes := -1, 0
	_ = ast.Walk(goldmark.New().Parser().Parse(text.NewReader(source)), func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			switch n.(type) {
			case *ast.List:
				items--
			case *ast.Blockquote:
				quotes--
			}
			return ast.WalkContinue, nil
		}
		add := func(kind, value string) { found = append(found, piece{kind, value}) }
		target := func(to []byte) string { return strings.ReplaceAll(string(to), " ", "%20") }
		switch n := n.(type) {
		case *ast.List:
			items++
		case *ast.Blockquote:
			quotes++
			add("quote", fmt.Sprintf("%d %s", quotes, bare(wordsOf(n, source))))
		case *ast.Heading:
			add("heading", fmt.Sprintf("%d %s", n.Level, bare(wordsOf(n, source))))
		case *ast.ListItem:
			first := ""
			if n.FirstChild() != nil {
				first, _, _ = strings.Cut(wordsOf(n.FirstChild(), source), "\n")
			}
			if first = bare(first); first != "" {
				add("item", fmt.Sprintf("%d %s", items, first))
			}
		case *ast.Link:
			if label := bare(wordsOf(n, source)); label != "" {
				add("link", label+" "+target(n.Destination))
			}
		case *ast.Image:
			add("image", bare(wordsOf(n, source))+" "+target(n.Destination))
		case *ast.FencedCodeBlock:
			add("code", string(n.Language(source))+"\n"+strings.TrimRight(string(n.Lines().Value(source)), "\n"))
		}
		return ast.WalkContinue, nil
	})
	return found
}

// wordsOf is the text of a node.
func wordsOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.FencedCodeBlock:
			b.Write(c.Lines().Value(source))
		default:
			b.WriteString(wordsOf(c, source))
		}
		if c.Type() == ast.TypeBlock {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// bare leaves the letters and digits of a text, so that escapes, emphasis and
// blanks do not count.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.So) {
			return r
		}
		return -1
	}, text)
}

// A count is how often one kind of piece came out of each converter.
type count struct{ theirs, ours, same, known, open int }

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
	source := []byte(ours)
	rest := bare(wordsOf(goldmark.New().Parser().Parse(text.NewReader(source)), source))
	for _, cell := range cells {
		want := bare(cell)
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
func (c *comparison) report(pages int, version string) error {
	out := bufio.NewWriter(c.out)
	fmt.Fprintf(out, "%d pages, turndown %s\n", pages, version)
	if c.recorded.ours > 0 {
		fmt.Fprintf(out, "recordings that turndown reproduces: %d of %d\n", c.recorded.same, c.recorded.ours)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\tturndown\thelve\tsame\tagreement\tknown\tunexplained\t")
	open := 0
	for _, kind := range strings.Fields("heading link image code item quote cell") {
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
