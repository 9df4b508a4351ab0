package helve

import (
	"crypto/rand"
	"sync"
	"time"
)

// ids generates identifiers of the form prefix_<12 hex><14 base62>. The hex part holds the low 48
// bits of milliseconds × 4096 plus a counter, so that ids sort by age. It never decreases, even if
// the clock goes back.
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
	_, _ = rand.Read(random[:]) // never fails: the program would crash instead
	id := append(make([]byte, 0, 48), prefix...)
	id = append(id, '_')
	for shift := 44; shift >= 0; shift -= 4 {
		id = append(id, "0123456789abcdef"[stamp>>shift&15])
	}
	for _, b := range random {
		id = append(id, alphabet[int(b)%len(alphabet)])
	}
	return string(id)
}
