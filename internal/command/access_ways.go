package command

import "slices"

// ways enumerates how the arguments of a command can be parsed. If it is not known whether an
// option takes the next word, everything that is reached either way counts.
type ways struct {
	begun bool
	way   int // which one is being read: a bit for each fork, from the lowest
	met   int // how many forks it has had so far
	most  int // how many of them are told apart
	limit int // … at most
	dir   Dir // where each way starts
	first int // where in what was found the first way begins
	from  int // … and this one
}

// maxForks limits the number of such decisions for a command; a command with very many words shares
// the last one.
const maxForks, manyWords = 3, 256

// maxCompared limits the files among which duplicates are searched.
const maxCompared = 64

// resetWays makes ready for a command; again is true for each way to read it.
func (r *fileReader) resetWays() {
	r.ways = ways{dir: r.dir, first: len(r.out), limit: maxForks}
	if len(r.unit.Words) > manyWords {
		r.ways.limit = 1
	}
}

func (r *fileReader) nextWay() bool {
	w := &r.ways
	if w.begun {
		r.merge()
		w.most = max(w.most, min(w.met, w.limit))
		if w.way++; w.way >= 1<<w.most {
			return false
		}
	}
	w.begun, w.met, w.from = true, 0, len(r.out)
	r.dir = w.dir
	return true
}

// fork reports whether the next word is a value, the way that is being read.
func (r *fileReader) fork() bool {
	at := min(r.ways.met, r.ways.limit-1)
	r.ways.met++
	return r.ways.way>>at&1 == 0
}

// merge drops what another way has found too.
func (r *fileReader) merge() {
	before := r.out[r.ways.first:r.ways.from]
	if r.ways.way == 0 || len(before) > maxCompared {
		return
	}
	kept := r.out[:r.ways.from]
	for _, a := range r.out[r.ways.from:] {
		if !slices.ContainsFunc(before, a.equal) {
			kept = append(kept, a)
		}
	}
	r.out = kept
}

func (a Access) equal(b Access) bool {
	return a.Kind == b.Kind && a.Path == b.Path && a.Why == b.Why && a.flags() == b.flags() && a.Dir.Path == b.Dir.Path &&
		slices.Equal(a.Dir.Else, b.Dir.Else) && slices.Equal(a.Into, b.Into) &&
		slices.Equal(a.Only, b.Only) && slices.Equal(a.Except, b.Except) && slices.Equal(a.Shut, b.Shut)
}

func (a Access) flags() [8]bool {
	return [...]bool{a.Dir.Known, a.Deep, a.Visible, a.Fresh, a.Maybe, a.Link, a.Soft, a.Flat}
}
