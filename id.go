package helve

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// ids makes identifiers of the form prefix_<12 hex><14 base62>. The hex part
// holds the low 48 bits of milliseconds × 4096 plus a counter, so that ids
// sort by age; it never runs backwards, also when the clock does.
type ids struct {
	now func() time.Time

	mu    sync.Mutex
	last  int64 // milliseconds of the newest id
	count int64
}

func (g *ids) next(prefix string) string {
	g.mu.Lock()
	ms := g.now().UnixMilli()
	if ms > g.last {
		g.last, g.count = ms, 0
	}
	g.count++
	if g.count == 4096 { // borrow from the next millisecond
		g.last, g.count = g.last+1, 1
	}
	stamp := uint64(g.last*4096+g.count) & (1<<48 - 1)
	g.mu.Unlock()

	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var random [14]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends first
	for i, b := range random {
		random[i] = alphabet[int(b)%len(alphabet)]
	}
	return fmt.Sprintf("%s_%012x%s", prefix, stamp, random[:])
}
