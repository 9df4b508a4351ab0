package charset

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/text"
)

func benchFile(b *testing.B, name, ending string, size int) []byte {
	line := "func total(list []int) int { return sum(list) } // plain" + ending
	special := map[string]string{
		"utf-8": "// 这个函数返回文件中的行数，否则报告错误", "gbk": "// 这个函数返回文件中的行数，否则报告错误",
		"utf-16le": "// 这个函数返回文件中的行数，否则报告错误", "iso-8859-1": "// déjà créé à l'école", "shift_jis": "// この関数はファイルの行数を返します",
	}[name] + ending
	p := encoded(b, line+special+line+special+special, name)
	return bytes.Repeat(p, size/len(p))
}

func BenchmarkDecodeSplice10MB(b *testing.B) {
	for _, c := range []struct{ name, encoding, ending string }{
		{"utf-8-lf", "utf-8", "\n"}, {"utf-8-crlf", "utf-8", "\r\n"}, {"gbk", "gbk", "\n"},
		{"utf-16le-crlf", "utf-16le", "\r\n"}, {"iso-8859-1", "iso-8859-1", "\n"},
	} {
		data := benchFile(b, c.encoding, c.ending, 10<<20)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				txt, err := Decode(data)
				if err != nil {
					b.Fatal(err)
				}
				at := strings.Index(txt.String()[len(txt.String())/2:], "plain") + len(txt.String())/2
				if _, err := txt.Splice([]text.Edit{{Start: at, End: at + 5, New: "changed\nhere"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDetect64KB(b *testing.B) {
	for _, name := range []string{"utf-8", "gbk", "shift_jis", "iso-8859-1", "utf-16le"} {
		data := benchFile(b, name, "\n", 64<<10)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Detect(data, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkManyEdits(b *testing.B) {
	data := benchFile(b, "gbk", "\r\n", 1<<20)
	txt, err := Decode(data)
	if err != nil {
		b.Fatal(err)
	}
	var edits []text.Edit
	for at := 0; ; {
		i := strings.Index(txt.String()[at:], "plain")
		if i < 0 {
			break
		}
		edits = append(edits, text.Edit{Start: at + i, End: at + i + 5, New: "x\ny"})
		at += i + 5
	}
	b.ReportMetric(float64(len(edits)), "edits")
	for b.Loop() {
		if _, err := txt.Splice(edits); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	data := benchFile(b, "gbk", "\n", 10<<20)
	e := Encoding{gbk}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := io.Copy(io.Discard, NewReader(bytes.NewReader(data), e)); err != nil {
			b.Fatal(err)
		}
	}
}
