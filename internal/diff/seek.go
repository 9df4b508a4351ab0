package diff

import (
	"sort"
	"strings"
)

// A file is a text in which lines are looked for. The lines it may be asked
// for are known beforehand: the text is read once for each way of comparing
// that is needed, whatever the number of questions.
type file struct {
	content string
	at      []int    // where the lines begin, and the end of the text
	words   []string // the lines that may be asked for
	ways    [looseness]*index
}

// An index says which of the words each line is, compared in one way.
type index struct {
	number map[string]int32
	ids    []int32   // by line; -1 for none of the words
	places [][]int32 // by number: the lines, in order
}

func newFile(content string, words []string) *file {
	at := make([]int, 1, strings.Count(content, "\n")+2)
	for i := 0; i < len(content); {
		n := strings.IndexByte(content[i:], '\n')
		if n < 0 {
			n = len(content) - i - 1
		}
		i += n + 1
		at = append(at, i)
	}
	return &file{content: content, at: at, words: words}
}

// len counts the lines. A newline at the end begins no further one.
func (f *file) len() int { return len(f.at) - 1 }

// lineAt returns a line without its newline.
func (f *file) lineAt(i int) string {
	return strings.TrimSuffix(f.content[f.at[i]:f.at[i+1]], "\n")
}

// index returns the index for a way of comparing.
func (f *file) index(way int) *index {
	if f.ways[way] != nil {
		return f.ways[way]
	}
	x := &index{number: make(map[string]int32, len(f.words)), ids: make([]int32, f.len())}
	for _, w := range f.words {
		w = loosen(w, way)
		if _, ok := x.number[w]; !ok {
			x.number[w] = int32(len(x.number))
		}
	}
	x.places = make([][]int32, len(x.number))
	for i := range x.ids {
		id, ok := x.number[loosen(f.lineAt(i), way)]
		if !ok {
			x.ids[i] = -1
			continue
		}
		x.ids[i] = id
		x.places[id] = append(x.places[id], int32(i))
	}
	f.ways[way] = x
	return x
}

// seek returns where the pattern begins, at start or after it. The strictest
// way of comparing that finds it at all decides; in each, the last place of
// the file comes first if atEnd says so.
func (f *file) seek(pattern []string, start int, atEnd bool) (int, bool) {
	last := f.len() - len(pattern)
	if len(pattern) == 0 || last < start {
		return 0, false
	}
	ids := make([]int32, len(pattern))
	for way := range looseness {
		x := f.index(way)
		for i, p := range pattern {
			id, ok := x.number[loosen(p, way)]
			if !ok {
				return 0, false // not among the words: it was never to be asked for
			}
			ids[i] = id
		}
		if atEnd && x.matchesAt(ids, last) {
			return last, true
		}
		if hit, ok := x.find(ids, start); ok {
			return hit, true
		}
	}
	return 0, false
}

// matchesAt reports whether the lines from at on are the given ones.
func (x *index) matchesAt(ids []int32, at int) bool {
	for i, id := range ids {
		if x.ids[at+i] != id {
			return false
		}
	}
	return true
}

// find returns the first place from start on that holds the given lines. It
// looks at the places of the rarest of them, until that has cost as much as
// reading all lines does.
func (x *index) find(ids []int32, start int) (int, bool) {
	rare := 0
	for i, id := range ids {
		if len(x.places[id]) < len(x.places[ids[rare]]) {
			rare = i
		}
	}
	places := x.places[ids[rare]]
	first := sort.Search(len(places), func(i int) bool { return int(places[i]) >= start+rare })
	cost := 0
	for _, p := range places[first:] {
		at := int(p) - rare
		if at+len(ids) > len(x.ids) {
			break
		}
		if x.matchesAt(ids, at) {
			return at, true
		}
		if cost += len(ids); cost > len(x.ids) {
			return x.scan(ids, at+1)
		}
	}
	return 0, false
}

// scan is find in time linear in the lines, after Knuth, Morris and Pratt.
func (x *index) scan(ids []int32, start int) (int, bool) {
	back := make([]int, len(ids)) // the longest proper beginning that ends here
	for i, k := 1, 0; i < len(ids); i++ {
		for k > 0 && ids[i] != ids[k] {
			k = back[k-1]
		}
		if ids[i] == ids[k] {
			k++
		}
		back[i] = k
	}
	k := 0
	for i := start; i < len(x.ids); i++ {
		for k > 0 && x.ids[i] != ids[k] {
			k = back[k-1]
		}
		if x.ids[i] == ids[k] {
			k++
		}
		if k == len(ids) {
			return i - k + 1, true
		}
	}
	return 0, false
}
