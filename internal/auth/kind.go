package auth

import (
	"github.com/helve-dev/helve/internal/web"
	"net/netip"
	"strings"
)

// A kind is where an address is.
type kind string

const (
	public        kind = "on the public network"
	machine       kind = "on this machine"
	signinNetwork kind = "in a private network"
	link          kind = "on the local link"
	nowhere       kind = "for nobody to connect to"
)

// networkKind returns the kind of network of an IP address. Shared address space of providers and
// special-purpose ranges count as private: a server in one may name another. The metadata addresses
// of clouds, which hand out credentials, are never allowed.
func networkKind(ip netip.Addr) kind {
	switch web.PlaceOf(ip) {
	case web.Public:
		return public
	case web.Machine:
		return machine
	case web.Link:
		return link
	case web.Private, web.Carrier, web.Special:
		return signinNetwork
	}
	return nowhere
}

// literalKind returns the kind of network of a host, if its name alone determines it. A name that
// browsers and systems parse as a number in another form is never allowed.
func literalKind(host string) (kind, bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return networkKind(ip), true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		return machine, true
	case last == "" || isNumber(last):
		return nowhere, true
	}
	return public, false
}

// isNumber reports whether the last label of a name makes the name a number.
func isNumber(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// loopback reports whether a host name always stands for this machine, so that requests to it need
// no TLS.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
