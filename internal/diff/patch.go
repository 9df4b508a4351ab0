package diff

import (
	"fmt"
)

// What follows reads patches in the form that starts with *** Begin Patch,
// and tells which spans of a file a patch changes.
//
// It is generous about what stands around a patch and about small slips in the
// lines a patch quotes, and strict about all else: a line that has no meaning
// is an error that names it, and nothing is ever skipped.

// A Patch is a list of changes of files, in the order in which they were written.
type Patch struct {
	Hunks []Hunk
}

// Kind is the kind of a hunk.
type Kind int

// The kinds of hunks.
const (
	Add    Kind = iota // makes a file
	Delete             // removes a file
	Update             // changes a file's lines, or moves it, or both
)

// A Hunk is a change of one file. A file may have several; each applies to the result of the one
// before.
type Hunk struct {
	Kind    Kind
	Path    string  // as written
	MoveTo  string  // Update: the new path, as written; empty to stay
	Content string  // Add: the lines joined, with no newline at the end
	Chunks  []Chunk // Update: the changes; may be empty if MoveTo is not
	Line    int     // of the header in the text, from 1
}

// A Chunk is a change of neighbouring lines.
type Chunk struct {
	Context   string // a line after which to look; empty for none
	Lines     []Line // in order; may be empty, to narrow the place by Context
	EndOfFile bool   // the lines are the last ones of the file
	Line      int    // where the chunk begins in the text, from 1
}

// A Line of a chunk is kept (' '), removed ('-') or added ('+').
type Line struct {
	Kind byte
	Text string
}

// A SyntaxError says why a text is not a patch.
type SyntaxError struct {
	Code string // patch-empty, patch-markers, patch-header, patch-empty-hunk, patch-unknown-line or patch-trailing
	Line int    // the line it is about, from 1; 0 if about none
	Msg  string
}

// Error names the line, if there is one, and what was expected there.
func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
}
