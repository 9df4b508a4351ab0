package mcpserve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"pgregory.net/rapid"

	"github.com/helve-dev/helve/tool"
)

// TestPlainCall holds the scanner against the decoder of the standard library:
// what it takes means the same there.
func TestPlainCall(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`
	for _, c := range []struct {
		id, params string
		plain      bool
	}{
		{`1`, `{"name":"read","arguments":{"filePath":"a"}}`, true},
		{`"x"`, `{"arguments":{"a":[1,-2.5e+3,true,null,{"b":"\u00e9\n"}]},"name":"read"}`, true},
		{`7`, `{"name":"read","_meta":{"progressToken":3,"other/key":1}}`, true},
		{`7`, ` { "name" : "read" } `, true},
		{`-1`, `{"name":"read"}`, false},
		{`1.0`, `{"name":"read"}`, false},
		{`null`, `{"name":"read"}`, false},
		{`1234567890123456`, `{"name":"read"}`, false},
		{`1`, `{"name":"read","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, false},
		{`1`, `{"name":"read","name":"write"}`, false},
		{`1`, `{"name":"re\u0061d"}`, false},
		{`1`, `{"name":""}`, false},
		{`1`, `{"name":3}`, false},
		{`1`, `{"name":"read","arguments":null}`, false},
		{`1`, `{"name":"read","arguments":{"a":01}}`, false},
		{`1`, `{"name":"read","arguments":{"a":"\x"}}`, false},
		{`1`, `{"name":"read","arguments":{"a":1,}}`, false},
		{`1`, `{"name":"read","arguments":{"a":tru}}`, false},
		{`1`, `{"name":"read","arguments":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200) + `}`, false},
		{`1`, `{"name":"read","requestState":"x"}`, false},
		{`1`, `[]`, false},
		{`1`, `null`, false},
	} {
		line := fmt.Sprintf(call, c.id, c.params)
		if got := plainCall([]byte(line)) != nil; got != c.plain {
			t.Errorf("%s: plain is %v", line, got)
		}
		sameCall(t, []byte(line))
	}
}

// sameCall reports a line that is taken and means something else to the standard
// library.
func sameCall(t testing.TB, line []byte) {
	t.Helper()
	x := plainCall(line)
	if x == nil {
		return
	}
	var m struct {
		ID     any
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%q is taken and is no JSON: %v", line, err)
	}
	id, err := jsonrpc.MakeID(m.ID)
	if err != nil || id != x.id || m.Method != "tools/call" || m.Params.Name != x.params.Name || !bytes.Equal(m.Params.Arguments, x.params.Arguments) {
		t.Fatalf("%q is taken for %+v", line, x)
	}
}

func FuzzPlainCall(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"a":[0,-1.5e3,"\u00e9"]}}}`))
	f.Fuzz(func(t *testing.T, line []byte) { sameCall(t, line) })
}

// TestAppendString holds the encoding of texts against that of the standard
// library.
func TestAppendString(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text") + "\u2028<&>\x7f\x00"
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
	})
}

// TestEncodeSame holds an answer that is encoded here against the library's.
func TestEncodeSame(t *testing.T) {
	t.Parallel()
	se := &session{s: &Server{}}
	for _, id := range []any{float64(7), "a<b\u2028\"c"} {
		made, err := jsonrpc.MakeID(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, res := range []*tool.Result{
			{Output: "<a>\n"},
			{Title: "x&y", Output: "", Metadata: map[string]any{}},
			{Title: "t", Metadata: map[string]any{"truncated": true, "count": 3, "preview": "a\tb", "ü": ""}},
			{Metadata: map[string]any{"list": []string{"a"}, "f": 1.5}},
			{Metadata: map[string]any{"f": func() {}}},
			{Metadata: map[string]any{"long": strings.Repeat("x", maxMeta)}},
		} {
			x := &fastCall{se: se, id: made}
			got, err := x.encode(nil, callOutcome{res: res})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(se.result(res))
			if err != nil {
				t.Fatal(err)
			}
			want, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: made, Result: raw})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, append(want, '\n')) {
				t.Errorf("got  %swant %s", got, want)
			}
		}
	}
}

// TestExpress makes calls beside the library and cancels one: each is answered
// once, an id that is in use is not, and it can be used again afterwards.
func TestExpress(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "a.txt", "one\n")
	w := h.raw(t)
	w.greet(`{}`)
	w.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`) // by now the handshake is over
	w.read()
	const read = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"filePath":"a.txt"}}}`
	for range 3 {
		w.send(read)
		if got := w.read(); !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, "00001| one") {
			t.Fatal(got)
		}
	}
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"sleep 30","description":"waits"}}}`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	w.send(read)
	if got := w.read(); !strings.Contains(got, `"id":1,"result"`) {
		t.Fatal(got)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if got := w.read(); !strings.Contains(got, `"id":2,"error"`) || !strings.Contains(got, "cancelled") {
		t.Fatal(got)
	}
	w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := w.read(); !strings.Contains(got, `"id":2,"result"`) {
		t.Fatal(got)
	}
	_ = w.in.Close()
	if rest, _ := io.ReadAll(w.out); len(rest) > 0 {
		t.Errorf("the server said more: %s", rest)
	}
	if err := <-w.end; err != nil {
		t.Error(err)
	}
}
