package lspclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/lsp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

var (
	errOverlap = errors.New("the edits overlap")
	errSnippet = errors.New("it is a snippet, with places to fill in")
	errTooMany = errors.New("it is too large")
)

// The limits of one change.
const (
	maxFileEdits = 10_000
	maxTextEdits = 1_000_000
)

// A textEdit puts a new text in place of a range.
type textEdit struct {
	Range   lsp.Range `json:"range"`
	NewText string    `json:"newText"`
}

// An EditKind says what to do with a file.
type EditKind string

// What a server wants done with a file.
const (
	EditText   EditKind = "edit"
	EditCreate EditKind = "create"
	EditRename EditKind = "rename"
	EditDelete EditKind = "delete"
)

// A FileEdit is one step of a change that a server proposes. The steps apply in order; nothing is
// applied automatically.
type FileEdit struct {
	Kind EditKind
	Path string
	To   string // where a file is renamed to
	// Version is the version of the text that the edits apply to; nil if the server does not say.
	Version *int
	// Overwrite is for create and rename and wins over IgnoreIfExists.
	// IgnoreIfNotExists and Recursive are for delete.
	Overwrite, IgnoreIfExists, IgnoreIfNotExists, Recursive bool

	edits    []textEdit
	encoding counting
}

// Apply makes the text after the edit from the one before it. Creating,
// renaming and deleting leave a text as it is.
func (f FileEdit) Apply(text string) (string, error) {
	if len(f.edits) == 0 {
		return text, nil
	}
	after, err := applyEdits(text, f.edits, f.encoding)
	if err != nil {
		return "", fmt.Errorf("edit %s: %w", f.Path, err)
	}
	return after, nil
}

// A splice is an edit with its place in bytes.
type splice struct {
	start, end int
	text       string
}

// applyEdits applies all edits at once: each refers to the original text. Insertions at one
// position keep their order, and come before a replacement there. Overlapping edits are an error.
func applyEdits(text string, edits []textEdit, e counting) (string, error) {
	l := newLines(text)
	splices := make([]splice, len(edits))
	size := len(text)
	for i, edit := range edits {
		s := splice{l.offset(edit.Range.Start, e), l.offset(edit.Range.End, e), edit.NewText}
		if comparePositions(edit.Range.Start, edit.Range.End) > 0 {
			return "", fmt.Errorf("the range %s ends before it begins", spelled(edit.Range))
		}
		size += len(s.text) - (s.end - s.start)
		splices[i] = s
	}
	slices.SortStableFunc(splices, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	var b strings.Builder
	b.Grow(max(size, 0))
	done := 0
	for _, s := range splices {
		if s.start < done {
			at := l.positionAt(s.start, utf16Units)
			return "", fmt.Errorf("%w in line %d", errOverlap, at.Line+1)
		}
		b.WriteString(text[done:s.start])
		b.WriteString(s.text)
		done = s.end
	}
	b.WriteString(text[done:])
	return b.String(), nil
}

func comparePositions(a, b lsp.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Character, b.Character))
}

// spelled formats a range, counted from 1.
func spelled(r lsp.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line+1, r.Start.Character+1, r.End.Line+1, r.End.Character+1)
}

// minimalChange is what has to be put in place of which range of before to get
// after: all that is between what both begin and end with, by whole characters.
func minimalChange(before, after string, e counting) (lsp.Range, string) {
	start := commonPrefix(before, after)
	for !wholeLines(before, start) || !wholeLines(after, start) {
		start--
	}
	tail := commonSuffix(before[start:], after[start:])
	for !wholeLines(before, len(before)-tail) || !wholeLines(after, len(after)-tail) {
		tail--
	}
	l := newLines(before)
	where := lsp.Range{Start: l.positionAt(start, e), End: l.positionAt(len(before)-tail, e)}
	return where, after[start : len(after)-tail]
}

// stride is how many bytes are compared at once.
const stride = 64

func commonPrefix(a, b string) int {
	n, limit := 0, min(len(a), len(b))
	for n+stride <= limit && a[n:n+stride] == b[n:n+stride] {
		n += stride
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n, limit := 0, min(len(a), len(b))
	for n+stride <= limit && a[len(a)-n-stride:len(a)-n] == b[len(b)-n-stride:len(b)-n] {
		n += stride
	}
	for n < limit && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// parseWorkspaceEdit decodes a change of several files. All edits of one file are one step, as they
// all refer to the original text, unless the file is created, renamed or deleted in between. If a
// part is not understood, the whole change is refused.
func parseWorkspaceEdit(raw json.RawMessage, e counting) ([]FileEdit, error) {
	var parts struct {
		Changes         json.RawMessage `json:"changes"`
		DocumentChanges json.RawMessage `json:"documentChanges"`
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, fmt.Errorf("workspace edit: %w", err)
	}
	p := proposal{encoding: e, open: map[string]joint{}, touched: map[string]int{}}
	err := eachIn(parts.DocumentChanges, '[', func(_ string, d *json.Decoder) error {
		var c wireChange
		if err := d.Decode(&c); err != nil {
			return err
		}
		return p.add(c)
	})
	if err == nil && p.seen == 0 { // a server may send both for old clients
		err = eachIn(parts.Changes, '{', func(uri string, d *json.Decoder) error {
			var edits wireEdits
			if err := d.Decode(&edits); err != nil {
				return err
			}
			return p.add(wireChange{TextDocument: &wireDocument{URI: uri}, Edits: edits})
		})
	}
	if err != nil {
		return nil, fmt.Errorf("workspace edit: %w", err)
	}
	return p.steps, nil
}

// eachIn calls do before each value of a JSON array or object, with its key.
// Nothing is kept, so that many small values cost no memory. null has none.
func eachIn(raw json.RawMessage, open json.Delim, do func(key string, d *json.Decoder) error) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != open {
		return fmt.Errorf("there is no %q where one belongs", open.String())
	}
	for d.More() {
		key := ""
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return err
			}
			key, _ = t.(string)
		}
		if err := do(key, d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// A wireChange is one of documentChanges: edits of a document, or what else is
// done with a file.
type wireChange struct {
	Kind         string        `json:"kind"`
	URI          string        `json:"uri"`
	OldURI       string        `json:"oldUri"`
	NewURI       string        `json:"newUri"`
	TextDocument *wireDocument `json:"textDocument"`
	Edits        wireEdits     `json:"edits"`
	Options      struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
		Recursive         bool `json:"recursive"`
	} `json:"options"`
}

type wireDocument struct {
	URI     string `json:"uri"`
	Version *int   `json:"version"`
}

// wireEdits are the edits of a document, checked while they are read.
type wireEdits []textEdit

func (w *wireEdits) UnmarshalJSON(raw []byte) error {
	*w = nil
	return eachIn(raw, '[', func(_ string, d *json.Decoder) error {
		if len(*w) == maxTextEdits {
			return fmt.Errorf("%w: more than %d edits", errTooMany, maxTextEdits)
		}
		var one wireEdit
		if err := d.Decode(&one); err != nil {
			return err
		}
		edit, err := one.edit()
		if err != nil {
			return fmt.Errorf("edit %d: %w", len(*w)+1, err)
		}
		*w = append(*w, edit)
		return nil
	})
}

// A wireEdit has the fields of edits in all versions of the protocol. Annotations are ignored:
// applying the edit needs permission anyway.
type wireEdit struct {
	Range struct {
		Start, End struct{ Line, Character json.Number }
	} `json:"range"`
	NewText          *string         `json:"newText"`
	InsertTextFormat int             `json:"insertTextFormat"`
	Snippet          json.RawMessage `json:"snippet"`
}

func (w wireEdit) edit() (textEdit, error) {
	if w.InsertTextFormat == 2 || w.Snippet != nil {
		return textEdit{}, errSnippet
	}
	if w.NewText == nil {
		return textEdit{}, errors.New("it has no text")
	}
	edit := textEdit{NewText: *w.NewText}
	start, end := w.Range.Start, w.Range.End
	for _, c := range []struct {
		to   *int
		from json.Number
	}{
		{&edit.Range.Start.Line, start.Line}, {&edit.Range.Start.Character, start.Character},
		{&edit.Range.End.Line, end.Line}, {&edit.Range.End.Character, end.Character},
	} {
		var err error
		if *c.to, err = wireCount(c.from); err != nil {
			return textEdit{}, err
		}
	}
	return edit, nil
}

// wireCount parses a line or a character. Servers use arbitrarily large numbers for the end of a
// file.
func wireCount(number json.Number) (int, error) {
	if n, err := strconv.ParseUint(string(number), 10, 31); err == nil {
		return int(n), nil
	}
	f, err := strconv.ParseFloat(string(number), 64)
	switch {
	case number == "":
		return 0, errors.New("it has no range")
	case err != nil && !errors.Is(err, strconv.ErrRange), f < 0, f != math.Trunc(f):
		return 0, fmt.Errorf("%s is not a line or character", shortened(string(number)))
	}
	return int(min(f, math.MaxInt32)), nil
}

// A proposal is a change while it is read.
type proposal struct {
	encoding counting
	steps    []FileEdit
	seen     int // changes
	edits    int

	// open has the step that further edits of a path join, and touched when a
	// path was last created, renamed or deleted.
	open    map[string]joint
	touched map[string]int
}

// A joint is a step of a proposal by its index, and the change it began with.
type joint struct{ index, since int }

func (p *proposal) add(c wireChange) error {
	p.seen++
	f := FileEdit{
		Kind: EditKind(c.Kind), encoding: p.encoding,
		Overwrite: c.Options.Overwrite, IgnoreIfExists: c.Options.IgnoreIfExists,
		IgnoreIfNotExists: c.Options.IgnoreIfNotExists, Recursive: c.Options.Recursive,
	}
	var err error
	switch f.Kind {
	case "":
		return p.addEdits(c)
	case EditCreate, EditDelete:
		f.Path, err = pathOf(c.URI)
	case EditRename:
		if f.Path, err = pathOf(c.OldURI); err == nil {
			f.To, err = pathOf(c.NewURI)
			p.touched[f.To] = p.seen
		}
	default:
		err = fmt.Errorf("%q is not a known kind of change", shortened(c.Kind))
	}
	if err != nil {
		return err
	}
	p.touched[f.Path] = p.seen
	return p.append(f)
}

func (p *proposal) append(f FileEdit) error {
	if len(p.steps) == maxFileEdits {
		return fmt.Errorf("%w: more than %d files", errTooMany, maxFileEdits)
	}
	p.steps = append(p.steps, f)
	return nil
}

func (p *proposal) addEdits(c wireChange) error {
	if c.TextDocument == nil {
		return errors.New("a change says neither what is done nor to which document")
	}
	path, err := pathOf(c.TextDocument.URI)
	if err != nil || len(c.Edits) == 0 {
		return err
	}
	if p.edits += len(c.Edits); p.edits > maxTextEdits {
		return fmt.Errorf("%w: more than %d edits", errTooMany, maxTextEdits)
	}
	version := c.TextDocument.Version
	if s, ok := p.open[path]; ok && !p.touchedSince(path, s.since) {
		f := &p.steps[s.index]
		if f.Version != nil && version != nil && *f.Version != *version {
			return fmt.Errorf("the edits of %s are for its versions %d and %d", path, *f.Version, *version)
		}
		f.Version = cmp.Or(f.Version, version)
		f.edits = append(f.edits, c.Edits...)
		return nil
	}
	p.open[path] = joint{len(p.steps), p.seen}
	return p.append(FileEdit{Kind: EditText, Path: path, Version: version, edits: c.Edits, encoding: p.encoding})
}

// touchedSince reports whether a file, or a folder above it, was created, renamed or deleted after
// a step.
func (p *proposal) touchedSince(path string, since int) bool {
	if len(p.touched) == 0 {
		return false
	}
	for {
		if p.touched[path] > since {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}
