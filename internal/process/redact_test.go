package process

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever pieces a stream comes in, no secret is in what is shown, and
// nothing else is missing.
func TestRedactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := []Secret{{"A", "secret-one"}, {"B", "secret-two"}, {"C", "aaaaaaaa"}, {"D", "aaaaaaaaab"}}
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"secret-one", "secret-two", "aaaaaaaa", "aaaaaaaaab", "secret-", "x", "a", "\n", "[redacted:A]",
		})).Draw(t, "text"), "")
		var out strings.Builder
		r := newRedactor(secrets)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			out.Write(r.next([]byte(rest[:n])))
			rest = rest[n:]
		}
		out.Write(r.heldBack())
		got := out.String()
		for _, s := range secrets {
			if strings.Contains(got, s.Value) {
				t.Fatalf("%q shows %s", got, s.Name)
			}
		}
		if !strings.Contains(text, "secret-o") && !strings.Contains(text, "secret-t") && !strings.Contains(text, "aaaaaaaa") && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestRedactorWithoutSecrets(t *testing.T) {
	r := newRedactor(nil)
	if got := string(r.next([]byte("abc"))) + string(r.heldBack()); got != "abc" {
		t.Errorf("%q", got)
	}
}
