//go:build !linux

package mcpclient

import "os"

// ownFile returns f, since unread is not available here.
func ownFile(f *os.File) *os.File { return f }

// unread is not available here.
func unread(*os.File) (int64, bool) { return 0, false }

// dying is not available here.
func dying(int) bool { return false }
