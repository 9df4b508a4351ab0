package lspclient

import "strings"

// File returns the local file that a URI in an answer names. isFile is false for a URI of another
// kind; a malformed file URI is an error.
func (v *View) File(uri string) (path string, isFile bool, err error) {
	scheme, _, _ := strings.Cut(uri, ":")
	if !strings.EqualFold(strings.TrimSpace(scheme), "file") {
		return "", false, nil
	}
	path, err = pathOf(uri)
	return path, true, err
}
