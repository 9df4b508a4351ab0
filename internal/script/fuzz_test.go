package script_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"github.com/helve-dev/helve/internal/script"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzText gives bytes to Buffer and path, and holds what they say against Go's libraries.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a/../b//c/.", "/..", "h\u00e9llo", "\xff\xfe\x00", "..//a", strings.Repeat("x/", 40)} {
		f.Add([]byte(seed))
	}
	v, err := script.NewVM(script.VMOptions{Host: &world{ops: (&world{}).machineOps()}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := v.Close(); err != nil {
			f.Error(err)
		}
	})
	source := script.Prelude() + `globalThis.look = (arg, raw) => {
		const b = Buffer.from(raw), text = b.toString();
		return {
			hex: b.toString("hex"), base64: b.toString("base64"), url: b.toString("base64url"), text,
			same: [["hex"], ["base64"], ["base64url"], ["latin1"]].every(([e]) => Buffer.from(b.toString(e), e).equals(b)),
			length: Buffer.byteLength(text), path: __helve.require("path").normalize(text),
			query: __helve.require("querystring").unescape(__helve.require("querystring").escape(text)) === text,
			params: new URLSearchParams([["k", text]]).get("k") === new URLSearchParams(new URLSearchParams([["k", text]]).toString()).get("k"),
		};
	};`
	if err := v.Load(f.Context(), "look.js", script.Code{Source: source}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer, err := v.Call(t.Context(), "look", script.Data{Raw: append([]byte{}, data...)})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Hex, Base64, URL, Text, Path string
			Same, Query, Params          bool
			Length                       int
		}
		if err := json.Unmarshal(answer.JSON, &got); err != nil {
			t.Fatal(err)
		}
		if got.Hex != hex.EncodeToString(data) || got.Base64 != base64.StdEncoding.EncodeToString(data) || got.URL != base64.RawURLEncoding.EncodeToString(data) {
			t.Errorf("encodings of %q: %+v", data, got)
		}
		if !got.Same || !got.Query || !got.Params || got.Length != len(got.Text) {
			t.Errorf("%q does not come back: %+v", data, got)
		}
		if utf8.Valid(data) && got.Text != string(data) {
			t.Errorf("text of %q is %q", data, got.Text)
		}
		if trimmed := strings.TrimSuffix(got.Path, "/"); utf8.Valid(data) && trimmed != strings.TrimSuffix(path.Clean(string(data)), "/") {
			t.Errorf("%q is tidied to %q, by Go to %q", data, got.Path, path.Clean(string(data)))
		}
	})
}
