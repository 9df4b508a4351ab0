package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/charset"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/replace"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

//go:embed edit.md
var editDoc string

type editInput struct {
	FilePath   string `json:"filePath" jsonschema:"the file to change"`
	OldString  string `json:"oldString" jsonschema:"the text to replace"`
	NewString  string `json:"newString" jsonschema:"what takes its place; must differ"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence"`
}

// edit replaces text in a file.
func edit(e editor) tool.Tool {
	spec := tool.Spec{Name: "edit", Description: editDoc, Permission: "edit", Destructive: true, Offer: unlessPatches(editDoc)}
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in editInput) (*tool.Result, error) {
		if err := in.check(); err != nil {
			return nil, err
		}
		return asking(ctx, c, func(asks *permission.Batch) (*tool.Result, error) {
			held, claim, err := e.claimFile(ctx, c, asks, in.FilePath)
			if err != nil {
				return nil, editing(held, err)
			}
			defer claim.Release()
			d, matches, err := e.revise(ctx, c, held, []editInput{in})
			if err != nil {
				return nil, err
			}
			d, notes, err := e.apply(ctx, c, asks, claim, d)
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

// editing returns the error for a file that cannot be edited, in OpenCode's words.
func editing(held *files.Held, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Code == "is-a-directory" {
		return tool.Fail(e.Code, "Path is a directory, not a file: %s", held.Path)
	}
	return err
}

// A matchReport says where an edit found its text, and how.
type matchReport struct {
	Exact      bool     `json:"exact"`
	Strategy   string   `json:"strategy"`
	Similarity float64  `json:"similarity"`
	Lines      []int    `json:"lines"` // first and last line that were replaced, of the first place
	Places     int      `json:"places"`
	All        [][2]int `json:"all,omitempty"`    // the lines of every place, where there are several; not more than maxTold
	Fitted     bool     `json:"fitted,omitempty"` // the new text was indented, and ended, as the file is

	endings bool // nothing but line endings was changed
}

// maxTold limits how many places are listed.
const maxTold = 100

func (m matchReport) sentence() string {
	all := m.All
	if all == nil {
		all = [][2]int{{m.Lines[0], m.Lines[1]}}
	}
	where := make([]string, len(all))
	for i, lines := range all {
		where[i] = fmt.Sprintf("line %d", lines[0])
		if lines[1] > lines[0] {
			where[i] = fmt.Sprintf("lines %d-%d", lines[0], lines[1])
		}
	}
	if more := m.Places - len(all); more > 0 {
		where = append(where, fmt.Sprintf("%d more places", more))
	}
	at := where[len(where)-1]
	if len(where) > 1 {
		at = strings.Join(where[:len(where)-1], ", ") + " and " + at
	}
	fitted := ""
	if m.Fitted {
		fitted = " newString was indented, and its last line ended, as the file is there."
	}
	return fmt.Sprintf("oldString did not match exactly: it was found at %s by %s (%s).%s Check that this is what you meant.", at, m.describeStrategy(), m.Strategy, fitted)
}

// describeStrategy says what a strategy ignores.
func (m matchReport) describeStrategy() string {
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

// revise makes the edits one after the other, in memory, and returns the change with its diff.
func (e editor) revise(ctx context.Context, c *tool.Call, held *files.Held, edits []editInput) (pendingChange, []matchReport, error) {
	file, err := e.original(c, held, edits[0])
	if err != nil {
		return pendingChange{}, nil, err
	}
	var matches []matchReport
	now := file
	for i, in := range edits {
		if ctx.Err() != nil {
			return pendingChange{}, nil, context.Cause(ctx)
		}
		next, m, err := e.replaceOnce(c, held, now, in)
		if err != nil {
			return pendingChange{}, nil, numbered(err, i, len(edits))
		}
		now, matches = next, append(matches, m)
	}
	if held.Exists() && string(now.Bytes()) == string(held.Data) {
		return pendingChange{}, nil, tool.Fail("no-change", "The edit would change nothing: what it would write is what stands in %s.", held.Path)
	}
	change := files.Change{Held: held, Data: now.Bytes(), Encoding: now.Encoding().String()}
	if slices.ContainsFunc(matches, func(m matchReport) bool { return m.endings }) {
		return newPendingChange(change, file.Raw(), now.Raw()), matches, nil
	}
	return revised(change, file.Raw(), now.Raw()), matches, nil
}

// original returns the text before the edits. An edit with an empty old text creates a file and
// never replaces one.
func (e editor) original(c *tool.Call, held *files.Held, first editInput) (*charset.Text, error) {
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

// maxPlaces limits how many places one edit may replace.
const maxPlaces = 1_000_000

// replaceOnce makes one edit.
func (e editor) replaceOnce(c *tool.Call, held *files.Held, file *charset.Text, in editInput) (*charset.Text, matchReport, error) {
	content := file.String()
	if in.OldString == "" { // in an empty text it stands for all of it
		if content != "" {
			return nil, matchReport{}, oldEmpty()
		}
		data, err := file.Encode(in.NewString)
		if err != nil {
			return nil, matchReport{}, notEncodable(held.Path, err)
		}
		next, err := charset.DecodeAs(append(file.Mark(), data...), file.Encoding())
		return next, matchReport{Exact: true, Lines: []int{1, 1}, Places: 1}, err
	}
	if err := in.wholeEndings(file.Raw()); err != nil {
		return nil, matchReport{}, e.missed(c, held, in, err)
	}
	if in.onlyEndings() {
		if next, m, err := e.replaceEndings(c, held, file, in); next != nil || err != nil {
			return next, m, err
		}
	}
	old, fresh := charset.Normalise(in.OldString), charset.Normalise(in.NewString)
	if in.ReplaceAll && strings.Count(content, old) > maxPlaces {
		return nil, matchReport{}, tooMany(held)
	}
	m, err := replace.Find(content, old, replace.Options{All: in.ReplaceAll, Profile: e.matching})
	if err != nil {
		return nil, matchReport{}, e.missed(c, held, in, err)
	}
	grown := len(content) + len(m.Spans)*len(in.NewString)
	for _, s := range m.Spans {
		grown -= s.End - s.Start
	}
	if grown > files.MaxEdit {
		return nil, matchReport{}, tool.Fail("too-large", "The edit would make %s larger than %d MiB.", held.Path, files.MaxEdit>>20)
	}
	edits, err := m.Edits(fresh)
	if err != nil {
		return nil, matchReport{}, e.missed(c, held, in, err)
	}
	data, err := file.Splice(edits)
	if err != nil {
		return nil, matchReport{}, notEncodable(held.Path, err)
	}
	next, err := charset.DecodeAs(data, file.Encoding())
	if err != nil {
		return nil, matchReport{}, notEncodable(held.Path, err)
	}
	landed := reportMatch(content, m)
	landed.Fitted = slices.ContainsFunc(edits, func(e text.Edit) bool { return e.New != fresh })
	return next, landed, nil
}

func tooMany(held *files.Held) error {
	return tool.Fail("too-large", "oldString occurs more than %d times in %s. Replace less at a time.", maxPlaces, held.Path)
}

// wholeEndings completes a line ending that an edit quotes only in part, and removes one that the
// file does not have: a lone carriage return is a line ending only in a file whose lines end with
// it.
func (in *editInput) wholeEndings(raw string) error {
	switch {
	case !strings.HasSuffix(in.OldString, "\r"):
	case strings.Contains(raw, in.OldString+"\n"):
		in.OldString, in.NewString = in.OldString+"\n", in.NewString+"\n"
	case !strings.Contains(raw, in.OldString):
		in.OldString, in.NewString = strings.TrimRight(in.OldString, "\r"), strings.TrimRight(in.NewString, "\r")
		if strings.TrimSpace(in.OldString) == "" {
			return &replace.Missing{}
		}
	}
	return nil
}

// onlyEndings reports whether an edit changes only line endings.
func (in editInput) onlyEndings() bool {
	without := func(s string) string { return strings.ReplaceAll(s, "\r", "") }
	return charset.Normalise(in.OldString) == charset.Normalise(in.NewString) || without(in.OldString) == without(in.NewString)
}

// replaceEndings makes an edit that changes only line endings, to those of the new text. The match
// must be exact, because a loose one would change blanks instead. It returns nothing for an edit of
// lone carriage returns that the file does not have.
func (e editor) replaceEndings(c *tool.Call, held *files.Held, file *charset.Text, in editInput) (*charset.Text, matchReport, error) {
	content, raw := file.String(), file.Raw()
	old, asText := in.OldString, false
	if !strings.Contains(raw, old) {
		old, asText = charset.Normalise(old), charset.Normalise(old) == charset.Normalise(in.NewString)
		if !asText {
			return nil, matchReport{}, nil
		}
	} else {
		content = raw
	}
	if in.ReplaceAll && strings.Count(content, old) > maxPlaces {
		return nil, matchReport{}, tooMany(held)
	}
	m, err := replace.Find(content, old, replace.Options{All: in.ReplaceAll, Profile: e.matching})
	if err != nil {
		return nil, matchReport{}, e.missed(c, held, in, err)
	}
	if !m.Exact {
		return nil, matchReport{}, tool.Fail("context-not-found",
			"oldString and newString differ in nothing but line endings, and oldString does not stand in %s as it was quoted. Quote the text exactly as it is.", held.Path)
	}
	var edits []text.Edit
	at, n := 0, 0 // in raw, and in the text
	place := func(offset int) int {
		if !asText {
			return offset
		}
		for ; n < offset; n++ {
			if strings.HasPrefix(raw[at:], "\r\n") {
				at++
			}
			at++
		}
		return at
	}
	for _, s := range m.Spans {
		if !asText && s.Start > 0 && raw[s.Start-1:s.Start+1] == "\r\n" {
			continue // half of a line ending
		}
		edits = append(edits, text.Edit{Start: place(s.Start), End: place(s.End), New: in.NewString})
	}
	same, err := file.Encode(raw)
	if err != nil || string(file.Mark())+string(same) != string(file.Bytes()) {
		return nil, matchReport{}, tool.Fail("encoding", "Cannot change line endings in %s: text in %s can not be edited in place.", held.Path, file.Encoding())
	}
	data, err := file.Encode(text.Apply(raw, edits))
	if err != nil {
		return nil, matchReport{}, notEncodable(held.Path, err)
	}
	next, err := charset.DecodeAs(append(file.Mark(), data...), file.Encoding())
	if err != nil {
		return nil, matchReport{}, notEncodable(held.Path, err)
	}
	landed := reportMatch(content, m)
	landed.endings = true
	return next, landed, nil
}

// reportMatch returns where a match is.
func reportMatch(content string, m replace.Match) matchReport {
	landed := matchReport{Exact: m.Exact, Strategy: m.Strategy, Similarity: m.Similarity, Places: len(m.Spans)}
	line, at := 1, 0
	for _, s := range m.Spans[:min(len(m.Spans), maxTold)] {
		line += strings.Count(content[at:s.Start], "\n")
		at = s.Start
		landed.All = append(landed.All, [2]int{line, line + strings.Count(strings.TrimSuffix(content[s.Start:s.End], "\n"), "\n")})
	}
	landed.Lines = landed.All[0][:]
	if len(m.Spans) == 1 {
		landed.All = nil
	}
	return landed
}

// missed is the error for a text that was not found, or was found more than once. It shows the
// file's text only to callers who may read it.
func (e editor) missed(c *tool.Call, held *files.Held, in editInput, err error) error {
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
	case e.matching == replace.Seed: // OpenCode's words, and ours apart
		fail.Hint = help
	default:
		fail.Err = fmt.Errorf("%w\n\n%s", err, help)
	}
	return fail
}

// numbered adds which of several edits failed.
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
