package web

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxURL is the longest URL that is read, before and after it is normalised.
const maxURL = 64 << 10

// An Address is a URL, parsed once. The same value is matched against rules, resolved, dialed and
// sent. Two URLs that differ only in spelling are equal. The zero value is no address.
type Address struct {
	scheme string // http or https
	host   string // lower case, punycode, no trailing dot; an IP address as netip writes it
	port   uint16
	path   string     // starts with a slash
	query  string     // with its question mark
	ip     netip.Addr // of a literal host
}

// Read parses a URL in the one way that all parsers agree on, and refuses with [CodeInvalidURL]
// what some parse differently: credentials, backslashes, control characters, numbers for hosts that
// are not plain IP addresses, hosts that are spelled with look-alike characters or percent signs.
func Read(raw string) (Address, error) {
	a, err := read(raw)
	if err != nil {
		return Address{}, err
	}
	return a, nil
}

func read(raw string) (Address, *Error) {
	var a Address
	if err := checkCharacters(raw); err != nil {
		return a, err
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	a.scheme = strings.ToLower(scheme)
	if !ok || a.scheme != "http" && a.scheme != "https" {
		return a, &Error{Code: CodeInvalidURL, Message: "URL must start with http:// or https://"}
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if err := a.readAuthority(rest[:end]); err != nil {
		return a, err
	}
	rest, _, _ = strings.Cut(rest[end:], "#") // is not sent
	path, query, asked := strings.Cut(rest, "?")
	a.path = undot(normalizeEscapes(path, "/"))
	if asked {
		a.query = "?" + normalizeEscapes(query, "/?")
	}
	if n := len(a.String()); n > maxURL {
		return a, tooLong(n)
	}
	return a, nil
}

func tooLong(n int) *Error {
	return invalid("it has %d bytes and %d are the most; use a shorter one", n, maxURL)
}

// checkCharacters refuses characters that no URL has, and that some readers drop or turn
// into others.
func checkCharacters(raw string) *Error {
	switch {
	case len(raw) > maxURL:
		return tooLong(len(raw))
	case !utf8.ValidString(raw):
		return invalid("it is not UTF-8; percent-encode the other bytes")
	case strings.HasSuffix(raw, " "):
		return invalid("it ends in a space; remove it")
	}
	for _, r := range raw {
		switch {
		case r == '\\':
			return invalid("it has a backslash; write / or %%5C")
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return invalid("it has the control character U+%04X; remove it", r)
		}
	}
	return nil
}

// readAuthority parses the host and port.
func (a *Address) readAuthority(s string) *Error {
	if strings.Contains(s, "@") {
		return invalid("it has a user name or password before an @; leave that out")
	}
	host, port, ported := s, "", false
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port, ported = s[:i], s[i+1:], true
	}
	a.port = 80
	if a.scheme == "https" {
		a.port = 443
	}
	if ported {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' || port[0] == '+' {
			return invalid("its port %q is not a number from 1 to 65535; correct it or leave it out", shortenText(port))
		}
		a.port = uint16(n)
	}
	var err *Error
	a.host, a.ip, err = readHost(host)
	return err
}

// String is the URL, normalised: no default port, no dot segments, a slash for
// an empty path, percent signs only where they are needed and then in upper
// case, and no fragment, which is not sent. Reading it gives the same address
// again.
func (a Address) String() string { return a.Origin() + a.path + a.query }

// Origin is scheme, host and port: https://example.com.
func (a Address) Origin() string {
	if a.scheme == "" {
		return ""
	}
	return a.scheme + "://" + a.Host()
}

// Host is the host, with a port that is not the default; IPv6 in brackets.
func (a Address) Host() string {
	host := a.host
	if a.ip.Is6() {
		host = "[" + host + "]"
	}
	if a.port == 0 || a.port == 80 && a.scheme == "http" || a.port == 443 && a.scheme == "https" {
		return host
	}
	return host + ":" + strconv.Itoa(int(a.port))
}

// Place returns the place that the host itself shows: for IP addresses and for localhost names.
// Other names are [Unknown] before they are looked up.
func (a Address) Place() Place {
	if a.ip.IsValid() {
		return PlaceOf(a.ip)
	}
	switch {
	case a.host == "localhost" || strings.HasSuffix(a.host, ".localhost"):
		return Machine
	case a.host == "metadata.google.internal" || a.host == "metadata.goog" || a.host == "instance-data.ec2.internal":
		return Metadata
	}
	return Unknown
}

// Follow reads the Location of a redirect from this address, which may be
// relative.
func (a Address) Follow(location string) (Address, error) {
	if !utf8.ValidString(location) {
		location = ascii(location)
	}
	if err := checkCharacters(location); err != nil { // before it is put together with what is clean
		return Address{}, err
	}
	if location == "" {
		return Address{}, invalid("it is empty")
	}
	to, err := read(a.absolute(location))
	if err != nil {
		return Address{}, err
	}
	return to, nil
}

// absolute makes a reference a URL. Read resolves its dots.
func (a Address) absolute(ref string) string {
	switch end := strings.IndexAny(ref, ":/?#"); {
	case end >= 0 && ref[end] == ':':
		return ref // with a scheme, or something that could be mistaken for one
	case strings.HasPrefix(ref, "//"):
		return a.scheme + ":" + ref
	case ref[0] == '/':
		return a.Origin() + ref
	case ref[0] == '?':
		return a.Origin() + a.path + ref
	case ref[0] == '#':
		return a.Origin() + a.path + a.query + ref
	}
	return a.Origin() + a.path[:strings.LastIndexByte(a.path, '/')+1] + ref
}

// ascii percent-encodes all that is not ASCII.
func ascii(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
		} else {
			escape(&b, s[i])
		}
	}
	return b.String()
}

// normalizeEscapes writes each byte of a part of a URL in one way: without a percent sign where
// possible, and with one otherwise. Bytes of also are not escaped.
func normalizeEscapes(s, also string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if n, ok := unhex(s[i+1:]); ok {
				i += 2
				if unreserved(n) {
					b.WriteByte(n)
				} else {
					escape(&b, n)
				}
				continue
			}
		} else if unreserved(c) || strings.IndexByte("!$&'()*+,;=:@[]", c) >= 0 || strings.IndexByte(also, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		escape(&b, c)
	}
	return b.String()
}

func escape(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// unhex returns the byte that two hexadecimal digits encode.
func unhex(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, s[0]), strings.IndexByte(hexDigits, s[1])
	if high < 0 || low < 0 {
		return 0, false
	}
	return value(high)<<4 | value(low), true
}

const hexDigits = "0123456789abcdefABCDEF"

// value is that of a digit by its place in hexDigits.
func value(i int) byte {
	if i > 15 {
		i -= 6
	}
	return byte(i)
}

// undot resolves the segments . and .. of a path.
func undot(path string) string {
	if path == "" {
		return "/"
	}
	if !strings.Contains(path, "/.") {
		return path
	}
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		case s != ".." && s != ".":
			kept = append(kept, s)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}
