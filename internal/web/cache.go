package web

import (
	"container/list"
	"sync"
	"time"
)

// What a [Cache] keeps.
const (
	cacheAge      = 5 * time.Minute
	cacheSessions = 64
	cachePages    = 16       // of a session
	cacheBytes    = 16 << 20 // of a session
	cacheAllBytes = 64 << 20
)

// A Cache keeps the pages that sessions fetched a short time ago. No session
// sees another's. The zero value is empty and ready.
type Cache struct {
	// Now is the clock, time.Now if nil.
	Now func() time.Time

	mu       sync.Mutex
	sessions map[string]*sessionPages
	recent   list.List // of *kept, the latest used first
	bytes    int64
	uses     uint64
}

// A sessionPages holds the pages of a session.
type sessionPages struct {
	pages map[string]*list.Element
	bytes int64
	used  uint64 // the count of uses at its last
}

type kept struct {
	session, key string
	page         *Page
	at           time.Time
	bytes        int64
}

func (c *Cache) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// old reports whether a page must not be used any more.
func (k *kept) old(now time.Time) bool {
	age := now.Sub(k.at)
	return age < 0 || age >= cacheAge
}

// Get returns a page of the session that is not too old.
func (c *Cache) Get(session, key string) (*Page, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[session]
	if s == nil || s.pages[key] == nil {
		return nil, false
	}
	e := s.pages[key]
	k := e.Value.(*kept)
	if k.old(c.now()) {
		c.removePage(e)
		return nil, false
	}
	c.recent.MoveToFront(e)
	c.touch(s)
	return k.page, true
}

// Put stores a page, if it may be stored. Expired pages are dropped, and then the least recently
// used ones: of the session first, then of all.
func (c *Cache) Put(session, key string, p *Page) {
	k := &kept{session: session, key: key, page: p, at: c.now(), bytes: pageCost(key, p)}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Expired pages are few compared with the cost of a fetch.
	for e := c.recent.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*kept).old(k.at) {
			c.removePage(e)
		}
		e = next
	}
	if s := c.sessions[session]; s != nil && s.pages[key] != nil {
		c.removePage(s.pages[key])
	}
	if !p.Cacheable() || k.bytes > cacheBytes {
		return
	}
	if s := c.sessions[session]; s != nil && (len(s.pages) >= cachePages || s.bytes+k.bytes > cacheBytes) {
		// Pages of the session are dropped until one more fits.
		for e := c.recent.Back(); e != nil && (len(s.pages) >= cachePages || s.bytes+k.bytes > cacheBytes); {
			next := e.Prev()
			if e.Value.(*kept).session == k.session {
				c.removePage(e)
			}
			e = next
		}
	}
	for c.bytes+k.bytes > cacheAllBytes {
		c.removePage(c.recent.Back())
	}
	if c.sessions[session] == nil && len(c.sessions) >= cacheSessions {
		for _, e := range c.idlest().pages {
			c.removePage(e)
		}
	}
	if c.sessions == nil {
		c.sessions = map[string]*sessionPages{}
	}
	s := c.sessions[session]
	if s == nil {
		s = &sessionPages{pages: map[string]*list.Element{}}
		c.sessions[session] = s
	}
	s.pages[key] = c.recent.PushFront(k)
	s.bytes += k.bytes
	c.bytes += k.bytes
	c.touch(s)
}

func (c *Cache) touch(s *sessionPages) {
	c.uses++
	s.used = c.uses
}

// idlest is the session that was not used for the longest time.
func (c *Cache) idlest() (found *sessionPages) {
	for _, s := range c.sessions {
		if found == nil || s.used < found.used {
			found = s
		}
	}
	return found
}

// removePage removes a page, and its session with the last one.
func (c *Cache) removePage(e *list.Element) {
	k := c.recent.Remove(e).(*kept)
	c.bytes -= k.bytes
	s := c.sessions[k.session]
	s.bytes -= k.bytes
	if delete(s.pages, k.key); len(s.pages) == 0 {
		delete(c.sessions, k.session)
	}
}

// pageCost is about what a page takes in memory.
func pageCost(key string, p *Page) int64 {
	n := int64(len(key)) + int64(cap(p.Body))
	for name, values := range p.Header {
		n += int64(len(name))
		for _, v := range values {
			n += int64(len(v))
		}
	}
	for _, s := range p.Chain {
		n += int64(len(s.Address.path) + len(s.Address.query))
	}
	return n
}
