package tool_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/helve-dev/helve/tool"
)

// A vector is one line of testdata/args.jsonl: arguments, and what a schema
// says to them.
type vector struct {
	ID     string          `json:"id"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Raw    *string         `json:"raw"`
	RawGen json.RawMessage `json:"raw_gen"`
	Expect string          `json:"expect"`
	Accept []string        `json:"accept"`
	Code   string          `json:"code"`
	Hint   string          `json:"hint"`
	Reason string          `json:"reason"`
}

// input returns the text of the arguments, with $repeat and $concat written
// out.
func (v vector) input(t *testing.T) string {
	t.Helper()
	if v.Raw != nil {
		return *v.Raw
	}
	src, asText := v.Args, false
	if v.RawGen != nil {
		src, asText = v.RawGen, true
	}
	var x any
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	x = expand(x)
	if asText {
		return x.(string)
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func expand(x any) any {
	switch x := x.(type) {
	case []any:
		for i := range x {
			x[i] = expand(x[i])
		}
	case map[string]any:
		if s, ok := x["$repeat"].(string); ok {
			n, _ := x["times"].(json.Number).Int64()
			return strings.Repeat(s, int(n))
		}
		if parts, ok := x["$concat"].([]any); ok {
			var b strings.Builder
			for _, p := range parts {
				b.WriteString(expand(p).(string))
			}
			return b.String()
		}
		for k := range x {
			x[k] = expand(x[k])
		}
	}
	return x
}

func TestVectors(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/args.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := tools(t)
	lines := 0
	for sc := bufio.NewScanner(f); sc.Scan(); lines++ {
		var v vector
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		t.Run(v.ID, func(t *testing.T) {
			one, ok := all[strings.ReplaceAll(v.Tool, ":", "_")]
			if !ok {
				t.Fatalf("no tool %q", v.Tool)
			}
			in := v.input(t)
			c := tool.Call{Tool: v.Tool, Input: json.RawMessage(in)}
			_, err := one.Check(&c, false)
			// What the tool refuses for its meaning, the schema lets through.
			if v.Expect != "reject" {
				if err != nil {
					t.Fatalf("refused: %v\nreason: %s", err, v.Reason)
				}
				return
			}
			e, ok := errors.AsType[*tool.Error](err)
			if !ok {
				t.Fatalf("accepted as %.200s\nreason: %s", c.Input, v.Reason)
			}
			if e.Kind != tool.InvalidInput || e.Code != v.Code || e.Tool == "" || len(e.Issues) == 0 {
				t.Errorf("got kind %s, code %s, tool %s, want code %s\nreason: %s", e.Kind, e.Code, e.Tool, v.Code, v.Reason)
			}
			if !strings.Contains(e.Error()+"\n"+e.Hint, v.Hint) {
				t.Errorf("nothing names %s:\n%s\n%s", v.Hint, e, e.Hint)
			}
			if v.Hint != "" && !strings.Contains(e.Hint, "did you mean \""+v.Hint+"\"?") {
				t.Errorf("the hint does not suggest %s:\n%s", v.Hint, e.Hint)
			}
			if string(c.Input) != in {
				t.Errorf("a refused call was changed")
			}
		})
	}
	if lines < 60 {
		t.Errorf("only %d lines were read", lines)
	}
}

// A recording is one line of testdata/recorded.jsonl: arguments that the
// reference refused, and its words.
type recording struct {
	Name  string          `json:"name"`
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
	Error string          `json:"error"`
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all := tools(t)
	for line := range bytes.Lines(b) {
		var r recording
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		t.Run(r.Name, func(t *testing.T) {
			_, err := all[r.Tool].Check(&tool.Call{Tool: r.Tool, Input: r.Args}, false)
			if err == nil {
				t.Fatal("accepted")
			}
			if got := "Error: " + err.Error(); got != r.Error {
				t.Errorf("got:\n%s\nwant:\n%s", got, r.Error)
			}
		})
	}
}
