//go:build !linux

package main

// shut does nothing where the system has nothing for it.
func shut() {}
