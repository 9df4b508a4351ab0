package regex

import (
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"
)

// readTrie reads the bytes and tells what they come to; trieNone too where
// bytes are left over or missing.
func readTrie(t *trie, bytes ...byte) uint16 {
	value := t.leadNode(bytes[0])
	for _, b := range bytes[1:] {
		if value < trieNode {
			return trieNone
		}
		value = t.more(value, b)
	}
	if value >= trieNode {
		return trieNone
	}
	return value
}

// encodeAny encodes any number as UTF-8 would, also those that have no place
// there, in a given length.
func encodeAny(r rune, length int) []byte {
	out := make([]byte, length)
	for i := length - 1; i > 0; i-- {
		out[i] = 0x80 | byte(r&0x3F)
		r >>= 6
	}
	out[0] = [5]byte{0, 0, 0xC0, 0xE0, 0xF0}[length] | byte(r)
	return out
}

func TestTrie(t *testing.T) {
	for _, pattern := range []string{`\w`, `.`, `\p{Greek}`, `[^é]`, `\W`, `[é-ö日]`, `[\x{10FFFF}]|[\x{10000}é]`, `[\x{80}\x{7FF}\x{800}\x{FFFF}]`} {
		n, err := parse(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n.kind != kindClass {
			continue
		}
		plain, both := newTrie(n.runes, false), newTrie(n.runes, true)
		for r := rune(0x80); r < 0x140000; r++ {
			for length := 2; length <= 4; length++ {
				if r >= 1<<(5*length+1) {
					continue
				}
				code := encodeAny(r, length)
				want := uint16(trieNone)
				if utf8.ValidRune(r) && utf8.RuneLen(r) == length {
					want = trieOther
					if _, ok := slices.BinarySearchFunc(n.runes, r, func(x runeRange, r rune) int {
						if x.hi < r {
							return -1
						} else if x.lo > r {
							return 1
						}
						return 0
					}); ok {
						want = trieYes
					}
				}
				if got := readTrie(both, code...); got != want {
					t.Fatalf("%s: % x: %d, want %d", pattern, code, got, want)
				}
				if got := readTrie(plain, code...); (got == trieYes) != (want == trieYes) || got == trieOther {
					t.Fatalf("%s: % x: %d, want %d", pattern, code, got, want)
				}
			}
		}
	}
}

// TestTrieSize keeps the price of the largest class in mind.
func TestTrieSize(t *testing.T) {
	p := &program{}
	if n := len(p.wordRunes().nodes); n == 0 || n > 600 {
		t.Errorf("the trie of words has %d nodes", n)
	}
	if readTrie(p.wordRunes(), []byte("é")...) != trieYes || readTrie(p.wordRunes(), []byte("…")...) != trieOther || unicode.IsLetter('…') {
		t.Error("the trie of words does not know words")
	}
}

func BenchmarkTrie(b *testing.B) {
	for b.Loop() {
		(&program{}).wordRunes()
	}
}
