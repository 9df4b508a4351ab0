package diff

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	var in strings.Builder
	in.WriteString("*** Begin Patch\n")
	for i := range 200 {
		fmt.Fprintf(&in, "*** Update File: dir/file%d.go\n", i)
		for j := range 5 {
			fmt.Fprintf(&in, "@@ func f%d\n one line\n another\n-old line %d\n+new line %d\n one more\n", j, i, j)
		}
	}
	in.WriteString("*** End Patch")
	b.SetBytes(int64(in.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(in.String()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEdits(b *testing.B) {
	const lines = 20_000
	for _, c := range []struct{ name, before, old string }{
		{"exact", "    line %06d of a file of about a megabyte, twenty thousand in all", "    line %06d of a file of about a megabyte, twenty thousand in all"},
		{"indented otherwise", "    line %06d of a file of about a megabyte, twenty thousand in all", "\tline %06d of a file of about a megabyte, twenty thousand in all"},
	} {
		var content strings.Builder
		var chunks []Chunk
		for i := range lines {
			fmt.Fprintf(&content, c.before+"\n", i)
			if i%2 == 0 {
				chunks = append(chunks, Chunk{Lines: []Line{{'-', fmt.Sprintf(c.old, i)}, {'+', "new"}}})
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(content.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := PatchEdits(content.String(), "f", chunks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("known lines in another order", func(b *testing.B) {
		content := strings.Repeat("x\n", lines) + strings.Repeat("y \n", lines) + "y\n"
		var chunks []Chunk
		for range 5000 {
			chunks = append(chunks, Chunk{Lines: []Line{{' ', "y"}, {'-', "y"}, {'+', "z"}}})
		}
		for b.Loop() {
			if _, err := PatchEdits(content, "f", chunks); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one chunk of 20000 lines", func(b *testing.B) {
		c := Chunk{}
		for range lines {
			c.Lines = append(c.Lines, Line{'-', "line one"}, Line{'+', "x"})
		}
		for b.Loop() {
			if _, err := PatchEdits("line one\nline two\nline three\n", "f", []Chunk{c}); err == nil {
				b.Fatal("found")
			}
		}
	})
	b.Run("one chunk of 10MB", func(b *testing.B) {
		content := strings.Repeat("a line of a file of ten megabytes\n", 10<<20/34) + "last\n"
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			if _, err := PatchEdits(content, "f", []Chunk{{Lines: []Line{{'-', "last"}, {'+', "x"}}}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
