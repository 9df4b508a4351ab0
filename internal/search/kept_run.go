package search

import (
	"bytes"
	"context"
	"slices"
)

// run answers the search.
func (p *treePlan) run(ctx context.Context, c *workerPool) {
	if c.pattern == nil {
		p.listNames(c)
		return
	}
	p.bars(c)
	if p.atMost(64) {
		c.most = 1
	}
	first := p.fork() // the plan's own is used by next
	first.skipped = p.skipped
	dir := p.handle
	p.handle = nil
	c.searchListed(ctx, first, dir, p.next)
}

// atMost reports whether there are at most n candidates, before globs are matched.
func (p *treePlan) atMost(n int) bool {
	if len(p.list) <= n {
		return true
	}
	return p.hits != nil && p.hits.Count(uint32(len(p.leaves))) <= n
}

// listNames returns the result if only names are requested. They come in the wanted order, so the
// first are the best.
func (p *treePlan) listNames(c *workerPool) {
	var list []prize
	for !c.stop.Load() && (c.results.want == 0 || len(list) < c.results.want) {
		next, ok := p.next()
		if !ok {
			break
		}
		list = append(list, prize{rank: rank{next.time, next.name}})
	}
	c.looked.Add(int64(len(list)))
	c.results.set(list)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped.add(p.skipped)
}

// set sets the best results, in order.
func (b *best) set(list []prize) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.heap, b.weight = list, len(list)
	}
}

// ordered is how many files are searched in the order that is wanted before it
// is asked whether that is worth while.
const ordered = 1024

// rare reports whether so little was found so far that most files will have to
// be searched, so that it counts more that those of a folder are opened
// together. It is asked now and then.
func (p *treePlan) rare() bool {
	if p.at < ordered || p.at&(p.at-1) != 0 || p.hits != nil || p.want.order != Newest {
		return false
	}
	return p.want.want == 0 || p.at*p.want.want > p.want.total()*len(p.list)/2
}

// next is the next file to be looked at, or the next folder of them.
func (p *treePlan) next() (candidate, bool) {
	if p.groups != nil {
		return p.nextFolder()
	}
	for p.at < len(p.list) {
		if p.rare() {
			p.group()
			return p.nextFolder()
		}
		id := p.list[p.at]
		p.at++
		if !p.hits.Has(id) && id != p.reading || !p.wants(id) || p.barred.contains(id) {
			continue
		}
		l := &p.leaves[id]
		p.path = append(p.appendPath(p.path[:0], p.dir, l.dir), p.leafName(id)...)
		if p.want.order != First && !p.want.matters(l.time(), p.path) {
			p.at = len(p.list) // and so for all to come
			break
		}
		return candidate{time: l.time(), name: string(p.path)}, true
	}
	return candidate{}, false
}

// group groups the remaining files by their folder.
func (p *treePlan) group() {
	p.groups = make([]uint32, len(p.branches)+1)
	rest := p.list[p.at:]
	for _, id := range rest {
		p.groups[p.leaves[id].dir+1]++
	}
	for i := 1; i < len(p.groups); i++ {
		p.groups[i] += p.groups[i-1]
	}
	grouped := make([]uint32, len(rest))
	next := slices.Clone(p.groups)
	for _, id := range rest {
		dir := p.leaves[id].dir
		grouped[next[dir]] = id
		next[dir]++
	}
	p.list, p.at = grouped, 0
}

// nextFolder is some files of a folder.
func (p *treePlan) nextFolder() (candidate, bool) {
	for p.at < len(p.list) {
		dir := p.leaves[p.list[p.at]].dir
		end := min(int(p.groups[dir+1]), p.at+portion)
		some := p.list[p.at:end]
		p.at = end
		var c candidate
		for _, id := range some {
			if p.wants(id) && !p.barred.contains(id) {
				c.files = append(c.files, candidate{time: p.leaves[id].time(), name: string(p.leafName(id))})
			}
		}
		if c.files != nil {
			p.path = p.appendPath(p.path[:0], p.dir, dir)
			c.name = string(bytes.TrimSuffix(p.path, []byte("/")))
			return c, true
		}
	}
	return candidate{}, false
}

// bars finds out which files may not be searched, whether or not they come
// into question.
func (p *treePlan) bars(c *workerPool) {
	bar := c.bar
	if bar == nil {
		return
	}
	m := p.suspect
	if m == nil {
		m = newMemo("")
	}
	if m.covered != len(p.leaves) || m.covered == 0 {
		for _, id := range p.all {
			if c.stop.Load() {
				return
			}
			if !m.known.contains(id) {
				m.known.set(id)
				m.yes.remove(id)
				if bar.Suspect == nil || bar.Suspect(p.fullName(id)) {
					m.yes.set(id)
				}
			}
		}
		m.covered = len(p.leaves)
	}
	for id := range m.yes.each() {
		if int(id) < len(p.leaves) && p.leaves[id].flags&alive != 0 && p.wants(id) && bar.Shut(p.fullName(id)) {
			p.barred.set(id)
			p.skipped.Barred++
		}
	}
}

// fullName returns the name of a leaf in the folder to search, or "" if it is elsewhere.
func (p *treePlan) fullName(id uint32) string {
	dir := p.leaves[id].dir
	if p.dir != 0 && !p.walksTo(dir) {
		return ""
	}
	return string(append(p.appendPath(nil, p.dir, dir), p.leafName(id)...))
}

// walksTo reports whether a branch is the folder to search or in it.
func (p *treePlan) walksTo(id uint32) bool {
	for id != p.dir {
		if id = p.branches[id].parent; id == none {
			return false
		}
	}
	return true
}
