package command

import (
	"slices"
	"strconv"
	"strings"
)

// kinds are short names for what is done with a folder as a whole, because all files of a command
// share the same, possibly long, patterns.
type kinds struct {
	number map[string]int
	last   [3][]string // the patterns that were looked at last
	name   string      // … and their short name
}

// kind distinguishes accesses of the same file.
func (f *accessFinder) kind(a Access) string {
	key := make([]byte, 0, 16)
	for _, is := range []bool{a.Deep, a.Visible, a.Fresh, a.Maybe} {
		if is {
			key = append(key, '+')
		} else {
			key = append(key, '-')
		}
	}
	return string(key) + f.kinds.keyOf([3][]string{a.Only, a.Except, a.Shut})
}

func (k *kinds) keyOf(patterns [3][]string) string {
	if sameSlices(patterns, k.last) {
		return k.name
	}
	text := ""
	for _, names := range patterns {
		text += strings.Join(names, "\x00") + "\x00\x00"
	}
	if k.number == nil {
		k.number = map[string]int{}
	}
	n, ok := k.number[text]
	if !ok {
		n = len(k.number) + 1
		k.number[text] = n
	}
	k.last, k.name = patterns, strconv.Itoa(n)
	return k.name
}

// sameSlices reports whether patterns are the same ones in memory.
func sameSlices(a, b [3][]string) bool {
	return slices.EqualFunc(a[:], b[:], func(x, y []string) bool {
		return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	})
}
