package web

import "strings"

// Words are the words of which a rule has to hold one to name the host of an
// address: the host with its port, or the host with a colon for every port.
func (a Address) Words() []string {
	host := a.Host()
	name := host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name = host[:i]
	}
	return []string{host, name + ":"}
}
