package diff

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A pair is two texts and what was made of them elsewhere.
type pair struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Diff    string `json:"diff"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Deleted bool   `json:"deleted"` // the file was, whose lines are counted otherwise
	Ask     bool   `json:"ask"`     // recorded from a request, without counts
}

func pairs(t testing.TB, file string) []pair {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []pair
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestNPM compares with pairs made by the npm package, version 8.0.4.
func TestNPM(t *testing.T) {
	list := pairs(t, "testdata/npm.json")
	if len(list) < 200 {
		t.Fatalf("only %d pairs", len(list))
	}
	for i, p := range list {
		if d := cmp.Diff(p.Diff, Unified("f.txt", p.Before, p.After)); d != "" {
			t.Errorf("pair %d: %q -> %q\n%s", i, p.Before, p.After, d)
		}
		added, removed := Count(p.Before, p.After)
		if added != p.Added || removed != p.Removed {
			t.Errorf("pair %d: +%d -%d, want +%d -%d", i, added, removed, p.Added, p.Removed)
		}
	}
}

// TestRecordings compares with diffs the reference showed, which are trimmed.
func TestRecordings(t *testing.T) {
	list := pairs(t, "testdata/recordings.json")
	if len(list) < 50 {
		t.Fatalf("only %d recordings", len(list))
	}
	for _, p := range list {
		shown := strings.NewReplacer()
		if strings.HasPrefix(p.Name, "edit.") { // which shows line feeds only
			shown = strings.NewReplacer("\r\n", "\n")
		}
		if d := cmp.Diff(p.Diff, Trim(Unified(p.File, shown.Replace(p.Before), shown.Replace(p.After)))); d != "" {
			t.Errorf("%s: %q -> %q\n%s", p.Name, p.Before, p.After, d)
		}
		if p.Ask || p.Deleted {
			continue
		}
		added, removed := Count(p.Before, p.After)
		if added != p.Added || removed != p.Removed {
			t.Errorf("%s: +%d -%d, want +%d -%d", p.Name, added, removed, p.Added, p.Removed)
		}
	}
}
