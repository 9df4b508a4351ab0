//go:build unix

package regex

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// guarded returns a page of memory between two that nobody may touch.
func guarded(t *testing.T) []byte {
	t.Helper()
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, edge := range [][]byte{mem[:page], mem[2*page:]} {
		if err := unix.Mprotect(edge, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return mem[page : 2*page : 2*page]
}

// TestGuard searches texts that begin or end where memory does: reading one
// byte outside of them would end the test.
func TestGuard(t *testing.T) {
	page := guarded(t)
	for i := range page {
		page[i] = "qzZxQ "[i*i%61%6]
	}
	for _, alts := range [][]Sequence{
		seqs("q"), seqs("zx"), seqs("zxqqzzxxqqz"), seqs("~q~z"), seqs("zx", "qzq", "xxZ"), seqs("[qx][Zz]"),
		seqs("0123456789abcdefghijklmnopqrstuvwxyz{QZ"), seqs("[0-9][0-9]zxQZ", "zxQZ[0-9][0-9]"),
	} {
		for _, portable := range []bool{false, true} {
			f := NewFinder(alts, portable)
			if f == nil {
				t.Fatalf("%v: no finder", alts)
			}
			for n := range 200 {
				for _, text := range [][]byte{page[:n], page[len(page)-n:]} {
					for from := 0; from <= n; from += 1 + n/7 {
						if got, want := f.Next(text, from), naive(alts, text, from); got != want {
							t.Fatalf("way %d, %v in %q from %d: %d, want %d", f.way, alts, text, from, got, want)
						}
					}
				}
			}
		}
	}
}
