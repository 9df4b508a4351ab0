package regex

// A kind is what a node stands for.
type kind uint8

const (
	kindEmpty  kind = iota // the empty text
	kindClass              // one character of a set; an empty set matches nothing
	kindBytes              // one byte of a set: what (?-u) can say beyond characters
	kindLook               // a place, not a text
	kindConcat             // one after another
	kindEither             // one of several, the earlier preferred
	kindRepeat             // some times over
)

// A node is a piece of a parsed pattern. The parser has dissolved all flags,
// escapes, names of classes, cases and groups: what is left is only this.
// Nodes are never changed once the parser has returned them and may be shared.
type node struct {
	kind  kind
	runes []runeRange // kindClass: sorted, apart, valid scalar values only, never \n
	bytes *byteSet    // kindBytes: never \n
	look  look        // kindLook
	subs  []*node     // kindConcat and kindEither: two or more; kindRepeat: one
	min   int         // kindRepeat
	max   int         // kindRepeat; -1 is no limit
	lazy  bool        // kindRepeat: as few as possible rather than as many
}

// A runeRange is the characters from lo to hi, both included.
type runeRange struct{ lo, hi rune }

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s[b>>6] |= 1 << (b & 63)
	}
}

func (s *byteSet) contains(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// A look is a condition on the place between two characters.
type look uint8

const (
	lookLineStart look = iota // ^ : the start of a line
	lookLineEnd               // $ : the end of a line, before \n
	lookTextStart             // \A and (?-m)^
	lookTextEnd               // \z and (?-m)$

	// Word boundaries, by the characters of \w: Unicode's.
	lookWord          // \b
	lookNotWord       // \B
	lookWordStart     // \b{start} and \<
	lookWordEnd       // \b{end} and \>
	lookWordStartHalf // \b{start-half}
	lookWordEndHalf   // \b{end-half}

	// The same by ASCII's: (?-u:\b) and so on.
	lookASCIIWord
	lookASCIINotWord
	lookASCIIWordStart
	lookASCIIWordEnd
	lookASCIIWordStartHalf
	lookASCIIWordEndHalf
)
