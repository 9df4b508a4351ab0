package search

import (
	"bytes"
	"runtime"
	"time"
)

const (
	// manyTexts is the number of texts from which on an index is filled by a low-priority thread.
	manyTexts = 256
	// leastIndex is the least memory that an index is worth while with.
	leastIndex = 1 << 20
	// breather is how long indexing pauses after a text while searches are running.
	breather = time.Millisecond
)

// open gives the tree an empty index, if it has none. The caller holds the gate. Without watches
// there is no index, because it is unknown which texts have changed.
func (s *cachedTree) open() {
	t, k := s.tree, s.keeper
	if t == nil || t.index != nil || !t.ears {
		return
	}
	left := k.memory
	k.mu.Lock()
	for _, other := range k.list {
		left -= int(other.granted.Load())
	}
	k.mu.Unlock()
	if left/2 < leastIndex {
		t.bare = true
		return
	}
	left /= 2 // another tree may come
	s.granted.Store(int64(left))
	t.index = NewIndex(left)
	t.todo = make([]uint32, 0, len(t.newest))
	for _, id := range t.newest {
		if t.leaves[id].flags&shared == 0 {
			t.waiting.set(id)
			t.todo = append(t.todo, id)
		}
	}
}

// hungry reports whether there is something to be put into the index. One that
// is not there yet has to be wanted.
func (t *fileTree) hungry(wanted bool) bool {
	return len(t.todo) > 0 || wanted && t.index == nil && t.ears && !t.bare
}

// changed says that a text must be indexed again. Until then it is a candidate of every search, as
// a file with several names always is.
func (t *fileTree) changed(id uint32) {
	if t.index == nil {
		return
	}
	t.unindex(id)
	if t.leaves[id].flags&shared == 0 && !t.waiting.contains(id) {
		t.waiting.set(id)
		t.todo = append(t.todo, id)
	}
}

// unindex forgets a text.
func (t *fileTree) unindex(id uint32) {
	if t.index == nil {
		return
	}
	t.index.Drop(id)
	t.touched = t.touched || t.reading == id
}

// fillIndex puts texts into the index until all are there.
func (s *cachedTree) fillIndex() {
	k := s.keeper
	s.gate <- struct{}{}
	s.open()
	many := s.tree != nil && len(s.tree.todo) > manyTexts
	<-s.gate
	if many {
		// The thread is not used for anything else, and ends with the
		// goroutine.
		runtime.LockOSThread()
		standBack()
	}
	if root, err := openExact(s.opt.Dir); err == nil {
		f := &filler{cachedTree: s, root: root}
		for f.indexNext() {
			if k.active.Load() > 0 {
				time.Sleep(breather)
			}
		}
		root.close()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s.filling = false
}

// A filler reads texts for an index.
type filler struct {
	*cachedTree
	root  *dirHandle
	tree  *fileTree
	id    uint32 // of the text at hand, if there is a tree
	full  bool   // there was no memory left
	buf   []byte
	waste int
}

// indexNext adds a text to the index. It returns false if there is none left.
func (f *filler) indexNext() bool {
	name, ok := f.next()
	if !ok {
		return false
	}
	f.full = false
	if text, ok := f.read(name); ok {
		f.full = !f.tree.index.Put(f.id, text)
	}
	return true
}

// next ends the work on the last text and takes the next.
func (f *filler) next() (name string, ok bool) {
	f.gate <- struct{}{}
	defer func() { <-f.gate }()
	t := f.cachedTree.tree
	if f.tree != nil && t != f.tree || t == nil || t.index == nil || f.keeper.ctx.Err() != nil {
		return "", false
	}
	if f.tree != nil {
		if t.reading = none; t.touched {
			t.changed(f.id)
		}
	}
	f.tree, t.touched = t, false
	if f.full {
		if f.waste++; f.waste > 64 {
			f.waste = 0
			t.todo, t.waiting = nil, nil
		}
	}
	for len(t.todo) > 0 {
		id := t.todo[0]
		t.todo = t.todo[1:]
		t.waiting.remove(id)
		if t.leaves[id].flags&(alive|shared) == alive {
			f.id, t.reading = id, id
			return t.leafPath(id), true
		}
	}
	t.todo = nil
	return "", false
}

// read is the text of a file, unless it cannot be in the index.
func (f *filler) read(name string) ([]byte, bool) {
	file, st, err := f.root.openDown(name)
	if err != nil {
		return nil, false
	}
	defer file.close()
	if st.size > MaxText || st.links > 1 {
		return nil, false
	}
	if need := int(st.size) + 1; cap(f.buf) < need {
		f.buf = make([]byte, max(need, min(2*cap(f.buf), MaxText+1), 64<<10))
	}
	buf := f.buf[:cap(f.buf)]
	have := 0
	for {
		n, err := file.read(buf[have:])
		have += n
		if err != nil || have == len(buf) {
			return nil, false // longer than it was
		}
		if n == 0 {
			break
		}
	}
	text := buf[:have]
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, false // searched as something else than it is
	}
	return text, true
}
