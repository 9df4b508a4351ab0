package auth

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// hostSet returns every spelling of a Host header that means one of hosts. The check is only
// membership: nothing that a client sends is parsed, so nothing can be parsed wrongly.
func hostSet(hosts []string, scheme string) (map[string]bool, error) {
	if len(hosts) == 0 {
		return nil, errors.New("no host to serve")
	}
	set := map[string]bool{}
	for _, h := range hosts {
		host, port, err := splitHost(h)
		if err != nil {
			return nil, err
		}
		set[net.JoinHostPort(host, port)] = true
		// 443 also without TLS: then it is the port of a proxy that speaks it.
		if port == defaultPort(scheme) || port == "443" {
			set[bare(host)] = true
		}
	}
	return set, nil
}

func schemeOf(tls bool) string {
	if tls {
		return "https"
	}
	return "http"
}

// defaultPort is the port that URLs of a scheme leave out.
func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// splitHost splits a host:port of ours and validates it.
func splitHost(s string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(lower(s))
	if err != nil {
		return "", "", fmt.Errorf("host %q is not host:port", s)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return "", "", fmt.Errorf("host %q has no usable port", s)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return ip.String(), port, nil
	}
	if !isName(host) {
		return "", "", fmt.Errorf("host %q is neither an address nor a name", s)
	}
	return host, port, nil
}

// isName reports whether s can be a host name of ours, in lower case.
func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// bare returns a host as it appears in a URL without a port.
func bare(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// originSet returns our own origins, as browsers spell them.
func originSet(opt GuardOptions, scheme string) (map[string]bool, error) {
	set := map[string]bool{}
	if opt.Origins == nil {
		for _, h := range opt.Hosts {
			host, port, err := splitHost(h)
			if err != nil {
				return nil, err
			}
			set[scheme+"://"+net.JoinHostPort(host, port)] = true
			if port == defaultPort(scheme) {
				set[scheme+"://"+bare(host)] = true
			}
			if port == "443" { // http://host would be whatever is on port 80
				set["https://"+bare(host)] = true
			}
		}
		return set, nil
	}
	for _, o := range opt.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o || lower(o) != o {
			return nil, fmt.Errorf("origin %q is not scheme://host[:port] in lower case", o)
		}
		set[o] = true
	}
	return set, nil
}

// onlyKnown reports whether a header is absent, or present once with a known value.
func onlyKnown(values []string, known map[string]bool) bool {
	return len(values) == 0 || len(values) == 1 && known[values[0]]
}

// lower is strings.ToLower for ASCII only: the other one turns the Kelvin sign
// into a k.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b := []byte(s)
			for j, c := range b {
				if 'A' <= c && c <= 'Z' {
					b[j] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
