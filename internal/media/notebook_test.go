package media

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const notebook4 = `{
 "cells": [
  {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "Some *text*."],
   "attachments": {"a.png": {"image/png": "aGVsbG8gd29ybGQh"}}},
  {"cell_type": "code", "id": "f00d", "execution_count": 3, "metadata": {"x": [1, {"y": "]"}]},
   "source": "print(\"hi\\n\")\nplot()",
   "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["\u001b[31mhi\u001b[0m\n", " 10%\r 50%\r100%\n", "caf\u00e9 \ud83d\ude00\n"]},
    {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgoAAAANSUhEUg==", "text/plain": ["<Figure 1>"]}},
    {"output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {"text/html": "<b>42</b>", "text/plain": "42"}},
    {"output_type": "display_data", "metadata": {}, "data": {"text/html": ["<i>", "x</i>"], "application/vnd.plotly.v1+json": {"data": [1, 2, 3]}}},
    {"output_type": "error", "ename": "ValueError", "evalue": "bad \u001b[1mvalue", "traceback": ["\u001b[0;31m-----\u001b[0m", "\u001b[0;31mValueError\u001b[0m: bad value"]},
    {"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": []}
   ]},
  {"cell_type": "raw", "metadata": {}, "source": []}
 ],
 "metadata": {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
  "language_info": {"name": "python", "version": "3.11.4"}},
 "nbformat": 4, "nbformat_minor": 5
}`

const text4 = `Jupyter notebook, nbformat 4.5, kernel: Python 3 (ipykernel), language: python 3.11.4, cells: 3

--- cell 1: markdown, id intro ---
# Title
Some *text*.
--- attachment of cell 1: "a.png", image/png, about 12 bytes, not shown ---

--- cell 2: code, id f00d, run 3 ---
print("hi\n")
plot()
--- output of cell 2: stdout ---
hi
100%
café 😀
--- output of cell 2: display_data ---
<Figure 1>
--- output of cell 2: image/png, about 18 bytes, not shown ---
--- output of cell 2: result ---
42
--- output of cell 2: display_data, text/html ---
<i>x</i>
--- output of cell 2: application/vnd.plotly.v1+json, about 19 bytes, not shown ---
--- output of cell 2: error ---
-----
ValueError: bad value
--- output of cell 2: error ---
KeyError: 'k'

--- cell 3: raw ---
`

const notebook3 = `{"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": "old"}, "worksheets": [{"metadata": {}, "cells": [
 {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Old"]},
 {"cell_type": "code", "collapsed": false, "language": "python", "prompt_number": 1, "input": ["1/0"], "outputs": [
  {"output_type": "stream", "stream": "stderr", "text": ["warning\n"]},
  {"output_type": "pyout", "prompt_number": 1, "text": ["7"], "png": "aGVsbG8="},
  {"output_type": "pyerr", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": ["Traceback"]}]}]}]}`

const text3 = `Jupyter notebook, nbformat 3.0, cells: 2

--- cell 1: heading, level 2 ---
Old

--- cell 2: code, python, run 1 ---
1/0
--- output of cell 2: stderr ---
warning
--- output of cell 2: result ---
7
--- output of cell 2: image/png, about 6 bytes, not shown ---
--- output of cell 2: error ---
ZeroDivisionError: division by zero
Traceback
`

func TestNotebook(t *testing.T) {
	for _, c := range []struct{ what, data, want string }{
		{"version 4", notebook4, text4},
		{"version 3", notebook3, text3},
		{"byte order mark", "\xef\xbb\xbf" + notebook3, text3},
		{"no cells", `{"nbformat": 4, "cells": []}`, "Jupyter notebook, nbformat 4, cells: 0\n"},
		{"odd cells", `{"nbformat": 4, "cells": [1, null, {"outputs": 3, "source": {"a": 1}}]}`,
			"Jupyter notebook, nbformat 4, cells: 3\n\n--- cell 1: unknown ---\n\n--- cell 2: unknown ---\n\n--- cell 3: unknown ---\n"},
		{"lines in names", `{"nbformat": 4, "cells": [{"cell_type": "code", "id": "a\n--- cell 9"}], "metadata": {"kernelspec": {"name": "x\ny"}}}`,
			"Jupyter notebook, nbformat 4, kernel: x y, cells: 1\n\n--- cell 1: code, id a --- cell 9 ---\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := Notebook([]byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotebookNot(t *testing.T) {
	for _, s := range []string{
		"", "  ", "{}", "[]", "null", "4", `"x"`, "not json", "{", `{"cells": []}`, `{"nbformat": 4}`, `{"nbformat": "4", "cells": []}`,
		`{"nbformat": 4, "cells": {}}`, `{"nbformat": 4, "cells": [}`, `{"nbformat": 4, "cells": []} {}`, `{"nbformat": 4 "cells": []}`,
		`{"nbformat": 4, "worksheets": [3]}`, notebook4[:len(notebook4)/2], notebook4[:len(notebook4)-1], notebook4 + "x",
		`{"nbformat": 4, "cells": [], }`, `{"nbformat": 4, "cells": [,]}`, strings.Repeat("[", 1_000_000), `{"nbformat": 4, "cells": "unclosed`,
	} {
		got, err := Notebook([]byte(s))
		if !errors.Is(err, ErrNotNotebook) || got != "" {
			t.Errorf("Notebook(%.40q) = %q, %v", s, got, err)
		}
	}
}

func TestNotebookLarge(t *testing.T) {
	long := strings.Repeat("a line of output, and then another one\\n", 2_500_000) // 100 MB
	picture := strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 1_000_000)
	for what, c := range map[string]struct{ outputs, want string }{
		"stream":   {`{"output_type": "stream", "name": "stdout", "text": "` + long + `"}`, "left out) ...\na line of output"},
		"in lines": {`{"output_type": "stream", "name": "stdout", "text": ["x\n"` + strings.Repeat(`, "line of output\n"`, 3_000_000) + `]}`, "left out) ...\nline of output"},
		"picture":  {`{"output_type": "display_data", "data": {"image/png": "` + picture + `"}}`, "image/png, about 26.2 MB, not shown"},
		"numbers":  {`{"output_type": "display_data", "data": {"x/json": [0` + strings.Repeat(",12345", 2_000_000) + `]}}`, "x/json, about 12.0 MB, not shown"},
		"deep":     {`{"output_type": "display_data", "data": {"x/json": ` + strings.Repeat("[", 2_000_000) + strings.Repeat("]", 2_000_000) + `}}`, "x/json, about 4.0 MB"},
		"many":     {`{}` + strings.Repeat(`, {"output_type": "stream", "text": "again\n"}`, 100_000), "more outputs of cell 1 are left out"},
	} {
		t.Run(what, func(t *testing.T) {
			data := []byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x", "outputs": [` + c.outputs + `]}, {"cell_type": "code", "source": "the last"}]}`)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			within(t, what, func() {
				got, err := Notebook(data)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) > 2*maxOutputs || !strings.Contains(got, c.want) || !strings.HasSuffix(got, "the last\n") {
					t.Errorf("%d bytes: %.200q", len(got), got)
				}
			})
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
				t.Errorf("%d MB were taken", grown>>20)
			}
		})
	}
}

func TestNotebookLargeSource(t *testing.T) {
	data := []byte(`{"nbformat": 4, "cells": [{"cell_type": "code", "source": "` + strings.Repeat("x = 1\\n", 5_000_000) + `"}` +
		strings.Repeat(`, {"cell_type": "code", "source": "y"}`, 60_000) + `]}`)
	got, err := Notebook(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > maxNotebook+maxSource || !strings.Contains(got, "left out) ...") || !strings.HasSuffix(got, "--- 10001 more cells are left out: the notebook is too long ---\n") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-100:])
	}
}

func TestScreen(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                      "plain",
		"\x1b[1;31mred\x1b[0m end":   "red end",
		"\x1b]0;title\x07text":       "text",
		"\x1b]8;;http://x\x1b\\link": "link",
		"\x1b(Bcharset\x1b=":         "charset",
		"a\r\nb\r\n":                 "a\nb\n",
		"10%\r20%\r30%":              "30%",
		"10%\r":                      "10%",
		"abc\b\bX":                   "aX",
		"é\b!":                       "!",
		"\b\b\b":                     "",
		"a\x00\x01\x07\x7fb\tc":      "ab\tc",
		"\x1b[":                      "",
		"\x1b[31\nnext":              "next",
		"one\ntwo":                   "one\ntwo",
	} {
		// In one piece, and byte by byte.
		for _, step := range []int{len(in), 1} {
			tp := &tape{most: 1000}
			s := &screen{out: tp}
			for b := []byte(in); len(b) > 0; b = b[step:] {
				s.write(b[:step])
			}
			s.flush()
			if got := tp.String(); got != want {
				t.Errorf("%q in steps of %d gives %q, want %q", in, step, got, want)
			}
		}
	}
}

// TestTapeLaw: a tape shows all of a short text, and the two ends of a long
// one, however it is written.
func TestTapeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\né日😀")), 0, 400, -1).Draw(t, "text")
		tp := &tape{most: rapid.IntRange(16, 300).Draw(t, "most")}
		for b := []byte(text); len(b) > 0; {
			n := rapid.IntRange(1, len(b)).Draw(t, "n")
			tp.write(b[:n])
			b = b[n:]
		}
		got := tp.String()
		if len(text) <= tp.most {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		head, rest, ok := strings.Cut(got, "... (")
		size, tail, _ := strings.Cut(rest, " bytes left out) ...\n")
		if !ok || !strings.HasPrefix(text, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(text, tail) {
			t.Fatalf("%q became %q", text, got)
		}
		whole := strings.HasPrefix(text, head)
		if !whole {
			head = strings.TrimSuffix(head, "\n")
		}
		if fmt.Sprint(len(text)-len(head)-len(tail)) != size && fmt.Sprint(len(text)-len(head)-len(tail)+1) != size {
			t.Fatalf("%q became %q: %s", text, got, size)
		}
		if !utf8.ValidString(got) || len(got) > tp.most+100 {
			t.Fatalf("%q", got)
		}
	})
}

// TestJSONLaw: what encoding/json writes is read as it was.
func TestJSONLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		source := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "source")
		raw, err := json.Marshal(map[string]any{text: source, "other": map[string]any{"x": []any{1, text, nil}}})
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any // as encoding/json reads it
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		keys := map[string]bool{}
		err = jsonObject(raw, func(key string, v []byte) {
			keys[key] = true
			if key == "other" {
				return
			}
			var got []byte
			readText(v, func(p []byte) { got = append(got, p...) })
			var all string
			for _, s := range want[key].([]any) {
				all += s.(string)
			}
			if string(got) != all {
				t.Fatalf("%q became %q", all, got)
			}
		})
		if err != nil || !keys["other"] || len(text) <= 256 && !keys[string(bytes.ToValidUTF8([]byte(text), []byte("\ufffd")))] {
			t.Fatalf("%s: %v, keys %v", raw, err, keys)
		}
	})
}
