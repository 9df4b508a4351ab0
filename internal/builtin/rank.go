package builtin

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Ranking finds the tools that are meant by a few words.
//
// A tool is a short document of several fields: its name, what is said about
// it, and the names and texts of its parameters. A query is what a model
// would type: keywords, half a sentence, a name with a slip in it. Documents
// are weighed by BM25F, which adds up how often a word stands in each field,
// some fields counting more than others; words of equal meaning in tool talk
// ("remove" and "delete"), endings and slips are forgiven at a price.
//
// Ranking is a function of the documents and the query alone: no randomness,
// no state that grows, and the order of the documents does not matter.

// Limits for a query. Of a longer one, only the beginning counts.
const (
	mostQuery    = 2000 // bytes
	mostConcepts = 24   // words that count
)

// A rankedDoc is something that can be found. ID is returned in a [rankedHit]; the other fields are
// searched.
type rankedDoc struct {
	ID, Name, Text string
	Params         []rankedParam
}

// A rankedParam is a parameter of a [rankedDoc].
type rankedParam struct{ Name, Text string }

// A rankedHit is a document that matches a query. Scores are comparable only within one result; a
// document whose exact name is the query scores at least namedScore.
type rankedHit struct {
	ID    string
	Score float64
}

// namedScore is the minimum score of a document whose name is the query.
const namedScore = 1e6

// A ranking searches documents. It is safe for concurrent use.
type ranking struct {
	docs  []rankedDoc
	build sync.Once
	lex   *lexicon
}

// newRanking returns an index of docs, which must not be changed afterwards. The index is built at
// the first search.
func newRanking(docs []rankedDoc) *ranking { return &ranking{docs: docs} }

// Search returns the n best matches at most, best first. A document with none of the words is no
// match. If the query is the name of a document, that document comes first.
func (x *ranking) Search(query string, n int) []rankedHit {
	if n <= 0 || len(x.docs) == 0 {
		return nil
	}
	x.build.Do(func() { x.lex = newLexicon(x.docs) })
	t := tally{lex: x.lex, total: make([]float64, len(x.docs)), best: make([]float64, len(x.docs))}
	asked := query
	if len(asked) > mostQuery {
		asked = strings.ToValidUTF8(asked[:mostQuery], " ")
	}
	concepts := x.lex.concepts(asked)
	weight := 0.0
	for _, c := range concepts {
		weight += c.idf * c.weight
	}
	t.covered = make([]float64, len(x.docs))
	for _, c := range concepts {
		t.add(c)
	}
	// Documents that contain the whole query are raised, and those whose name contains little else.
	for _, d := range t.found {
		part := t.covered[d] / weight
		named := min(1, float64(t.inName[d])/float64(max(1, t.lex.nameLen[d])))
		t.total[d] *= (1 - wholly + wholly*part) * (1 + partlyNamed*named)
	}
	t.name(query)
	return t.hits(x.docs, n)
}

// Weights of the score, tuned on half of the queries in testdata.
const (
	saturation   = 1.2  // how soon more of the same word stops to count
	partlyNamed  = 0.35 // what it adds that the words of the query are all of the name
	wholly       = 0.6  // how much of a score hangs on how much of the query is there
	wordIsName   = 1e3  // added when a word of the query is the whole name
	nearlyNamed  = 2.0  // times Named, when the query is the name but for case
	exactlyNamed = 3.0  // times Named, when the query is the name
)

// A tally sums up the scores of one search.
type tally struct {
	lex     *lexicon
	total   []float64
	covered []float64 // weight of the concepts that a document has
	best    []float64 // of the concept being added; zero otherwise
	touched []int32
	found   []int32 // documents with any score, each once
	inName  []int32
}

// add adds the score of a concept. For each document only the best of its alternatives counts.
func (t *tally) add(c concept) {
	if t.inName == nil {
		t.inName = make([]int32, len(t.total))
	}
	t.touched = t.touched[:0]
	for _, a := range c.words {
		for _, p := range t.lex.postings[a.word] {
			s := a.weight * p.tf / (saturation + p.tf)
			if t.best[p.doc] == 0 {
				t.touched = append(t.touched, p.doc)
				t.inName[p.doc] += int32(p.named)
			}
			t.best[p.doc] = max(t.best[p.doc], s)
		}
	}
	for _, d := range t.touched {
		if t.total[d] == 0 {
			t.found = append(t.found, d)
		}
		gain := c.idf * c.weight
		t.total[d] += gain * t.best[d]
		t.covered[d] += gain * min(1, t.best[d]*1.6)
		t.best[d] = 0
	}
}

// name puts the documents first whose name is the query.
func (t *tally) name(query string) {
	put := func(key string, fits func(name string) bool, score float64) {
		for _, d := range t.lex.byName[key] {
			if !fits(t.lex.docs[d].Name) {
				continue
			}
			if t.total[d] == 0 {
				t.found = append(t.found, d)
			}
			t.total[d] += score
		}
	}
	is := func(want string) func(string) bool { return func(s string) bool { return s == want } }
	each := func(string) bool { return true }
	put(nameKey(query), is(query), namedScore*exactlyNamed)
	trimmed := strings.TrimSpace(query)
	if len(query) > mostQuery {
		return
	}
	put(nameKey(trimmed), func(s string) bool { return strings.EqualFold(s, trimmed) }, namedScore*nearlyNamed)
	if key := nameKey(trimmed); key != "" {
		put(key, each, namedScore)
	}
	for i, word := range strings.Fields(query) {
		if i == mostConcepts {
			break
		}
		if word = strings.Trim(word, "`'\".,:;()"); strings.ContainsAny(word, "_-") {
			put(nameKey(word), func(s string) bool { return strings.EqualFold(s, word) }, wordIsName)
		}
	}
}

// keep is the number of results up to which selecting them one by one is faster than sorting all.
const keep = 64

// hits returns the n best in order.
func (t *tally) hits(docs []rankedDoc, n int) []rankedHit {
	order := func(a, b int32) int {
		if t.total[a] != t.total[b] {
			return cmp.Compare(t.total[b], t.total[a])
		}
		return cmp.Or(strings.Compare(docs[a].Name, docs[b].Name), strings.Compare(docs[a].ID, docs[b].ID))
	}
	best := t.found
	if n > keep {
		slices.SortFunc(best, order)
	} else {
		best = make([]int32, 0, n+1)
		for _, d := range t.found {
			if len(best) == n && order(d, best[n-1]) >= 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, d, order)
			best = slices.Insert(best, at, d)
			best = best[:min(n, len(best))]
		}
	}
	out := make([]rankedHit, min(n, len(best)))
	for i := range out {
		out[i] = rankedHit{ID: docs[best[i]].ID, Score: t.total[best[i]]}
	}
	return out
}
