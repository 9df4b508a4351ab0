//go:build !amd64

package regex

// vectors reports whether this machine runs the kernels: it has none.
func vectors() bool { return false }

func pairScan(*pair, *byte, int, int) (int, uint32) { panic("scan: no kernel for this machine") }

func teddyScan(*teddy, *byte, int, int) (int, uint32) { panic("scan: no kernel for this machine") }
