package script

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/memory"
)

// An arena is all the memory of one engine. It enforces the limit, and releases everything at once,
// whatever state the engine was left in.
type arena struct {
	heap    memory.Allocator
	used    int64
	limit   int64
	starved bool        // a request was refused that was not absurd by itself
	given   func() bool // the engine was given up: running on would only burn time

	// What the engine calls. It keeps only addresses, so the functions are kept here.
	malloc  func(*libc.TLS, uintptr, lib.Tsize_t) uintptr
	free    func(*libc.TLS, uintptr, uintptr)
	realloc func(*libc.TLS, uintptr, uintptr, lib.Tsize_t) uintptr
	size    func(*libc.TLS, uintptr) lib.Tsize_t
}

// givenUp is what unwinds an engine that does not come back by itself.
type givenUp struct{}

func newArena(limit int64, given func() bool) *arena {
	a := &arena{limit: limit, given: given}
	a.malloc = func(_ *libc.TLS, state uintptr, size lib.Tsize_t) uintptr { return a.get(state, int64(size)) }
	a.free = func(_ *libc.TLS, state, p uintptr) { a.put(state, p) }
	a.realloc = func(_ *libc.TLS, state, p uintptr, size lib.Tsize_t) uintptr {
		return a.reallocate(state, p, int64(size))
	}
	a.size = func(_ *libc.TLS, p uintptr) lib.Tsize_t {
		if p == 0 {
			return 0
		}
		return lib.Tsize_t(memory.UintptrUsableSize(p))
	}
	return a
}

// functions is the table the engine is made with.
func (a *arena) functions() lib.TJSMallocFunctions {
	return lib.TJSMallocFunctions{
		Fjs_malloc:             address(&a.malloc),
		Fjs_free:               address(&a.free),
		Fjs_realloc:            address(&a.realloc),
		Fjs_malloc_usable_size: address(&a.size),
	}
}

// address returns the address that the engine calls a Go function by. The function must be kept
// reachable as long as the engine may call it.
func address[F any](f *F) uintptr { return *(*uintptr)(unsafe.Pointer(f)) }

// pointer is a place in memory that is not Go's.
func pointer[T any](p uintptr) *T { return (*T)(unsafe.Add(nil, p)) }

// overLimit reports whether more bytes would go beyond the limit.
func (a *arena) overLimit(more int64) bool {
	if a.given() {
		panic(givenUp{})
	}
	if more > a.limit-a.used {
		a.starved = a.starved || more < a.limit/2
		return true
	}
	return false
}

func (a *arena) get(state uintptr, size int64) uintptr {
	if size < 0 || a.overLimit(size) {
		return 0
	}
	p, err := a.heap.UintptrMalloc(int(size))
	if err != nil || p == 0 {
		a.starved = true
		return 0
	}
	a.count(state, 1, int64(memory.UintptrUsableSize(p)))
	return p
}

func (a *arena) put(state, p uintptr) {
	if p == 0 {
		return
	}
	a.count(state, -1, -int64(memory.UintptrUsableSize(p)))
	// The only error is a failed unmap: the memory stays ours until the arena is closed.
	_ = a.heap.UintptrFree(p)
}

func (a *arena) reallocate(state, p uintptr, size int64) uintptr {
	switch {
	case p == 0 && size == 0:
		return 0
	case p == 0:
		return a.get(state, size)
	case size == 0:
		a.put(state, p)
		return 0
	}
	old := int64(memory.UintptrUsableSize(p))
	if size < 0 || a.overLimit(size-old) {
		return 0
	}
	q, err := a.heap.UintptrRealloc(p, int(size))
	if err != nil || q == 0 {
		a.starved = true
		return 0
	}
	a.count(state, 0, int64(memory.UintptrUsableSize(q))-old)
	return q
}

// count updates the memory counters, ours and the one of the engine's garbage collector.
func (a *arena) count(state uintptr, pieces int, bytes int64) {
	a.used += bytes
	s := pointer[lib.TJSMallocState](state)
	s.Fmalloc_count += lib.Tsize_t(pieces)
	s.Fmalloc_size += lib.Tsize_t(bytes)
}

// copyIn copies bytes, and a zero byte, to where the engine can read them; it is not counted. The
// caller frees it.
func (a *arena) copyIn(b []byte) uintptr {
	p, err := a.heap.UintptrMalloc(len(b) + 1)
	if err != nil {
		panic(err)
	}
	to := unsafe.Slice(pointer[byte](p), len(b)+1)
	copy(to, b)
	to[len(b)] = 0
	return p
}

// freeCopy frees what copyIn gave.
func (a *arena) freeCopy(p uintptr) { _ = a.heap.UintptrFree(p) }

// copyOut copies n bytes of the engine's memory.
func copyOut(p uintptr, n int) []byte {
	if n == 0 {
		return []byte{}
	}
	return append([]byte(nil), unsafe.Slice(pointer[byte](p), n)...)
}
