package regex

import (
	"sync/atomic"
)

// A Regexp is a compiled pattern. It is safe for concurrent use; what runs it
// is a Matcher.
type Regexp struct {
	prog    *program
	need    need
	finder  *Scanner // nil where nothing is rare enough to look for
	longest int      // bytes of what it looks for
}

// Compile reads a pattern and prepares it. What is wrong with a pattern it
// reports as a *SyntaxError.
func Compile(pattern string, opt Options) (*Regexp, error) {
	tree, err := parse(pattern, opt)
	if err != nil {
		return nil, err
	}
	prog, ok := compile(tree)
	if !ok {
		const reason = "compiled regex exceeds size limit of 104857600" // as the parser says it
		return nil, &SyntaxError{Pattern: pattern, End: len(pattern), Reason: reason, Hint: otherHint(reason)}
	}
	re := &Regexp{prog: prog, need: needs(tree)}
	if len(re.need.alternatives) > 0 {
		re.finder = NewFinder(re.need.alternatives, opt.Portable)
		for _, s := range re.need.alternatives {
			re.longest = max(re.longest, len(s))
		}
	}
	return re, nil
}

// Needs returns what a file must contain for any of its lines to match: of
// each list at least one string. The strings have three bytes or more, with
// ASCII letters in lower case, and are meant for an index that folds these.
// Nil means that nothing is known. The caller must not change the lists.
func (re *Regexp) Needs() [][]string { return re.need.index }

// Matcher returns what one goroutine needs to run the pattern. When stop is
// set by anybody, all its methods return soon; stop may be nil.
func (re *Regexp) Matcher(stop *atomic.Bool) *Matcher {
	return &Matcher{re: re, stop: stop}
}
