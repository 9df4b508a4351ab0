//go:build !unix

package world

// holds takes the name for what is open: links are not for everybody here.
func (*database) holds(facts) bool { return true }
