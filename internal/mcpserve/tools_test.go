package mcpserve

import (
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func anything(testing.TB) *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }

func TestListAndCall(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "a.txt", "one\ntwo\n")
	cs := h.connect(t, nil)
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tl := range res.Tools {
		names[tl.Name] = true
		// Both can do anything: job types into what runs, and ends it.
		if (tl.Name == "bash" || tl.Name == "job") && (tl.Annotations.ReadOnlyHint || !*tl.Annotations.DestructiveHint) {
			t.Errorf("%s is said to do no harm: %+v", tl.Name, tl.Annotations)
		}
	}
	for _, want := range []string{"read", "write", "edit", "bash", "job", "grep", "glob"} {
		if !names[want] {
			t.Errorf("%s is not listed", want)
		}
	}
	contains(t, call(t, cs, "read", map[string]any{"filePath": filepath.Join(h.dir, "a.txt")}), "one", "two")
	contains(t, call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "says hello"}), "hello")
}
