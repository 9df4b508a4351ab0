package lspclient

import "strings"

// File is the file of this machine that a URI in an answer names. isFile is
// false for a URI of another kind; a URI of a file that can not be understood
// is an error.
func (v *View) File(uri string) (path string, isFile bool, err error) {
	scheme, _, _ := strings.Cut(uri, ":")
	if !strings.EqualFold(strings.TrimSpace(scheme), "file") {
		return "", false, nil
	}
	path, err = pathOf(uri)
	return path, true, err
}
