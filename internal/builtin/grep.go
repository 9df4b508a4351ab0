package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/regex"
	"github.com/helve-dev/helve/internal/search"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed grep.md
var grepDoc string

// grepLineUnits limits how much of a line is shown, in UTF-16 units.
const grepLineUnits = 2000

type grepInput struct {
	Pattern string  `json:"pattern" jsonschema:"the regular expression"`
	Path    *string `json:"path,omitempty" jsonschema:"the folder or the file to search; the working folder when left out"`
	Include *string `json:"include,omitempty" jsonschema:"which files to search, as a glob: *.js or *.{ts,tsx}"`
}

// grep finds lines by a pattern, those of recently changed files first.
func grep(s Searching) tool.Tool {
	spec := tool.Spec{Name: "grep", Description: grepDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in grepInput) (*tool.Result, error) {
		// Errors are in ripgrep's form, because models know that.
		if in.Pattern == "" {
			return nil, tool.Fail("invalid-pattern", "pattern is required")
		}
		pattern, err := regex.Compile(in.Pattern, regex.Options{})
		if err != nil {
			return nil, tool.Fail("invalid-pattern", "%w", err)
		}
		req := searchRequest("grep", in.Pattern)
		setIfGiven(req.Metadata, "path", in.Path)
		setIfGiven(req.Metadata, "include", in.Include)
		asks := permission.NewBatch(c)
		_ = asks.Ask(ctx, req) // it only notes
		p, err := s.Files.ResolveEither(ctx, asks, c.Dir, orHere(in.Path))
		if err != nil {
			return nil, badName(err)
		}
		asked, err := s.askFiles(ctx, c, asks, p, c.Allowed(req))
		if err != nil {
			return nil, err
		}
		if err := asks.Submit(ctx); err != nil {
			return nil, err
		}
		if !s.Files.Exists(p) {
			return nil, s.pathNotFound(c, p)
		}
		query := search.Grep{Pattern: pattern, Limit: s.resultLimit(), Order: s.Order, Budget: s.budget(), Report: reporter(c, in.Pattern, p)}
		bounded, cancel := s.bounded(ctx)
		defer cancel()
		hidden := s.aim(bounded, c, p, &query, asked)
		if query.File == "" && in.Include != nil && *in.Include != "" {
			query.Where.Globs = []string{from(c.Dir, p, *in.Include)}
		}
		found, err := s.Engine.Grep(ctx, query)
		if err != nil {
			return nil, searchFailed(ctx, p, err)
		}
		return grepResult(s, p, in.Pattern, found, hidden), nil
	})
}

// askFiles collects the permission requests for the file or folder of a search, and reports whether
// there are any. A file that a rule names is asked about like a read of it. If a rule asks about
// everything alike, a person's permission for the search covers it.
func (s Searching) askFiles(ctx context.Context, c *tool.Call, asks *permission.Batch, p files.Path, unasked bool) (bool, error) {
	shut, named := unasked && !s.Files.MayRead(c, p), s.Files.Named(c, p)
	switch {
	case !s.Files.Exists(p):
		return false, nil
	case !s.Files.IsFolder(p) && (shut || named):
		return true, s.Files.AskContents(ctx, asks, p)
	case s.Files.IsFolder(p) && shut && !named:
		return true, s.Files.AskRead(ctx, asks, p)
	}
	return false, nil
}

// aim sets the folder or file of a query, and returns the collector for the names of excluded
// files. ctx is that of the search; asked says that somebody has allowed reading the folder or
// file.
func (s Searching) aim(ctx context.Context, c *tool.Call, p files.Path, query *search.Grep, asked bool) *hidden {
	if s.Files.IsFolder(p) {
		h := &hidden{}
		query.Where = s.where(p)
		query.Bar = h.bar(s.Files.SearchFilter(ctx, c, p))
		return h
	}
	parent := s.Files.Parent(p)
	if !asked {
		query.Bar = (&hidden{}).bar(s.Files.SearchFilter(ctx, c, parent))
	}
	query.Where, query.File = s.where(parent), filepath.Base(p.Real())
	return &hidden{}
}

func grepResult(s Searching, p files.Path, pattern string, found *search.Found, hidden *hidden) *tool.Result {
	single := !s.Files.IsFolder(p)
	var out strings.Builder
	hits := make([]tool.Match, 0, found.Lines)
	for i, file := range found.Files {
		name := p.String()
		if !single {
			name = foundAs(p, file.Name)
		}
		if i > 0 {
			out.WriteString("\n\n")
		}
		out.WriteString(shownName(name) + ":")
		for _, line := range file.Lines {
			hits = append(hits, tool.Match{File: name, Line: line.Number, Text: lineText(line), Cut: line.Cut})
			fmt.Fprintf(&out, "\n  Line %d: %s", line.Number, shownLine(line))
		}
	}
	body := "No files found"
	switch {
	case found.Lines > 0:
		body = fmt.Sprintf("Found %d matches\n%s", found.Lines, strings.TrimRight(out.String(), " \t\r"))
	case found.Late:
		body = "No matches in what was searched"
	}
	notes := notices(found.Skipped, "searched", hidden.shownNames())
	if found.Late {
		notes = append([]string{lateNotice(s.budget())}, notes...)
	}
	if found.More {
		notes = append([]string{cutNotice}, notes...)
	}
	return &tool.Result{
		Title: pattern, Output: strings.Join(append([]string{body}, notes...), "\n\n"), Data: &tool.Hits{Lines: hits, Notes: notes, Failed: found.Skipped.Failed},
		Metadata: map[string]any{"matches": found.Lines, "truncated": found.More},
	}
}

// shownName returns a name for a model.
func shownName(name string) string { return text.VisibleLine(strings.ToValidUTF8(name, "\ufffd")) }

// lineText returns a line as text, without the carriage return of Windows.
func lineText(line search.MatchLine) string {
	return strings.TrimSuffix(strings.ToValidUTF8(string(line.Text), "\ufffd"), "\r")
}

func shownLine(line search.MatchLine) string {
	head, cut := text.CutUTF16(lineText(line), grepLineUnits)
	if cut || line.Cut {
		head += "..."
	}
	return head
}

// reporter publishes what a long search has found so far.
func reporter(c *tool.Call, title string, p files.Path) func(search.Progress) {
	return func(now search.Progress) {
		var lines []string
		for _, hit := range now.Last {
			lines = append(lines, fmt.Sprintf("%s:%d: %s", shownName(foundAs(p, hit.Name)), hit.Number, shownLine(hit.MatchLine)))
		}
		c.Progress(title, map[string]any{"files": now.Files, "matches": now.Lines, "output": strings.Join(lines, "\n")})
	}
}

func searchRequest(name, pattern string) permission.Request {
	return permission.Request{
		Permission: name, Patterns: []string{pattern}, Always: []string{"*"},
		Metadata: map[string]any{"pattern": pattern},
	}
}

// setIfGiven adds an argument to the metadata of a request, if it was given.
func setIfGiven(metadata map[string]any, key string, value *string) {
	if value != nil {
		metadata[key] = *value
	}
}

func orHere(name *string) string {
	if name == nil || *name == "" {
		return "."
	}
	return *name
}

// searchFailed is the error for a search that failed as a whole.
func searchFailed(ctx context.Context, p files.Path, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, search.ErrGlob) {
		return tool.Fail("invalid-pattern", "%w", err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return tool.Fail("permission", "Permission denied: '%s'", p)
	}
	return fmt.Errorf("searching %s: %w", p, err)
}

// pathNotFound is the error for a missing path, with similar names.
func (s Searching) pathNotFound(c *tool.Call, p files.Path) error {
	message := fmt.Sprintf("No such file or directory: '%s'", p)
	if near := near(c, s.Files, p); len(near) > 0 {
		message += "\n\nDid you mean one of these?\n" + strings.Join(near, "\n")
	}
	return tool.Fail("not-found", "%s", message)
}
