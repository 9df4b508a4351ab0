package web

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The longest name and label that can be looked up.
const (
	maxHost  = 253
	maxLabel = 63
)

// readHost reads a host into its only spelling. The address is valid if the
// host is a literal.
func readHost(s string) (string, netip.Addr, *Error) {
	none := netip.Addr{}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		ip, err := readIPv6(inner)
		if err != nil {
			return "", none, err
		}
		return ip.String(), ip, nil
	}
	host, err := readName(s)
	if err != nil {
		return "", none, err
	}
	if !looksNumeric(host[strings.LastIndexByte(host, '.')+1:]) {
		return host, none, nil
	}
	ip, bad := netip.ParseAddr(host)
	if bad != nil {
		return "", none, invalid("its host %q is a number that readers take for different addresses; write an IP address as four plain decimal numbers", shortenText(host))
	}
	return host, ip, nil
}

// readIPv6 reads what follows an opening bracket. An IPv4 address that is only
// written as IPv6 becomes itself, because that is what would be dialled.
func readIPv6(s string) (netip.Addr, *Error) {
	inner, closed := strings.CutSuffix(s, "]")
	if !closed {
		return netip.Addr{}, invalid("the bracket of its host is not closed, or text follows it")
	}
	if strings.Contains(inner, "%") {
		return netip.Addr{}, invalid("its host has a zone; an address with a zone can not be fetched from")
	}
	ip, err := netip.ParseAddr(inner)
	if err != nil || !ip.Is6() {
		return netip.Addr{}, invalid("%q in brackets is not an IPv6 address", shortenText(inner))
	}
	return ip.Unmap(), nil
}

// readName reads a host that is not in brackets.
func readName(s string) (string, *Error) {
	host := strings.TrimSuffix(s, ".")
	switch {
	case host == "":
		return "", invalid("it has no host; write https://host/path")
	case strings.ContainsAny(host, ":[]"):
		return "", invalid("its host %q is unclear; an IPv6 address goes in brackets, and a port is a number", shortenText(host))
	case strings.Contains(host, "%"):
		return "", invalid("its host %q has a percent sign; write the host as it is", shortenText(host))
	case len(host) > 4*maxHost:
		return "", longHost()
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		var err *Error
		if labels[i], err = readLabel(label); err != nil {
			return "", err
		}
	}
	if host = strings.Join(labels, "."); len(host) > maxHost {
		return "", longHost()
	}
	return host, nil
}

func longHost() *Error { return invalid("its host is longer than %d bytes", maxHost) }

// readLabel reads a part of a name between dots.
func readLabel(s string) (string, *Error) {
	label := strings.ToLower(s)
	if !isASCII(s) || strings.HasPrefix(label, "xn--") {
		var err *Error
		if label, err = international(s, label); err != nil {
			return "", err
		}
	}
	if label == "" {
		return "", invalid("its host has two dots in a row, or begins with one")
	}
	if len(label) > maxLabel {
		return "", invalid("a part of its host is longer than %d bytes", maxLabel)
	}
	for i := range len(label) {
		if c := label[i]; ('a' > c || c > 'z') && ('0' > c || c > '9') && c != '-' && c != '_' {
			return "", invalid("its host has the character %q, which no host has", c)
		}
	}
	return label, nil
}

// international turns a label in another script into its form for the network.
// A label that is spelled with other characters but means plain ones is not
// honest, whether they are wide, in circles, or not seen at all.
func international(s, lower string) (string, *Error) {
	profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false))
	label, err := profile.ToASCII(s)
	if err != nil {
		return "", invalid("%q in its host is not a valid international name", shortenText(s))
	}
	shown, err := profile.ToUnicode(label)
	switch {
	case err != nil || !strings.HasPrefix(label, "xn--") || isASCII(shown) || strings.Contains(label, "."):
		return "", invalid("%q in its host is spelled with characters that stand for others; write it in plain ones", shortenText(s))
	case isASCII(s) && label != lower:
		return "", invalid("%q in its host is not the usual form of a name; write %q", shortenText(s), shortenText(label))
	}
	return label, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// looksNumeric reports whether the last label of a name makes readers take the name
// for a number.
func looksNumeric(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}
