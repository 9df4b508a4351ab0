//go:build !unix

package script

// protect does nothing where memory cannot be protected: an engine that does not react then runs
// until its function returns.
func protect(uintptr, bool) {}
