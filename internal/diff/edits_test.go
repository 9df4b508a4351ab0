package diff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helve-dev/helve/internal/text"
)

// update makes a patch for a file.
func update(lines ...string) string {
	return wrap(append([]string{"*** Update File: f"}, lines...)...)
}

func TestPatchEdits(t *testing.T) {
	for _, tt := range []struct{ name, before, patch, want string }{
		// The cases of the reference's own tests.
		{"AP04", "line1\nline2\n", update("@@", "-line2", "+changed"), "line1\nchanged\n"},
		{"AP06 two chunks", "line1\nline2\nline3\nline4\n", update("@@", "-line2", "+changed2", "@@", "-line4", "+changed4"), "line1\nchanged2\nline3\nchanged4\n"},
		{"AP07 only added", "alpha\nomega\n", update("@@", " alpha", "+beta", " omega"), "alpha\nbeta\nomega\n"},
		{"AP08, PL19 no newline stays", "no newline at end", update("@@", "-no newline at end", "+first line", "+second line"), "first line\nsecond line"},
		{"AP18 end of file", "alpha\nlast\n", update("@@", "-last", "+end", "*** End of File"), "alpha\nend\n"},
		{"AP20 context", "fn a\nx=10\ny=2\nfn b\nx=10\ny=20\n", update("@@ fn b", "-x=10", "+x=11"), "fn a\nx=10\ny=2\nfn b\nx=11\ny=20\n"},
		{"AP21 end of file", "start\nmarker\nmiddle\nmarker\nend\n", update("@@", "-marker", " end", "+x", "*** End of File"), "start\nmarker\nmiddle\nend\nx\n"},
		{"AP24 white space at the end", "line1  \nline2\nline3   \n", update("@@", " line1", "-line2", "+changed", " line3"), "line1  \nchanged\nline3   \n"},
		{"AP25 indentation", "  line1\nline2\n  line3\n", update("@@", " line1", "-line2", "+changed", " line3"), "  line1\nchanged\n  line3\n"},
		{"AP26 typography", "He said “hello”\nsome—dash\nend\n", update("@@", `-He said "hello"`, `+He said "hi"`, " some-dash"), "He said \"hi\"\nsome—dash\nend\n"},
		{"PL12", "line 1\nline 2\nline 3\n", update("@@", " line 1", "-line 2", "+line 2 updated", " line 3"), "line 1\nline 2 updated\nline 3\n"},
		{"PL18 empty file", "", update("@@", "+First line"), "First line\n"},
		{"PL20", "line 1\nline 2\nline 3\nline 4\n", update("@@", " line 1", "-line 2", "+LINE 2", "@@", " line 3", "-line 4", "+LINE 4"), "line 1\nLINE 2\nline 3\nLINE 4\n"},

		{"added at the end", "a\nb\n", update("@@ a", "+x", "+y"), "a\nb\nx\ny\n"},
		{"added at the end, no newline", "a\nb", update("@@", "+x"), "a\nb\nx"},
		{"added twice at the end", "a\nb", update("@@", "+x", "@@", "+y", "@@", "-b", "+B"), "a\nB\nx\ny"},
		{"added after the last line", "a\nb", update("@@", " b", "+x"), "a\nb\nx"},
		{"last line removed, no newline", "a\nb", update("@@", "-b"), "a"},
		{"blank line before the last stays", "a\n\nb", update("@@", "-b"), "a\n"},
		{"both removed, no newline", "a\nb", update("@@", "-a", "@@", "-b"), ""},
		{"all removed", "a\nb\n", update("@@", "-a", "-b"), ""},
		{"all removed, some added", "a\nb", update("@@", "-a", "-b", "@@", "+x"), "x"},
		{"neighbours", "a\nb\nc", update("@@", "-b", "@@", "-c", "+C"), "a\nC"},
		{"newlines only", "\n\n", update("@@", "+x"), "\n\nx\n"},
		{"between lines", "a\nb\nc\n", update("@@", "+0", " a", "-b", "+1", "+2", " c", "+3"), "0\na\n1\n2\nc\n3\n"},
		{"interleaved", "a\nb\nc\n", update("@@", "+1", "-a", "+2", "-b", "+3", " c"), "1\n2\n3\nc\n"},

		{"end of file is preferred", "x\nm\nx\n", update("@@", "-x", "+y", "*** End of File"), "x\nm\ny\n"},
		{"end of file is not demanded", "a\nx\nb\n", update("@@", "-x", "+y", "*** End of File"), "a\ny\nb\n"},
		{"chunks after the end of file mark", "a\nb\n", update("@@", "-a", "+A", "*** End of File", "@@", "-b", "+B"), "A\nB\n"},
		{"strict beats loose", "  x\nx\n", update("@@", "-x", "+y"), "  x\ny\n"},
		{"trailing space beats leading", " x\nx \n", update("@@", "-x", "+y"), " x\ny\n"},
		{"no-break space and dots", "a\u00a0b…\n", update("@@", "-a b...", "+c"), "c\n"},
		{"empty line that is not there", "a\nb\n", update("@@", "-b", "+B", " "), "a\nB\n"},
		{"empty line that is not there, removed", "a\nb\n", update("@@", "-b", "-", "+B", "+"), "a\nB\n"},
		{"line after an empty one that is not there", "a\nb\n", update("@@", " b", " ", "+c"), "a\nb\n\nc\n"},
		{"blank context line", "one\n\ntwo\n", update("@@", " one", "", "-two", "+2"), "one\n\n2\n"},
		{"nested context", "class A\n  def f\n    x\nclass B\n  def f\n    x\n", update("@@ class B", "@@   def f", "-    x", "+    y"), "class A\n  def f\n    x\nclass B\n  def f\n    y\n"},
		{"context is the first line, once more", "fn f\nx\nfn f\nx\n", update("@@ fn f", " fn f", "-x", "+y"), "fn f\nx\nfn f\ny\n"},
		{"context with a tail", "a\nfn f\nx\na\n", update("@@ fn f @@", "-x", "+y"), "a\nfn f\ny\na\n"},
		{"line numbers of a diff", "a\nx\nb\n", update("@@ -2,1 +2,1 @@", "-x", "+y"), "a\ny\nb\n"},
		{"numbers from read", "a\n\nb\nc\n", update("@@", " 00001| a", " 00002| ", "-00003| b", "+00003| B", "+d"), "a\n\nB\nd\nc\n"},
		{"numbers that are text", "00001| a\n", update("@@", "-00001| a", "+00001| b"), "00001| b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after, err := apply(map[string]string{"f": tt.before}, tt.patch)
			if err != nil {
				t.Fatal(err)
			}
			if after["f"] != tt.want {
				t.Errorf("got %q, want %q", after["f"], tt.want)
			}
		})
	}
}

func TestEditsSpans(t *testing.T) {
	p, err := Parse(update("@@", " a", "-b", "+B", " c", "@@", " e", "+x"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := PatchEdits("a  \nb\n\tc\nd\ne\n", "f", p.Hunks[0].Chunks)
	want := []text.Edit{{Start: 4, End: 6, New: "B\n"}, {Start: 13, End: 13, New: "x\n"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestMatchErrors(t *testing.T) {
	for _, tt := range []struct {
		name, before, patch, err, help string // a part of help
		line                           int
	}{
		{"AP16", "line1\nline2\n", update("@@", "-missing", "+changed"), "Failed to find expected lines in f:\nmissing", "read the file again", 3},
		{"AP19 blank line", "a\nb\nc\nd\n", update("@@", "-b", "+B", "", "-d", "+D"), "Failed to find expected lines in f:\nb\n\nd", "lines 2-4:\n00002| b\n00003| c\n00004| d", 3},
		{"context", "alpha\nbeta\n", update("@@ nowhere", "-beta", "+B"), "Failed to find context 'nowhere' in f", "read the file again", 3},
		{"near context", "a\nfunc hello(name string) {\n", update("@@ func helo(name string)", "-beta", "+B"), "Failed to find context 'func helo(name string)' in f", "line 2:\n00002| func hello", 3},
		{"last line differs", "line one\nline two\nline three\n", update("@@", "-line one", "-line two", "-line four", "+x"), "Failed to find expected lines in f:\nline one\nline two\nline four", "lines 1-3:\n00001| line one\n", 3},
		{"order", "a\nb\nc\n", update("@@", "-c", "@@", "-b", "+B"), "Failed to find expected lines in f:\nb", "matches at line 2, which is not after", 5},
		{"context is the first line, too", "a\nfn f\nx\n", update("@@ fn f", " fn f", "-x", "+y"), "Failed to find expected lines in f:\nfn f\nx", "only lines that follow", 3},
		{"context is removed", "a\nfn f\nx\n", update("@@ fn f", "-fn f", "+fn g"), "Failed to find expected lines in f:\nfn f", "only lines that follow", 3},
		{"a slip", "a\n  return foo(bar, baz)\n", update("@@", "-return foo(bar, bax)", "+x"), "Failed to find expected lines in f:\nreturn foo(bar, bax)", "line 2:\n00002|   return foo(bar, baz)", 3},
		{"already applied", "a\nB\nc\n", update("@@", " a", "-b", "+B", " c"), "Failed to find expected lines in f:\na\nb\nc", "already applied: the new text is at lines 1-3:\n00001| a", 3},
		{"already added", "a\nb\nc\n", update("@@", " a", "+b", " c"), "Failed to find expected lines in f:\na\nc", "already applied", 3},
		{"already removed", "a\nc\n", update("@@", " a", "-b", " c"), "Failed to find expected lines in f:\na\nb\nc", "already applied", 3},
		{"a bracket tells nothing", "a\n}\n", update("@@", "-foo()", "+}"), "Failed to find expected lines in f:\nfoo()", "read the file again", 3},
		{"old line is left", "x\nb\n", update("@@", " a", "-b", "+x"), "Failed to find expected lines in f:\na\nb", "nearest text is at lines 1-2", 3},
		{"line numbers, two places", "x\nx\n", update("@@ -2,1 +2,1 @@", "-x", "+y"), "Failed to find context '-2,1 +2,1 @@' in f", "", 3},
		{"line numbers, only added", "x\nx\n", update("@@ -2,1 +2,1 @@", "+y"), "Failed to find context '-2,1 +2,1 @@' in f", "", 3},
		{"long line", "aa bb cc\n" + strings.Repeat("é", 5000), update("@@", " aa bb cc", "-x"), "Failed to find expected lines in f:\naa bb cc\nx", "00002| " + strings.Repeat("é", 250) + "...", 3},
		{"empty file", "", update("@@", "-x"), "Failed to find expected lines in f:\nx", "read the file again", 3},
		{"only an empty line", "a\n", update("@@", "-"), "Failed to find expected lines in f:\n", "", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := apply(map[string]string{"f": tt.before}, tt.patch)
			var got *MatchError
			if !errors.As(err, &got) {
				t.Fatalf("got %v", err)
			}
			if got.Error() != tt.err || got.Line != tt.line || got.Code() != "context-not-found" {
				t.Errorf("got %q at %d, want %q at %d", got, got.Line, tt.err, tt.line)
			}
			if !strings.Contains(got.Help(), tt.help) {
				t.Errorf("%q does not say %q", got.Help(), tt.help)
			}
		})
	}
}

// naive finds lines as the rules say, in as few words as can be.
func naive(lines, pattern []string, start int, atEnd bool) int {
	for way := range looseness {
		fits := func(at int) bool {
			return at >= start && at+len(pattern) <= len(lines) && slices.EqualFunc(lines[at:at+len(pattern)], pattern,
				func(a, b string) bool { return loosen(a, way) == loosen(b, way) })
		}
		if atEnd && fits(len(lines)-len(pattern)) {
			return len(lines) - len(pattern)
		}
		for at := range lines {
			if fits(at) {
				return at
			}
		}
	}
	return -1
}

func TestSeek(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", " a", "a ", "", " ", "“", `"`, "c"})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(word, 0, 40).Draw(t, "lines")
		pattern := rapid.SliceOfN(word, 1, 5).Draw(t, "pattern")
		start := rapid.IntRange(0, len(lines)).Draw(t, "start")
		atEnd := rapid.Bool().Draw(t, "at end")
		content := ""
		if len(lines) > 0 {
			content = strings.Join(lines, "\n") + "\n"
		}
		want := naive(lines, pattern, start, atEnd)
		f := newFile(content, pattern)
		got, ok := f.seek(pattern, start, atEnd)
		if ok != (want >= 0) || ok && got != want {
			t.Fatalf("found at %d, %v, want %d", got, ok, want)
		}
		x := f.index(exact)
		ids := make([]int32, len(pattern))
		for i, p := range pattern {
			ids[i] = x.number[p]
		}
		a, okA := x.find(ids, start)
		b, okB := x.scan(ids, start)
		if a != b || okA != okB {
			t.Fatalf("find says %d, scan says %d", a, b)
		}
	})
}

// TestLiteral makes chunks out of a file whose lines all differ, so that each
// can have but one place, and applies them by hand.
func TestLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "lines")
		var before, after []string
		var chunks []Chunk
		var c Chunk
		for i := range n {
			line := fmt.Sprintf("line %d", i)
			before = append(before, line)
			switch rapid.IntRange(0, 7).Draw(t, "fate") {
			case 0: // a gap
				after = append(after, line)
				chunks, c = append(chunks, c), Chunk{}
			case 1, 2:
				c.Lines = append(c.Lines, Line{'-', line})
			case 3:
				c.Lines = append(c.Lines, Line{' ', line}, Line{'+', "new"})
				after = append(after, line, "new")
			case 4:
				c.Lines = append(c.Lines, Line{'-', line}, Line{'+', line + "!"}, Line{'+', ""})
				after = append(after, line+"!", "")
			default:
				c.Lines = append(c.Lines, Line{' ', line})
				after = append(after, line)
			}
		}
		chunks = append(chunks, c)
		end := rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		content := strings.Join(before, "\n") + end
		want := strings.Join(after, "\n") + end
		if len(after) == 0 {
			want = ""
		}
		edits, err := PatchEdits(content, "f", chunks)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range edits {
			if e.Start > e.End || e.End > len(content) || i > 0 && e.Start < edits[i-1].End {
				t.Fatalf("edits overlap: %v", edits)
			}
		}
		if got := text.Apply(content, edits); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func FuzzEdits(f *testing.F) {
	f.Add("a\nb\nc", update("@@", "-b", "+B"))
	f.Add("x\n\nx\n", update("@@ x", " x", "-", "+y", "*** End of File", "@@", "+z"))
	f.Add("00001| a\n", update("@@", "-00001| b", "+c"))
	f.Fuzz(func(t *testing.T, content, patchText string) {
		p, err := Parse(patchText)
		if err != nil {
			return
		}
		for _, h := range p.Hunks {
			edits, err := PatchEdits(content, "f", h.Chunks)
			var match *MatchError
			if errors.As(err, &match) {
				if n := match.Near; n.Start > 0 && !strings.Contains(content, n.Text) || n.End < n.Start {
					t.Fatalf("a place that is not there: %+v", n)
				}
				_ = match.Help()
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			end := 0
			for _, e := range edits {
				if e.Start < end || e.End < e.Start || e.End > len(content) {
					t.Fatalf("edits overlap: %v", edits)
				}
				end = e.End
			}
			after := text.Apply(content, edits)
			if content != "" && after != "" && len(edits) > 0 && end < len(content) && strings.HasSuffix(after, "\n") != strings.HasSuffix(content, "\n") {
				t.Fatalf("the newline at the end of %q became %q", content, after)
			}
		}
	})
}
