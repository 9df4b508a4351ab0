package search

// A table finds records by a hash of theirs. It holds their ids and nothing
// else.
type table struct {
	slots []uint32 // the id plus two, 0 if it was never used, 1 if it is free again
	used  int      // slots that are not 0
	live  int
}

const (
	slotEmpty = 0
	slotFree  = 1
	slotBase  = 2
)

// find is the record with that hash for which is is true, or none.
func (t *table) find(hash uint32, is func(id uint32) bool) uint32 {
	if len(t.slots) == 0 {
		return none
	}
	last := uint32(len(t.slots) - 1)
	for at := hash & last; ; at = (at + 1) & last {
		switch s := t.slots[at]; s {
		case slotEmpty:
			return none
		case slotFree:
		default:
			if is(s - slotBase) {
				return s - slotBase
			}
		}
	}
}

// put adds a record that is not there yet. When the table grows it asks for the
// hashes of the others.
func (t *table) put(hash, id uint32, hashOf func(id uint32) uint32) {
	if (t.used+1)*4 > len(t.slots)*3 {
		old := t.slots
		size := 64
		for size < t.live*2+2 {
			size *= 2
		}
		t.slots, t.used = make([]uint32, size), t.live
		for _, s := range old {
			if s >= slotBase {
				t.slots[t.vacant(hashOf(s-slotBase))] = s
			}
		}
	}
	at := t.vacant(hash)
	if t.slots[at] == slotEmpty {
		t.used++
	}
	t.slots[at] = id + slotBase
	t.live++
}

// vacant is where a record of that hash can go.
func (t *table) vacant(hash uint32) uint32 {
	last := uint32(len(t.slots) - 1)
	at := hash & last
	for t.slots[at] >= slotBase {
		at = (at + 1) & last
	}
	return at
}

// removeSlot takes a record out.
func (t *table) removeSlot(hash, id uint32) {
	last := uint32(len(t.slots) - 1)
	for at := hash & last; t.slots[at] != slotEmpty; at = (at + 1) & last {
		if t.slots[at] == id+slotBase {
			t.slots[at] = slotFree
			t.live--
			return
		}
	}
}
