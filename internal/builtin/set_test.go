package builtin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// catalogue reads the tools of testdata.
func catalogue(t testing.TB) []rankedDoc {
	t.Helper()
	data, err := os.ReadFile("testdata/rank/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var docs []rankedDoc
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var tool struct {
			Name, Description string
			InputSchema       struct {
				Properties map[string]struct{ Description string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &tool); err != nil {
			t.Fatal(err)
		}
		d := rankedDoc{ID: tool.Name, Name: tool.Name, Text: tool.Description}
		for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
			d.Params = append(d.Params, rankedParam{Name: name, Text: tool.InputSchema.Properties[name].Description})
		}
		docs = append(docs, d)
	}
	if err := lines.Err(); err != nil || len(docs) < 200 {
		t.Fatalf("%d tools: %v", len(docs), err)
	}
	return docs
}

// A wish is a query and the tools that are right for it.
type wish struct {
	query string
	right []string
}

func wishes(t testing.TB, file string) []wish {
	t.Helper()
	data, err := os.ReadFile("testdata/rank/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []wish
	for line := range strings.Lines(string(data)) {
		query, right, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: %q has no tab", file, line)
		}
		out = append(out, wish{query, strings.Fields(right)})
	}
	return out
}

// TestSet finds the right tool for at least 95 of 100 queries among the first
// five. The figures of ranking were tried out on the tuned half only.
func TestSet(t *testing.T) {
	docs := catalogue(t)
	names := map[string]bool{}
	for _, d := range docs {
		names[d.Name] = true
	}
	x := newRanking(docs)
	total, good := 0, 0
	for _, file := range []string{"queries-tuned.tsv", "queries-held.tsv"} {
		set := wishes(t, file)
		first, five := 0, 0
		for _, w := range set {
			for _, r := range w.right {
				if !names[r] {
					t.Errorf("%s: %q wants %s, which is not in the catalogue", file, w.query, r)
				}
			}
			hits := x.Search(w.query, 5)
			at := slices.IndexFunc(hits, func(h rankedHit) bool { return slices.Contains(w.right, h.ID) })
			if at == 0 {
				first++
			}
			if at >= 0 {
				five++
				continue
			}
			t.Logf("%s: %q wants %v, got %v", file, w.query, w.right, hits)
		}
		t.Logf("%s: %d queries, right first %.1f %%, in the first five %.1f %%",
			file, len(set), 100*float64(first)/float64(len(set)), 100*float64(five)/float64(len(set)))
		total, good = total+len(set), good+five
	}
	if total < 200 || 100*good < 95*total {
		t.Errorf("the right tool is among the first five for %d of %d queries", good, total)
	}
}
