// Package replace finds the text an edit means.
//
// A model quotes the text it wants replaced from memory, and often gets the
// whitespace, a quote or a line wrong. [Find] looks for the quoted text
// exactly, then by looser and looser strategies, and returns which bytes of the
// file are meant; [Match.Edits] returns what replaces them. They change nothing
// themselves.
//
// There are two profiles. The seed profile matches as OpenCode's edit tool does,
// even where that replaces text nobody quoted. The safe profile, the default,
// never does: a loose match must be the only one, every line of it must have
// been quoted, and the seed profile must find as many places or more.
//
// All costs are linear in the size of the file. Where an exact answer would
// cost more, work is counted and the search gives up as if nothing was found.
package replace

import (
	"errors"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
)

// A Profile says how loosely a text may match.
type Profile string

// The profiles. The empty Profile is Safe.
const (
	Safe Profile = "safe"
	Seed Profile = "seed"
)

// Options configure a search.
type Options struct {
	All     bool // every place is meant, not the only one
	Profile Profile
}

// A Span is a part of the content, in bytes.
type Span struct{ Start, End int }

// The names of the strategies, in the order they are tried. OpenCode has two more that cannot
// decide anything, so they are left out: "indentation_flexible", after whitespace_normalized, looks
// for runs of lines that earlier ones have already found, and "multi_occurrence", the last, does
// what simple does.
const (
	simple               = "simple"
	lineTrimmed          = "line_trimmed"
	blockAnchor          = "block_anchor"
	whitespaceNormalized = "whitespace_normalized"
	escapeNormalized     = "escape_normalized"
	trimmedBoundary      = "trimmed_boundary"
	contextAware         = "context_aware"
)

// A Match is the text that an edit means.
type Match struct {
	Spans      []Span  // sorted, without overlap, at least one
	Strategy   string  // the first that found it, such as "simple" or "line_trimmed"
	Exact      bool    // the spans hold the quoted text byte for byte
	Similarity float64 // of the quoted text and the first span: 1 is equal, 0 has nothing in common

	finder *search
}

// ErrEmpty and ErrSize say that the input cannot be searched.
var (
	ErrEmpty = errors.New("the text to replace is empty")
	ErrSize  = errors.New("the text is larger than 2 GB")
)

// Find returns the bytes of content that old stands for. Both have \n as line ending. The error is
// a [*Missing] if there is no such text, a [*Many] if there are several and not all are meant, and
// an [*Oversized] if the only such text is much larger than old.
func Find(content, old string, opt Options) (Match, error) {
	switch {
	case old == "":
		return Match{}, ErrEmpty
	case len(content) >= math.MaxInt32 || len(old) >= math.MaxInt32:
		return Match{}, ErrSize
	}
	f := newSearch(content, old, opt)
	if m, ok := f.exact(); ok {
		return m, nil
	}
	if opt.Profile == Seed {
		return f.seed()
	}
	return f.safe()
}

// A strategy yields the spans that might be meant, the most likely first.
type strategy struct {
	name  string
	spans iter.Seq[Span]
}

// A search is one run of [Find], with what the strategies share.
type search struct {
	content, old string
	opt          Options

	// What is made when first needed.
	index    *pair
	raw      *prefix
	quotes   *quote
	compared map[[2]string]float64

	steps int // what may still be spent on comparing lines; negative once it was not enough
	scans int // bytes that may still be read to see whether a text is unique
}

func newSearch(content, old string, opt Options) *search {
	return &search{content: content, old: old, opt: opt, steps: maxSteps + stepFactor*len(content), scans: maxScan + scanFactor*len(content)}
}

// exact is the answer where old is there as it stands, and clearly.
func (f *search) exact() (Match, bool) {
	at := strings.Index(f.content, f.old)
	if at < 0 {
		return Match{}, false
	}
	m := Match{Strategy: simple, Exact: true, Similarity: 1, finder: f}
	if f.opt.All {
		m.Spans = occurrences(f.content, f.old)
		return m, true
	}
	m.Spans = []Span{{at, at + len(f.old)}}
	return m, !strings.Contains(f.content[at+1:], f.old)
}

// strategies are the loose ones. In the safe profile two of them look for
// something stricter than their namesakes.
func (f *search) strategies() []strategy {
	anchored, context := f.anchored(), f.contextual()
	if f.opt.Profile != Seed {
		anchored, context = f.quotedBlocks(false), f.quotedBlocks(true)
	}
	return []strategy{
		{lineTrimmed, f.trimmedLines()},
		{blockAnchor, anchored},
		{whitespaceNormalized, f.normalized()},
		{escapeNormalized, f.unescaped()},
		{trimmedBoundary, f.bounded()},
		{contextAware, context},
	}
}

// exactPlaces yields the places of old itself.
func (f *search) exactPlaces() iter.Seq[Span] {
	return slices.Values(allPlaces(f.content, f.old))
}

// seed takes the first candidate whose text is unique in the content.
func (f *search) seed() (Match, error) {
	first := strategy{}
	if strings.Contains(f.content, f.old) {
		first = strategy{simple, f.exactPlaces()}
	}
	for _, s := range f.strategies() {
		found, ok := f.firstUnique(s.spans)
		if ok {
			return f.loose(s.name, found), nil
		}
		if found != nil && first.spans == nil {
			first = s
		}
	}
	if first.spans == nil {
		return Match{}, f.findNearest()
	}
	return Match{}, f.many(slices.Collect(limited(first.spans)))
}

// firstUnique returns the span whose text is nowhere else. If there is none it
// returns some span or, where nothing was found, nil. If all are meant, the
// text of the first span is, wherever it is.
func (f *search) firstUnique(spans iter.Seq[Span]) (found []Span, ok bool) {
	seen := map[fingerprint]bool{}
	var judged []Span // the first, until there is a second to compare it with
	last := ""
	for s := range spans {
		text := f.content[s.Start:s.End]
		if found != nil && len(text) == len(last) && len(text) < cheap && text == last {
			continue
		}
		last = text
		found = append(found[:0], s)
		switch {
		case text == "" && f.content != "":
			// OpenCode takes this for a place between any two characters.
			if f.opt.All {
				return found, false
			}
			continue
		case f.opt.All:
			return occurrences(f.content, text), true
		}
		if len(judged) > 0 {
			seen[f.fingerprint(judged[0])] = true
			judged = judged[:0]
		}
		if len(seen) > 0 {
			mark := f.fingerprint(s)
			if seen[mark] {
				continue
			}
			seen[mark] = true
		} else {
			judged = append(judged, s)
		}
		if !f.elsewhere(s) {
			return found, true
		}
	}
	return found, false
}

// cheap is the length up to which texts are compared rather than their
// fingerprints.
const cheap = 256

// safe takes the places of the first strategy that finds any, if they are
// clear.
func (f *search) safe() (Match, error) {
	if strings.Contains(f.content, f.old) {
		return Match{}, f.many(allPlaces(f.content, f.old))
	}
	if trim(f.old) == "" { // there is nothing to recognise it by
		return Match{}, f.findNearest()
	}
	for _, s := range f.strategies() {
		spans := f.places(s.spans)
		if f.steps < 0 { // there may be places that were not looked at
			break
		}
		if len(spans) == 0 {
			continue
		}
		if len(spans) > 1 && !f.opt.All {
			return Match{}, f.many(spans)
		}
		if len(spans) > 1 && !f.alikeSpans(spans) {
			many := f.many(spans)
			many.Differ = true
			return Match{}, many
		}
		spans = disjoint(spans)
		for _, span := range spans {
			if f.oversized(span) {
				return Match{}, &Oversized{Start: f.lineOf(span.Start), End: f.lineOf(span.End)}
			}
		}
		if !f.opt.All && f.elsewhere(spans[0]) {
			return Match{}, f.many(allPlaces(f.content, f.content[spans[0].Start:spans[0].End]))
		}
		if s.name == whitespaceNormalized {
			f.shrink(spans)
			if !f.opt.All && f.elsewhere(spans[0]) { // without its blanks it is less particular
				return Match{}, f.many(allPlaces(f.content, f.content[spans[0].Start:spans[0].End]))
			}
		}
		// The seed profile has to find so many places, too: the safe one is never looser.
		if m, err := newSearch(f.content, f.old, Options{All: f.opt.All, Profile: Seed}).seed(); err != nil || len(m.Spans) < len(spans) {
			break
		}
		return f.loose(s.name, spans), nil
	}
	return Match{}, f.findNearest()
}

// alikeSpans reports whether all places hold the same text.
func (f *search) alikeSpans(spans []Span) bool {
	first := f.content[spans[0].Start:spans[0].End]
	for _, s := range spans[1:] {
		if f.content[s.Start:s.End] != first {
			return false
		}
	}
	return true
}

// shrink leaves blanks around the text where none were quoted: the
// indentation of a line that was quoted without it is not to be replaced.
func (f *search) shrink(spans []Span) {
	quoted := f.edge()
	for i, s := range spans {
		core := f.core(s)
		if quoted.lead == "" {
			spans[i].Start = core.Start
		}
		if quoted.tail == "" {
			spans[i].End = core.End
		}
	}
}

// places sorts the spans and keeps one for each place. Spans that differ only
// in the blanks around their text are the same place, and the first is kept.
func (f *search) places(spans iter.Seq[Span]) []Span {
	type place struct {
		core, span Span
	}
	edges := f.edge()
	var all []place
	if !f.opt.All {
		spans = limited(spans)
	}
	for s := range spans {
		core := f.core(s)
		if core.Start < core.End && f.trusted(core, edges) {
			all = append(all, place{core, s})
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].core, all[j].core
		return a.Start < b.Start || a.Start == b.Start && a.End < b.End
	})
	out := make([]Span, 0, len(all))
	for i, p := range all {
		if i == 0 || all[i-1].core != p.core {
			out = append(out, p.span)
		}
	}
	return out
}

// core is the span without the blanks around its text.
func (f *search) core(s Span) Span {
	text := f.content[s.Start:s.End]
	left := trimLeft(text)
	start := s.End - len(left)
	return Span{start, start + len(trimRight(left))}
}

// An edge is the blanks that were quoted before and after the text.
type edge struct{ lead, tail string }

func (f *search) edge() edge {
	return edge{f.old[:len(f.old)-len(trimLeft(f.old))], f.old[len(trimRight(f.old)):]}
}

// trusted reports whether the text at s, without the blanks around it, may
// stand for the quoted one. A part of a line is too easily found in a wrong
// place: it must not begin or end inside a word, must have a word, and where
// blanks were quoted around the text there must be some, or a line's end.
func (f *search) trusted(s Span, e edge) bool {
	text := f.content[s.Start:s.End]
	before, after := f.content[:s.Start], f.content[s.End:]
	if splitsWord(before, text) || splitsWord(text, after) {
		return false
	}
	atStart, atEnd := startsLine(before), endsLine(after)
	switch {
	case atStart && atEnd:
		return true
	case !atStart && e.lead != "" && (lastNotBlank(before) || hasLines(e.lead) || hasLines(text)):
		return false
	case !atEnd && e.tail != "" && (firstNotBlank(after) || hasLines(e.tail)):
		return false
	}
	return hasWord(text)
}

// splitsWord reports whether a word goes from the end of a into b.
func splitsWord(a, b string) bool { return lastIsWord(a) && firstIsWord(b) }

func hasLines(s string) bool { return strings.Contains(s, "\n") }

// loose is the match of a strategy that is not exact.
func (f *search) loose(name string, spans []Span) Match {
	text := f.content[spans[0].Start:spans[0].End]
	return Match{Spans: spans, Strategy: name, Exact: text == f.old, Similarity: similarity(f.old, text), finder: f}
}

// oversized reports whether a span is out of proportion to what was quoted.
func (f *search) oversized(s Span) bool {
	text := f.content[s.Start:s.End]
	lines, quoted := strings.Count(text, "\n")+1, strings.Count(f.old, "\n")+1
	if lines >= max(quoted+3, 2*quoted) {
		return true
	}
	if quoted == 1 {
		return false
	}
	size, most := units(trim(text)), units(trim(f.old))
	return size > max(most+500, 4*most)
}

// mostPlaces bounds what is kept of a strategy that finds places without end.
const mostPlaces = 1 << 20

// limited yields at most mostPlaces spans.
func limited(spans iter.Seq[Span]) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		n := 0
		for s := range spans {
			if n++; n > mostPlaces || !yield(s) {
				return
			}
		}
	}
}

// disjoint drops of sorted spans those that overlap the one before.
func disjoint(spans []Span) []Span {
	out := spans[:0]
	for _, s := range spans {
		if len(out) == 0 || s.Start >= out[len(out)-1].End {
			out = append(out, s)
		}
	}
	return out
}
