package permission

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
)

// An address is a URL in the form that a reader of URLs gives it: scheme and
// host in lower case, no default port, a path that begins with a slash, and no
// fragment, which is not sent.

// cutAddress splits an address, or a pattern of addresses, into its scheme, its
// host with the port, and the rest. A pattern without a scheme is about any.
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

// usualPort is the port of a scheme.
func usualPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// plainHost gives the host of a pattern the form that addresses have.
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

// plainAddress gives a pattern the form that addresses have: a rule about
// https://Example.com:443 is one about https://example.com.
func plainAddress(pattern string) string {
	scheme, host, rest := cutAddress(pattern)
	scheme = strings.ToLower(scheme)
	host = plainHost(scheme, host)
	if !strings.Contains(pattern, "://") {
		return host + rest
	}
	return scheme + "://" + host + rest
}

// origin is the pattern of all addresses at the place of one.
func origin(address string) string {
	scheme, host, _ := cutAddress(address)
	return scheme + "://" + host + "/*"
}

// shorthands are the ways to name an address in a rule that restricts: with or
// without scheme and port, the whole host, the page whatever is asked of it,
// escapes written out.
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

// cleanPath resolves the dots and double slashes of a path whose escapes are
// written out: some servers do.
func cleanPath(p string) string {
	if strings.HasSuffix(p, "/") && p != "/" {
		return path.Clean(p) + "/"
	}
	return path.Clean(p)
}

// oneSlash makes runs of slashes one.
func oneSlash(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// readPattern are the ways to read a pattern of addresses that restricts: plainly,
// and with the escapes in its path written out.
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
		return false // the beginning of a scheme
	}
	return slices.Contains(words, host)
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
	if name, port := cutPort(ofHost); port == "*" && host == name && ofHost != "*" {
		ofHost = name // every port, also the usual one
	}
	return glob(scheme, ofScheme) && matchHost(host, ofHost) && matchRest(rest, ofRest)
}

// matchRest matches what follows the host. A star stays in the path, unless it
// ends the pattern; a question mark may stand for the one that begins a query.
func matchRest(rest, pattern string) bool {
	path, query, asks := strings.Cut(rest, "?")
	if glob(path, pattern) && (!asks || strings.HasSuffix(pattern, "*")) {
		return true
	}
	ofPath, ofQuery, found := strings.Cut(pattern, "?")
	return asks && found && glob(path, ofPath) && glob(query, ofQuery)
}

// matchHost matches a host and its port. A star stands for any host where it
// is all there is; where the pattern begins with it, for one or more labels;
// after the colon, for a port; and else for what is left of a label.
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
	case i == 0:
		return c != ':'
	case pattern[i-1] == ':':
		return '0' <= c && c <= '9'
	}
	return inLabel(c)
}

// inLabel reports whether a character can stand inside a label of a host.
func inLabel(c byte) bool { return c != '.' && c != ':' && c != '*' && c != '[' && c != ']' }
