package script

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzBoundary: what is JSON comes back with the same meaning, what is not is the script's error,
// and bytes come back as they are, on the way of a call and on that of a request.
func FuzzBoundary(f *testing.F) {
	for _, text := range []string{`null`, `{"a":[1,-0.5e3,"\u0000\ud83d\ude00"],"__proto__":{"x":1}}`, `[[[[]]]]`, `"\ud800"`, `1e400`, `{`, "\"\xff\"", ` [ ] `} {
		f.Add([]byte(text), []byte("raw"))
	}
	v := open(f, VMOptions{}, `
		globalThis.same = (x) => x;
		globalThis.now = (x) => JSON.parse(__now("x", JSON.stringify(x)));
		globalThis.bytes = async (x, raw) => (await __later("x", "0", raw))[1];
	`)
	f.Fuzz(func(t *testing.T, text, raw []byte) {
		for _, function := range []string{"same", "now"} {
			d, err := v.Call(t.Context(), function, Data{JSON: text})
			var want, got any
			clean := valid(text)
			switch wrong := json.Unmarshal(clean, &want); {
			case err != nil:
				if _, ok := err.(*Thrown); !ok {
					t.Fatalf("%q: %v", text, err)
				}
				if wrong == nil {
					t.Fatalf("%q is JSON, but: %v", text, err)
				}
			case !json.Valid(d.JSON):
				t.Fatalf("%q gave %q", text, d.JSON)
			case wrong == nil:
				if err := json.Unmarshal(d.JSON, &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%q: %s", text, diff)
				}
			}
		}
		if raw == nil {
			return
		}
		if d, err := v.Call(t.Context(), "bytes", Data{Raw: raw}); err != nil || !bytes.Equal(d.Raw, raw) {
			t.Fatalf("%x: %x, %v", raw, d.Raw, err)
		}
	})
}
