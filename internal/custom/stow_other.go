//go:build !unix

package custom

// stowed gives no folders: whose a link is cannot be told here.
func (u *unit) stowed(string) []string { return nil }

// strange knows nothing against a link.
func strange(string, string) string { return "" }
