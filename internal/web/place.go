package web

import (
	"net/netip"
)

// A Place is where an address is, seen from this machine.
type Place string

// The places. Those from Link on are never allowed.
const (
	Unknown  Place = ""         // a name that has not been looked up
	Public   Place = "public"   // the internet
	Machine  Place = "machine"  // this machine
	Private  Place = "private"  // a private network
	Link     Place = "link"     // the local link
	Metadata Place = "metadata" // where clouds hand out credentials
	Carrier  Place = "carrier"  // shared space of a provider
	Special  Place = "special"  // set apart for tests, protocols or a site
	Reserved Place = "reserved" // never allowed: multicast, unspecified, documentation, not assigned
)

// Inside reports whether the place can be reached only from here, so that a
// rule has to name the host.
func (p Place) Inside() bool { return p == Machine || p == Private }

// Never reports whether no rule can open the place.
func (p Place) Never() bool {
	switch p {
	case Link, Metadata, Carrier, Special, Reserved:
		return true
	}
	return false
}

// Says describes the place in a sentence: "10.0.0.1 is …".
func (p Place) Says() string {
	switch p {
	case Public:
		return "on the public internet"
	case Machine:
		return "this machine"
	case Private:
		return "in a private network"
	case Link:
		return "on the local link"
	case Metadata:
		return "a cloud's metadata service"
	case Carrier:
		return "in a provider's shared address space"
	case Special:
		return "in an address range set apart for special use"
	case Reserved:
		return "an address that is for nobody to connect to"
	}
	return "not looked up"
}

// PlaceOf returns the place of an address. One that contains an IPv4 address (mapped, compatible,
// NAT64, 6to4) has the place of that one. Only addresses known to be public are [Public].
func PlaceOf(ip netip.Addr) Place {
	ip = carried(ip.WithZone("").Unmap())
	switch {
	case !ip.IsValid():
		return Reserved
	case metadata(ip):
		return Metadata
	case ip.Is4():
		return place4(ip)
	}
	return place6(ip)
}

// metadata reports whether an address is one at which a cloud gives a machine its credentials.
func metadata(ip netip.Addr) bool {
	switch ip.String() {
	case "169.254.169.254", "169.254.170.2", "169.254.170.23", // most; containers at Amazon
		"100.100.100.200",             // Alibaba
		"168.63.129.16",               // Azure
		"fd20:ce::254", "fd00:42::42": // Google, Scaleway
		return true
	}
	return inRanges(ip, "fd00:ec2::/32") // Amazon
}

func place4(ip netip.Addr) Place {
	switch {
	case ip.IsLoopback():
		return Machine
	case ip.IsPrivate():
		return Private
	case ip.IsLinkLocalUnicast():
		return Link
	case inRanges(ip, "100.64.0.0/10"):
		return Carrier
	case inRanges(ip, "192.0.0.0/24", "198.18.0.0/15"):
		return Special
	case inRanges(ip, "0.0.0.0/8", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"):
		return Reserved
	}
	return Public
}

func place6(ip netip.Addr) Place {
	switch {
	case ip.IsLoopback():
		return Machine
	case ip.IsPrivate():
		return Private
	case ip.IsLinkLocalUnicast():
		return Link
	case inRanges(ip, "64:ff9b:1::/48", "fec0::/10"):
		return Special
	case inRanges(ip, "2001::/23", "2001:db8::/32", "3fff::/20"): // protocols (Teredo too), documentation
		return Reserved
	case inRanges(ip, "2000::/3"):
		return Public
	}
	return Reserved
}

// carried returns the IPv4 address in an IPv6 one, if there is one.
func carried(ip netip.Addr) netip.Addr {
	if !ip.Is6() || ip.IsLoopback() || ip.IsUnspecified() {
		return ip
	}
	b := ip.As16()
	switch {
	case inRanges(ip, "64:ff9b::/96", "::/96"):
		return netip.AddrFrom4([4]byte(b[12:]))
	case inRanges(ip, "2002::/16"):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

func inRanges(ip netip.Addr, ranges ...string) bool {
	for _, r := range ranges {
		if netip.MustParsePrefix(r).Contains(ip) {
			return true
		}
	}
	return false
}
