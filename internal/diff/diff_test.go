package diff

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/internal/text"
)

const head = "Index: f\n===================================================================\n--- f\n+++ f\n"

func TestUnified(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	twenty := ten + "11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"
	for _, tt := range []struct{ name, before, after, want string }{
		{"equal", "a\n", "a\n", ""},
		{"both empty", "", "", ""},
		{"created", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"removed before added", "a\nb\n", "x\ny\n", "@@ -1,2 +1,2 @@\n-a\n-b\n+x\n+y\n"},
		{"newline added", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"newline taken", "a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"context without newline", "a\nb", "x\nb", "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n"},
		{"carriage returns are text", "a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"},
		{"four lines of context", twenty, strings.Replace(twenty, "10\n", "x\n", 1),
			"@@ -6,9 +6,9 @@\n 6\n 7\n 8\n 9\n-10\n+x\n 11\n 12\n 13\n 14\n"},
		{"eight lines between are one hunk", ten, "x\n2\n3\n4\n5\n6\n7\n8\n9\ny\n",
			"@@ -1,10 +1,10 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n 9\n-10\n+y\n"},
		{"nine lines between are two", "0\n" + ten, "x\n1\n2\n3\n4\n5\n6\n7\n8\n9\ny\n",
			"@@ -1,5 +1,5 @@\n-0\n+x\n 1\n 2\n 3\n 4\n@@ -7,5 +7,5 @@\n 6\n 7\n 8\n 9\n-10\n+y\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(head+tt.want, Unified("f", tt.before, tt.after)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTrim(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to do", "@@ -1 +1 @@\n-a\n+  b", "@@ -1 +1 @@\n-a\n+  b"},
		{"no content", head, head},
		{"shared", head + "@@ -1 +1 @@\n     a\n-\t\tb\n+   c\n", head + "@@ -1 +1 @@\n   a\n-b\n+ c\n"},
		{"blank lines lose as much", "+  a\n+ \n+\n+    \n", "+a\n+\n+\n+  \n"},
		{"only blank lines", "+  \n-   \n", "+  \n-   \n"},
		{"dashes look like a header", "---  x\n-  a\n", "---  x\n-a\n"},
		{"wide spaces are one each", "+\u3000\u00a0a\n-  b\n", "+a\n-b\n"},
		{"no newline notice stays", "-  a\n\\ No newline at end of file\n", "-a\n\\ No newline at end of file\n"},
		{"a next line is text", "+\u0085a\n", "+\u0085a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Trim(tt.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          []text.Edit
	}{
		{"a\n", "a\n", nil},
		{"", "a\n", []text.Edit{{New: "a\n"}}},
		{"a\nb\nc\n", "a\nc\n", []text.Edit{{Start: 2, End: 4}}},
		{"a\nb\nc\nd\n", "x\nb\ny\nz\nd\n", []text.Edit{{End: 2, New: "x\n"}, {Start: 4, End: 6, New: "y\nz\n"}}},
		{"a\nb", "a\nb\n", []text.Edit{{Start: 2, End: 3, New: "b\n"}}},
	} {
		if d := cmp.Diff(tt.want, Edits(tt.before, tt.after)); d != "" {
			t.Errorf("%q -> %q\n%s", tt.before, tt.after, d)
		}
	}
}

// check tests the laws that hold for every two texts.
func check(t rapid.TB, before, after string) {
	t.Helper()
	edits := Edits(before, after)
	end := -1
	for _, e := range edits {
		if e.Start <= end || e.End < e.Start {
			t.Fatalf("edits touch or are out of order: %v", edits)
		}
		end = e.End
	}
	if got := text.Apply(before, edits); got != after {
		t.Fatalf("edits of %q -> %q make %q", before, after, got)
	}
	d := Unified("f", before, after)
	got, added, removed, err := applyUnified(d, before)
	if err != nil || got != after {
		t.Fatalf("the diff of %q -> %q makes %q, %v\n%s", before, after, got, err, d)
	}
	if a, r := Count(before, after); a != added || r != removed {
		t.Fatalf("counted +%d -%d, the diff has +%d -%d", a, r, added, removed)
	}
}

// applyUnified reads a diff as patch(1) does, trusting nothing but its lines.
func applyUnified(d, before string) (after string, added, removed int, err error) {
	body, ok := strings.CutPrefix(d, head)
	if !ok {
		return "", 0, 0, fmt.Errorf("bad head: %q", d)
	}
	old := strings.SplitAfter(before, "\n")
	rows := strings.SplitAfter(body, "\n")
	var out strings.Builder
	at := 0
	wantOld, wantNew := 0, 0
	for i := 0; i < len(rows)-1; i++ {
		row := rows[i]
		line := row[1:]
		if i+1 < len(rows) && strings.HasPrefix(rows[i+1], "\\") {
			line = strings.TrimSuffix(line, "\n")
		}
		switch row[0] {
		case '@':
			if wantOld != 0 || wantNew != 0 {
				return "", 0, 0, fmt.Errorf("counts of the hunk before %q are wrong", row)
			}
			var start, newStart int
			if _, err := fmt.Sscanf(row, "@@ -%d,%d +%d,%d @@\n", &start, &wantOld, &newStart, &wantNew); err != nil {
				return "", 0, 0, err
			}
			if wantOld > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(old[at])
			}
			if wantNew > 0 {
				newStart--
			}
			if now := at - removed + added; now != newStart {
				return "", 0, 0, fmt.Errorf("new start is %d, want %d", newStart, now)
			}
		case '\\':
		case ' ', '-':
			if old[at] != line {
				return "", 0, 0, fmt.Errorf("line %d is %q, not %q", at+1, old[at], line)
			}
			at++
			wantOld--
			if row[0] == ' ' {
				out.WriteString(line)
				wantNew--
			} else {
				removed++
			}
		case '+':
			out.WriteString(line)
			wantNew--
			added++
		default:
			return "", 0, 0, fmt.Errorf("unknown row %q", row)
		}
	}
	if wantOld != 0 || wantNew != 0 {
		return "", 0, 0, fmt.Errorf("counts of the last hunk are wrong")
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String(), added, removed, nil
}

// someText draws a text of few different lines.
func someText(t *rapid.T, label string) string {
	kinds := rapid.SampledFrom([]int{2, 4, 50}).Draw(t, label+" kinds")
	s := ""
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, kinds), 0, 40).Draw(t, label) {
		s += strings.Repeat("x", n%3) + strconv.Itoa(n) + "\n"
	}
	if rapid.Bool().Draw(t, label+" cut") {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		check(t, someText(t, "before"), someText(t, "after"))
	})
}

// TestCoarse holds the way that is taken for large texts to the same laws.
func TestCoarse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, now := split(someText(t, "before")), split(someText(t, "after"))
		c := &comparer{work: rapid.IntRange(0, 300).Draw(t, "work")}
		a, b := c.numberLines(old, now, 0)
		c.coarse(a, b, rapid.IntRange(0, maxDepth).Draw(t, "depth"))
		x, y := 0, 0
		for i, r := range c.script {
			if r.n <= 0 || i > 0 && c.script[i-1].kind == r.kind {
				t.Fatalf("runs of no length or not joined: %v", c.script)
			}
			for range r.n {
				if r.kind == keep && old.lineAt(x) != now.lineAt(y) {
					t.Fatalf("keeps %q as %q", old.lineAt(x), now.lineAt(y))
				}
				if r.kind != add {
					x++
				}
				if r.kind != remove {
					y++
				}
			}
		}
		if x != old.len() || y != now.len() {
			t.Fatalf("covers %d and %d lines of %d and %d", x, y, old.len(), now.len())
		}
	})
}

// TestLarge has texts beyond the bounds of the exact search.
func TestLarge(t *testing.T) {
	const n = 60_000
	rnd := rand.New(rand.NewSource(1))
	var before, sparse, shuffled strings.Builder
	for i := range n {
		line := fmt.Sprintf("line %d\n", i)
		switch {
		case i%3 == 0:
			line = "}\n"
		case i%5 == 0:
			line = fmt.Sprintf("kind %d\n", rnd.Intn(40))
		}
		before.WriteString(line)
		if i%2 == 1 {
			line = fmt.Sprintf("other %d\n", i)
		}
		sparse.WriteString(line)
	}
	for range n {
		fmt.Fprintf(&shuffled, "kind %d\n", rnd.Intn(40))
	}
	for name, after := range map[string]string{"every second line": sparse.String(), "few kinds": shuffled.String()} {
		t.Run(name, func(t *testing.T) { check(t, before.String(), after) })
	}
	if added, removed := Count(before.String(), sparse.String()); added != n/2 || removed != n/2 {
		t.Errorf("+%d -%d, want %d of each", added, removed, n/2)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc")
	f.Add("", "\n\n")
	f.Add("x\r\ny", "y\nx\r\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		check(t, before, after)
		d := Unified("f", before, after)
		if strings.Count(Trim(d), "\n") != strings.Count(d, "\n") {
			t.Fatal("trimming changes the number of lines")
		}
	})
}
