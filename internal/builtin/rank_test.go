package builtin

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ids(hits []rankedHit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func named(names ...string) *ranking {
	var docs []rankedDoc
	for _, n := range names {
		docs = append(docs, rankedDoc{ID: n, Name: n})
	}
	return newRanking(docs)
}

func TestSearch(t *testing.T) {
	for _, tt := range []struct {
		what, query string
		among, want []string
	}{
		{"words of a name", "create issue", []string{"gh_create_issue", "gh_list_pages"}, []string{"gh_create_issue"}},
		{"humps", "user profile", []string{"getUserProfile", "getHTTPServer"}, []string{"getUserProfile"}},
		{"capitals before a word", "server", []string{"getHTTPServer", "other"}, []string{"getHTTPServer"}},
		{"kebab", "free busy", []string{"get-freebusy", "set-status"}, []string{"get-freebusy"}},
		{"digits", "route 53", []string{"route53_records", "dns"}, []string{"route53_records"}},
		{"letter and digit", "s3", []string{"aws_s3_get", "aws_ec2_get"}, []string{"aws_s3_get"}},
		{"plural", "buckets", []string{"bucket", "other"}, []string{"bucket"}},
		{"plural in y", "repositories", []string{"repository", "other"}, []string{"repository"}},
		{"form of a verb", "merging branches", []string{"merge_branch", "other"}, []string{"merge_branch"}},
		{"doubled consonant", "stopped", []string{"stop", "other"}, []string{"stop"}},
		{"synonym", "erase", []string{"delete_row", "other"}, []string{"delete_row"}},
		{"abbreviation", "PR", []string{"list_pull_requests", "other"}, []string{"list_pull_requests"}},
		{"abbreviation in the name", "pull request", []string{"list_prs", "other"}, []string{"list_prs"}},
		{"beginning", "kuber", []string{"kubernetes_get", "other"}, []string{"kubernetes_get"}},
		{"slip", "calender", []string{"calendar_list", "other"}, []string{"calendar_list"}},
		{"two slips in a long word", "kubrenetse", []string{"kubernetes_get", "other"}, []string{"kubernetes_get"}},
		{"two letters swapped", "gihtub", []string{"github_get", "other"}, []string{"github_get"}},
		{"no slip in a short word", "gut", []string{"get", "cut"}, []string{}},
		{"only words that say little", "what is it", []string{"a_b", "c_d"}, []string{}},
		{"nothing", "", []string{"a", "b"}, []string{}},
		{"signs", "?!", []string{"a", "b"}, []string{}},
		{"another script", "日本", []string{"日本_get", "other"}, []string{"日本_get"}},
		{"exact before others", "issue_get", []string{"get_issue", "issue_get", "issue-get"}, []string{"issue_get", "issue-get", "get_issue"}},
		{"case before signs", "Issue_Get", []string{"issue-get", "issue_get"}, []string{"issue_get", "issue-get"}},
		{"a name within a sentence", "call db_get to read all of the other things please", []string{"read_other_things", "db_get"}, []string{"db_get", "read_other_things"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ids(named(tt.among...).Search(tt.query, 5))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestFields finds a document by each of its fields, the name before the rest.
func TestFields(t *testing.T) {
	x := newRanking([]rankedDoc{
		{ID: "note", Name: "a", Params: []rankedParam{{Name: "x", Text: "a walrus"}}},
		{ID: "param", Name: "b", Params: []rankedParam{{Name: "walrusId"}}},
		{ID: "rest", Name: "c", Text: "Does this. Not that walrus."},
		{ID: "head", Name: "d", Text: "Feeds a walrus. Not that."},
		{ID: "name", Name: "walrus"},
		{ID: "none", Name: "e", Text: "Nothing."},
	})
	if diff := cmp.Diff([]string{"name", "head", "rest", "param", "note"}, ids(x.Search("walrus", 10))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := x.Search("walrus", 2); len(got) != 2 || got[0].Score < namedScore || got[1].Score >= namedScore {
		t.Errorf("two at most: %v", got)
	}
	for _, n := range []int{0, -1} {
		if got := x.Search("walrus", n); got != nil {
			t.Errorf("%d: %v", n, got)
		}
	}
	if got := newRanking(nil).Search("walrus", 5); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// TestOwnName: whatever else a name could mean, it means the tool first.
func TestOwnName(t *testing.T) {
	docs := catalogue(t)
	x := newRanking(docs)
	for _, d := range docs {
		if got := x.Search(d.Name, 1); len(got) != 1 || got[0].ID != d.ID {
			t.Errorf("%s: %v", d.Name, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-cA-C_\-.1 é]{1,6}`), 1, 12, rapid.ID).Draw(t, "names")
		x := named(names...)
		for _, n := range names {
			if got := x.Search(n, 1); len(got) != 1 || got[0].ID != n {
				t.Errorf("%q among %q: %v", n, names, got)
			}
		}
	})
}

// TestOrderOfDocs: the same documents in another order give the same answer.
func TestOrderOfDocs(t *testing.T) {
	docs := catalogue(t)
	sets := slices.Concat(wishes(t, "queries-tuned.tsv"), wishes(t, "queries-held.tsv"))
	x := newRanking(docs)
	for seed := range uint64(3) {
		mixed := slices.Clone(docs)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		y := newRanking(mixed)
		for _, w := range sets {
			if diff := cmp.Diff(x.Search(w.query, 20), y.Search(w.query, 20)); diff != "" {
				t.Fatalf("%q: %s", w.query, diff)
			}
		}
	}
}

// TestTogether searches from several goroutines, the first search included.
func TestTogether(t *testing.T) {
	x := newRanking(catalogue(t))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := x.Search("creat_pull_requst githb", 1); len(got) != 1 || got[0].ID != "github_create_pull_request" {
				t.Errorf("got %v", got)
			}
		})
	}
	wg.Wait()
}

// TestLongQuery looks at the beginning of a query that has no end, and a name
// is a name however long it is.
func TestLongQuery(t *testing.T) {
	long := strings.Repeat("x", 5000)
	x := named("create_issue", "other", long)
	if got := ids(x.Search("create issue "+strings.Repeat("q w e r t y ", 1<<16), 1)); !slices.Equal(got, []string{"create_issue"}) {
		t.Errorf("got %v", got)
	}
	if got := ids(x.Search(long, 1)); !slices.Equal(got, []string{long}) {
		t.Errorf("the long name: %.40q", got)
	}
}

// many makes documents out of the words of the catalogue.
func many(tb testing.TB, n int) []rankedDoc {
	docs := catalogue(tb)
	out := make([]rankedDoc, n)
	for i := range out {
		d := docs[i%len(docs)]
		d.Name = fmt.Sprintf("s%d_%s", i/len(docs), d.Name)
		d.ID = d.Name
		out[i] = d
	}
	return out
}

func TestTenThousand(t *testing.T) {
	x := newRanking(many(t, 10_000))
	if got := x.Search("s7 create github issue", 1); len(got) != 1 || got[0].ID != "s7_github_create_issue" {
		t.Errorf("got %v", got)
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			docs := many(b, n)
			for b.Loop() {
				newRanking(docs).Search("nothing", 1)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		x := newRanking(many(b, n))
		for name, q := range map[string]string{
			"words": "reply in a slack thread", "slips": "githb serch isues",
			"long": strings.Repeat("create list get issue message file page query channel user event database githb serch ", 50),
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					x.Search(q, 5)
				}
			})
		}
	}
}
