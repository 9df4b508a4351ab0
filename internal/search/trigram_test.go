package search

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// satisfies says what the index must never deny: that a text contains a string
// of every need.
func satisfies(text []byte, needs [][]string) bool {
	text = fold(text)
	for _, need := range needs {
		if !slices.ContainsFunc(need, func(s string) bool { return bytes.Contains(text, fold([]byte(s))) }) {
			return false
		}
	}
	return true
}

func fold(text []byte) []byte {
	text = bytes.Clone(text)
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	return text
}

// varied is a text of random bytes, which has about as many different trigrams
// as bytes.
func varied(seed uint64, length int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	text := make([]byte, length)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	return text
}

func TestLower(t *testing.T) {
	for c := range 256 {
		want := fold([]byte{byte(c)})[0]
		if got := lower(byte(c)); got != want {
			t.Errorf("lower(%#x) = %#x, want %#x", c, got, want)
		}
		for at := range 8 {
			in := []byte("A\xc1@[Z\xdaz`")
			in[at] = byte(c)
			got := lower8(binary.LittleEndian.Uint64(in))
			if want := binary.LittleEndian.Uint64(fold(in)); got != want {
				t.Errorf("lower8(%q) = %#x, want %#x", in, got, want)
			}
		}
	}
}

func TestQuery(t *testing.T) {
	x := NewIndex(1 << 20)
	for id, text := range []string{
		0: "func main() {\n\tprintln(\"hello\")\n}\n",
		1: "FUNC Main",
		2: "",
		3: "ab",
		4: "naïve\r\nhello",
		6: "nothing of interest",
	} {
		if id != 5 {
			x.Put(uint32(id), []byte(text))
		}
	}
	x.Put(7, bytes.Repeat([]byte("long"), MaxText/4+1))
	x.Put(8, varied(1, 1<<20))
	x.Put(9, []byte("hello"))
	x.Drop(9)
	always := []uint32{5, 7, 8, 9, 10}
	for _, tt := range []struct {
		name  string
		needs [][]string
		want  []uint32
	}{
		{"one", [][]string{{"println"}}, []uint32{0}},
		{"any case", [][]string{{"func main"}}, []uint32{0, 1}},
		{"capitals in the query", [][]string{{"FUNC"}}, []uint32{0, 1}},
		{"or", [][]string{{"println", "naïve"}}, []uint32{0, 4}},
		{"and", [][]string{{"hello"}, {"func", "nothing"}}, []uint32{0}},
		{"across lines", [][]string{{"ve\r\nhe"}}, []uint32{4}},
		{"nobody", [][]string{{"absent"}}, nil},
		{"a short need says nothing", [][]string{{"ab"}, {"hello"}}, []uint32{0, 4}},
		{"an empty need says nothing", [][]string{{}, {"hello"}}, []uint32{0, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := x.Query(tt.needs)
			want := append(slices.Clone(tt.want), always...)
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Collect(c.All(11))); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
			if got := c.Count(11); got != len(want) {
				t.Errorf("Count = %d, want %d", got, len(want))
			}
		})
	}
}

func TestUnusable(t *testing.T) {
	x := NewIndex(1 << 20)
	x.Put(0, []byte("some text"))
	wide := make([]string, maxRows+1)
	for i := range wide {
		wide[i] = fmt.Sprintf("%03d", i%1000)
	}
	for _, needs := range [][][]string{nil, {{}}, {{"ab"}}, {{"abc", "ab"}}, {wide}} {
		c := x.Query(needs)
		if c != nil {
			t.Fatalf("needs of %d lists are taken as usable", len(needs))
		}
		if !c.Has(0) || !c.Has(99) || c.Count(7) != 7 || len(slices.Collect(c.All(7))) != 7 {
			t.Error("nil candidates are not everything")
		}
	}
}

// Ids around the borders of words, of what the index knows and of n.
func TestCandidatesBorders(t *testing.T) {
	x := NewIndex(1 << 20)
	for id := range uint32(200) {
		if id%3 != 0 {
			x.Put(id, nil)
		}
	}
	c := x.Query([][]string{{"abc"}})
	for n := range uint32(3000) {
		want := int(n+2) / 3
		if known := uint32(200); n > known {
			want = 67 + int(n-known)
		}
		if got := c.Count(n); got != want {
			t.Fatalf("Count(%d) = %d, want %d", n, got, want)
		}
		if got := len(slices.Collect(c.All(n))); got != want {
			t.Fatalf("All(%d) has %d, want %d", n, got, want)
		}
	}
	for id := range c.All(10) {
		if id == 3 {
			break // must end without a word
		}
	}
}

// A long string is cut, not refused.
func TestLongString(t *testing.T) {
	x := NewIndex(1 << 20)
	long := strings.Repeat("0123456789abcdefghijklmnop", 100)
	x.Put(0, []byte(long))
	x.Put(1, []byte("something else"))
	c := x.Query([][]string{{long}})
	if !c.Has(0) || c.Has(1) {
		t.Errorf("Has = %v %v, want true false", c.Has(0), c.Has(1))
	}
}

// Most texts that lack a word are ruled out, in every class of size.
func TestRulesOut(t *testing.T) {
	for _, length := range []int{10, 100, 1000, 10_000, 100_000, 300_000} {
		x := NewIndex(64 << 20)
		const n = 20
		for id := range uint32(n) {
			if !x.Put(id, varied(uint64(id), length)) {
				t.Fatal("no room")
			}
		}
		c := x.Query([][]string{{"a word that is nowhere"}})
		if got := c.Count(n); got > 2 {
			t.Errorf("texts of %d bytes: %d of %d are candidates", length, got, n)
		}
	}
}

// held adds up what an index really holds.
func held(x *Index) int {
	size := int(unsafe.Sizeof(*x)) + 4*cap(x.places) + 8*cap(x.always) + 8*cap(x.blocks) + 4*cap(x.gaps)
	if x.scratch != nil {
		size += int(unsafe.Sizeof(*x.scratch))
	}
	for _, list := range x.room {
		size += 4 * cap(list)
	}
	for _, b := range x.blocks {
		if b != nil {
			size += int(unsafe.Sizeof(*b)) + 8*cap(b.rows) + 4*cap(b.ids)
		}
	}
	return size
}

// slack is what the lists of an index may have reserved before their blocks
// have paid for it.
const slack = 2048

func TestTrigramBudget(t *testing.T) {
	for _, budget := range []int{0, 1000, 140_000, 200_000, 1 << 20} {
		x := NewIndex(budget)
		kept, words := 0, make([]string, 3000)
		for id := range uint32(len(words)) {
			text := varied(uint64(id), 50+int(id*id)%5000)
			words[id] = string(text[10:20])
			if x.Put(id, text) {
				kept++
			}
			if got := x.bytes(); got > max(budget, int(unsafe.Sizeof(*x))) {
				t.Fatalf("budget %d: %d bytes after %d texts", budget, got, id+1)
			}
		}
		if got := held(x); got > x.bytes()+slack {
			t.Errorf("budget %d: %d bytes are held, and it counts %d", budget, got, x.bytes())
		}
		for id, word := range words {
			if id%7 != 0 {
				continue
			}
			if !x.Query([][]string{{word}}).Has(uint32(id)) {
				t.Fatalf("budget %d: text %d was lost", budget, id)
			}
		}
		if kept == len(words) || kept == 0 && budget > 200_000 {
			t.Errorf("budget %d: %d of %d texts were kept", budget, kept, len(words))
		}
	}
}

// What is dropped gives its memory to others.
func TestMemoryIsReused(t *testing.T) {
	x := NewIndex(4 << 20)
	fill := func() (kept int) {
		for id := range uint32(2000) {
			if x.Put(id, varied(uint64(id), 4000)) {
				kept++
			}
		}
		return kept
	}
	first := fill()
	for id := range uint32(2000) {
		x.Drop(id)
	}
	if size := x.bytes(); size > 1<<20 {
		t.Errorf("an emptied index holds %d bytes", size)
	}
	if again := fill(); again < first*9/10 || first == 2000 {
		t.Errorf("%d texts were kept at first, %d after all were dropped", first, again)
	}
}

// A column that had other texts before does not show them.
func TestColumnsAreCleared(t *testing.T) {
	for _, length := range []int{20, 200, 5000, 100_000} {
		x := NewIndex(8 << 20)
		for id := range uint32(20) {
			x.Put(id, varied(uint64(id), length))
		}
		for round := range uint64(12) {
			text := varied(100+round, length)
			for id := range uint32(20) {
				if round%2 == 0 {
					x.Drop(id)
				}
				x.Put(id, text)
			}
		}
		c := x.Query([][]string{{string(varied(110, length)[:20])}})
		if got := c.Count(20); got > 0 {
			t.Errorf("texts of %d bytes: %d columns still show an earlier one", length, got)
		}
	}
}

// A text replaced by one of another size lets go of its column, also when there
// is no room for the new one.
func TestReplaceWithoutRoom(t *testing.T) {
	x := NewIndex(160_000)
	if !x.Put(0, []byte("the first text")) {
		t.Fatal("no room for a small text")
	}
	large := append(varied(1, 100_000), "the second text"...)
	if x.Put(0, large) {
		t.Fatal("there was room for a large text")
	}
	if c := x.Query([][]string{{"the second"}}); !c.Has(0) {
		t.Error("the text that found no room was lost")
	}
	if x.Put(1<<31, []byte("far away")) {
		t.Error("there was room for two thousand million ids")
	}
	if c := x.Query([][]string{{"nothing"}}); !c.Has(1 << 31) {
		t.Error("an id out of reach was lost")
	}
}

// model is the truth that an index is compared with.
type model map[uint32][]byte

// text draws a text: of few different letters, so that words recur, or long and
// varied, so that all classes occur.
func text(t *rapid.T) []byte {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return varied(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 60_000).Draw(t, "length"))
	case 1:
		return rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")
	}
	return []byte(rapid.StringOfN(rapid.SampledFrom([]rune("abAB\n é")), 0, 60, -1).Draw(t, "text"))
}

// needs draws needs, mostly of strings that stand in some text.
func (m model) needs(t *rapid.T) (needs [][]string) {
	for range rapid.IntRange(1, 3).Draw(t, "ands") {
		var need []string
		for range rapid.IntRange(1, 3).Draw(t, "ors") {
			text := m[rapid.Uint32Range(0, 100).Draw(t, "of")]
			if len(text) < 3 {
				need = append(need, rapid.StringMatching(`[ab\n ]{3,5}`).Draw(t, "word"))
				continue
			}
			from := rapid.IntRange(0, len(text)-3).Draw(t, "from")
			to := rapid.IntRange(from+3, min(from+100, len(text))).Draw(t, "to")
			need = append(need, string(fold(text[from:to])))
		}
		needs = append(needs, need)
	}
	return needs
}

func TestNeverLosesAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.SampledFrom([]int{0, 140_000, 300_000, 2 << 20, 64 << 20}).Draw(t, "budget")
		x, twin, m := NewIndex(budget), NewIndex(budget), model{}
		id := rapid.Uint32Range(0, 100)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				id, text := id.Draw(t, "id"), text(t)
				if x.Put(id, text) != twin.Put(id, text) {
					t.Fatal("the same texts in the same order do not give the same answers")
				}
				m[id] = text
			},
			"many": func(t *rapid.T) { // enough for several blocks
				from, seed := id.Draw(t, "id"), rapid.Uint64().Draw(t, "seed")
				for i := range uint32(90) {
					text := varied(seed+uint64(i), 30)
					x.Put(from+i, text)
					twin.Put(from+i, text)
					m[from+i] = text
				}
			},
			"drop": func(t *rapid.T) {
				id := id.Draw(t, "id")
				x.Drop(id)
				twin.Drop(id)
				delete(m, id)
			},
			"": func(t *rapid.T) {
				if size := x.bytes(); size > max(budget, int(unsafe.Sizeof(*x))) || size != twin.bytes() {
					t.Fatalf("%d bytes of %d, the twin has %d", size, budget, twin.bytes())
				}
				if got := held(x); got > x.bytes()+slack {
					t.Fatalf("%d bytes are held, and it counts %d", got, x.bytes())
				}
				needs := m.needs(t)
				c, d := x.Query(needs), twin.Query(needs)
				for id := range uint32(250) {
					text, known := m[id]
					if !c.Has(id) && (!known || satisfies(text, needs)) {
						t.Fatalf("%d is no candidate for %q", id, needs)
					}
					if c.Has(id) != d.Has(id) {
						t.Fatal("two equal indexes do not answer alike")
					}
				}
			},
		})
	})
}

// Readers and writers at once; the race detector watches.
func TestConcurrent(t *testing.T) {
	x := NewIndex(8 << 20)
	var wait sync.WaitGroup
	for w := range 3 {
		wait.Go(func() {
			for i := range 300 {
				id := uint32(i*3 + w)
				x.Put(id, fmt.Appendf(nil, "text number %d ends", id))
				if i%7 == 0 {
					x.Drop(id)
				}
			}
		})
		wait.Go(func() {
			for i := range uint32(300) {
				if c := x.Query([][]string{{fmt.Sprintf("number %d ends", i)}}); !c.Has(i) {
					t.Errorf("text %d was lost", i)
				}
				x.bytes()
			}
		})
	}
	wait.Wait()
}

func FuzzContains(f *testing.F) {
	f.Add([]byte("Hello, World"), uint(2), uint(5))
	f.Add([]byte("\x00\xff\nABC"), uint(0), uint(3))
	f.Fuzz(func(t *testing.T, text []byte, from, length uint) {
		x := NewIndex(4 << 20)
		x.Put(3, text)
		x.Put(4, append([]byte("other "), text...))
		if len(text) < 3 {
			return
		}
		from %= uint(len(text) - 2)
		length = 3 + length%(uint(len(text))-from-2)
		word := text[from : from+length]
		for _, s := range []string{string(word), string(fold(word))} {
			c := x.Query([][]string{{s}})
			if !c.Has(3) || !c.Has(4) {
				t.Fatalf("%q is not found in %q", s, text)
			}
		}
	})
}

// bytes is the number of bytes that the index counts as its own.
func (x *Index) bytes() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size
}
