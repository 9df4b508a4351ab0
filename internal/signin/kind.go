package signin

import (
	"net/netip"
	"strings"
)

// A kind is where an address is.
type kind string

const (
	public  kind = "on the public network"
	machine kind = "on this machine"
	network kind = "in a private network"
	link    kind = "on the local link"
	nowhere kind = "for nobody to connect to"
)

// kindOf tells where an IP address is. One that carries an older address
// inside is where that one is.
func kindOf(ip netip.Addr) kind {
	ip = carried(ip.Unmap().WithZone(""))
	switch {
	case !ip.IsValid(), ip.IsUnspecified(), ip.IsMulticast(), within(ip, "0.0.0.0/8", "240.0.0.0/4"):
		return nowhere
	case ip.IsLoopback():
		return machine
	case ip.IsLinkLocalUnicast():
		return link
	case ip.IsPrivate(), within(ip, "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "64:ff9b:1::/48", "fec0::/10"):
		return network
	}
	return public
}

func within(ip netip.Addr, ranges ...string) bool {
	for _, r := range ranges {
		if netip.MustParsePrefix(r).Contains(ip) {
			return true
		}
	}
	return false
}

// carried is the IPv4 address that an IPv6 one stands for, if it does.
func carried(ip netip.Addr) netip.Addr {
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return ip
	}
	b := ip.As16()
	switch {
	case within(ip, "64:ff9b::/96", "::/96"):
		return netip.AddrFrom4([4]byte(b[12:]))
	case within(ip, "2002::/16"):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

// literal tells where a host is, if its name alone says so. A name that
// browsers and systems read as a number in another form leads nowhere.
func literal(host string) (kind, bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return kindOf(ip), true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		return machine, true
	case last == "" || number(last):
		return nowhere, true
	}
	return public, false
}

// number reports whether the last label of a name makes the name a number.
func number(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// loopback reports whether a host name stands for this machine and for nothing
// else, so that what is sent there needs no TLS.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
