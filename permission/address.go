package permission

import (
	"slices"
	"strings"
)

// An address is a URL in the form that a reader of URLs gives it: scheme and
// host in lower case, no default port, and a path that begins with a slash.

// cutAddress splits an address, or a pattern of addresses, into its scheme, its
// host with the port, and the rest. A pattern without a scheme is about any.
func cutAddress(s string) (scheme, host, rest string) {
	scheme, after, found := strings.Cut(s, "://")
	if !found {
		scheme, after = "*", s
	}
	if i := strings.IndexByte(after, '/'); i >= 0 {
		return scheme, after[:i], after[i:]
	}
	return scheme, after, ""
}

// plainAddress gives a pattern the form that addresses have: a rule about
// https://Example.com:443 is one about https://example.com.
func plainAddress(pattern string) string {
	if !strings.Contains(pattern, "://") {
		return pattern
	}
	scheme, host, rest := cutAddress(pattern)
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + strings.TrimSuffix(host, ".") + rest
}

// origin is the pattern of all addresses at the place of one.
func origin(address string) string {
	scheme, host, _ := cutAddress(address)
	return scheme + "://" + host + "/*"
}

// shorthands are other ways to name an address in a rule that restricts: a
// host with or without its port, and both without the scheme.
func shorthands(address string) []string {
	scheme, host, rest := cutAddress(address)
	out := []string{host + rest, host, scheme + "://" + host}
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		out = append(out, host[:i]+rest, host[:i], scheme+"://"+host[:i], scheme+"://"+host[:i]+rest)
	}
	return out
}

// matchAddress is [Match] for a rule that allows an address. What a star
// stands for ends where the part of the address ends that it is written in:
// https://*.example.com/* is not about a page of another host that has
// .example.com/ in its path, and https://example.com* not about
// https://example.community.
func matchAddress(address, pattern string) bool {
	if pattern != "" && strings.Trim(pattern, "*") == "" {
		return true
	}
	scheme, host, rest := cutAddress(address)
	ofScheme, ofHost, ofRest := cutAddress(plainAddress(pattern))
	if ofRest == "" { // no slash after the host
		head, star := strings.CutSuffix(ofHost, "*")
		ofRest = "/"
		if star {
			ofRest = "*"
		}
		if star && head != "" && inLabel(head[len(head)-1]) {
			ofHost = head
		}
	}
	return glob(scheme, ofScheme) && matchHost(host, ofHost) && glob(rest, ofRest)
}

// matchHost matches a host and its port. A star stands for any host where it
// is all there is; where it begins a label, for one or more of them; after the
// colon, for a port; and else for the rest of the label.
func matchHost(host, pattern string) bool {
	if pattern == "*" {
		return true
	}
	at := make([]bool, len(pattern)+1) // at[i]: the host so far may be pattern[:i]
	next := make([]bool, len(pattern)+1)
	at[0] = true
	stars := func(at []bool) {
		for i := range pattern {
			if at[i] && pattern[i] == '*' {
				at[i+1] = true
			}
		}
	}
	stars(at)
	for _, c := range []byte(host) {
		clear(next)
		for i := range pattern {
			switch {
			case !at[i]:
			case pattern[i] == '*':
				next[i] = takes(pattern, i, c)
			case pattern[i] == c, pattern[i] == '?' && inLabel(c):
				next[i+1] = true
			}
		}
		stars(next)
		at, next = next, at
		if !slices.Contains(at, true) {
			return false
		}
	}
	return at[len(pattern)]
}

// takes reports whether the star at i may stand for c.
func takes(pattern string, i int, c byte) bool {
	switch {
	case i == 0, pattern[i-1] == '.':
		return c != ':'
	case pattern[i-1] == ':':
		return '0' <= c && c <= '9'
	}
	return inLabel(c)
}

// inLabel reports whether a character can stand inside a label of a host.
func inLabel(c byte) bool { return c != '.' && c != ':' && c != '*' && c != '[' && c != ']' }
