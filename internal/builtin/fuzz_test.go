package builtin

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// FuzzSearch holds any query over any documents against what a search
// promises.
func FuzzSearch(f *testing.F) {
	f.Add("create issue", "github_create_issue\nslackPostMessage\nget-free-busy", "Opens an issue. Not a PR.")
	f.Add("PR", "a", "pull request")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, query, names, text string) {
		var docs []rankedDoc
		for i, n := range strings.Split(names, "\n") {
			if i == 50 {
				break
			}
			docs = append(docs, rankedDoc{ID: n, Name: n, Text: text, Params: []rankedParam{{Name: text, Text: n}}})
		}
		hits := newRanking(docs).Search(query, 7)
		if len(hits) > 7 {
			t.Fatalf("%d hits", len(hits))
		}
		for i, h := range hits {
			if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) || h.Score <= 0 || i > 0 && h.Score > hits[i-1].Score {
				t.Fatalf("the scores are %v", hits)
			}
		}
		if len(docs) > 0 && slices.ContainsFunc(docs, func(d rankedDoc) bool { return d.Name == query }) && (len(hits) == 0 || hits[0].ID != query) {
			t.Fatalf("the name %q is not first: %v", query, hits)
		}
		slices.Reverse(docs)
		if again := newRanking(docs).Search(query, 7); !slices.Equal(hits, again) {
			t.Fatalf("in another order: %v, %v", hits, again)
		}
	})
}
