package regex

import "golang.org/x/sys/cpu"

// vectors reports whether this machine runs the kernels.
func vectors() bool { return cpu.X86.HasAVX2 }

// pairScan looks at the blocks of [block] positions at at, at+block and so on
// up to the one at last, and returns the first in which the pair is found,
// with a bit for each position where it is. If there is none it returns a
// place behind last. It reads text from at to last+block plus the further
// place of the pair.
//
//go:noescape
func pairScan(p *pair, text *byte, at, last int) (int, uint32)

// teddyScan does the same for the three places of t.
//
//go:noescape
func teddyScan(t *teddy, text *byte, at, last int) (int, uint32)
