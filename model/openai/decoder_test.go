package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

var update = flag.Bool("update", false, "write the goldens anew")

// decode reads a stream as Stream does, and returns its events and its error
// as lines.
func decode(r io.Reader, plain bool) string {
	n := namesOf(model.Request{Tools: []model.Tool{{Name: "read"}, {Name: "mcp.x"}, {Name: "list"}}})
	n.back["mcp_x"] = "mcp.x"
	d := newDecoder(model.Request{}, n, &wire.Client{}, "Acme")
	d.ids["call_1"] = true
	var out strings.Builder
	add := func(said []model.Event, err error) bool {
		for _, e := range said {
			fmt.Fprintln(&out, line(e))
		}
		if err != nil {
			e, _ := errors.AsType[*model.Error](err)
			fmt.Fprintf(&out, "error %s %d: %v\n", e.Kind, e.Status, err)
		}
		return err == nil && !d.over
	}
	if plain {
		text, err := io.ReadAll(r)
		if err != nil {
			return err.Error()
		}
		said, err := d.take(wire.Event{Name: "json", Data: text})
		if !add(said, err) && err != nil {
			return out.String()
		}
	} else {
		for e, err := range wire.ReadEvents(r, 0) {
			if err != nil {
				return err.Error()
			}
			said, err := d.take(e)
			if !add(said, err) {
				if err != nil {
					return out.String()
				}
				break
			}
		}
	}
	add(d.end())
	return out.String()
}

func line(e model.Event) string {
	out := string(e.Kind)
	if e.Text != "" {
		out += fmt.Sprintf(" %q", e.Text)
	}
	if c := e.Call; c != nil {
		out += fmt.Sprintf(" %s %s %s", c.ID, c.Name, c.Input)
		if c.Seal != "" {
			out += " seal " + c.Seal
		}
	}
	if e.Kind == model.Done {
		out += fmt.Sprintf(" %s %q %+v", e.Reason, e.Detail, e.Usage)
	}
	return strings.TrimSpace(out)
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\ngot\n%s\nwant\n%s", file, got, want)
	}
}

func streams(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, pattern := range []string{"testdata/streams/*.sse", "testdata/streams/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if out[file], err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(out) < 30 {
		t.Fatalf("only %d streams", len(out))
	}
	return out
}

func TestStreams(t *testing.T) {
	for file, raw := range streams(t) {
		plain := strings.HasSuffix(file, ".json")
		got := decode(bytes.NewReader(raw), plain)
		golden(t, strings.TrimSuffix(file, filepath.Ext(file))+".golden", got)
		if plain {
			continue
		}
		for i := range raw {
			parts := io.MultiReader(bytes.NewReader(raw[:i]), bytes.NewReader(raw[i:]))
			if other := decode(parts, false); other != got {
				t.Fatalf("%s, split at %d:\n%s\nis not\n%s", file, i, other, got)
			}
		}
		if lines := decode(bytes.NewReader(bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))), false); lines != got && !bytes.Contains(raw, []byte("\r")) {
			t.Errorf("%s with other line ends:\n%s", file, lines)
		}
	}
}

// An answer that is cut anywhere is either an error or whole.
func TestCutStreams(t *testing.T) {
	raw, err := os.ReadFile("testdata/streams/openai-calls.sse")
	if err != nil {
		t.Fatal(err)
	}
	ended := bytes.Index(raw, []byte(`"finish_reason":"tool_calls"`))
	for i := range raw {
		got := decode(bytes.NewReader(raw[:i]), false)
		if whole := strings.Contains(got, "done tool-calls"); whole == strings.Contains(got, "error broken") || whole && i < ended {
			t.Fatalf("cut at %d of %d:\n%s", i, len(raw), got)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for file, raw := range streams(f) {
		f.Add(raw, strings.HasSuffix(file, ".json"))
	}
	f.Fuzz(func(t *testing.T, raw []byte, plain bool) {
		n := namesOf(model.Request{})
		d := newDecoder(model.Request{}, n, &wire.Client{}, "Acme")
		started, ids := map[string]bool{}, map[string]bool{}
		check := func(said []model.Event, err error) bool {
			for _, e := range said {
				switch e.Kind {
				case model.CallStart:
					if started[e.Call.ID] {
						t.Fatalf("a call starts twice: %+v", e.Call)
					}
					started[e.Call.ID] = true
				case model.CallEnd:
					if !started[e.Call.ID] || ids[e.Call.ID] || len(e.Call.Input) == 0 {
						t.Fatalf("a call ends twice, or before it starts: %+v", e.Call)
					}
					ids[e.Call.ID] = true
				case model.TextDelta, model.ReasoningDelta:
					if e.Text == "" {
						t.Fatal("an empty text")
					}
				}
				if _, err := json.Marshal(e.Text); err != nil {
					t.Fatal(err)
				}
			}
			if err != nil {
				if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind == "" || e.Message == "" {
					t.Fatalf("%#v", err)
				}
			}
			return err == nil && !d.over
		}
		if plain {
			if said, err := d.take(wire.Event{Name: "json", Data: raw}); !check(said, err) && err != nil {
				return
			}
		} else {
			for e, err := range wire.ReadEvents(bytes.NewReader(raw), 0) {
				if err != nil {
					return
				}
				said, err := d.take(e)
				if !check(said, err) {
					if err != nil {
						return
					}
					break
				}
			}
		}
		said, err := d.end()
		check(said, err)
		if err == nil && said[len(said)-1].Kind != model.Done {
			t.Fatal("the last event is not done")
		}
	})
}
