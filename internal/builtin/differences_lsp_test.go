package builtin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/helve-dev/helve/lsp"
)

// lspDifferences are those of the lsp tool and of diagnostics. Where we differ
// from the reference, see docs/divergence.md, no recording shows it: all of
// them come out the same.
func lspDifferences() []difference { return nil }

// The recordings come out the same with a server that does not say what it can
// do: the reference asks every server.
func TestParityWithoutCapabilities(t *testing.T) {
	ran := 0
	for _, r := range loadRecordings(t) {
		if len(r.Config.LSP) == 0 || string(r.Config.LSP) == "false" {
			continue
		}
		ran++
		r.serverFlags = []string{"--no-capabilities"}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			report(t, r.compare(t), nil, nil)
		})
	}
	if ran == 0 {
		t.Error("no recording has a language server")
	}
}

// What a recording says about its server reaches it.
func TestServersOfRecordings(t *testing.T) {
	var r recording
	r.Config.LSP = json.RawMessage(`{"x":{"command":["y"],"extensions":[".foo"],"env":{"A":"b"},"initialization":{"c":1},"disabled":true}}`)
	own := r.languages(t).Own
	want := lsp.Server{Name: "x", Extensions: []string{".foo"}, Environment: map[string]string{"A": "b"}, Initialization: json.RawMessage(`{"c":1}`), Disabled: true}
	if len(own) != 1 || !slices.Contains(own[0].Command, "--no-version") || strings.Contains(encoded(own), `"y"`) {
		t.Fatalf("they are %s", encoded(own))
	}
	if own[0].Command = nil; encoded(own[0]) != encoded(want) {
		t.Errorf("it is %s", encoded(own[0]))
	}
}
