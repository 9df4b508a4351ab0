//go:build (darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import "golang.org/x/sys/unix"

// accessFlags: here rights are checked for the real user.
const accessFlags = 0

// openWhole cannot be had here.
func openWhole(string, int) (fd int, ok bool, err error) { return -1, false, nil }

// openNameless cannot be had here.
func openNameless(int, uint32) (int, error) { return -1, unix.EOPNOTSUPP }

// nameFile is never called, since there are no files without a name.
func nameFile(int, int, string) error { return unix.EOPNOTSUPP }

// A leaseState says who has a file open for writing.
type leaseState int

const (
	unknown leaseState = iota // the system does not tell
	writers
	leased
)

// lease cannot be had here: a change made by somebody who opened the file
// before it was replaced and writes after it was checked goes unseen.
func lease(int) leaseState { return unknown }

func endLease(int) bool { return true }

// attributes of files are not copied here, nor are access lists: what the
// system keeps in them differs from one to the next.
func copyAttributes(int, int) error { return nil }
