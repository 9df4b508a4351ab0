package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"sync"
	"time"
)

// What codes bear.
const (
	codeTime = 10 * time.Minute
	maxCodes = 16 // open at once
)

// Codes are one-time codes: what is put into a link, which may end up in a history or on a screen,
// instead of the token that it is exchanged for. Each is valid once, and for ten minutes.
type Codes struct {
	now   func() time.Time
	mu    sync.Mutex
	open  []oauthCode // the oldest first
	wrong bucket
}

// An oauthCode is a code, stored only as a hash.
type oauthCode struct {
	sum     [sha256.Size]byte
	expires time.Time
}

// NewCodes returns an empty set of codes. now is the clock; nil: the real one.
func NewCodes(now func() time.Time) *Codes {
	if now == nil {
		now = time.Now
	}
	return &Codes{now: now, wrong: bucket{left: wrongBurst}}
}

// Make returns a new code of 256 random bits, and its expiry. If 16 are open already, the oldest is
// invalidated.
func (c *Codes) Make() (text string, expires time.Time) {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // never fails
	text = base64.RawURLEncoding.EncodeToString(raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.removeExpired(now)
	if len(c.open) >= maxCodes {
		c.open = slices.Delete(c.open, 0, len(c.open)-maxCodes+1)
	}
	expires = now.Add(codeTime)
	c.open = append(c.open, oauthCode{sha256.Sum256([]byte(text)), expires})
	return text, expires
}

// Take reports whether a code is valid, and invalidates it. Of concurrent calls with the same code,
// one gets true. A right code is accepted however many wrong ones were tried, so that no one can
// lock its owner out.
func (c *Codes) Take(text string) bool {
	sum := sha256.Sum256([]byte(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.removeExpired(now)
	found := -1
	for i := range c.open { // all of them: the time tells nothing
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], c.open[i].sum[:]), i, found)
	}
	if found < 0 {
		c.wrong.take(now)
		return false
	}
	c.open = slices.Delete(c.open, found, found+1)
	return true
}

// Flooded reports whether wrong codes come in bursts: more than 32, and then more than 4 a second.
// Called before Take, it says whether to answer a wrong code with 403 or, like a wrong token, with
// 429.
func (c *Codes) Flooded() bool {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.wrong.allows(now)
}

// removeExpired forgets the codes whose time is over.
func (c *Codes) removeExpired(now time.Time) {
	c.open = slices.DeleteFunc(c.open, func(o oauthCode) bool { return !now.Before(o.expires) })
}
