package diff

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// wrap puts lines between the marks.
func wrap(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

func TestParse(t *testing.T) {
	added := []Hunk{{Kind: Add, Path: "n.txt", Content: "one", Line: 2}}
	changed := func(line int) []Hunk {
		return []Hunk{{Kind: Update, Path: "a.txt", Line: line, Chunks: []Chunk{
			{Line: line + 1, Lines: []Line{{'-', "x"}, {'+', "y"}}},
		}}}
	}
	for _, tt := range []struct {
		name, in string
		want     []Hunk
	}{
		{"add", wrap("*** Add File: n.txt", "+one"), added},
		{"add lines that end in a carriage return", "*** Begin Patch\n*** Add File: n.txt\r\n+one\r\n+two\r\n*** End Patch", []Hunk{{Kind: Add, Path: "n.txt", Content: "one\r\ntwo\r", Line: 2}}},
		{"add lines", wrap("*** Add File: n.txt", "+a", "+", "+ b", "++"), []Hunk{{Kind: Add, Path: "n.txt", Content: "a\n\n b\n+", Line: 2}}},
		{"add nothing", wrap("*** Add File: n.txt"), []Hunk{{Kind: Add, Path: "n.txt", Line: 2}}},
		{"add, then blank lines", wrap("*** Add File: n.txt", "+one", "", " "), added},
		{"add, then end of file", wrap("*** Add File: n.txt", "+one", "*** End of File"), added},
		{"delete", wrap("*** Delete File: old.txt"), []Hunk{{Kind: Delete, Path: "old.txt", Line: 2}}},
		{"path with a colon", wrap("*** Delete File:  C:\\a:b.txt "), []Hunk{{Kind: Delete, Path: `C:\a:b.txt`, Line: 2}}},
		{"update", wrap("*** Update File: a.txt", "@@", "-x", "+y"), changed(2)},
		{"update without @@", wrap("*** Update File: a.txt", "-x", "+y"), changed(2)},
		{"blank line before @@", wrap("", "*** Update File: a.txt", "@@", "-x", "+y", "", ""), changed(3)},
		{"carriage returns", strings.ReplaceAll(wrap("*** Update File: a.txt", "@@", "-x", "+y"), "\n", "\r\n"), changed(2)},
		{"here-document", "cat <<'EOF'\n" + wrap("*** Update File: a.txt", "@@", "-x", "+y") + "\nEOF", changed(3)},
		{"code fence", "```diff\n" + wrap("*** Update File: a.txt", "@@", "-x", "+y") + "\n```\n", changed(3)},
		{"prose", "Here:\n\n" + wrap("*** Update File: a.txt", "@@", "-x", "+y") + "\n- done\n", changed(4)},
		{"padded marks", " *** Begin Patch \n*** Update File: a.txt \n@@ \n-x\n+y\n\t*** End Patch \n", changed(2)},
		{"padded headers", wrap(" *** Add File: n.txt ", "+one", "  *** Update File: a.txt\t", "@@", "-x", "+y", "*** Delete File: old.txt", "\t*** Delete File: b "), []Hunk{
			{Kind: Add, Path: "n.txt", Content: "one", Line: 2}, {Kind: Update, Path: "a.txt", Line: 4, Chunks: changed(4)[0].Chunks},
			{Kind: Delete, Path: "old.txt", Line: 8}, {Kind: Delete, Path: "b", Line: 9},
		}},
		{"a header within an update is a line that is kept", wrap("*** Update File: a.txt", "@@", " *** Delete File: b", "-x", "+y"), []Hunk{{Kind: Update, Path: "a.txt", Line: 2, Chunks: []Chunk{
			{Line: 3, Lines: []Line{{' ', "*** Delete File: b"}, {'-', "x"}, {'+', "y"}}},
		}}}},
		{"indented marks", "  *** Begin Patch\n*** Add File: n.txt\n+one\n  *** End Patch", added},
		{"indented patch", "   *** Begin Patch\n   *** Add File: n.txt\n   +one\n   *** End Patch", added},
		{"move", wrap("*** Update File: a", "*** Move to: b c"), []Hunk{{Kind: Update, Path: "a", MoveTo: "b c", Line: 2}}},
		{"chunks", wrap("*** Update File: a", "@@ fn b ", " x", "", "-y", "*** End of File", "", "@@  c", "@@", "+z", "", "@@"), []Hunk{{
			Kind: Update, Path: "a", Line: 2, Chunks: []Chunk{
				{Context: "fn b", EndOfFile: true, Line: 3, Lines: []Line{{' ', "x"}, {' ', ""}, {'-', "y"}}},
				{Context: "c", Line: 9},
				{Line: 10, Lines: []Line{{'+', "z"}}},
				{Line: 13},
			},
		}}},
		{"a file twice", wrap("*** Delete File: a", "*** Delete File: a"), []Hunk{{Kind: Delete, Path: "a", Line: 2}, {Kind: Delete, Path: "a", Line: 3}}},
		{"marks as content", wrap("*** Update File: a", "@@", " *** End Patch", "-*** Begin Patch", "+*** End of File", " @@"), []Hunk{{
			Kind: Update, Path: "a", Line: 2, Chunks: []Chunk{
				{Line: 3, Lines: []Line{{' ', "*** End Patch"}, {'-', "*** Begin Patch"}, {'+', "*** End of File"}, {' ', "@@"}}},
			},
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, p.Hunks); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		name, in, code string
		line           int
		msg            string // a part of it
	}{
		{"nothing", "", "patch-empty", 0, "patchText is required"},
		{"no marks", "invalid patch", "patch-markers", 0, "Invalid patch format: missing Begin/End markers"},
		{"end first", "*** End Patch\n" + wrap("*** Delete File: a"), "patch-markers", 0, "Invalid patch format"},
		{"bare", "\r\n*** Begin Patch\r\n\r\n*** End Patch\r\n", "patch-empty", 0, "patch rejected: empty patch"},
		{"bare with prose", "x\n*** Begin Patch\n*** End Patch", "patch-empty", 0, "no hunks found"},
		{"unknown header", wrap("*** Frobnicate File: foo"), "patch-header", 2, "*** Update File:"},
		{"unknown header in an update", wrap("*** Update File: a", "@@", "-x", "*** Frob"), "patch-header", 5, "unknown header"},
		{"second begin", wrap("*** Begin Patch"), "patch-header", 2, ""},
		{"no path", wrap("*** Add File: ", "+x"), "patch-header", 2, "no path"},
		{"late move", wrap("*** Update File: a", "@@", "-x", "*** Move to: b"), "patch-header", 5, "the line after"},
		{"move of an add", wrap("*** Add File: a", "+x", "*** Move to: b"), "patch-header", 4, ""},
		{"end of no chunk", wrap("*** Update File: a", "*** End of File"), "patch-header", 3, "no chunk"},
		{"end of file twice", wrap("*** Update File: a", "-x", "*** End of File", "*** End of File"), "patch-header", 5, ""},
		{"no header", wrap("@@", "-x"), "patch-unknown-line", 2, ""},
		{"blank line in an add", wrap("*** Add File: a", "+x", "", "+y"), "patch-unknown-line", 4, "also an empty one"},
		{"context in an add", wrap("*** Add File: a", " x"), "patch-unknown-line", 3, `" x"`},
		{"line after the end of the file", wrap("*** Update File: a", "-x", "*** End of File", "+y"), "patch-unknown-line", 5, "expected @@"},
		{"tab", wrap("*** Update File: a", "@@", "\tx", "+y"), "patch-unknown-line", 4, "a space"},
		{"empty chunk", wrap("*** Update File: a", "@@"), "patch-empty-hunk", 3, "changes nothing"},
		{"context only", wrap("*** Update File: a", "@@ f", " x"), "patch-empty-hunk", 3, ""},
		{"no chunk, then another file", wrap("*** Update File: a", "*** Delete File: b"), "patch-empty-hunk", 2, ""},
		{"two patches", wrap("*** Delete File: a") + "\n" + wrap("*** Delete File: b"), "patch-trailing", 4, ""},
		{"lines after the end", wrap("*** Update File: a", "-x") + "\n@@\n-y", "patch-trailing", 5, ""},
		{"end in between", wrap("*** Update File: a", "-x", "*** End Patch", "+y"), "patch-trailing", 6, ""},
		{"header before", "*** Delete File: b\n" + wrap("*** Delete File: a"), "patch-markers", 1, "before"},
		{"long line", wrap(strings.Repeat("é", 5000)), "patch-unknown-line", 2, strings.Repeat("é", 60) + `"...`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.in)
			var got *SyntaxError
			if !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			if got.Code != tt.code || got.Line != tt.line || !strings.Contains(got.Msg, tt.msg) {
				t.Errorf("got %+v, want %s, line %d, %q", got, tt.code, tt.line, tt.msg)
			}
			if want := fmt.Sprintf("line %d: ", tt.line); tt.line > 0 && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q does not begin with %q", err, want)
			}
		})
	}
}

// write writes hunks as a patch. Its lines end in carriage returns, one of
// which is taken off each line: so a line may end in one. Those of a new file
// are kept.
func write(p Patch) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\r\n")
	for _, h := range p.Hunks {
		b.WriteString([...]string{addMark, delMark, updMark}[h.Kind] + " " + h.Path + "\r\n")
		if h.MoveTo != "" {
			b.WriteString(moveMark + " " + h.MoveTo + "\r\n")
		}
		if h.Content != "" {
			b.WriteString("+" + strings.ReplaceAll(h.Content, "\n", "\n+") + "\n")
		}
		for _, c := range h.Chunks {
			b.WriteString("@@ " + c.Context + "\r\n")
			for _, l := range c.Lines {
				b.WriteString(string(l.Kind) + l.Text + "\r\n")
			}
			if c.EndOfFile {
				b.WriteString(eofMark + "\r\n")
			}
		}
	}
	b.WriteString("*** End Patch")
	return b.String()
}

func FuzzParse(f *testing.F) {
	f.Add(wrap("*** Add File: n.txt", "+one", "+two"))
	f.Add("<<'EOF'\n" + wrap("*** Update File: a", "*** Move to: b", "@@ f", " x", "", "-y", "+z", "*** End of File", "@@", "+q") + "\nEOF")
	f.Add("  *** Begin Patch\n  *** Delete File: x\r\n  *** End Patch\nthanks")
	f.Fuzz(func(t *testing.T, in string) {
		p, err := Parse(in)
		var syntax *SyntaxError
		if err != nil {
			if !errors.As(err, &syntax) || syntax.Code == "" || syntax.Msg == "" || syntax.Line < 0 || syntax.Line > strings.Count(in, "\n")+1 {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		if len(p.Hunks) == 0 {
			t.Fatal("a patch without hunks")
		}
		again, err := Parse(write(p))
		if err != nil {
			t.Fatalf("%v\n%s", err, write(p))
		}
		noLine := cmpopts.IgnoreFields(Hunk{}, "Line")
		if d := cmp.Diff(p, again, noLine, cmpopts.IgnoreFields(Chunk{}, "Line")); d != "" {
			t.Fatal(d)
		}
	})
}
