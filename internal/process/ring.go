package process

import (
	"encoding/binary"
	"hash/crc32"
	"os"
)

// The output file of a job keeps the first bytes (the head) and the newest
// ones (the ring). Its size is bounded, whatever is written.
//
//	0     slot A  ┐ what was written so far; written in turn, so that a torn
//	512   slot B  ┘ one leaves the other
//	1024  slot C    written once, for the sizes, should A and B both be torn
//	4096  head, then ring
//
// A slot is 64 bytes, little endian: magic 8, version 8, sequence 8, total 8,
// head size 8, ring size 8, chunk size 8, four of zero, CRC-32C of all before.
//
// Byte o of the output lies at 4096+o in the head, and behind the head at
// 4096+head+(o-head)%ring. The writer writes a chunk at most, then the next
// slot. So what it may be overwriting lies less than two chunks behind what
// the newest good slot says, and a reader that leaves two chunks alone needs
// no lock: it reads, looks at the slots again, and drops what is too old by then.
const (
	ringName    = "out"
	ringMagic   = "helvring"
	ringVersion = 1
	slotSize    = 64
	slotB       = 512
	slotC       = 1024
	dataStart   = 4096
	mostHead    = 1 << 20
	mostChunk   = 64 << 10
	mostData    = 1 << 40 // no honest file is larger
)

// A geometry is how a ring file is divided.
type geometry struct{ head, ring, chunk int64 }

// geometryFor divides a file of so many bytes.
func geometryFor(quota int64) geometry {
	data := quota - dataStart
	g := geometry{head: min(mostHead, data/4)}
	g.ring = data - g.head
	g.chunk = min(mostChunk, g.ring/8)
	return g
}

func (g geometry) valid() bool {
	return g.head >= 0 && g.head <= mostData && g.ring <= mostData && g.chunk > 0 && g.chunk < g.ring/2
}

// oldest is the first byte after the head that a reader may rely on, when total bytes were written.
func (g geometry) oldest(total int64) int64 {
	return max(g.head, total-(g.ring-2*g.chunk))
}

// position returns the place of a byte in the file, and how many that follow are contiguous.
func (g geometry) position(off int64) (pos, piece int64) {
	if off < g.head {
		return dataStart + off, g.head - off
	}
	in := (off - g.head) % g.ring
	return dataStart + g.head + in, g.ring - in
}

// A slot records how much a ring file holds.
type slot struct {
	geometry
	seq   uint64
	total int64
}

func (s slot) encode() []byte {
	b := make([]byte, 0, slotSize)
	b = append(b, ringMagic...)
	for _, v := range []uint64{ringVersion, s.seq, uint64(s.total), uint64(s.head), uint64(s.ring), uint64(s.chunk)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = append(b, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint32(b, slotSum(b))
}

func slotSum(b []byte) uint32 {
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

// decodeSlot decodes a slot. ok is false for an invalid one.
func decodeSlot(b []byte) (s slot, ok bool) {
	if len(b) < slotSize || string(b[:8]) != ringMagic || slotSum(b[:60]) != binary.LittleEndian.Uint32(b[60:]) {
		return slot{}, false
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	s = slot{geometry{at(4), at(5), at(6)}, uint64(at(2)), at(3)}
	ok = at(1) == ringVersion && s.valid() && s.total >= 0
	return s, ok
}

// newest is the slot of a file's first bytes that counts. size is the file's.
func newest(b []byte, size int64) (slot, bool) {
	cut := func(at int) []byte { return b[min(at, len(b)):] }
	a, okA := decodeSlot(cut(0))
	if other, ok := decodeSlot(cut(slotB)); ok && (!okA || other.seq > a.seq) {
		a, okA = other, true
	}
	if okA {
		return a, true
	}
	c, ok := decodeSlot(cut(slotC))
	if !ok {
		return slot{}, false
	}
	// Only what cannot have been overwritten is certain.
	c.total = max(size-dataStart, 0)
	if c.total >= c.head+c.ring {
		c.total = c.head
	}
	return c, true
}

// A ring is the file while it is written, by one goroutine.
type ring struct {
	slot
	file *os.File
	err  error // of the first write that failed; nothing is kept from there on
}

func createRing(path string, g geometry) (*ring, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	page := make([]byte, dataStart)
	first := slot{geometry: g}
	copy(page[slotC:], first.encode())
	first.seq = 1
	copy(page[slotB:], first.encode())
	if _, err := f.WriteAt(page, 0); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &ring{slot: first, file: f}, nil
}

// write appends. It never fails, because the caller must go on reading: an error is kept in err.
func (r *ring) write(p []byte) {
	for len(p) > 0 && r.err == nil {
		part := p[:min(int64(len(p)), r.chunk)]
		p = p[len(part):]
		r.err = r.append(part)
	}
}

// append adds a chunk at most.
func (r *ring) append(p []byte) error {
	total := r.total
	for len(p) > 0 {
		pos, piece := r.position(total)
		n, err := r.file.WriteAt(p[:min(int64(len(p)), piece)], pos)
		if err != nil {
			return err
		}
		p = p[n:]
		total += int64(n)
	}
	next := r.slot
	next.seq, next.total = r.seq+1, total
	if _, err := r.file.WriteAt(next.encode(), int64(next.seq%2)*slotB); err != nil {
		return err
	}
	r.slot = next
	return nil
}

func (r *ring) close() { _ = r.file.Close() }
