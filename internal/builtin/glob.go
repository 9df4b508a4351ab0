package builtin

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/search"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed glob.md
var globDoc string

type globInput struct {
	Pattern string  `json:"pattern" jsonschema:"the glob"`
	Path    *string `json:"path,omitempty" jsonschema:"the folder to search"`
}

// glob finds files by name, most recently changed first.
func glob(s Searching) tool.Tool {
	spec := tool.Spec{Name: "glob", Description: globDoc, ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in globInput) (*tool.Result, error) {
		req := searchRequest("glob", in.Pattern)
		setIfGiven(req.Metadata, "path", in.Path)
		asks := permission.NewBatch(c)
		_ = asks.Ask(ctx, req) // it only notes
		p, err := s.Files.ResolveFolder(ctx, asks, c.Dir, orHere(in.Path))
		if err != nil {
			return nil, badName(err)
		}
		if err := asks.Submit(ctx); err != nil {
			return nil, err
		}
		switch {
		case s.Files.IsFolder(p):
		case s.Files.Exists(p):
			return nil, tool.Fail("not-a-directory", "glob path must be a directory: %s", p)
		default:
			return nil, s.pathNotFound(c, p)
		}
		query := search.Glob{Where: s.where(p), Limit: s.resultLimit(), Order: s.Order, Budget: s.budget(), Report: reporter(c, in.Pattern, p)}
		if in.Pattern != "" {
			query.Where.Globs = []string{from(c.Dir, p, in.Pattern)}
		}
		found, err := s.Engine.Glob(ctx, query)
		if err != nil {
			return nil, searchFailed(ctx, p, err)
		}
		return globResult(s, p, in.Pattern, found), nil
	})
}

func globResult(s Searching, p files.Path, pattern string, found *search.Names) *tool.Result {
	names := make([]string, len(found.Files))
	shown := make([]string, len(found.Files))
	for i, file := range found.Files {
		names[i] = foundAs(p, file.Name)
		shown[i] = shownName(names[i])
	}
	body := strings.Join(shown, "\n")
	var notes []string
	if len(names) == 0 {
		body = "No files found"
		notes = s.advice(p, pattern)
	}
	if found.More {
		notes = append(notes, cutNotice)
	}
	if found.Late {
		notes = append(notes, lateNotice(s.budget()))
	}
	notes = append(notes, notices(found.Skipped, "listed", "")...)
	title := p.Title()
	if title == "." {
		title = ""
	}
	return &tool.Result{
		Title: title, Output: strings.Join(append([]string{body}, notes...), "\n\n"), Data: &tool.Hits{Names: names, Notes: notes, Failed: found.Skipped.Failed},
		Metadata: map[string]any{"count": len(names), "truncated": found.More},
	}
}

// advice returns hints for a pattern without matches. It reads nothing outside the workspace.
func (s Searching) advice(p files.Path, pattern string) []string {
	plain := strings.TrimSuffix(pattern, "/")
	head, _, _ := strings.Cut(plain, "/")
	at := func(name string) (files.Path, bool) {
		there := s.Files.Beside(p, filepath.Join(p.String(), name))
		return there, filepath.IsLocal(name) && s.Files.Inside(there)
	}
	switch {
	case head == "..", filepath.IsAbs(pattern):
		return []string{"(A pattern looks below path; give the folder it begins with as path)"}
	case head == ".git":
		return []string{"(.git is left out; give it as path to look into it)"}
	}
	if there, ok := at(plain); ok && s.Files.IsFolder(there) {
		return []string{"(" + shownName(plain) + " is a folder: " + shownName(plain) + "/** finds the files in it)"}
	}
	if there, _ := at(head); filepath.IsLocal(head) && s.Files.IsLink(there) {
		return []string{"(" + shownName(head) + " is a link, and links are not followed; give it as path)"}
	}
	return nil
}
