package search

// run answers the search.
func (p *plan) run(c *crew) {
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
	c.follow(first, dir, p.next)
}

// atMost reports whether there are no more candidates than that, before
// globs are looked at.
func (p *plan) atMost(n int) bool {
	if len(p.list) <= n {
		return true
	}
	return p.hits != nil && p.hits.Count(uint32(len(p.leaves))) <= n
}

// listNames is the answer if only names are asked for. They come in the order
// that is wanted, so the first are the best.
func (p *plan) listNames(c *crew) {
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

// set says what is best, in order.
func (b *best) set(list []prize) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.heap, b.weight = list, len(list)
	}
}

// next is the next file to be looked at.
func (p *plan) next() (candidate, bool) {
	for p.at < len(p.list) {
		id := p.list[p.at]
		p.at++
		if !p.hits.Has(id) && id != p.reading || !p.wants(id) || p.barred.has(id) {
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

// bars finds out which files may not be searched, whether or not they come
// into question.
func (p *plan) bars(c *crew) {
	bar := c.bar
	if bar == nil {
		return
	}
	m := p.suspect
	if m == nil {
		m = newMemo("")
	}
	for _, id := range p.list {
		if c.stop.Load() {
			return
		}
		if !m.known.has(id) {
			m.known.set(id)
			m.yes.clear(id)
			if bar.Suspect == nil || bar.Suspect(p.fullName(id)) {
				m.yes.set(id)
			}
		}
		if m.yes.has(id) && p.wants(id) && bar.Shut(p.fullName(id)) {
			p.barred.set(id)
			p.skipped.Barred++
		}
	}
}

// fullName is the name of a leaf in the folder to search, or "" if it is
// elsewhere.
func (p *plan) fullName(id uint32) string {
	dir := p.leaves[id].dir
	if p.dir != 0 && !p.walksTo(dir) {
		return ""
	}
	return string(append(p.appendPath(nil, p.dir, dir), p.leafName(id)...))
}

// walksTo reports whether a branch is the folder to search or in it.
func (p *plan) walksTo(id uint32) bool {
	for id != p.dir {
		if id = p.branches[id].parent; id == none {
			return false
		}
	}
	return true
}
