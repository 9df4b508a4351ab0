//go:build (darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import "golang.org/x/sys/unix"

// accessFlags check rights for the real user.
const accessFlags = 0

// openWhole is not supported.
func openWhole(string, int) (fd int, ok bool, err error) { return -1, false, nil }

// openNameless is not supported.
func openNameless(int, uint32) (int, error) { return -1, unix.EOPNOTSUPP }

// nameFile is never called, because there are no files without a name.
func nameFile(int, int, string) error { return unix.EOPNOTSUPP }

// A leaseState says whether somebody has a file open for writing.
type leaseState int

const (
	unknown leaseState = iota // the system does not tell
	writers
	leased
)

// lease is not supported: a change goes unnoticed if it is made by a program that opened the file
// before it was replaced and writes after it was checked.
func lease(int) leaseState { return unknown }

func endLease(int) bool { return true }

// copyAttributes copies nothing: what systems keep in attributes and access lists differs too much.
func copyAttributes(int, int) error { return nil }
