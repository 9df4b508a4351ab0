package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutline(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []piece
	}{
		{"nothing", "", nil},
		{"words", "just words", nil},
		{"heading", "## A *b* `c`", []piece{{"heading", "2 Abc"}}},
		{"escaped hash", `\# no`, nil},
		{"items", "-   a\n    1.  b\n-   c", []piece{{"item", "0 a"}, {"item", "1 b"}, {"item", "0 c"}}},
		{"heading in item", "-   ### T", []piece{{"item", "0 T"}, {"heading", "3 T"}}},
		{"link", `[a b](/x\(1\) "t")`, []piece{{"link", "ab /x(1)"}}},
		{"escaped link", `\[a\](/x)`, nil},
		{"brackets in link", `[\[1\]](#n)`, []piece{{"link", "1 #n"}}},
		{"image in link", "[![i](p.png)](/f)", []piece{{"link", "i /f"}, {"image", "i p.png"}}},
		{"link in code", "`[a](/x)` and ``b`[c](/y)``", nil},
		{"link in heading", "# [T](/t)", []piece{{"heading", "1 T"}, {"link", "T /t"}}},
		{"link over blocks", "[\n\n### T\n\n](/t)", []piece{{"heading", "3 T"}, {"link", "T /t"}}},
		{"no text", "[](/t)", nil},
		{"blank in target", "[a](/x y)", []piece{{"link", "a /x%20y"}}},
		{"code", "```go\na\n\n  b\n```", []piece{{"code", "go\na\n\n  b"}}},
		{"code in item", "1.  x\n    \n    ```sh\n    ls\n    ```", []piece{{"item", "0 x"}, {"code", "sh\nls"}}},
		{"longer fence", "````\n```\n# x\n```\n````", []piece{{"code", "\n```\n# x\n```"}}},
		{"open fence", "```\nx", []piece{{"code", "\nx"}}},
		{"quotes", "> a\n> \n> > b\n\nc", []piece{{"quote", "1 a"}, {"quote", "2 b"}}},
		{"marks in code", "```\n>>> x\n```\n\n> ```\n> > y\n> ```", []piece{{"code", "\n>>> x"}, {"code", "\n> y"}}},
		{"code in quote", "> ```\n> x\n> ```", []piece{{"code", "\nx"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outline(c.text), cmp.AllowUnexported(piece{})); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func FuzzOutline(f *testing.F) {
	for _, seed := range []string{"[a](b)", "`[`](", "[[](", "> -   # x\n```", "![](\\", "é[ü](", "\xff["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range outline(text) {
			if p.kind == "" {
				t.Errorf("a piece without a kind: %q", p.value)
			}
		}
	})
}
