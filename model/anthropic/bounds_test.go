package anthropic

import (
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

// feed gives a decoder that has had some bytes events until it has enough.
func feed(t *testing.T, had, most int, event func(i int) string) (*decoder, error) {
	t.Helper()
	d := &decoder{names: namesOf(model.Request{}), blocks: map[int]*open{}, wire: &wire.Client{}, tally: wire.Tally{Who: "Anthropic"}}
	if err := d.tally.Piece(strings.Repeat("x", had)); err != nil {
		t.Fatal(err)
	}
	for i := range most {
		if err := d.take(wire.Event{Data: []byte(event(i))}); err != nil {
			return d, err
		}
	}
	return d, nil
}

func start(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{%s}}`, i, block)
}

func TestAnswersAreBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<10)
	delta := func(kind, field string) func(int) string {
		return func(int) string {
			return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":%q,%q:%q}}`, kind, field, long)
		}
	}
	call := func(i int) string { return start(i, `"type":"tool_use","id":"a","name":"b"`) }
	const nearly = 31 << 20
	for name, c := range map[string]struct {
		had   int
		event func(i int) string
	}{
		"text":      {nearly, delta("text_delta", "text")},
		"thought":   {nearly, delta("thinking_delta", "thinking")},
		"signature": {nearly, delta("signature_delta", "signature")},
		"input":     {nearly, delta("input_json_delta", "partial_json")},
		"blocks":    {nearly, func(i int) string { return start(i, `"type":"text"`) }},
		"redacted":  {nearly, func(int) string { return start(0, `"type":"redacted_thinking","data":"`+long+`"`) }},
		"calls":     {0, call},
		"calls that end": {0, func(i int) string {
			if i%2 == 0 {
				return call(0)
			}
			return `{"type":"content_block_stop","index":0}`
		}},
		"one piece": {0, func(int) string { return `{"type":"message","content":[{}` + strings.Repeat(",{}", 1000) + `]}` }},
	} {
		_, err := feed(t, c.had, 2400, c.event)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Invalid || e.Again() || !strings.Contains(e.Message, "ask for less") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d, err := feed(t, 0, 1000, call); err != nil || len(d.blocks) != 1000 {
		t.Error(err)
	}
}

// A signature in many pieces is not copied for each of them.
func TestSignatureInPieces(t *testing.T) {
	d := &decoder{blocks: map[int]*open{}, wire: &wire.Client{}}
	if err := d.start(0, piece{Type: "thinking", Signature: "a"}); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(10000, func() {
		if err := d.delta(0, piece{Type: "signature_delta", Signature: "b"}, ""); err != nil {
			t.Fatal(err)
		}
	})
	d.stop(0)
	if last := d.out[len(d.out)-1]; n > 0 || last.Seal != sealSignature+"a"+strings.Repeat("b", 10001) {
		t.Errorf("%v allocations, %d bytes", n, len(last.Seal))
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
				_, _ = io.WriteString(in, "event: ping\ndata: {}\n\n")
			case <-r.Context().Done():
				return
			}
		}
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out, Request: r}, nil
}

// When all was said, a server that keeps the connection is not waited for.
func TestNoEndAfterTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := "data: " + start(0, `"type":"text","text":"Hi"`) + "\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
		p, err := NewProvider(Options{Key: key, BaseURL: "http://acme.com", HTTP: &http.Client{Transport: staying{body}}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		text, err := ask(t, t.Context(), p)
		if err != nil || text != "Hi" || time.Since(began) > 10*time.Second {
			t.Error(text, err, time.Since(began))
		}
		synctest.Wait()
	})
}

// What a server says to explain itself holds no key, and is short.
func TestKeysInWords(t *testing.T) {
	for _, data := range []string{
		`{"type":"error","error":{"type":"` + key + `","message":"x"},"request_id":"r-` + key + `\n` + strings.Repeat("x", 1000) + `"}`,
		`{"type":"error","error":{"type":"x","message":"` + strings.Repeat("x", 990) + key + `"}}`,
		`{"type":"message","content":[],"stop_reason":"refusal","stop_details":{"explanation":"` + strings.Repeat("x", 170) + key + `\u001b\n` + strings.Repeat("x", 1000) + `"}}`,
	} {
		p := reach(t, Options{Key: key}, func(w http.ResponseWriter, _ *http.Request) { flush(w, "data: "+data+"\n\n") })
		for e, err := range p.Stream(t.Context(), model.Request{Model: "m", Messages: []model.Message{said(model.User, "hi")}}) {
			id := ""
			if m, ok := errors.AsType[*model.Error](err); ok {
				id = m.RequestID
			}
			if all := fmt.Sprint(e.Detail, err, id); strings.Contains(all, "sk-") {
				t.Errorf("the key is in %q", all)
			}
			if len(e.Detail) > 200 || len(id) > 200 || strings.ContainsAny(e.Detail+id, "\n\x1b") {
				t.Errorf("%q %q", e.Detail, id)
			}
		}
	}
}
