package web

import "testing"

func TestLookupWords(t *testing.T) {
	for page, want := range map[string]string{
		"<p>a<SCRIPT>x()</Script>b":       "a b",
		"<style>p{}</STYLE><h1>Head</h1>": "Head",
		"a <script>never ends":            "a",
		"1 < 2":                           "1",
	} {
		if got := pageText(page); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}
