package auth

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Bind is a wish to listen.
type Bind struct {
	// Addr is an address with or without a port, "localhost", or empty for
	// 127.0.0.1. A port alone (":4096") is one of 127.0.0.1 too. Without a
	// port any free one is taken.
	Addr string
	// Beyond allows connections from other machines.
	Beyond bool
	// TLS says that there is a certificate. Then other machines may connect without Beyond, because
	// a certificate for an address shows the intent.
	TLS bool
	// Token is the one the user set. Empty: the one of File.
	Token string
	// File keeps the token that is made when none is set; see Token.
	File string
	// Names are further hosts we are called by, with or without a port.
	Names []string
	// MaxConns bounds the open connections; more wait to be taken. 0: 4096.
	MaxConns int
}

// A Plan is the result of a Bind.
type Plan struct {
	Addr     netip.AddrPort
	Generate bool   // the token of a file is used, and made if need be
	Warning  string // for the person, if there is something to know
}

// Plan decides whether and how to listen, without doing anything. An address that others can reach
// needs an existing token, and a certificate or the user's explicit choice to have none; on
// loopback a missing token is created, so that there always is one.
func (b Bind) Plan() (Plan, error) {
	addr, err := parseBind(b.Addr)
	if err != nil {
		return Plan{}, err
	}
	if b.Token != "" {
		if err := checkToken(b.Token); err != nil {
			return Plan{}, fmt.Errorf("listen on %s: %w", addr.Addr(), err)
		}
	}
	p := Plan{Addr: addr, Generate: b.Token == ""}
	if addr.Addr().IsLoopback() {
		return p, nil
	}
	if b.Token == "" {
		return Plan{}, fmt.Errorf("listen on %s: others can reach this address, so set a token first, or use 127.0.0.1", addr.Addr())
	}
	if b.TLS {
		return p, nil
	}
	if !b.Beyond {
		return Plan{}, fmt.Errorf("listen on %s: others can reach this address, and there is no certificate; say that you want it, or use 127.0.0.1", addr.Addr())
	}
	p.Warning = fmt.Sprintf("%s can be reached from other machines, and what is sent is not encrypted, the token included: "+
		"whoever reads it can run tools here as you. Prefer a certificate, or 127.0.0.1 with an SSH tunnel.", addr.Addr())
	return p, nil
}

// parseBind parses an address to listen on. Names are not looked up: a resolver's answer must not
// decide who can reach us.
func parseBind(s string) (netip.AddrPort, error) {
	var host string
	port := "0"
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err != nil && strings.Contains(s, ":") {
		if host, port, err = net.SplitHostPort(s); err != nil {
			return netip.AddrPort{}, fmt.Errorf("listen: %q is not address:port", s)
		}
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("listen: %q has no port from 0 to 65535", s)
	}
	if host == "" || lower(host) == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("listen: %q is not an IP address; use 127.0.0.1, or 0.0.0.0 for every network", host)
	}
	if ip = ip.Unmap(); ip.IsMulticast() {
		return netip.AddrPort{}, errors.New("listen: a multicast address is not one to listen on")
	}
	return netip.AddrPortFrom(ip, uint16(n)), nil
}

// servedHosts returns the host:port names of a server at addr; the first is the one to show. local
// are the addresses of this machine. An address cannot be rebound as a name can, so all of ours are
// accepted.
func servedHosts(addr netip.AddrPort, names []string, local []netip.Addr) []string {
	port := strconv.Itoa(int(addr.Port()))
	ip := addr.Addr().Unmap().WithZone("")
	var hosts []string
	add := func(host string) {
		if h := net.JoinHostPort(host, port); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	if !ip.IsUnspecified() {
		add(ip.String())
	}
	if ip.IsUnspecified() || ip.IsLoopback() {
		for _, h := range []string{"127.0.0.1", "localhost", "::1"} {
			add(h)
		}
	}
	if ip.IsUnspecified() {
		for _, l := range local {
			add(l.Unmap().WithZone("").String())
		}
	}
	for _, h := range namedHosts(names, port) {
		if !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// namedHosts are the names with port where they have none.
func namedHosts(names []string, port string) (hosts []string) {
	for _, name := range names {
		if _, _, err := net.SplitHostPort(name); err != nil {
			name = net.JoinHostPort(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), port)
		}
		hosts = append(hosts, name)
	}
	return hosts
}
