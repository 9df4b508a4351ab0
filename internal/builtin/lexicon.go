package builtin

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// Limits for what is indexed of a document. Documents are untrusted.
const (
	mostName   = 24   // words of a name
	mostText   = 4000 // bytes of a text
	mostParams = 64   // parameters
	mostParam  = 400  // bytes of a parameter's text
)

// How much a word counts in each field, and how strongly the length of the field reduces that.
const (
	nameWeight, nameNorm   = 4.0, 0.35
	headWeight, headNorm   = 1.6, 0.5 // the first sentence
	restWeight, restNorm   = 0.7, 0.6
	paramWeight, paramNorm = 0.5, 0.6 // names of parameters
	noteWeight, noteNorm   = 0.25, 0.6
)

// The fields of a document, in the order of a counts.
const (
	inName = iota
	inHead
	inRest
	inParams
	inNotes
	fields
)

// counts is how often a word occurs in each field.
type counts [fields]uint16

// A posting says how often a word occurs in a document.
type posting struct {
	doc   int32
	named uint16  // times in the name, at most once a part
	tf    float64 // weighed over the fields
}

// A lexicon is the index of the words of all documents.
type lexicon struct {
	docs     []rankedDoc
	postings map[string][]posting
	words    []string           // all of postings, sorted
	byName   map[string][]int32 // by nameKey
	nameLen  []int32            // different words of each name
	talk     talk
	near     func() *speller
}

func newLexicon(docs []rankedDoc) *lexicon {
	x := &lexicon{
		docs: docs, byName: make(map[string][]int32, len(docs)), nameLen: make([]int32, len(docs)), talk: newTalk(),
	}
	c := counter{ids: map[string]int32{}}
	lengths := make([][fields]int, len(docs))
	var sums [fields]int
	for i, d := range docs {
		key := nameKey(d.Name)
		x.byName[key] = append(x.byName[key], int32(i))
		lengths[i], x.nameLen[i] = c.count(int32(i), d)
		for f, n := range lengths[i] {
			sums[f] += n
		}
	}
	var mean [fields]float64
	for f := range fields {
		mean[f] = max(1, float64(sums[f])/float64(max(1, len(docs))))
	}
	x.postings = make(map[string][]posting, len(c.ids))
	x.words = make([]string, 0, len(c.ids))
	for word, id := range c.ids {
		list := make([]posting, len(c.raw[id]))
		for i, r := range c.raw[id] {
			list[i] = posting{doc: r.doc, named: min(1, r.n[inName]), tf: weighed(r.n, &lengths[r.doc], &mean)}
		}
		x.postings[word] = list
		x.words = append(x.words, word)
	}
	slices.Sort(x.words)
	x.near = sync.OnceValue(func() *speller { return newSpeller(x) })
	return x
}

// A counter counts the words of documents, one document after the other.
type counter struct {
	ids map[string]int32 // of every word
	raw [][]rawPosting   // by id
}

type rawPosting struct {
	doc int32
	n   counts
}

// count counts the words of a document. It returns how long each field is and
// how many different words the name has.
func (c *counter) count(doc int32, d rankedDoc) (length [fields]int, names int32) {
	eachField(d, func(word string, field int) {
		id, ok := c.ids[word]
		if !ok {
			id = int32(len(c.raw))
			c.ids[strings.Clone(word)] = id
			c.raw = append(c.raw, nil)
		}
		list := c.raw[id]
		if len(list) == 0 || list[len(list)-1].doc != doc {
			list = append(list, rawPosting{doc: doc})
			c.raw[id] = list
		}
		r := &list[len(list)-1]
		if field == inName && r.n[inName] == 0 {
			names++
		}
		if r.n[field] < math.MaxUint16 {
			r.n[field]++
		}
		length[field]++
	})
	return length, names
}

func weighed(n counts, length *[fields]int, mean *[fields]float64) float64 {
	weights := [fields]float64{nameWeight, headWeight, restWeight, paramWeight, noteWeight}
	norms := [fields]float64{nameNorm, headNorm, restNorm, paramNorm, noteNorm}
	tf := 0.0
	for f := range fields {
		if n[f] > 0 {
			tf += weights[f] * float64(n[f]) / (1 - norms[f] + norms[f]*float64(length[f])/mean[f])
		}
	}
	return tf
}

// eachField calls give for every word of a document with its field.
func eachField(d rankedDoc, give func(word string, field int)) {
	field := inName
	one := func(w string) { give(w, field) }
	named := 0
	eachWord(prefix(d.Name, mostParam), func(w string) {
		if named++; named <= mostName {
			one(w)
		}
	})
	head, rest := firstSentence(prefix(d.Text, mostText))
	field = inHead
	eachWord(head, one)
	field = inRest
	eachWord(rest, one)
	for _, p := range d.Params[:min(len(d.Params), mostParams)] {
		field = inParams
		eachWord(prefix(p.Name, mostParam), one)
		field = inNotes
		eachWord(prefix(p.Text, mostParam), one)
	}
}

func prefix(s string, n int) string { return s[:min(n, len(s))] }

// firstSentence splits a description. Its first sentence says what a tool does; the rest says when
// not to use it.
func firstSentence(s string) (head, rest string) {
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == ';') && (s[i+1] == ' ' || s[i+1] == '\n') || s[i] == '\n' && s[i+1] == '\n' {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// nameKey returns a name without case and punctuation, so that two spellings of it are equal.
func nameKey(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r >= 0x80:
			return r
		}
		return -1
	}, s)
}
