//go:build !linux

package search

// standBack gives the thread the lowest priority, where threads have their own.
func standBack() {}
