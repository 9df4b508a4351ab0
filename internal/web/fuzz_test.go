package web

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// FuzzRead holds what is read against other readers: what all but us would
// take for another host is refused.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"http://example.com/a/../b?c#d", "HTTPS://EXAMPLE.com.:443", "http://[::ffff:127.0.0.1]:80/", "http://127.1/", "http://0x7f000001", "http://a@b", `http://a\@b`, "http://ex%61mple.com",
		"http://127。0。0。1", "http://１２７.0.0.1", "http://ä.example/%c3%A4", "http://xn--mnchen-3ya.example", "http://[fe80::1%25eth0]/", "http://example.com/%%32e/%2e%2e/..;/", "http://a:0", "//x", "http://a_b.example:65535?#",
		"http://example.com/a b\"<>|^`{}[]", "http://xn--a", "http://ex\u200bample.com", "http://\u05d0.example",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) { lawful(t, raw) })
}

// TestHosts puts hosts together from what readers stumble over.
func TestHosts(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		"a", "example", "com", "localhost", "xn--", "xn--mnchen-3ya", "xn--a", "ä", "ß", "ſ", "K", "ı", "١", "א", "1", "0", "127", "10", "255", "256", "0x7f", "0X", "0177", "2130706433", "１", "⒈", "①", "ａ", "ⓐ",
		".", ".", ".", "。", "．", "｡", "..", "-", "_", "*", ":", ":80", ":0", ":080", ":8０", "::", "[", "]", "[::1]", "[::ffff:7f00:1]", "::1", "%", "%2e", "%00", "%25", "%eth0", "@", "@", `\`, "/", "?", "#", " ", "\t", "\n", "\x00",
		"\u200b", "\u200d", "\u00ad", "\u202e", "\u2044", "\u3000", "\ufeff", "e\u0301", "\xff", "..", "/./", "/../", "%2E%2e", "=", "&", ";", "|",
	})
	rapid.Check(t, func(t *rapid.T) {
		scheme := rapid.SampledFrom([]string{"http://", "https://", "HTTP://", "http:", "http:/", "http:///", `http:\\`}).Draw(t, "scheme")
		lawful(t, scheme+strings.Join(rapid.SliceOfN(parts, 0, 8).Draw(t, "parts"), ""))
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// lawful holds what is true of every text.
func lawful(t fataler, raw string) {
	a, err := Read(raw)
	if err != nil {
		if codeOf(err) != CodeInvalidURL || (a != Address{}) || len(err.Error()) > 1500 {
			t.Fatalf("%q: %+v, %v", raw, a, err)
		}
		return
	}
	text := a.String()
	if again, err := Read(text); err != nil || again != a {
		t.Fatalf("%q is read as %q and then as %q (%v)", raw, text, again, err)
	}
	for _, r := range text {
		if r <= ' ' || r > '~' || r == '\\' {
			t.Fatalf("%q has %q in it", text, r)
		}
	}
	sameHost(t, a, text)
	browser(t, raw, a)
	literal(t, a)
}

// sameHost checks that Go's own reader agrees, to the byte that is sent.
func sameHost(t fataler, a Address, text string) {
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if u.Scheme != a.scheme || u.Host != a.Host() || u.Hostname() != a.host || u.User != nil {
		t.Fatalf("%q is at %q for others", text, u.Host)
	}
	if sent := a.path + a.query; u.RequestURI() != sent && !strings.HasPrefix(a.path, "//") || u.EscapedPath() != a.path {
		t.Fatalf("%q would be sent as %q", sent, u.RequestURI())
	}
}

// browser reads a host as loosely as browsers do: controls dropped, backslashes
// turned, percent signs undone, wide characters narrowed.
func browser(t fataler, raw string, a Address) {
	s := strings.NewReplacer("\t", "", "\r", "", "\n", "", `\`, "/", "。", ".", "．", ".", "｡", ".").Replace(raw)
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	_, rest, _ := strings.Cut(s, ":")
	rest = strings.TrimLeft(rest, "/")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	host := rest
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		host = rest[:i]
	}
	if plain, err := url.PathUnescape(host); err == nil {
		host = plain
	}
	host = strings.Map(func(r rune) rune {
		if r >= 0xff01 && r <= 0xff5e {
			r -= 0xfee0
		}
		return unicode.ToLower(r)
	}, strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		host = ip.Unmap().String()
	}
	if isASCII(host) && host != a.host {
		t.Fatalf("%q is at %q, and at %q for a browser", raw, a.host, host)
	}
}

// literal checks that what could be dialled as an address without a look-up is
// known to be one, and the other way round.
func literal(t fataler, a Address) {
	ip, err := netip.ParseAddr(a.host)
	if (err == nil) != a.ip.IsValid() || ip != a.ip || a.ip.Is4In6() || a.ip.Zone() != "" {
		t.Fatalf("%q is %v, and read as %v", a.host, ip, a.ip)
	}
	if err == nil {
		if ip.String() != a.host || a.Place() != PlaceOf(ip) || a.Place() == Unknown {
			t.Fatalf("%q is not written as %s", a.host, ip)
		}
		return
	}
	last := a.host[strings.LastIndexByte(a.host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "" {
		t.Fatalf("%q is a number for some", a.host)
	}
	if strings.Trim(a.host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || len(a.host) > 253 || a.host == "" {
		t.Fatalf("%q is no name", a.host)
	}
}

// FuzzFollow checks that redirects lead where Go's own reader thinks, or
// nowhere.
func FuzzFollow(f *testing.F) {
	for _, s := range []string{"/x", "../y", "//b.example", "?q", "#f", "x:y", `\\b`, "http:x", "///x", "a/./b/..", "", "?", "#", ";x", "//b.example:80/%2e%2e"} {
		f.Add("http://a.example/p/q?r#s", s)
	}
	f.Fuzz(func(t *testing.T, raw, location string) {
		from, err := Read(raw)
		if err != nil {
			return
		}
		to, err := from.Follow(location)
		if err != nil {
			return
		}
		if again, err := Read(to.String()); err != nil || again != to {
			t.Fatalf("%q is %q and then %q (%v)", location, to, again, err)
		}
		base, err := url.Parse(from.String())
		if err != nil {
			t.Fatal(err)
		}
		u, err := base.Parse(location)
		if err != nil {
			return // he is more strict about percent signs
		}
		if other, err := Read(u.String()); err == nil && other.Origin() != to.Origin() {
			t.Fatalf("%q from %q leads to %q, and to %q for others", location, raw, to, other)
		}
	})
}

// FuzzBody checks that no body, however it is packed, is more than was asked
// for, or ends in a panic.
func FuzzBody(f *testing.F) {
	text := []byte(strings.Repeat("hello ", 50))
	for _, encoding := range []string{"", "gzip", "deflate", "gzip, gzip", "br"} {
		f.Add(gzipped(text), encoding)
		f.Add(zlibbed(text), encoding)
		f.Add(deflated(text), encoding)
	}
	f.Fuzz(func(t *testing.T, packed []byte, encoding string) {
		const limit = 1 << 10
		got, cut, err := readAll(packed, encoding, limit)
		if len(got) > limit || err != nil && codeOf(err) != CodeUnsupportedEncoding && codeOf(err) != CodeTooLarge || cut && err != nil {
			t.Fatalf("%d bytes, cut %t, %v", len(got), cut, err)
		}
	})
}
