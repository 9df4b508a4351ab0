package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/regex"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// The exit codes of the commands that search, as of other programs that do.
const (
	exitFound    = 0
	exitNotFound = 1
	exitTrouble  = 2
)

// plainLimit is how many lines or names are shown by default.
const plainLimit = 100_000

// grepFlags are the options of helve grep and helve glob.
type grepFlags struct {
	ignoreCase, literal, word bool
	includes                  []string
	limit                     int
	newest, first             bool
	names, asJSON, quiet      bool
}

func (a *app) searchFlags(c *cobra.Command, f *grepFlags) {
	fs := c.Flags()
	fs.IntVar(&f.limit, "limit", plainLimit, "show this many at the most; all when 0, which are held in memory first")
	fs.BoolVar(&f.newest, "newest", false, "files changed last come first, and not sorted by name")
	fs.BoolVar(&f.first, "first", false, "take what is found first: the quickest")
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON object a line; places are in bytes")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing: the exit code says whether something was found")
	for _, same := range []string{"line-number", "with-filename", "no-heading", "hidden"} { // as it is anyway
		fs.BoolP(same, map[string]string{"line-number": "n", "with-filename": "H"}[same], false, "")
		_ = fs.MarkHidden(same)
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return a.trouble(fmt.Errorf("%w\nRun '%s --help' for what there is", err, c.CommandPath()))
	})
}

func (a *app) grepCommand() *cobra.Command {
	var f grepFlags
	c := &cobra.Command{
		Use:   "grep PATTERN [PATH …]",
		Short: "Find lines in files by a regular expression",
		Long: `Grep finds lines in the files below a folder, or in a file, as the tool of that
name does, under the same rules. Patterns are in ripgrep's syntax. What ignore
files name and binary files are left out, hidden files are not; a path that is
named is searched whatever ignore files say.

Everything is found before anything is printed, 100,000 lines at the most unless
--limit says otherwise. Standard input is not searched. Nothing is recorded.
Exit codes: 0 something was found, 1 nothing was, 2 it could not be done, or not
everywhere.`,
		Example: `  helve grep 'func \w+\('
  helve grep -i todo src -g '*.{ts,tsx}'
  helve grep --newest --limit 20 deprecated
  helve grep --json 'https?://' docs | jq -r .file`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.trouble(usagef("what is to be found? 'helve grep PATTERN', or 'helve grep --help'"))
			}
			return a.grep(c.Context(), &f, args[0], args[1:])
		},
	}
	fs := c.Flags()
	fs.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "upper and lower case are the same")
	fs.BoolVarP(&f.literal, "fixed-strings", "F", false, "the pattern is plain text")
	fs.BoolVarP(&f.word, "word-regexp", "w", false, "only whole words")
	fs.StringArrayVarP(&f.includes, "glob", "g", nil, "search only files whose names match this `glob`; several may be given")
	fs.BoolVarP(&f.names, "files-with-matches", "l", false, "show only the names of the files")
	a.searchFlags(c, &f)
	return c
}

func (a *app) globCommand() *cobra.Command {
	var f grepFlags
	c := &cobra.Command{
		Use:   "glob PATTERN [PATH]",
		Short: "Find files by name",
		Long: `Glob finds files below a folder by their names, as the tool of that name does,
under the same rules. A pattern without a slash is looked for at any depth.

Nothing is recorded. Exit codes: 0 something was found, 1 nothing was, 2 it
could not be done.`,
		Example: `  helve glob '*_test.go'
  helve glob 'src/**/*.{ts,tsx}' --newest --limit 10`,
		RunE: func(c *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return a.trouble(usagef("which names? 'helve glob PATTERN [PATH]'"))
			case 1, 2:
			default:
				return a.trouble(usagef("one path at the most; a pattern with an unquoted star is many arguments"))
			}
			return a.glob(c.Context(), &f, args)
		},
	}
	a.searchFlags(c, &f)
	return c
}

// trouble prints an error and exits with the code that search programs use for it.
func (a *app) trouble(err error) error {
	if tool.KindOf(err) == tool.Canceled {
		return &silent{exitCanceled}
	}
	a.errorln(shownError(err))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(a.Stderr, safe(hint))
	}
	return &silent{exitTrouble}
}

// include combines the globs into one; "" if there are none.
func (f *grepFlags) include() (string, error) {
	if len(f.includes) < 2 {
		return strings.Join(f.includes, ""), nil
	}
	for _, glob := range f.includes {
		if strings.HasPrefix(glob, "!") {
			return "", usagef("a glob that leaves files out (%s) has to be the only one", glob)
		}
	}
	return "{" + strings.Join(f.includes, ",") + "}", nil
}

// pattern is what the flags make of a pattern.
func (f *grepFlags) pattern(p string) string {
	if f.literal {
		p = regex.Quote(p)
	}
	if f.word {
		p = `\b{start-half}(?:` + p + `)\b{end-half}`
	}
	if f.ignoreCase {
		p = "(?i:" + p + ")"
	}
	return p
}

// searcher opens a runtime that searches and keeps no record.
func (a *app) searcher(f *grepFlags) (*helve.Runtime, error) {
	switch {
	case f.newest && f.first:
		return nil, usagef("--newest and --first do not go together")
	case f.limit < 0:
		return nil, usagef("--limit is a number of lines, or 0 for all")
	}
	s, err := a.load()
	if err != nil {
		return nil, err
	}
	a.warn(s.cfg, voiding(s.cfg)...)
	if err := s.checkReady(""); err != nil {
		return nil, err
	}
	opt := a.options(s)
	opt.Unrecorded = true
	opt.Unattended = !a.attended()
	opt.Search = helve.Search{Order: "name", Limit: f.limit, Budget: -1, Stateless: true}
	if f.limit <= 0 {
		opt.Search.Limit = -1
	}
	switch {
	case f.newest:
		opt.Search.Order = "newest"
	case f.first:
		opt.Search.Order = "first"
	}
	return helve.Open(opt)
}

// find makes one call and returns what it found.
func (a *app) find(ctx context.Context, rt *helve.Runtime, name string, args map[string]string) (*tool.Hits, error) {
	input, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	res, err := a.callWithPrompts(ctx, rt, &callFlags{}, tool.Call{ID: rt.NewID("call"), Tool: name, Input: input})
	if err != nil {
		return nil, err
	}
	hits, ok := res.Data.(*tool.Hits)
	if !ok {
		return nil, errors.New("a hook answered the search")
	}
	return hits, nil
}

func (a *app) grep(ctx context.Context, f *grepFlags, pattern string, paths []string) error {
	include, err := f.include()
	if err != nil {
		return a.trouble(err)
	}
	rt, err := a.searcher(f)
	if err != nil {
		return a.trouble(err)
	}
	defer rt.Close()
	if len(paths) == 0 {
		paths = []string{""}
	}
	out := bufio.NewWriter(a.Stdout)
	p := &grepPrinter{app: a, flags: f, out: out, style: a.style(a.Stdout)}
	failed := false
	for _, path := range paths {
		hits, err := a.find(ctx, rt, "grep", nonEmptyArgs("pattern", f.pattern(pattern), "path", path, "include", include))
		if err != nil {
			_ = out.Flush()
			if code := a.trouble(err); tool.KindOf(err) == tool.Canceled {
				return code
			}
			failed = true
			continue
		}
		p.paint(f.pattern(pattern))
		p.print(path, hits)
		failed = failed || hits.Failed > 0
	}
	return a.finishOutput(out, p.found, failed)
}

func (a *app) glob(ctx context.Context, f *grepFlags, args []string) error {
	rt, err := a.searcher(f)
	if err != nil {
		return a.trouble(err)
	}
	defer rt.Close()
	path := ""
	if len(args) > 1 {
		path = args[1]
	}
	hits, err := a.find(ctx, rt, "glob", nonEmptyArgs("pattern", args[0], "path", path))
	if err != nil {
		return a.trouble(err)
	}
	out := bufio.NewWriter(a.Stdout)
	p := &grepPrinter{app: a, flags: f, out: out, style: a.style(a.Stdout)}
	for _, name := range hits.Names {
		switch {
		case f.quiet:
		case f.asJSON:
			p.json(map[string]any{"file": name})
		default:
			fmt.Fprintln(out, p.safe(p.name(path, name)))
		}
	}
	p.notes(hits.Notes)
	return a.finishOutput(out, len(hits.Names) > 0, hits.Failed > 0)
}

// nonEmptyArgs are those that are not empty, but for the first.
func nonEmptyArgs(pairs ...string) map[string]string {
	args := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" || len(args) == 0 {
			args[pair[0]] = pair[1]
		}
	}
	return args
}

// notes prints what was left out, after the matches.
func (p *grepPrinter) notes(notes []string) {
	_ = p.out.Flush() // the end of the command tells whether that failed
	for _, note := range notes {
		if !p.flags.quiet {
			p.app.printNote(note)
		}
	}
}

func (a *app) finishOutput(out *bufio.Writer, found, failed bool) error {
	if err := out.Flush(); err != nil {
		return a.trouble(fmt.Errorf("writing the result: %w", err))
	}
	switch {
	case failed:
		return &silent{exitTrouble}
	case !found:
		return &silent{exitNotFound}
	}
	return nil
}

// A grepPrinter shows lines that were found: under the name of their file on a
// terminal, and otherwise each with it.
type grepPrinter struct {
	app     *app
	flags   *grepFlags
	out     *bufio.Writer
	style   terminal.Style
	matcher *regex.Matcher
	found   bool
}

// paint highlights the matches in a line.
func (p *grepPrinter) paint(pattern string) {
	if p.matcher != nil || !p.style.On && !p.flags.asJSON {
		return
	}
	if re, err := regex.Compile(pattern, regex.Options{}); err == nil {
		p.matcher = re.Matcher(&atomic.Bool{})
	}
}

func (p *grepPrinter) print(path string, hits *tool.Hits) {
	last := ""
	for _, hit := range hits.Lines {
		name := p.safe(p.name(path, hit.File))
		fresh := hit.File != last
		last = hit.File
		switch {
		case p.flags.quiet:
		case p.flags.names:
			if fresh && p.flags.asJSON {
				p.json(map[string]any{"file": hit.File})
			} else if fresh {
				fmt.Fprintln(p.out, name)
			}
		case p.flags.asJSON:
			p.json(map[string]any{"file": hit.File, "line": hit.Line, "text": hit.Text, "cut": hit.Cut, "matches": p.spans(hit.Text)})
		case p.style.On:
			if fresh && p.found {
				fmt.Fprintln(p.out)
			}
			if fresh {
				fmt.Fprintln(p.out, p.style.Paint("35", name))
			}
			fmt.Fprintf(p.out, "%s:%s\n", p.style.Green(fmt.Sprint(hit.Line)), p.coloured(hit.Text))
		default:
			fmt.Fprintf(p.out, "%s:%d:%s\n", name, hit.Line, p.safe(hit.Text))
		}
		p.found = true
	}
	p.notes(hits.Notes)
}

// name is a file as seen from the current folder, or as absolute as the path
// that was given.
func (p *grepPrinter) name(path, file string) string {
	if filepath.IsAbs(path) {
		return file
	}
	if rel, err := filepath.Rel(p.app.workDir(), file); err == nil {
		return rel
	}
	return file
}

func (p *grepPrinter) json(v map[string]any) {
	if line, err := text.EncodeLine(v); err == nil { // names and texts always encode
		_, _ = p.out.Write(line)
	}
}

// safe keeps what could repaint a terminal from one.
func (p *grepPrinter) safe(s string) string {
	if isTerminal(p.app.Stdout) {
		return text.VisibleLine(s)
	}
	return s
}

// A span is where in a line a match is, in bytes.
type span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func (p *grepPrinter) spans(line string) []span {
	all := []span{}
	for from := 0; p.matcher != nil && from <= len(line); {
		start, end, ok := p.matcher.Find([]byte(line), from)
		if !ok {
			break
		}
		if from = end; end == start {
			from++
			continue
		}
		all = append(all, span{start, end})
	}
	return all
}

func (p *grepPrinter) coloured(line string) string {
	var out strings.Builder
	at := 0
	for _, s := range p.spans(line) {
		out.WriteString(p.safe(line[at:s.Start]) + p.style.Paint("1;31", p.safe(line[s.Start:s.End])))
		at = s.End
	}
	out.WriteString(p.safe(line[at:]))
	return out.String()
}
