package permission

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Addresses are URLs in the form that a URL parser gives them: scheme and host in lower case, no
// default port, a path that begins with a slash, and no fragment, because the fragment is not sent.

// cutAddress splits an address, or a pattern of addresses, into its scheme, its host with the port,
// and the rest. A pattern without a scheme stands for any scheme.
func cutAddress(s string) (scheme, host, rest string) {
	scheme, after, found := strings.Cut(s, "://")
	if !found {
		scheme, after = "*", strings.TrimPrefix(s, "//")
	}
	if i := strings.IndexByte(after, '/'); i >= 0 {
		return scheme, after[:i], after[i:]
	}
	return scheme, after, ""
}

// cutPort splits a host from its port, which may be missing.
func cutPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i], host[i+1:]
	}
	return host, ""
}

// usualPort returns the default port of a scheme.
func usualPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// plainHost puts the host of a pattern into the form that addresses have.
func plainHost(scheme, host string) string {
	name, port := cutPort(strings.ToLower(host))
	name = strings.TrimSuffix(name, ".")
	if inner, ok := strings.CutPrefix(name, "["); ok {
		if ip, err := netip.ParseAddr(strings.TrimSuffix(inner, "]")); err == nil {
			if name = "[" + ip.String() + "]"; ip.Is4In6() {
				name = ip.Unmap().String()
			}
		}
	}
	if port == "" || port == usualPort(scheme) {
		return name
	}
	return name + ":" + port
}

// plainAddress puts a pattern into the form that addresses have: a rule for https://Example.com:443
// becomes one for https://example.com.
func plainAddress(pattern string) string {
	scheme, host, rest := cutAddress(pattern)
	scheme = strings.ToLower(scheme)
	host = plainHost(scheme, host)
	if !strings.Contains(pattern, "://") {
		return host + rest
	}
	return scheme + "://" + host + rest
}

// origin returns the pattern that matches all addresses of the same origin as address.
func origin(address string) string {
	scheme, host, _ := cutAddress(address)
	return scheme + "://" + host + "/*"
}

// shorthands returns the ways in which a restricting rule may name an address: with or without
// scheme and port, the host alone, the page without its query, and with escapes decoded.
func shorthands(address string) []string {
	scheme, host, rest := cutAddress(address)
	name, port := cutPort(host)
	if port == "" {
		port = usualPort(scheme)
	}
	page, _, _ := strings.Cut(rest, "?")
	rests := []string{"", rest, page, oneSlash(page)}
	for _, r := range slices.Clone(rests) {
		if plain, err := url.PathUnescape(r); err == nil && plain != r {
			rests = append(rests, plain, cleanPath(plain))
		}
	}
	slices.Sort(rests)
	var out []string
	for _, r := range slices.Compact(rests) {
		for _, h := range []string{name, name + ":" + port} {
			out = append(out, h+r, scheme+"://"+h+r)
		}
	}
	return out
}

// cleanPath resolves dots and double slashes in a decoded path, as some servers do.
func cleanPath(p string) string {
	if strings.HasSuffix(p, "/") && p != "/" {
		return path.Clean(p) + "/"
	}
	return path.Clean(p)
}

// oneSlash replaces runs of slashes by one.
func oneSlash(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// readPattern returns the ways to read a restricting pattern of addresses: as written, and with the
// escapes in its path decoded.
func readPattern(pattern string) []string {
	plain := plainAddress(pattern)
	scheme, host, rest := cutAddress(plain)
	open, err := url.PathUnescape(rest)
	if err != nil || open == rest || strings.Count(open, "*") > strings.Count(rest, "*") {
		return []string{plain}
	}
	if !strings.Contains(plain, "://") {
		return []string{plain, host + open}
	}
	return []string{plain, scheme + "://" + host + open}
}

// namesHost reports whether the host of a pattern is one of the words.
func namesHost(pattern string, words []string) bool {
	scheme, host, _ := cutAddress(plainAddress(pattern))
	host = strings.TrimSuffix(host, "*") // every port, or every page
	if scheme == "*" && (host == "http" || host == "https" || host == "http:" || host == "https:") {
		return false // part of a scheme
	}
	return slices.Contains(words, host)
}

// matchAddress is [Match] for a rule that allows an address. A star matches only within the part of
// the address in which it is written: https://*.example.com/* does not match a page of another host
// that has .example.com/ in its path, and https://example.com* does not match
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
	if name, port := cutPort(ofHost); port == "*" && host == name && ofHost != "*" {
		ofHost = name // every port, including the default one
	}
	return glob(scheme, ofScheme) && matchHost(host, ofHost) && matchRest(rest, ofRest)
}

// matchRest matches what follows the host. A star matches only the path, unless it ends the
// pattern. A question mark may also match the one that begins a query.
func matchRest(rest, pattern string) bool {
	path, query, asks := strings.Cut(rest, "?")
	if glob(path, pattern) && (!asks || strings.HasSuffix(pattern, "*")) {
		return true
	}
	ofPath, ofQuery, found := strings.Cut(pattern, "?")
	return asks && found && glob(path, ofPath) && glob(query, ofQuery)
}

// matchHost matches a host and its port. A star alone matches any host; at the beginning of the
// pattern, one or more labels; after the colon, a port; anywhere else, the rest of a label.
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

// takes reports whether the star at pattern[i] may match c.
func takes(pattern string, i int, c byte) bool {
	switch {
	case i == 0:
		return c != ':'
	case pattern[i-1] == ':':
		return '0' <= c && c <= '9'
	}
	return inLabel(c)
}

// inLabel reports whether c can be part of a label of a host.
func inLabel(c byte) bool { return c != '.' && c != ':' && c != '*' && c != '[' && c != ']' }
