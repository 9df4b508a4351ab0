package web

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func publicPage(size int) *Page {
	return &Page{Status: 200, Header: http.Header{}, Body: make([]byte, size), public: true}
}

func TestCacheable(t *testing.T) {
	for control, want := range map[string]bool{
		"": true, "public, max-age=60": true, "max-age=0x": true, "no-store": false, "Public, NO-STORE": false, "private": false, `private="x"`: false, "no-cache": false, "max-age=0": false,
	} {
		p := publicPage(1)
		p.Header.Set("Cache-Control", control)
		if p.Cacheable() != want {
			t.Errorf("%q: %t", control, !want)
		}
	}
	p := publicPage(1)
	p.Header.Add("Cache-Control", "public")
	p.Header.Add("Cache-Control", "no-store")
	q := publicPage(1)
	q.Header.Set("Vary", "*")
	r := publicPage(1)
	r.public = false
	s := publicPage(1)
	s.Status = 404
	for i, page := range []*Page{p, q, r, s} {
		if page.Cacheable() {
			t.Error(i)
		}
	}
}

func TestCacheAge(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := &Cache{Now: func() time.Time { return now }}
	p := publicPage(5)
	c.Put("a", "k", p)
	if _, ok := c.Get("b", "k"); ok {
		t.Error("another session has it")
	}
	now = now.Add(5*time.Minute - 1)
	if got, ok := c.Get("a", "k"); !ok || got != p {
		t.Error(got, ok)
	}
	now = now.Add(1)
	if _, ok := c.Get("a", "k"); ok {
		t.Error("it is too old")
	}
	c.Put("a", "k", p)
	now = now.Add(-time.Hour)
	if _, ok := c.Get("a", "k"); ok {
		t.Error("it is from the future")
	}
	secret := publicPage(1)
	secret.public = false
	c.Put("a", "k", p)
	c.Put("a", "k", secret)
	if _, ok := c.Get("a", "k"); ok {
		t.Error("the old page is still there")
	}
	if at := new(Cache).now(); time.Since(at) < 0 || at.IsZero() {
		t.Error("no clock")
	}
}

// Pages of sessions that are not heard of again do not stay.
func TestCacheDropsOld(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := &Cache{Now: func() time.Time { return now }}
	c.Put("gone", "k", publicPage(5))
	c.Put("gone", "l", publicPage(5))
	now = now.Add(cacheAge / 2)
	c.Put("here", "k", publicPage(5))
	c.Get("gone", "l") // used lately, and as old as before
	now = now.Add(cacheAge / 2)
	c.Put("other", "k", publicPage(5))
	if c.sessions["gone"] != nil || c.recent.Len() != 2 || c.bytes != 2*pageCost("k", publicPage(5)) {
		t.Errorf("%d pages of %d bytes are kept", c.recent.Len(), c.bytes)
	}
	if _, ok := c.Get("here", "k"); !ok {
		t.Error("what is not too old is gone")
	}
}

func TestWeight(t *testing.T) {
	p := publicPage(10)
	p.Header.Add("Abc", "1234")
	p.Header.Add("Abc", "56")
	p.Chain = []Redirect{{Address: mustRead(t, "http://a.example/xyz?q")}}
	if got := pageCost("key", p); got != 3+10+3+6+6 {
		t.Errorf("%d", got)
	}
}

func TestCacheOrder(t *testing.T) {
	c := new(Cache)
	for i := range cachePages {
		c.Put("a", fmt.Sprint(i), publicPage(1))
	}
	c.Get("a", "0")
	c.Put("a", "new", publicPage(1))
	for key, want := range map[string]bool{"0": true, "1": false, "2": true, "new": true} {
		if _, ok := c.Get("a", key); ok != want {
			t.Errorf("%s: %t", key, ok)
		}
	}
	for i := range cacheSessions - 1 {
		c.Put(fmt.Sprint("s", i), "k", publicPage(1))
	}
	c.Get("a", "0")
	c.Put("one more", "k", publicPage(1))
	for session, want := range map[string]bool{"s0": false, "s1": true, "one more": true} {
		if _, ok := c.Get(session, "k"); ok != want {
			t.Errorf("%s: %t", session, ok)
		}
	}
	if _, ok := c.Get("a", "2"); !ok || len(c.sessions) != cacheSessions {
		t.Error("the wrong session had to go")
	}
}

// The bounds hold, the books are right, and what was put last is there.
func TestCacheBounds(t *testing.T) {
	all := make([]byte, 16<<20)
	rapid.Check(t, func(t *rapid.T) {
		c := new(Cache)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			session := fmt.Sprint(rapid.IntRange(0, 70).Draw(t, "session"))
			key := fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "key"))
			size := rapid.SampledFrom([]int{10, 1 << 20, 5 << 20, 16<<20 - 100, 16 << 20}).Draw(t, "size")
			p := &Page{Status: 200, public: true, Body: all[:0:size]} // its capacity counts
			c.Put(session, key, p)
			if got, ok := c.Get(session, key); ok != (size < 16<<20) || ok && got != p {
				t.Fatalf("%s/%s of %d: %t", session, key, size, ok)
			}
			check(t, c)
		}
	})
}

func check(t *rapid.T, c *Cache) {
	var all int64
	pages := 0
	for name, s := range c.sessions {
		var own int64
		for _, e := range s.pages {
			own += e.Value.(*kept).bytes
		}
		if own != s.bytes || own > cacheBytes || len(s.pages) > cachePages || len(s.pages) == 0 {
			t.Fatalf("session %s: %d pages, %d bytes, %d in the books", name, len(s.pages), own, s.bytes)
		}
		all += own
		pages += len(s.pages)
	}
	if all != c.bytes || all > cacheAllBytes || pages != c.recent.Len() || len(c.sessions) > cacheSessions {
		t.Fatalf("%d bytes, %d in the books; %d pages of %d; %d sessions", all, c.bytes, pages, c.recent.Len(), len(c.sessions))
	}
}
