package search

import "sync"

// A walkFolder is a folder that a parallel walk has come by.
type walkFolder struct {
	up    *walkFolder
	name  string // in up
	level *level // the ignore files that hold for its entries

	// Of the holder.
	dir        *dirHandle  // nil while it is not held open
	users      int         // how many use dir now
	waiting    int         // how many will still ask for it
	prev, next *walkFolder // in the list of those held open
}

// appendPath appends the way to the place, with a slash at the end.
func (p *walkFolder) appendPath(path []byte) []byte {
	size := 0
	for at := p; at.up != nil; at = at.up {
		size += len(at.name) + 1
	}
	end := len(path) + size
	for cap(path) < end {
		path = append(path[:cap(path)], 0)
	}
	path = path[:end]
	for at := p; at.up != nil; at = at.up {
		end -= len(at.name) + 1
		copy(path[end:], at.name)
		path[end+len(at.name)] = '/'
	}
	return path
}

// A holder keeps the handles of folders that will be asked for again, but only
// so many. It closes those first that it got first, which are the highest in
// the tree, and opens them again from the next above that is open, never through
// a link.
type holder struct {
	mu    sync.Mutex
	root  walkFolder // its prev and next are the ends of the list; it is always open
	count int
}

// open makes dir the folder that all others can be reached from.
func (h *holder) open(dir *dirHandle) {
	h.root.dir, h.root.waiting = dir, 1
	h.root.prev, h.root.next = &h.root, &h.root
}

// close closes all handles. None may be used any more.
func (h *holder) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.root.next != &h.root {
		h.closeHandle(h.root.next)
	}
	h.root.dir.close()
}

// put stores the handle of a newly opened place. The caller has borrowed it, and it will be
// borrowed as often as is said.
func (h *holder) put(p *walkFolder, dir *dirHandle, times int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.waiting, p.users = times, 1
	h.addRecent(p, dir)
}

// addRecent puts a place into the list, and takes the first out if there are too
// many.
func (h *holder) addRecent(p *walkFolder, dir *dirHandle) {
	p.dir = dir
	p.prev, p.next = h.root.prev, &h.root
	p.prev.next, p.next.prev = p, p
	h.count++
	for at := h.root.next; h.count > maxHeld && at != &h.root; {
		next := at.next
		if at.users == 0 && at != p {
			h.closeHandle(at)
		}
		at = next
	}
}

// closeHandle closes the handle of a place in the list.
func (h *holder) closeHandle(p *walkFolder) {
	p.prev.next, p.next.prev = p.next, p.prev
	p.prev, p.next = nil, nil
	p.dir.close()
	p.dir = nil
	h.count--
}

// borrow is the handle of a place, until it is given back.
func (h *holder) borrow(p *walkFolder) (*dirHandle, error) {
	h.mu.Lock()
	var way []*walkFolder
	at := p
	for ; at.dir == nil; at = at.up {
		way = append(way, at)
	}
	at.users++
	dir := at.dir
	h.mu.Unlock()
	for i := len(way) - 1; i >= 0; i-- {
		sub, err := dir.sub(way[i].name)
		if at != nil {
			h.giveBack(at)
		} else {
			dir.close()
		}
		if err != nil {
			return nil, err
		}
		at, dir = nil, sub
		if i < maxHeld/2 { // those above will be asked for soon too
			at = way[i]
			dir = h.share(at, sub)
		}
	}
	return dir, nil
}

// share keeps and borrows a reopened handle, unless another goroutine was faster.
func (h *holder) share(p *walkFolder, dir *dirHandle) *dirHandle {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.users++
	if p.dir != nil {
		dir.close()
		return p.dir
	}
	h.addRecent(p, dir)
	return dir
}

// giveBack ends the use of a handle.
func (h *holder) giveBack(p *walkFolder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.users--
	h.check(p)
}

// borrowed records that one of the expected borrowers has borrowed a handle, or never will.
func (h *holder) borrowed(p *walkFolder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.waiting--
	h.check(p)
}

// check closes a handle that is no longer needed.
func (h *holder) check(p *walkFolder) {
	if p.waiting <= 0 && p.users == 0 && p != &h.root && p.dir != nil {
		h.closeHandle(p)
	}
}
