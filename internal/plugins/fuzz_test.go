package plugins

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/text"
)

// safe fails the test unless a text may be shown to people.
func safe(t *testing.T, s string, most int) {
	t.Helper()
	if !utf8.ValidString(s) || text.HasHidden(s) {
		t.Fatalf("%q is not safe to show", s)
	}
	if len(s) > 12*most+100 { // an escape has more bytes than what it stands for
		t.Fatalf("a text of %d bytes", len(s))
	}
}

// Whatever a program says it is, what is taken of it can be made a tool.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"description": "A.", "parameters": {"type": "object"}, "timeout": 5}`))
	f.Add([]byte(`{"tools": [{"name": "a", "description": "A."}, {"name": "a", "description": "\u202e"}]}`))
	f.Add([]byte(`{"description": "A.", "parameters": {"$ref": "#"}}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		all, err := read(said, "/t/x.py", "h")
		if err == nil && len(all) == 0 {
			t.Fatal("neither a tool nor an error")
		}
		r := NewPrograms(Services{})
		for _, d := range all {
			safe(t, d.Description, maxDescription)
			if !strings.HasPrefix(d.ID, "x") || d.Timeout <= 0 || d.Timeout > maxCallTime {
				t.Fatalf("%+v", d)
			}
			if _, err := r.Tool(d); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever a program answers is a result within bounds, or an error.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"output": "o", "title": "t", "metadata": {"truncated": true}, "attachments": [{"url": "data:image/png;base64,AAAA"}]}`))
	f.Add([]byte("{\"error\": \"\xff\u202e\"}"))
	f.Add([]byte("plain \xff"))
	f.Fuzz(func(t *testing.T, out []byte) {
		res, said, err := readAnswer(out)
		safe(t, said, maxComplaint)
		if err != nil {
			safe(t, err.Error(), 2*maxQuote)
		}
		if (res == nil) == (said == "" && err == nil) {
			t.Fatalf("%v, %q, %v", res, said, err)
		}
		if res == nil {
			return
		}
		safe(t, res.Title, maxQuote)
		if !utf8.ValidString(res.Output) || res.Metadata == nil || len(res.Attachments) > maxAttachments {
			t.Fatalf("%+v", res)
		}
		if _, ok := res.Metadata["truncated"]; ok {
			t.Fatal("it says itself that it was cut")
		}
		if _, err := json.Marshal(res); err != nil {
			t.Fatal(err)
		}
	})
}

// A hook says one thing or nothing, or it fails.
func FuzzReadWord(f *testing.F) {
	f.Add([]byte(`{"block": "no", "args": {}}`), true)
	f.Add([]byte(`{"result": {"output": 5}}`), false)
	f.Add([]byte(`{"args": {"a": 1}}`), true)
	f.Fuzz(func(t *testing.T, out []byte, before bool) {
		when := "after"
		if before {
			when = "before"
		}
		w, err := readWord(out, when)
		if err != nil {
			safe(t, err.Error(), 2*maxQuote)
			return
		}
		safe(t, w.Block, maxComplaint)
		said := 0
		for _, yes := range []bool{w.blocked, w.Args != nil, w.Result != nil} {
			if yes {
				said++
			}
		}
		if said > 1 || w.Args != nil && (!before || !json.Valid(w.Args)) {
			t.Fatalf("%+v", w)
		}
	})
}

// A line of standard error is a report within bounds, or none.
func FuzzReadReport(f *testing.F) {
	f.Add([]byte(`{"progress": {"title": "a\u0000", "metadata": {"n": 1}}}`))
	f.Add([]byte(`{"progress": "\u202e"}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		r, ok := readReport(said)
		safe(t, r.title, maxQuote)
		if ok != (r.title != "" || r.metadata != nil) {
			t.Fatalf("%v, %+v", ok, r)
		}
	})
}
