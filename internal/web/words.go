package web

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// Words are the texts of which a rule must contain one to name the host of an address: the host
// with its port, or the host with a colon for every port.
func (a Address) Words() []string {
	host := a.Host()
	name := host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name = host[:i]
	}
	return []string{host, name + ":"}
}

// Aliases are other spellings of the same address, for rules that restrict: the IPv4 address in an
// IPv6 one, and a name in Unicode.
func (a Address) Aliases() []string {
	var out []string
	add := func(host string) {
		other := a
		other.host, other.ip = host, netip.Addr{}
		out = append(out, other.String())
	}
	if four := carried(a.ip); a.ip.IsValid() && four != a.ip {
		add(four.String())
	}
	if shown, err := idna.ToUnicode(a.host); err == nil && shown != a.host {
		add(shown)
	}
	return out
}
