//go:build !unix

package script

// protect does nothing where memory can not be taken away: an engine that does not react then runs until its function returns.
func protect(uintptr, bool) {}
