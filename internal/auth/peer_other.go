//go:build !linux

package auth

import "net/http"

// Stranger tells whether another user of this machine has sent a request. It is
// not known here.
func Stranger(*http.Request) bool { return false }
