package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/helve-dev/helve/tool"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		make1[readInput]("read")
	}
}

func BenchmarkNewNested(b *testing.B) {
	for b.Loop() {
		make1[questionInput]("question")
	}
}

func benchmarkCheck(b *testing.B, t tool.Tool, input string) {
	b.Helper()
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	in := json.RawMessage(input)
	for b.Loop() {
		c := tool.Call{Input: in}
		if _, err := t.Check(&c, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckRead(b *testing.B) {
	benchmarkCheck(b, make1[readInput]("read"), `{"filePath":"/home/someone/project/internal/file.go","offset":120,"limit":200}`)
}

func BenchmarkCheckTodos(b *testing.B) {
	one := `{"content":"write the parser","status":"pending","priority":"high","id":"1"}`
	benchmarkCheck(b, make1[todowriteInput]("todowrite"), `{"todos":[`+strings.Repeat(one+",", 19)+one+`]}`)
}

func BenchmarkCheckWriteMegabyte(b *testing.B) {
	content, err := json.Marshal(strings.Repeat("a line of \"text\"\n", 1<<16))
	if err != nil {
		b.Fatal(err)
	}
	benchmarkCheck(b, make1[writeInput]("write"), `{"filePath":"a.txt","content":`+string(content)+`}`)
}

func BenchmarkCheckDynamic(b *testing.B) {
	benchmarkCheck(b, dynamic(b, "custom", `{"type":"object","properties":{"n":{"type":"number"},"s":{"type":"string"}},"required":["n"]}`),
		`{"n":5,"s":"text"}`)
}

func BenchmarkCheckRefused(b *testing.B) {
	t := make1[readInput]("read")
	for b.Loop() {
		c := tool.Call{Input: json.RawMessage(`{"path":"a.txt"}`)}
		if _, err := t.Check(&c, false); err == nil {
			b.Fatal("accepted")
		}
	}
}

func BenchmarkCheckNested100k(b *testing.B) {
	t := make1[readInput]("read")
	in := json.RawMessage(strings.Repeat("[", 100_000))
	for b.Loop() {
		if _, err := t.Check(&tool.Call{Input: in}, false); err == nil {
			b.Fatal("accepted")
		}
	}
}
