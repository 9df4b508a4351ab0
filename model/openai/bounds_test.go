package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/internal/wire"
)

// feed gives a decoder that has had some bytes choices until it has enough.
func feed(t *testing.T, had, most int, delta func(i int) string) (*decoder, error) {
	t.Helper()
	d := newDecoder(model.Request{}, namesOf(model.Request{}), &wire.Client{}, "Acme")
	if err := d.tally.Piece(strings.Repeat("x", had)); err != nil {
		t.Fatal(err)
	}
	for i := range most {
		_, err := d.take(wire.Event{Data: fmt.Appendf(nil, `{"choices":[{"delta":%s}]}`, delta(i))})
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

func TestAnswersAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<10)
	for name, delta := range map[string]func(i int) string{
		"text":     func(int) string { return `{"content":"` + long + `"}` },
		"thought":  func(int) string { return `{"reasoning_content":"` + long + `"}` },
		"refusal":  func(int) string { return `{"refusal":"` + long + `"}` },
		"argument": func(int) string { return `{"tool_calls":[{"index":0,"function":{"arguments":"` + long + `"}}]}` },
		"name":     func(int) string { return `{"tool_calls":[{"index":0,"function":{"name":"` + long + `"}}]}` },
		"id":       func(int) string { return `{"tool_calls":[{"index":0,"id":"` + long + `"}]}` },
		"seal":     func(int) string { return `{"tool_calls":[{"index":0,"extra_content":"` + long + `"}]}` },
		"function": func(int) string { return `{"function_call":{"arguments":"` + long + `"}}` },
		"calls":    func(i int) string { return fmt.Sprintf(`{"tool_calls":[{"index":%d}]}`, i) },
		"a list":   func(int) string { return `{"tool_calls":[{}` + strings.Repeat(",{}", 1000) + `]}` },
		"parts":    func(int) string { return `{"content":[{}` + strings.Repeat(",{}", 1000) + `]}` },
		"choices":  func(int) string { return `{}}` + strings.Repeat(",{}", 1000) + `,{"delta":{}` },
	} {
		had := 31 << 20
		if name == "calls" {
			had = 0
		}
		_, err := feed(t, had, 1200, delta)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Invalid || e.Again() || !strings.Contains(e.Message, "ask for less") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d, err := feed(t, 0, 1000, func(i int) string { return fmt.Sprintf(`{"tool_calls":[{"index":%d}]}`, i) }); err != nil || len(d.calls) != 1000 {
		t.Error(err)
	}
}

// Servers that say the name with every piece are asked for no second look at
// what was looked at.
func TestWholeLooksOnce(t *testing.T) {
	for in, want := range map[string]bool{
		`{}`: true, `{"a":"}"`: false, `{"a":"}"}`: true, `{"a":"\"}`: false, `{"a":"\\"}`: true, ` [1] `: true, `12`: true, `""`: true,
		`{"a"}`: false, `}`: false, `x{}`: false, ``: false, ` `: false, `{} {}`: false, `"{}`: false,
	} {
		c := &callBuilder{}
		for i := range len(in) {
			c.write(in[i : i+1])
		}
		if c.argumentsComplete() != want {
			t.Errorf("%q", in)
		}
	}
	c := &callBuilder{}
	c.write(`{"a":"`)
	for range 1000 {
		c.write("xxxx")
		if n := testing.AllocsPerRun(1, func() { c.argumentsComplete() }); n > 0 {
			t.Fatal("arguments that are open were read again")
		}
	}
	c.write(`",}`)
	if c.argumentsComplete() || !c.senseless {
		t.Error("what is no JSON is whole")
	}
	if n := testing.AllocsPerRun(1, func() { c.argumentsComplete() }); n > 0 {
		t.Error("arguments that can not be mended were read again")
	}
}

func TestNamesWithEveryPiece(t *testing.T) {
	d, err := feed(t, 0, 502, func(i int) string {
		text := "xxxx"
		switch i {
		case 0:
			text = `{\"a\":\"`
		case 500:
			text = `\"}`
		case 501:
			text = `{}`
		}
		return `{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"` + text + `"}}]}`
	})
	if err != nil || len(d.calls) != 2 || !d.calls[0].valid() || d.calls[1].arguments.String() != "{}" {
		t.Error(err, len(d.calls))
	}
}

func TestNestedErrors(t *testing.T) {
	for depth, want := range map[int]bool{1: true, 7: true, 5000: false} {
		raw := strings.Repeat(`{"error":`, depth) + `{"message":"Deep down","code":401}` + strings.Repeat("}", depth)
		if r := read([]byte(raw), 1); (r.message == "Deep down" && r.code == "401") != want {
			t.Errorf("%d: %.60v", depth, r)
		}
	}
	if r := read([]byte(`{"message":"`+strings.Repeat("x", 1<<20)+`"}`), 1); len(r.message) > maxReport {
		t.Error(len(r.message))
	}
}

func TestNestedThoughts(t *testing.T) {
	for depth, want := range map[int]string{1: "in", 3000: ""} {
		raw := strings.Repeat(`[{"type":"thinking","thinking":`, depth) + `[{"type":"text","text":"in"}]` + strings.Repeat("}]", depth)
		var c content
		if err := json.Unmarshal([]byte(raw), &c); err != nil || c.thought != want || c.text != "" {
			t.Errorf("%d: %+v %v", depth, c, err)
		}
	}
}

// staying is a server that says something and then never closes.
type staying struct{ body string }

func (s staying) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	out, in := io.Pipe()
	go func() {
		defer in.Close()
		_, _ = io.WriteString(in, s.body)
		for {
			select {
			case <-time.After(300 * time.Millisecond):
				_, _ = io.WriteString(in, ": still here\n\n")
			case <-r.Context().Done():
				return
			}
		}
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out, Request: r}, nil
}

// When all was said, a server that keeps the connection is not waited for.
func TestNoEndAfterTheFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
		p, err := NewProvider(Options{BaseURL: "http://acme.com", HTTP: &http.Client{Transport: staying{body}}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		out, err := run(t.Context(), t, p)
		if err != nil || len(out) != 2 || time.Since(start) > 10*time.Second {
			t.Error(out, err, time.Since(start))
		}
		synctest.Wait()
	})
}

// What a server says to explain itself holds no key, however long it is.
func TestKeysInWords(t *testing.T) {
	escaped := strings.ReplaceAll(key, "-", `\u002d`)
	for _, data := range []string{
		`{"choices":[{"delta":{},"finish_reason":"k ` + key + `\u001b]52;\n` + strings.Repeat("x", 5000) + `"}]}`,
		`{"choices":[{"delta":{},"finish_reason":"` + strings.Repeat("x", 190) + key + `"}]}`,
		`{"error":{"message":"` + strings.Repeat("x", 990) + key + `"}}`,
		`{"error":{"message":"` + strings.Repeat("x ", 20) + strings.ReplaceAll(escaped, `\`, `\\`) + `"}}`,
	} {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", data)
		})
		for e, err := range p.Stream(t.Context(), model.Request{}) {
			words := e.Detail
			if err != nil {
				words = err.Error()
			} else if len(e.Detail) > 200 || strings.ContainsAny(e.Detail, "\n\x1b") {
				t.Errorf("%q", e.Detail)
			}
			if strings.Contains(words, "sk-") || strings.Contains(words, `sk\`) {
				t.Errorf("the key is in %q", words)
			}
		}
	}
}
