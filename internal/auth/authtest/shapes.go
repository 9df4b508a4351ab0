package authtest

import (
	"fmt"
	"strings"
)

// heads returns requests with methods, protocols and sizes that we do not accept.
func (s *site) heads(d door) []attack {
	var all []attack
	for _, m := range []string{"TRACE", "TRACK", "DEBUG", "PROPFIND", "SEARCH", "BREW", "get", "Post", "G-E-T", "M\x21"} {
		all = append(all,
			attack{name: "method " + m, raw: s.good(d).to(m, d.path).sending("").String(), want: one(405), code: "bad-method"},
			attack{name: "method without token " + m, raw: s.withoutToken(d).to(m, d.path).sending("").String(), want: one(405), code: "bad-method"})
	}
	get := s.good(door{method: "GET", path: d.path})
	long := strings.Repeat("a", 40<<10)
	all = append(all,
		attack{name: "connect", raw: get.to("CONNECT", s.host).String(), want: one(405), code: "bad-method"},
		attack{name: "connect elsewhere", raw: get.to("CONNECT", "evil.example:443").String(), want: []int{405, 421}},
		attack{name: "garbage method", raw: get.to("G\x01T", d.path).String(), want: one(400)},
		attack{name: "no method", raw: get.to("", d.path).String(), want: one(400)},
		attack{name: "method by header", raw: s.withoutToken(door{method: "TRACE", path: d.path}).withHeader("X-HTTP-Method-Override: GET", "X-Method-Override: GET").String(),
			want: one(405), code: "bad-method"},
		attack{name: "long target", raw: get.to("GET", d.path+"?"+strings.Repeat("a", 9<<10)).String(), want: one(414), code: "long-target"},
		attack{name: "long header", raw: get.withHeader("X-A: " + strings.Repeat("a", 17<<10)).String(), want: one(431), code: "long-header"},
		attack{name: "longer header", raw: get.withHeader("X-A: " + long).String(), want: one(431), mayDrop: true},
		attack{name: "huge header", raw: get.withHeader("X-A: " + strings.Repeat(long, 25)).String(), want: one(431), mayDrop: true},
		attack{name: "many headers", raw: get.withHeader(strings.Split(strings.Repeat("X-A: a,", 3000)+"X-B: b", ",")...).String(), want: one(431), mayDrop: true},
		attack{name: "not HTTP", raw: "\x16\x03\x01\x02\x00\x01\r\n\r\n", want: one(400), mayDrop: true},
		attack{name: "later protocol", raw: strings.Replace(get.String(), "HTTP/1.1", "HTTP/3.0", 1), never2xx: true},
		attack{name: "no such protocol", raw: strings.Replace(get.String(), "HTTP/1.1", "HTTP/1.x", 1), want: one(400)},
	)
	preface := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	h2c := []string{"Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"}
	all = append(all,
		attack{name: "HTTP/2 at once", raw: preface + settings, want: []int{400, 421, 505}, mayDrop: true},
		attack{name: "HTTP/2 by upgrade, from afar", raw: get.withHeader(h2c...).withHeader("Origin: https://evil.example").String(), want: one(403), code: "wrong-origin"},
		attack{name: "HTTP/2 by upgrade", raw: get.withHeader(h2c...).String() + preface + settings}, // judge: no other protocol
	)
	if !d.public {
		all = append(all, attack{name: "HTTP/2 by upgrade, without token", raw: s.withoutToken(d).withHeader(h2c...).String(), want: one(401), code: "no-token"})
	}
	return all
}

// framing returns requests that two parsers could split in two ways. The hidden request has a wrong
// token, as a smuggled one would.
func (s *site) framing(d door) []attack {
	inner := rawRequest{method: "GET", target: "/smuggled", host: s.host, header: []string{"Authorization: Bearer smuggled"}}.String()
	length := fmt.Sprintf("Content-Length: %d", len(inner))
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
	lie := rawRequest{method: "POST", target: d.path, host: s.host, header: []string{"Authorization: Bearer wrong", "Content-Type: application/json"}}
	good := s.post(d, "application/json", "")
	raw := func(m rawRequest, header string, body string) string {
		return m.withHeader("Connection: keep-alive", header).String() + body
	}
	all := []attack{
		{name: "body is a request", raw: raw(lie, length, inner), want: []int{401, 429}},
		{name: "chunk is a request", raw: raw(lie, "Transfer-Encoding: chunked", chunk), want: []int{401, 429}},
		{name: "length and chunks", raw: raw(lie, "Content-Length: 4\r\nTransfer-Encoding: chunked", chunk), want: []int{400, 401, 429}},
		{name: "chunks and length", raw: raw(lie, "Transfer-Encoding: chunked\r\n"+length, "0\r\n\r\n"+inner), want: []int{400, 401, 429}},
	}
	for name, header := range map[string]string{
		"two lengths":          "Content-Length: 2\r\nContent-Length: 3",
		"two lengths in one":   "Content-Length: 2, 3",
		"negative length":      "Content-Length: -1",
		"signed length":        "Content-Length: +2",
		"length in hex":        "Content-Length: 0x2",
		"length that is none":  "Content-Length: two",
		"blank before colon":   "Content-Length : 2",
		"chunks by blank":      "Transfer-Encoding : chunked",
		"chunked twice":        "Transfer-Encoding: chunked, chunked",
		"chunked in two lines": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
		"other coding":         "Transfer-Encoding: gzip, chunked",
		"unknown coding":       "Transfer-Encoding: xchunked",
		"coding with a tab":    "Transfer-Encoding:\tchunked\x0b",
		"folded coding":        "Transfer-Encoding:\r\n chunked, evil",
	} {
		all = append(all, attack{name: name, raw: raw(good, header, "{}"), want: []int{400, 501}})
	}
	for name, body := range map[string]string{
		"chunk garbage":        "zz\r\n{}\r\n0\r\n\r\n",
		"chunk without length": "\r\n{}\r\n0\r\n\r\n",
		"negative chunk":       "-1\r\n{}\r\n0\r\n\r\n",
		"chunk too long":       "FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
		"chunk longer":         "1\r\n{}\r\n0\r\n\r\n",
		"huge extension":       "2;" + strings.Repeat("a", 20<<10) + "\r\n{}\r\n0\r\n\r\n",
		"lone carriage return": "2\r{}\r\n0\r\n\r\n",
	} {
		all = append(all, attack{name: name, raw: good.chunked(body), want: one(400), code: "broken-body"})
	}
	return all
}

// injections are bytes that would be more than a value if they were repeated.
func (s *site) injections(d door) []attack {
	var all []attack
	for name, line := range map[string]string{
		"carriage return in a value":  "X-A: b\rX-Injected: yes",
		"carriage return in the last": "X-A: b\r",
		"NUL in a value":              "X-A: b\x00c",
		"bell in a value":             "X-A: b\x07c",
		"delete in a value":           "X-A: b\x7fc",
		"blank in a name":             "X A: b",
		"bracket in a name":           "X(A: b",
		"NUL in a name":               "X\x00A: b",
		"umlaut in a name":            "X-Ä: b",
		"no colon":                    "X-A",
		"no name":                     ": b",
	} {
		all = append(all, attack{name: name, raw: s.good(d).withHeader(line, "X-Z: z").String(), want: one(400)})
	}
	all = append(all,
		attack{name: "line feed brings an origin", raw: s.good(d).withHeader("X-A: b\nOrigin: https://evil.example").String(), want: []int{400, 403}},
		attack{name: "line feed brings a host", raw: s.good(d).withHeader("X-A: b\nHost: evil.example").String(), want: one(400)})
	read := s.good(door{method: "GET", path: d.path})
	for name, target := range map[string]string{
		"lines in the path":      d.path + "%0d%0aX-Injected:%20yes",
		"lines in the query":     d.path + "?a=%0d%0aX-Injected:%20yes&after=%0aX-Injected:%20yes&session=%0d%0aX-Injected:%20yes",
		"other lines":            d.path + "%e2%80%a8X-Injected:%20yes%0aX-Injected:%20yes",
		"two slashes":            "//evil.example" + d.path,
		"two slashes and back":   "//evil.example/.." + d.path,
		"slash and backslash":    "/%5cevil.example/.." + d.path,
		"back to a foreign host": d.path + "/../../../../..//evil.example/%2e%2e",
		"NUL in the path":        d.path + "%00.js",
		"bad escape":             d.path + "%zz",
		"half an escape":         d.path + "%f",
	} {
		all = append(all, attack{name: name, raw: read.to("GET", target).String()}) // judge: no header, no other location
	}
	return all
}

// detours are other spellings of a path that needs the token, some by way of
// one that may not.
func (s *site) detours(d door) []attack {
	if d.public {
		return nil
	}
	rest := strings.TrimPrefix(d.path, "/")
	var all []attack
	for _, target := range []string{
		"/console/.." + d.path, "/console/%2e%2e/" + rest, "/console/.%2e/" + rest, "/console/..%2f" + rest, "/console/..%5c" + rest, "/console/..\\" + rest,
		"/console//.." + d.path, "/console/./.." + d.path, "/console/%252e%252e/" + rest, "/console/..;/" + rest, "/console%2f..%2f" + rest,
		"/console/x/../.." + d.path, "/console/%00/../.." + d.path, "/." + d.path, "/" + d.path, "/%2f" + rest, strings.ToUpper(d.path),
		d.path + "/", d.path + "/.", d.path + "//", d.path + "%20", d.path + "?/console/", d.path + "#/console/", d.path + ";/console/", d.path + "%3f/console/",
		"/v1/open/.." + d.path, "/v1/open/../../" + rest, "http://" + s.host + d.path,
	} {
		for _, method := range []string{"GET", "HEAD", d.method} {
			m := s.withoutToken(d).to(method, target)
			if method != d.method {
				m = s.withoutToken(door{method: method, path: target})
			}
			all = append(all, attack{name: method + " by way of " + target, raw: m.String(), never2xx: true})
		}
	}
	return all
}
