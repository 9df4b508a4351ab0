package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helve/internal/charset"
	"helve/internal/replace"
	"helve/internal/text"
	"helve/internal/workspace"
	"helve/tool"
)

//go:embed edit.md
var editDoc string

type editInput struct {
	FilePath   string `json:"filePath" jsonschema:"the file to change"`
	OldString  string `json:"oldString" jsonschema:"the text to replace"`
	NewString  string `json:"newString" jsonschema:"what takes its place; must differ"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence"`
}

// edit replaces a piece of text in a file.
func edit(e editor) tool.Tool {
	spec := tool.Spec{Name: "edit", Description: editDoc, Permission: "edit", Destructive: true, Offer: unlessPatches(editDoc)}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in editInput) (*tool.Result, error) {
		if err := in.check(); err != nil {
			return nil, err
		}
		held, claim, err := e.hold(ctx, c, in.FilePath)
		if err != nil {
			return nil, editing(held, err)
		}
		defer claim.Release()
		d, matches, err := e.revise(ctx, c, held, []editInput{in})
		if err != nil {
			return nil, err
		}
		d, notes, err := e.land(ctx, c, claim, d)
		if err != nil {
			return nil, err
		}
		metadata := d.metadata()
		if m := matches[0]; !m.Exact {
			notes = append([]string{m.sentence()}, notes...)
			metadata["match"] = m
		}
		return &tool.Result{Title: held.Path.Title(), Output: said("Edit applied successfully.", append(notes, d.found.notes...)), Metadata: metadata}, nil
	})
}

func (in editInput) check() error {
	if in.FilePath == "" {
		return tool.Fail("missing", "filePath is required")
	}
	if in.OldString == in.NewString {
		return tool.Fail("no-change", "oldString and newString must be different")
	}
	return nil
}

// editing gives what can not be edited the reference's words.
func editing(held *workspace.Held, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Code == "is-a-directory" {
		return tool.Fail(e.Code, "Path is a directory, not a file: %s", held.Path)
	}
	return err
}

// A landed match tells where an edit found its text, and how.
type landedMatch struct {
	Exact      bool    `json:"exact"`
	Strategy   string  `json:"strategy"`
	Similarity float64 `json:"similarity"`
	Lines      []int   `json:"lines"` // first and last line that were replaced, of the first place
	Places     int     `json:"places"`
}

func (m landedMatch) sentence() string {
	where := fmt.Sprintf("line %d", m.Lines[0])
	if m.Lines[1] > m.Lines[0] {
		where = fmt.Sprintf("lines %d-%d", m.Lines[0], m.Lines[1])
	}
	return fmt.Sprintf("oldString did not match exactly: it was found at %s by %s (%s). Check that this is what you meant.", where, m.words(), m.Strategy)
}

// words say what a strategy forgives.
func (m landedMatch) words() string {
	switch m.Strategy {
	case "line_trimmed":
		return "ignoring blanks at the beginning and end of lines"
	case "whitespace_normalized":
		return "taking any run of blanks for one"
	case "escape_normalized":
		return "reading escapes such as \\n as what they stand for"
	case "trimmed_boundary":
		return "ignoring blanks around it"
	}
	return "its first and last line, with lines in between that are alike"
}

// revise makes the edits one after the other, in memory, and shows what
// comes of them.
func (e editor) revise(ctx context.Context, c *tool.Call, held *workspace.Held, edits []editInput) (draft, []landedMatch, error) {
	file, err := e.original(c, held, edits[0])
	if err != nil {
		return draft{}, nil, err
	}
	var matches []landedMatch
	now := file
	for i, in := range edits {
		if ctx.Err() != nil {
			return draft{}, nil, context.Cause(ctx)
		}
		next, m, err := e.replaceOnce(c, held, now, in)
		if err != nil {
			return draft{}, nil, numbered(err, i, len(edits))
		}
		now, matches = next, append(matches, m)
	}
	if held.Exists() && string(now.Bytes()) == string(held.Data) {
		return draft{}, nil, tool.Fail("no-change", "The edit would change nothing: what it would write is what stands in %s.", held.Path)
	}
	change := workspace.Change{Held: held, Data: now.Bytes(), Encoding: now.Encoding().String()}
	return revised(change, file.Raw(), now.Raw()), matches, nil
}

// original is the text that edits begin with. An edit of nothing makes a new
// file and never replaces one.
func (e editor) original(c *tool.Call, held *workspace.Held, first editInput) (*charset.Text, error) {
	switch {
	case !held.Exists() && first.OldString == "":
		return charset.Decode(nil)
	case !held.Exists():
		return nil, tool.Fail("not-found", "File %s not found", held.Path)
	case first.OldString == "":
		return nil, oldEmpty()
	}
	if err := e.check(c, held); err != nil {
		return nil, err
	}
	return e.decode(c, held)
}

func oldEmpty() error {
	return tool.Fail("old-empty", "oldString cannot be empty when editing an existing file. "+
		"Provide the exact text to replace, or use write for an intentional full-file replacement.")
}

// maxPlaces is how many places one edit may replace.
const maxPlaces = 1_000_000

// replaceOnce makes one edit.
func (e editor) replaceOnce(c *tool.Call, held *workspace.Held, file *charset.Text, in editInput) (*charset.Text, landedMatch, error) {
	content := file.String()
	if in.OldString == "" { // in an empty text it stands for all of it
		if content != "" {
			return nil, landedMatch{}, oldEmpty()
		}
		data, err := file.Encode(in.NewString)
		if err != nil {
			return nil, landedMatch{}, notEncodable(held.Path, err)
		}
		next, err := charset.DecodeAs(append(file.Mark(), data...), file.Encoding())
		return next, landedMatch{Exact: true, Lines: []int{1, 1}, Places: 1}, err
	}
	if in.ReplaceAll && strings.Count(content, charset.Normalise(in.OldString)) > maxPlaces {
		return nil, landedMatch{}, tool.Fail("too-large", "oldString occurs more than %d times in %s. Replace less at a time.", maxPlaces, held.Path)
	}
	m, err := replace.Find(content, charset.Normalise(in.OldString), replace.Options{All: in.ReplaceAll, Profile: e.matching})
	if err != nil {
		return nil, landedMatch{}, e.missed(c, held, in, err)
	}
	grown := len(content) + len(m.Spans)*len(in.NewString)
	for _, s := range m.Spans {
		grown -= s.End - s.Start
	}
	if grown > workspace.MaxEdit {
		return nil, landedMatch{}, tool.Fail("too-large", "The edit would make %s larger than %d MiB.", held.Path, workspace.MaxEdit>>20)
	}
	edits := make([]text.Edit, len(m.Spans))
	for i, s := range m.Spans {
		edits[i] = text.Edit{Start: s.Start, End: s.End, New: charset.Normalise(in.NewString)}
	}
	data, err := file.Splice(edits)
	if err != nil {
		return nil, landedMatch{}, notEncodable(held.Path, err)
	}
	next, err := charset.DecodeAs(data, file.Encoding())
	if err != nil {
		return nil, landedMatch{}, notEncodable(held.Path, err)
	}
	first := m.Spans[0]
	line := 1 + strings.Count(content[:first.Start], "\n")
	last := line + strings.Count(strings.TrimSuffix(content[first.Start:first.End], "\n"), "\n")
	return next, landedMatch{Exact: m.Exact, Strategy: m.Strategy, Similarity: m.Similarity, Lines: []int{line, last}, Places: len(m.Spans)}, nil
}

// missed words a text that was not found, or found more than once. What
// stands in the file is shown only to who may read it.
func (e editor) missed(c *tool.Call, held *workspace.Held, in editInput, err error) error {
	code, help := "context-not-found", ""
	if many, ok := errors.AsType[*replace.Many](err); ok {
		code, help = "ambiguous", many.Help()
	}
	if large, ok := errors.AsType[*replace.Oversized](err); ok {
		help = large.Help()
	}
	if miss, ok := errors.AsType[*replace.Missing](err); ok && e.files.MayRead(c, held.Path) {
		help = miss.Explain(charset.Normalise(in.NewString))
	}
	fail := tool.Fail(code, "%w", err)
	switch {
	case help == "":
	case e.matching == replace.Seed: // the reference's words, and ours apart
		fail.Hint = help
	default:
		fail.Err = fmt.Errorf("%w\n\n%s", err, help)
	}
	return fail
}

// numbered says which of several edits failed.
func numbered(err error, i, n int) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || n == 1 {
		return err
	}
	e.Err = fmt.Errorf("edit %d of %d: %w", i+1, n, e.Err)
	return e
}

// unlessPatches offers a tool to models that change files by edits. The
// others get apply_patch instead.
func unlessPatches(doc string) func(tool.Audience) (string, bool) {
	return func(a tool.Audience) (string, bool) { return doc, a.Model == "" || !patches(a.Model) }
}

// patches reports whether a model was trained to write patches.
func patches(model string) bool {
	has := func(s string) bool { return strings.Contains(model, s) }
	return has("gpt-") && !slices.ContainsFunc([]string{"oss", "gpt-4"}, has)
}
