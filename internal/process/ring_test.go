package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func tinyRing(t tb, dir string, g geometry) (*ring, string) {
	t.Helper()
	path := filepath.Join(dir, ringName)
	_ = os.Remove(path)
	return must(createRing(path, g))(t), path
}

// drawGeometry gives a ring of few bytes.
func drawGeometry(t *rapid.T) geometry {
	g := geometry{head: rapid.Int64Range(0, 12).Draw(t, "head"), chunk: rapid.Int64Range(1, 8).Draw(t, "chunk")}
	g.ring = 2*g.chunk + 2 + rapid.Int64Range(0, 30).Draw(t, "ring")
	return g
}

// TestRingLaw: whatever is written, in whatever pieces, a read gives what a
// slice of all of it would, as far as it has to be kept.
func TestRingLaw(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		g := drawGeometry(t)
		r, path := tinyRing(t, dir, g)
		defer r.close()
		var oracle []byte
		for range rapid.IntRange(0, 8).Draw(t, "writes") {
			p := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "data")
			r.write(p)
			oracle = append(oracle, p...)
			total := int64(len(oracle))
			offset := rapid.Int64Range(-total-3, total+3).Draw(t, "offset")
			limit := rapid.IntRange(1, 60).Draw(t, "limit")
			final := rapid.Bool().Draw(t, "final")
			c := must(readRing(path, offset, limit, final))(t)

			if offset < 0 {
				offset = max(total+offset, 0)
			}
			asked := min(offset, total)
			first := asked
			oldest := max(g.head, total-(g.ring-2*g.chunk))
			if first >= g.head && first < oldest {
				first = oldest
			}
			end := min(first+int64(limit), total)
			if first < g.head && oldest > g.head {
				end = min(end, g.head)
			}
			// A character that is not complete is held back: three bytes at most.
			if c.Offset != first || c.Next > end || end-c.Next > 3 || c.Next == c.Offset && end > first {
				t.Fatalf("read at %d of %d: got %d to %d, want %d to %d", offset, total, c.Offset, c.Next, first, end)
			}
			want(t, string(c.Data), string(oracle[c.Offset:c.Next]))
			want(t, c.Total, total)
			want(t, c.Skipped, first-asked)
			want(t, c.Done, final && c.Next == total)
		}
		if info := must(os.Stat(path))(t); info.Size() > dataStart+g.head+g.ring {
			t.Fatalf("file of %d bytes", info.Size())
		}
	})
}

// TestRingTorn: a slot that is torn at any byte takes away what was written
// last at most.
func TestRingTorn(t *testing.T) {
	g := geometry{head: 8, ring: 24, chunk: 4}
	for _, writes := range []int{1, 2, 20} {
		for slot := range 2 {
			for tear := 0; tear < slotSize; tear += 5 {
				r, path := tinyRing(t, t.TempDir(), g)
				var oracle []byte
				for i := range writes {
					p := fmt.Appendf(nil, "%03d\n", i)
					r.write(p)
					oracle = append(oracle, p...)
				}
				f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
				b := make([]byte, 1)
				at := int64(slot*slotB + tear)
				_, err := f.ReadAt(b, at)
				ok(t, err)
				b[0] ^= 0x55
				_, err = f.WriteAt(b, at)
				ok(t, err)
				ok(t, f.Close())
				r.close()
				for offset := int64(0); ; {
					c := must(readRing(path, offset, 5, true))(t)
					if !bytes.Equal(c.Data, oracle[c.Offset:c.Next]) || c.Total < int64(len(oracle))-g.chunk {
						t.Fatalf("%d writes, slot %d torn at %d: %q at %d of %d", writes, slot, tear, c.Data, c.Offset, c.Total)
					}
					if offset = c.Next; c.Done {
						break
					}
				}
			}
		}
	}
}

// TestRingNoSlots: with both slots gone, what was never overwritten is left.
func TestRingNoSlots(t *testing.T) {
	g := geometry{head: 8, ring: 24, chunk: 4}
	for text, want := range map[string]string{
		"":                                    "",
		"some":                                "some",
		"head and more":                       "head and more",
		"more than the whole file could hold": "more tha",
	} {
		r, path := tinyRing(t, t.TempDir(), g)
		r.write([]byte(text))
		_, err := r.file.WriteAt(make([]byte, slotC), 0)
		ok(t, err)
		r.close()
		if c := must(readRing(path, 0, 0, true))(t); string(c.Data) != want {
			t.Errorf("%q: %q is left, want %q", text, c.Data, want)
		}
	}
}

// TestRingReaders: readers that run while a fast writer goes over them see
// nothing but what was written where they think they are.
func TestRingReaders(t *testing.T) {
	g := geometryFor(256 << 10)
	r, path := tinyRing(t, t.TempDir(), g)
	const words = 4 << 20 / 8 // of 8 bytes, each of which says where it is
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for reader := range 3 {
		wg.Go(func() {
			for at := int64(0); !closed(stop); {
				c, err := readRing(path, at, 40<<10, true)
				if err != nil {
					t.Error(err)
					return
				}
				for i, b := range c.Data {
					o := c.Offset + int64(i)
					var word [8]byte
					binary.BigEndian.PutUint64(word[:], uint64(o/8))
					if b != word[o%8] {
						t.Errorf("byte %d is %#x, want %#x", o, b, word[o%8])
						return
					}
				}
				switch at = c.Next; {
				case reader == 1:
					at = max(0, c.Total-(g.ring-2*g.chunk)) // always at the edge
				case reader == 2 && c.Next == c.Total:
					at = 0
				}
			}
		})
	}
	var buf []byte
	for i := range words {
		buf = binary.BigEndian.AppendUint64(buf, uint64(i))
		if len(buf) >= 100<<10/8 || i == words-1 {
			r.write(buf)
			buf = buf[:0]
		}
	}
	close(stop)
	wg.Wait()
	ok(t, r.err)
	r.close()
	want(t, must(ringTotal(path))(t), int64(words*8))
}

// TestCertain: of what was read while the writer went on, that is dropped
// which it may have overwritten.
func TestCertain(t *testing.T) {
	g := geometry{head: 8, ring: 24, chunk: 4} // 16 bytes behind the head are kept
	for _, c := range []struct {
		from, n, total int64 // read, and how far the writer is
		at, left       int64
	}{
		{0, 8, 100, 0, 8},
		{4, 10, 24, 4, 10},
		{4, 10, 25, 4, 4}, // the head is left
		{8, 10, 24, 8, 10},
		{8, 10, 27, 11, 7},
		{8, 10, 34, 18, 0},
		{8, 10, 99, 18, 0},
		{20, 0, 99, 20, 0},
	} {
		data, from := slot{geometry: g, total: c.total}.certain(make([]byte, c.n), c.from)
		want(t, []int64{from, int64(len(data))}, []int64{c.at, c.left})
	}
}

// TestRingFull: where the disk takes no more, writing goes on and what is
// there stays readable.
func TestRingFull(t *testing.T) {
	r, path := tinyRing(t, t.TempDir(), geometryFor(leastQuota))
	r.write([]byte("kept"))
	r.close() // every write fails from here on
	r.write([]byte("lost"))
	r.write([]byte("lost"))
	if r.err == nil {
		t.Fatal("no error")
	}
	c := must(readRing(path, 0, 0, true))(t)
	want(t, string(c.Data), "kept")
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		in, out string
		end     bool
	}{
		{"abc", "abc", false},
		{"ab\xe2\x82", "ab", false},
		{"ab\xe2\x82", "ab\xe2\x82", true},
		{"ab\xe2\x82\xac", "ab€", false},
		{"\xe2\x82", "\xe2\x82", false},
		{"a\xf0\x9f\x98", "a", false},
		{"a\x80\x80\x80\x80", "a\x80\x80\x80\x80", false},
		{"a\xff", "a\xff", false},
		{"", "", false},
	} {
		want(t, string(completeRunes([]byte(c.in), c.end)), c.out)
	}
}

// FuzzRing: no file makes the reader fail badly, hang or give more than the
// limit. slots are what is at the three places, with sums made right so that
// the fuzzer gets behind them.
func FuzzRing(f *testing.F) {
	g := geometry{head: 4, ring: 10, chunk: 2}
	none := make([]byte, slotSize)
	file := func(slots ...[]byte) []byte { return bytes.Join(slots, nil) }
	body := []byte("some text to read"[:14])
	f.Add(file(none, slot{g, 3, 9}.encode(), slot{geometry: g}.encode()), body, int64(0), 10)
	f.Add(file(none, none, slot{geometry: g}.encode()), body[:9], int64(-3), 100)
	f.Add(file(slot{geometry{mostData, mostData, 5}, 9, 1<<63 - 1}.encode()), body, int64(1)<<62, 1<<30)
	f.Add(file(slot{g, 1 << 63, 1 << 62}.encode(), slot{g, 1, 2}.encode()), body, int64(-1)<<63, -1)
	f.Add([]byte("not a ring"), []byte{}, int64(0), 0)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, slots, body []byte, offset int64, limit int) {
		data := make([]byte, dataStart)
		for i, at := range []int{0, slotB, slotC} {
			n := copy(data[at:at+slotSize], slots[min(i*slotSize, len(slots)):])
			if n == slotSize {
				copy(data[at:], ringMagic)
				binary.LittleEndian.PutUint32(data[at+60:], slotSum(data[at:at+60]))
			}
		}
		path := filepath.Join(dir, "out")
		ok(t, os.WriteFile(path, append(data, body...), 0o600))
		c, err := readRing(path, offset, limit, true)
		if err != nil {
			return
		}
		most := someOutput
		if limit > 0 {
			most = limit
		}
		if len(c.Data) > min(most, mostOutput) || c.Next != c.Offset+int64(len(c.Data)) || c.Next > c.Total || c.Skipped < 0 || c.Offset < 0 {
			t.Fatalf("offset %d, limit %d: %+v", offset, limit, c)
		}
	})
}

func BenchmarkRingWrite(b *testing.B) {
	for _, size := range []int{100, mostChunk} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r, _ := tinyRing(b, b.TempDir(), geometryFor(64<<20))
			defer r.close()
			p := bytes.Repeat([]byte("y\n"), size/2)
			b.SetBytes(int64(size))
			for b.Loop() {
				r.write(p)
			}
			ok(b, r.err)
		})
	}
}
