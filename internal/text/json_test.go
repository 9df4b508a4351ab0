package text

import (
	"encoding/json"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// The document is the same, and nothing in it is hidden.
func TestVisibleJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text") + "\u202e\u009b\U000e0041\x7f"
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		shown := VisibleJSON(string(raw))
		for _, r := range shown {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q holds %U", shown, r)
			}
		}
		var got string
		if err := json.Unmarshal([]byte(shown), &got); err != nil || got != want {
			t.Fatalf("%q became %q (%v)", want, got, err)
		}
	})
}
