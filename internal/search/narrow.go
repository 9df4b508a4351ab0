package search

import "strings"

// maxVariants is how many ways of choosing between braces are looked at one by
// one. Globs with more name no folder and lead to none.
const maxVariants = 64

const (
	// maxTokens is how many tokens are made on the way to what globs name or
	// begin with. Globs that need more name no folder and lead to none.
	maxTokens = 64 << 10
	// maxLeads is how many folders globs may lead to. Every folder of a walk
	// is compared with them.
	maxLeads = 1024
)

// A tally counts tokens that may still be made.
type tally int

// take reports whether there are so many left.
func (t *tally) take(n int) bool {
	*t -= tally(n)
	return *t >= 0
}

// variants are the ways to read a glob without braces, nil if there are too
// many. An empty branch is no choice, as in [program.either].
func variants(tokens []token, left *tally) [][]token {
	done := [][]token{nil}
	for _, t := range tokens {
		if t.kind != tokEither {
			if !left.take(len(done)) {
				return nil
			}
			for i := range done {
				done[i] = append(done[i], t)
			}
			continue
		}
		var tails [][]token
		for _, b := range t.branches {
			if empty(b) {
				continue
			}
			v := variants(b, left)
			if v == nil || len(v)*len(done) > maxVariants {
				return nil
			}
			tails = append(tails, v...)
		}
		if len(tails) == 0 {
			continue
		}
		if len(tails)*len(done) > maxVariants {
			return nil
		}
		next := make([][]token, 0, len(tails)*len(done))
		for _, head := range done {
			for _, tail := range tails {
				if !left.take(len(head) + len(tail)) {
					return nil
				}
				next = append(next, append(head[:len(head):len(head)], tail...))
			}
		}
		done = next
	}
	return done
}

// border reports whether a token is where a component of a path ends.
func (t *token) border() bool {
	switch t.kind {
	case tokByte:
		return t.char == '/'
	case tokDeepPrefix, tokDeepMiddle, tokDeepSuffix:
		return true
	}
	return false
}

// A namer finds which folders globs name: those matched by a component of a glob other than mere
// wildcards. "build/**" names build, and "**/*" names nothing.
type namer struct{ globs []glob }

// newNamer reads the globs. It is nil if it does not matter what they name.
func newNamer(opt Options) (*namer, error) {
	if !opt.Closed {
		return nil, nil
	}
	n := &namer{}
	left := tally(maxTokens)
	for _, line := range opt.Globs {
		next, text, ok := cutLine(line)
		if !ok || next.negated {
			continue
		}
		tokens, err := parseGlob(text, globDialect)
		if err != nil {
			return nil, err
		}
		for _, v := range variants(tokens, &left) {
			n.add(v, &left)
		}
		if left < 0 {
			return &namer{}, nil
		}
	}
	return n, nil
}

// add takes a glob without braces, as long as there are tokens left for it.
func (n *namer) add(tokens []token, left *tally) {
	plain := false
	for i := range tokens {
		t := &tokens[i]
		if t.border() {
			if plain && left.take(i) {
				n.globs = append(n.globs, newGlob(tokens[:i]))
			}
			plain = false
		} else if t.kind == tokByte {
			plain = true
		}
	}
	if plain && left.take(len(tokens)) {
		n.globs = append(n.globs, newGlob(tokens))
	}
}

// match reports whether a folder is named. Its last component begins at base.
func (n *namer) match(m *machine, name []byte, base int) bool {
	if n == nil {
		return false
	}
	for i := range n.globs {
		if n.globs[i].match(m, name, base) {
			return true
		}
	}
	return false
}

// globRoots returns the literal folders that globs begin with, without a trailing slash. All
// matches are in one of them; nil says that they can be anywhere.
func globRoots(globs []string) (folders []string) {
	left := tally(maxTokens)
	for _, line := range globs {
		next, text, ok := cutLine(line)
		if !ok || next.negated {
			continue
		}
		tokens, err := parseGlob(text, globDialect)
		if err != nil {
			return nil
		}
		all := variants(tokens, &left)
		if all == nil || len(folders)+len(all) > maxLeads {
			return nil
		}
		for _, v := range all {
			lead := lead(v)
			if lead == "" {
				return nil
			}
			folders = append(folders, lead)
		}
	}
	return folders
}

// lead is the plain folders that a glob without braces begins with.
func lead(tokens []token) string {
	n := 0
	for n < len(tokens) && tokens[n].kind == tokByte {
		n++
	}
	text, _ := literalText(tokens[:n])
	if n < len(tokens) && tokens[n].border() { // a/b/** and a/b/**/c
		return text
	}
	return text[:max(0, strings.LastIndexByte(text, '/'))]
}

// leadsTo reports whether a folder is one of some others, in one, or on the way to one. It is true
// if there are none.
func leadsTo(name []byte, folders []string) bool {
	for _, f := range folders {
		n := min(len(f), len(name))
		if string(name[:n]) == f[:n] &&
			(len(f) == len(name) || len(f) > n && f[n] == '/' || len(name) > n && name[n] == '/') {
			return true
		}
	}
	return folders == nil
}
