package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	for raw, want := range map[string][]string{
		"http://localhost:3000/x":  {"localhost:3000", "localhost:"},
		"http://LOCALHOST:80/":     {"localhost", "localhost:"},
		"http://[::1]:3000/":       {"[::1]:3000", "[::1]:"},
		"http://[::1]/":            {"[::1]", "[::1]:"},
		"https://10.0.0.5:8443/ab": {"10.0.0.5:8443", "10.0.0.5:"},
	} {
		at, err := Read(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, at.Words()); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}
