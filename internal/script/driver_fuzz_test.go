package script_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/helve-dev/helve/internal/script"
)

// FuzzExecute sends anything as arguments: what is JSON reaches the tool and comes back as it was,
// as text and as a result; what is not does not reach it. Nothing harms the engine.
func FuzzExecute(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":[1,2.5,-0,1e300],"b":null}`, `"text\n\u2028\ud800"`, `{"__proto__":{"x":1},"constructor":1}`, `{"output":"x","title":"y"}`,
		`{"output":{"a":1},"metadata":{"b":[]},"attachments":[{"url":"data:,"}]}`, `[[[[]]]]`, `1`, `true`, `null`, `{"a":`, "\"\xff\"", `{"a":1,"a":2}`,
		`{"then":1,"toJSON":2}`, `"<script>&amp;"`, `12345678901234567890`, ``,
	} {
		f.Add(seed)
	}
	d := newDriver(f, folderOf(f, `
-- tools/e.ts --
export const echo = { description: "", args: { any: {} }, execute: async (args: unknown) => JSON.stringify(args) }
export const same = { description: "", args: { any: {} }, execute: async (args: unknown) => args }
`), &recorder{})
	f.Fuzz(func(t *testing.T, text string) {
		call := script.ToolCall{File: "tools/e.ts", Export: "echo", Args: json.RawMessage(text)}
		got, err := d.Execute(t.Context(), call)
		if text == "" {
			text = "{}"
		}
		if strings.Count(text, "[")+strings.Count(text, "{") > 500 {
			t.Skip("nested deeper than the engine may go")
		}
		if !json.Valid([]byte(text)) {
			if _, ok := errors.AsType[*script.Fault](err); err == nil || ok {
				t.Fatalf("%q reached the tool: %v", text, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var want, back any
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil {
			return // no text, or numbers that are too large
		}
		if err := json.Unmarshal([]byte(got.Output), &back); err != nil {
			t.Fatalf("%q came back as %q: %v", text, got.Output, err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
		call.Export = "same"
		if got, err = d.Execute(t.Context(), call); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		checkOutcome(t, want, got)
	})
}

// checkOutcome holds what became of a returned value against what it should.
func checkOutcome(t *testing.T, value any, got script.Outcome) {
	t.Helper()
	object, _ := value.(map[string]any)
	output, shaped := object["output"]
	if !shaped {
		output = value
	}
	switch output := output.(type) {
	case nil:
		if got.Output != "" {
			t.Errorf("nothing became %q", got.Output)
		}
	case string:
		if got.Output != output {
			t.Errorf("%q became %q", output, got.Output)
		}
	default:
		var back any
		if err := json.Unmarshal([]byte(got.Output), &back); err != nil || !cmp.Equal(output, back) {
			t.Errorf("%v became %q", output, got.Output)
		}
	}
	title, _ := object["title"].(string)
	if !shaped {
		title = ""
	}
	if got.Title != title {
		t.Errorf("title %q became %q", title, got.Title)
	}
}

// FuzzFaultStack gives tools' errors any stack.
func FuzzFaultStack(f *testing.F) {
	for _, seed := range []string{"    at f (program.js:3:1)\n", "at program.js:1:1", "at x (program.js:99999999999999999999:1)", "at (program.js:0:0)", "\n\n", "at TooError (program.js:4:1)"} {
		f.Add(seed)
	}
	d := newDriver(f, folderOf(f, `
-- tools/e.ts --
export default { description: "", args: { s: {} }, execute({ s }) { throw Object.assign(new Error("x"), { stack: s }) } }
`), &recorder{})
	f.Fuzz(func(t *testing.T, stack string) {
		args, err := json.Marshal(map[string]string{"s": stack})
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Execute(t.Context(), script.ToolCall{File: "tools/e.ts", Export: "default", Args: args})
		fault, ok := errors.AsType[*script.Fault](err)
		if !ok || fault.Message != "x" {
			t.Fatal(err)
		}
		if fault.File != "" && (fault.Line < 1 || fault.Column < 1) {
			t.Errorf("placed at %s:%d:%d", fault.File, fault.Line, fault.Column)
		}
	})
}
