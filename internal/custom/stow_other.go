//go:build !unix

package custom

// stowed returns no folders: the owner of a link is unknown here.
func (u *unit) stowed(string) []string { return nil }

// strange knows nothing against a link.
func strange(string, string) string { return "" }
