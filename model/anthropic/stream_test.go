package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/helve-dev/helve/model"
)

// spoken is a server that always says the same, without a network.
type spoken struct {
	body io.Reader
	kind string
}

func (s spoken) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	header := http.Header{"Content-Type": {s.kind}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(s.body), Request: r}, nil
}

// listen writes down what a client makes of an answer.
func listen(t testing.TB, body io.Reader, kind string) string {
	t.Helper()
	p, err := NewProvider(Options{Key: "sk-ant-0123456789", HTTP: &http.Client{Transport: spoken{body, kind}}})
	if err != nil {
		t.Fatal(err)
	}
	req := model.Request{Model: "m", Messages: []model.Message{said(model.User, "hi")}, Tools: []model.Tool{{Name: "a.b"}}}
	var b strings.Builder
	done := false
	for e, err := range p.Stream(t.Context(), req) {
		if done {
			t.Errorf("after the end came %v %v", e, err)
		}
		done = err != nil || e.Kind == model.Done
		b.WriteString(written(e, err))
	}
	if !done {
		t.Error("the stream has no end")
	}
	return b.String()
}

// written is an event or an error as a line.
func written(e model.Event, err error) string {
	if err != nil {
		if m, ok := errors.AsType[*model.Error](err); ok {
			return fmt.Sprintf("error %s %s %q\n", m.Kind, m.RequestID, m.Message)
		}
		return fmt.Sprintf("error %v\n", err)
	}
	line := string(e.Kind)
	if e.Text != "" {
		line += fmt.Sprintf(" %q", e.Text)
	}
	if e.Seal != "" {
		line += " seal " + e.Seal
	}
	if e.Call != nil {
		line += fmt.Sprintf(" %s %s %s", e.Call.ID, e.Call.Name, e.Call.Input)
	}
	if e.Kind == model.Done {
		line += fmt.Sprintf(" %s %q %+v", e.Reason, e.Detail, e.Usage)
	}
	return line + "\n"
}

func said(role model.Role, text string) model.Message {
	return model.Message{Role: role, Parts: []model.Part{{Text: text}}}
}

func streams(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

func TestStreams(t *testing.T) {
	for _, file := range streams(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			whole := listen(t, bytes.NewReader(body), "text/event-stream")
			golden(t, strings.TrimSuffix(file, ".sse")+".golden", whole)
			if got := listen(t, iotest.OneByteReader(bytes.NewReader(body)), "text/event-stream"); got != whole {
				t.Errorf("byte by byte:\n%s", got)
			}
			for i := range body {
				two := io.MultiReader(bytes.NewReader(body[:i]), bytes.NewReader(body[i:]))
				if got := listen(t, two, "text/event-stream"); got != whole {
					t.Fatalf("in two pieces, the first of %d bytes:\n%s", i, got)
				}
			}
		})
	}
}

// A stream that is cut anywhere is said to be broken, unless all was said.
func TestCutStreams(t *testing.T) {
	body, err := os.ReadFile("testdata/streams/tool.sse")
	if err != nil {
		t.Fatal(err)
	}
	enough := bytes.Index(body, []byte("event: message_stop"))
	for i := range body {
		for name, end := range map[string]io.Reader{"closed": strings.NewReader(""), "lost": iotest.ErrReader(io.ErrUnexpectedEOF)} {
			got := listen(t, io.MultiReader(bytes.NewReader(body[:i]), end), "text/event-stream")
			if strings.Contains(got, "error broken") != (i < enough) || strings.Contains(got, "\ndone tool-calls") != (i >= enough) {
				t.Fatalf("%s after %d of %d bytes:\n%s", name, i, len(body), got)
			}
		}
	}
}

func TestAnswersInOnePiece(t *testing.T) {
	for name, body := range map[string]string{
		"message": `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"c2ln"},{"type":"text","text":"Hi"},` +
			`{"type":"tool_use","id":"toolu_1","name":"a_b","input":{"x":[1]}},{"type":"tool_use","id":"toolu_2","name":"b","input":{}}],` +
			`"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7}}`,
		"error":  `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		"no-api": `{"hello":"world"}`,
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "testdata/whole-"+name+".golden", listen(t, strings.NewReader(body), "application/json"))
		})
	}
}

func TestLeavingEarly(t *testing.T) {
	body, err := os.ReadFile("testdata/streams/tool.sse")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProvider(Options{Key: "k", HTTP: &http.Client{Transport: spoken{bytes.NewReader(body), "text/event-stream"}}})
	if err != nil {
		t.Fatal(err)
	}
	for range p.Stream(t.Context(), model.Request{Messages: []model.Message{said(model.User, "hi")}}) {
		break
	}
}

func FuzzStream(f *testing.F) {
	for _, file := range streams(f) {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := listen(t, bytes.NewReader(body), "text/event-stream")
		if again := listen(t, iotest.HalfReader(bytes.NewReader(body)), "text/event-stream"); again != text {
			t.Errorf("%s\nin other pieces:\n%s", text, again)
		}
		listen(t, bytes.NewReader(body), "application/json")
	})
}
