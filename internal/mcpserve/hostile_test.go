package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Whatever a client writes, the server answers the next request.
func TestHostile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	lines := []string{
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 100_000) + `","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 100_000) + `"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + strings.Repeat("n", 100_000) + `"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{"filePath":` + deep + `}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":` + deep + `}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read","arguments":{"filePath":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}}}`,
		deep,
		strings.Repeat(`{"a":`, 100_000),
		`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"initialize","params":null}`,
		`{"jsonrpc":"2.0","id":8,"method":"initialize"}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read","arguments":null,"_meta":{"progressToken":{"a":[1]}}}}`,
		`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"read","_meta":7}}`,
		`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"read","arguments":{},"_meta":{"progressToken":1e300}}}`,
		`{"jsonrpc":"2.0","id":12,"method":"logging/setLevel"}`,
		`{"jsonrpc":"2.0","id":13,"method":"completion/complete","params":{}}`,
		`{"jsonrpc":"2.0","id":14,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		`{"jsonrpc":"2.0","id":15,"method":"prompts/get","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":16,"method":"subscriptions/listen","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"x":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"many"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e99}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"both"}}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read","arguments":{}}}`,
		"\x00\xff\xfe",
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
		strings.Repeat("x", maxLine+1),
	}
	h := build(t, nil, nil, nil)
	for _, capabilities := range []string{`{}`, `{"roots":{},"elicitation":{}}`} {
		w := h.raw(t)
		go func() { // before the handshake as well
			for _, line := range lines {
				w.send(line)
			}
			w.send(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":7,"capabilities":` + capabilities + `}}`)
			w.send(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":"x","capabilities":` + capabilities + `,"clientInfo":{}}}`)
			for _, line := range lines {
				w.send(line)
			}
			w.send(`{"jsonrpc":"2.0","id":"done","method":"ping"}`)
		}()
		for {
			line := w.read()
			if !json.Valid([]byte(line)) {
				t.Fatalf("the server writes what is no JSON: %.200s", line)
			}
			if strings.Contains(line, `"id":"done"`) {
				break
			}
		}
		_ = w.in.Close()
		go func() { _, _ = io.Copy(io.Discard, w.out) }()
		if err := <-w.end; err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(h.log.String(), "broke the server") {
		t.Error("a request made the server panic")
	}
}

// Very many requests at once are all answered.
func TestFlood(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "a.txt", "x")
	w := h.raw(t)
	w.greet(`{}`)
	const many = 500
	go func() {
		for i := range many {
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"filePath":"a.txt"}}}`, i))
		}
	}()
	seen := map[float64]bool{}
	for range many {
		var res struct {
			ID     float64
			Result struct{ IsError bool }
			Error  any
		}
		line := w.read()
		if err := json.Unmarshal([]byte(line), &res); err != nil || res.Result.IsError || res.Error != nil || seen[res.ID] {
			t.Fatalf("%v in %s", err, line)
		}
		seen[res.ID] = true
	}
}

// FuzzLine feeds lines to a connection: each gives messages, an answer that is
// JSON, or nothing.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`, `[]`, `{`, ``, ` `, `null`, `"x"`,
		`{"jsonrpc":"2.0","id":1e5,"method":"x","params":[]}`, `{"jsonrpc":"2.0","id":"a","result":1}`, "\xff", `{"id":-0}`, `{"jsonrpc":"2.0","id":null,"method":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var out bytes.Buffer
		c := newLineConn(bytes.NewReader(line), &out, slog.New(slog.DiscardHandler))
		if _, err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		for {
			msg, err := c.Read(context.Background())
			if err != nil {
				break
			}
			if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
				if err := c.Write(t.Context(), &jsonrpc.Response{ID: req.ID, Result: json.RawMessage(`{}`)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for l := range bytes.Lines(out.Bytes()) {
			if !json.Valid(l) {
				t.Fatalf("%q is no JSON", l)
			}
		}
		if len(c.open) != 0 {
			t.Fatalf("%d requests are open", len(c.open))
		}
	})
}
