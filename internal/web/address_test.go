package web

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func mustRead(t testing.TB, raw string) Address {
	t.Helper()
	a, err := Read(raw)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return a
}

func TestRead(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"http://example.com", "http://example.com/"},
		{"HTTPS://EXAMPLE.COM/A", "https://example.com/A"},
		{"https://example.com:443/", "https://example.com/"},
		{"http://example.com:443/", "http://example.com:443/"},
		{"http://example.com:80", "http://example.com/"},
		{"http://example.com./x", "http://example.com/x"},
		{"http://example.com?", "http://example.com/?"},
		{"http://example.com?a=b#", "http://example.com/?a=b"},
		{"http://example.com/#a b", "http://example.com/"},
		{"http://example.com/a/../../x/./y/..", "http://example.com/x/"},
		{"http://example.com/a/%2e%2E/b", "http://example.com/b"},
		{"http://example.com/.%2e", "http://example.com/"},
		{"http://example.com/a//../b", "http://example.com/a/b"},
		{"http://example.com/..a/...", "http://example.com/..a/..."},
		{"http://example.com/%41%2f%c3%a4ä b", "http://example.com/A%2F%C3%A4%C3%A4%20b"},
		{"http://example.com/100%", "http://example.com/100%25"},
		{"http://example.com/%zz%4", "http://example.com/%25zz%254"},
		{"http://example.com/%%32e", "http://example.com/%252e"},
		{`http://example.com/<{|}>"^` + "`", "http://example.com/%3C%7B%7C%7D%3E%22%5E%60"},
		{"http://example.com/a:b@c[d]!$&'()*+,;=", "http://example.com/a:b@c[d]!$&'()*+,;="},
		{"http://example.com/?q=/?:@%2F%7e#/?", "http://example.com/?q=/?:@%2F~"},
		{"http://example.com/@evil.example", "http://example.com/@evil.example"},
		{"http://example.com?@evil.example", "http://example.com/?@evil.example"},
		{"http://example.com#@evil.example", "http://example.com/"},
		{"http://_dmarc.my_host.example/", "http://_dmarc.my_host.example/"},
		{"http://r3---sn.example/", "http://r3---sn.example/"},
		{"http://MÜNCHEN.example/", "http://xn--mnchen-3ya.example/"},
		{"http://mu\u0308nchen.example/", "http://xn--mnchen-3ya.example/"},
		{"http://XN--MNCHEN-3YA.example/", "http://xn--mnchen-3ya.example/"},
		{"http://\u0435xample.com/", "http://xn--xample-2of.com/"},
		{"http://faß.example/", "http://xn--fa-hia.example/"},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080/"},
		{"http://127.0.0.1./", "http://127.0.0.1/"},
		{"http://[::1]:81/", "http://[::1]:81/"},
		{"http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"},
		{"http://[FE80::0]/", "http://[fe80::]/"},
		{"http://[::ffff:7f00:1]/", "http://127.0.0.1/"},
		{"http://[::ffff:10.0.0.5]:9/", "http://10.0.0.5:9/"},
		{"http://1.example/", "http://1.example/"},
		{"http://3com/", "http://3com/"},
		{"http://localhost:65535/", "http://localhost:65535/"},
	} {
		a, err := Read(tt.raw)
		if err != nil || a.String() != tt.want {
			t.Errorf("%q is %q (%v), want %q", tt.raw, a, err, tt.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	long := strings.Repeat("a", 64)
	for raw, want := range map[string]string{
		"":                              "URL must start with http:// or https://",
		"example.com":                   "URL must start with http:// or https://",
		"ftp://example.com/":            "URL must start with http:// or https://",
		"http:example.com":              "URL must start with http:// or https://",
		"http:/example.com":             "URL must start with http:// or https://",
		" http://example.com":           "URL must start with http:// or https://",
		"view-source:http://a.example":  "URL must start with http:// or https://",
		"data:text/html,hi":             "URL must start with http:// or https://",
		"http://example.com ":           "ends in a space",
		"http://example.com/\t":         "U+0009",
		"ht\ntps://example.com":         "U+000A",
		"http://exa\rmple.com":          "U+000D",
		"http://example.com\x00.a/":     "U+0000",
		"http://example.com/\x7f":       "U+007F",
		"http://example.com/\u0085":     "U+0085",
		"http://example.com/\u202egpj":  "U+202E",
		"http://example.com/\u2066":     "U+2066",
		"http://example.com/\u2028":     "U+2028",
		"http://example.com/\xff":       "not UTF-8",
		`http://example.com\@b.example`: "backslash",
		`http:\\example.com`:            "backslash",
		`http://example.com/\..\x`:      "backslash",
		"http://":                       "no host",
		"http:///path":                  "no host",
		"http://?x":                     "no host",
		"http://:80/":                   "no host",
		"http://./":                     "no host",
		"http://a..b/":                  "two dots",
		"http://.example.com/":          "two dots",
		"http://example.com../":         "two dots",
		"http://user:pass@example.com/": "before an @",
		"http://a@b@example.com/":       "before an @",
		"http://@example.com/":          "before an @",
		"http://example.com:0/":         "port",
		"http://example.com:/":          "port",
		"http://example.com:65536/":     "port",
		"http://example.com:080/":       "port",
		"http://example.com:+80/":       "port",
		"http://example.com:-1/":        "port",
		"http://example.com:８０/":        "port",
		"http://example.com:8a/":        "port",
		"http://a:1:2/":                 "unclear",
		"http://::1/":                   "unclear",
		"http://a]/":                    "unclear",
		"http://a[::1]/":                "unclear",
		"http://[::1":                   "not closed",
		"http://[::1]x/":                "not closed",
		"http://[::1%25eth0]/":          "zone",
		"http://[fe80::1%eth0]/":        "zone",
		"http://[127.0.0.1]/":           "not an IPv6 address",
		"http://[]/":                    "not an IPv6 address",
		"http://[::1.2.3.04]/":          "not an IPv6 address",
		"http://[v1.x]/":                "not an IPv6 address",
		"http://ex%61mple.com/":         "percent sign",
		"http://127.0.0.1%2f.a/":        "percent sign",
		"http://exa mple.com/":          "which no host has",
		"http://docs.python.org*/":      "which no host has",
		"http://a,b/":                   "which no host has",
		"http://a'b/":                   "which no host has",
		"http://127.1/":                 "is a number",
		"http://2130706433/":            "is a number",
		"http://0x7f.1/":                "is a number",
		"http://0X7F000001/":            "is a number",
		"http://0177.0.0.1/":            "is a number",
		"http://127.0.0.01/":            "is a number",
		"http://127.0.0.0x1/":           "is a number",
		"http://0/":                     "is a number",
		"http://0x/":                    "is a number",
		"http://256.0.0.1/":             "is a number",
		"http://1.2.3.4.5/":             "is a number",
		"http://a.1/":                   "is a number",
		"http://127。0。0。1/":             "stand for others",
		"http://１２７.0.0.1/":             "stand for others",
		"http://ｅxample.com/":           "stand for others",
		"http://ⓔxample.com/":           "stand for others",
		"http://example．com/":           "stand for others",
		"http://ä.example｡com/":         "stand for others",
		"http://ä。com/":                 "stand for others",
		"http://exam\u00adple.com/":     "stand for others",
		"http://\u212aelvin.example/":   "stand for others",
		"http://ex\u200bample.com/":     "stand for others",
		"http://\u2100.example/":        "not a valid international name",
		"http://xn--a.example/":         "not a valid international name",
		"http://xn--/":                  "stand for others",
		"http://xn--localhost-/":        "not",
		"http://\u05d0a.example/":       "not a valid international name",
		"http://" + long + ".example/":  "longer than 63",
		"http://" + strings.Repeat("a.", 127) + "example/":     "longer than 253",
		"http://" + strings.Repeat("ä", 2000) + "/":            "longer than 253",
		"http://example.com/" + strings.Repeat("a", 64<<10):    "65536 are the most",
		"http://example.com/" + strings.Repeat("ä", 64<<10/4):  "65536 are the most",
		"http://example.com/#" + strings.Repeat("\"", 64<<10):  "65536 are the most",
		"http://example.com/?" + strings.Repeat("%", 64<<10/2): "65536 are the most",
	} {
		a, err := Read(raw)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInvalidURL || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q is %.80q (%v), want an error with %q", raw, a, err, want)
		}
		if err != nil && (a != Address{} || len(err.Error()) > 1000) {
			t.Errorf("%.80q: %q, error of %d bytes", raw, a, len(err.Error()))
		}
	}
}

func TestParts(t *testing.T) {
	a := mustRead(t, "HTTP://[::1]:8080/x?y#z")
	if a.Origin() != "http://[::1]:8080" || a.Host() != "[::1]:8080" || a.Place() != Machine {
		t.Error(a.Origin(), a.Host(), a.Place())
	}
	if (Address{}).String() != "" || (Address{}).Host() != "" || (Address{}).Place() != Unknown {
		t.Error("no address has parts")
	}
	if a := mustRead(t, "https://example.com:8443"); a.Origin() != "https://example.com:8443" || a.Host() != "example.com:8443" {
		t.Error(a.Origin(), a.Host())
	}
}

func TestPlaceOfNames(t *testing.T) {
	for raw, want := range map[string]Place{
		"http://localhost": Machine, "http://LOCALHOST.": Machine, "http://a.b.localhost:1": Machine, "http://127.0.0.2": Machine,
		"http://10.0.0.1": Private, "http://[fc00::1]": Private, "http://8.8.8.8": Public,
		"http://metadata.google.internal/": Metadata, "http://Metadata.Goog.": Metadata,
		"http://example.com": Unknown, "http://localhost.example": Unknown, "http://mylocalhost": Unknown,
	} {
		if got := mustRead(t, raw).Place(); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestFollow(t *testing.T) {
	from := mustRead(t, "https://example.com:8443/a/b?c=d#e")
	for _, tt := range []struct{ location, want string }{
		{"https://other.example/x#y", "https://other.example/x"},
		{"HTTP://other.example", "http://other.example/"},
		{"//other.example/x", "https://other.example/x"},
		{"//other.example", "https://other.example/"},
		{"/x", "https://example.com:8443/x"},
		{"x", "https://example.com:8443/a/x"},
		{"../../x", "https://example.com:8443/x"},
		{"./x/y:z", "https://example.com:8443/a/x/y:z"},
		{"?q", "https://example.com:8443/a/b?q"},
		{"#f", "https://example.com:8443/a/b?c=d"},
		{"/caf\xe9", "https://example.com:8443/caf%E9"},
		{"/ä", "https://example.com:8443/%C3%A4"},
	} {
		got, err := from.Follow(tt.location)
		if err != nil || got.String() != tt.want {
			t.Errorf("%q leads to %q (%v), want %q", tt.location, got, err, tt.want)
		}
		if want, err := mustURL(t, from.String()).Parse(tt.location); err == nil && want.Host != mustURL(t, got.String()).Host {
			t.Errorf("%q leads to %q for others", tt.location, want)
		}
	}
	for _, location := range []string{
		"", "javascript:alert(1)", "x:y", "http:x", "mailto:a@b", "//", "///x", "//u@other.example/", `\\evil.example\x`, `/\evil.example`,
		"/x\ny", "//ex\xe9mple/", "//127.1/", "//[::1", "ftp://example.com/", " //other.example ",
	} {
		if got, err := from.Follow(location); err == nil {
			t.Errorf("%q leads to %q", location, got)
		}
	}
}

func mustURL(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
