package authtest

import (
	"fmt"
	"strings"
)

// An attack is a request that must not get what it is after.
type attack struct {
	name     string
	raw      string
	want     []int  // the status is one of these; nil: any
	code     string // of the guard's problem; empty: any or none
	never2xx bool   // whatever the answer, not a good one
	mayDrop  bool   // to hang up without an answer is good too
}

func one(status int) []int { return []int{status} }

// hosts returns names rebound to us, and spellings of ours that no client of ours uses.
func (s *site) hosts(d door) []attack {
	var all []attack
	for _, host := range []string{
		"evil.example:" + s.port, "evil.example", "localhost:1", "localhost", "127.0.0.1", "[::1]", "", ":" + s.port,
		"localhost.:" + s.port, "127.0.0.1.:" + s.port, "localhost:0" + s.port, "localhost:" + s.port + "0", "localhost:+" + s.port,
		s.host + ".evil.example", "localhost.evil.example:" + s.port, "127.0.0.1.nip.example:" + s.port, "evil-localhost:" + s.port,
		"0.0.0.0:" + s.port, "[::]:" + s.port, "127.1:" + s.port, "2130706433:" + s.port, "0x7f000001:" + s.port, "0177.0.0.1:" + s.port,
		"[::ffff:127.0.0.1]:" + s.port, "[0:0:0:0:0:0:0:1]:" + s.port, "[::1%25lo]:" + s.port, "%6cocalhost:" + s.port,
		s.host + ",evil.example", "*", "*:" + s.port,
	} {
		all = append(all, attack{name: "host " + host, raw: s.good(d).withHost(host).String(), want: one(421), code: "wrong-host"})
	}
	for _, host := range []string{
		"evil@" + s.host, s.host + "@evil.example", s.host + "/", s.host + "#evil", s.host + "?evil", "evil.example\\" + s.host,
		"evil.example\x00." + s.host, s.host + "\x00", "loc\u212Alhost:" + s.port, s.host + " evil.example", s.host + ", evil.example",
	} {
		all = append(all, attack{name: "host " + host, raw: s.good(d).withHost(host).String(), want: []int{400, 421}})
	}
	nohost := strings.Replace(s.good(d).String(), "Host: "+s.host+"\r\n", "", 1)
	return append(all,
		attack{name: "no host", raw: nohost, want: one(400)},
		attack{name: "no host, 1.0", raw: strings.Replace(nohost, "HTTP/1.1", "HTTP/1.0", 1), want: one(421), code: "wrong-host"},
		attack{name: "two hosts", raw: s.good(d).withHeader("Host: evil.example").String(), want: one(400)},
		attack{name: "two equal hosts", raw: s.good(d).withHeader("Host: " + s.host).String(), want: one(400)},
		attack{name: "folded host", raw: s.good(d).withHost("evil.example\r\n " + s.host).String(), want: []int{400, 421}},
		attack{name: "rebound name", raw: s.good(d).withHost("evil.example:"+s.port).withHeader("Origin: http://evil.example:"+s.port, "Sec-Fetch-Site: same-origin").String(),
			want: one(421), code: "wrong-host"},
		attack{name: "host of a proxy", raw: s.good(d).withHost("evil.example").withHeader("X-Forwarded-Host: "+s.host, "Forwarded: host="+s.host, "X-Host: "+s.host).String(),
			want: one(421), code: "wrong-host"},
	)
}

// targets are request lines that name a place besides the Host.
func (s *site) targets(d door) []attack {
	at := func(target string) rawRequest { return s.good(d).to(d.method, target) }
	return []attack{
		{name: "absolute, foreign", raw: at("http://evil.example" + d.path).String(), want: one(421), code: "wrong-host"},
		{name: "absolute, other port", raw: at("http://localhost:1" + d.path).String(), want: one(421), code: "wrong-host"},
		{name: "absolute, with a user", raw: at("http://evil@" + s.host + d.path).String(), want: one(421), code: "wrong-host"},
		{name: "absolute, host as the user", raw: at("http://" + s.host + "@evil.example" + d.path).String(), want: one(421), code: "wrong-host"},
		{name: "absolute, to a foreign Host", raw: at("http://evil.example" + d.path).withHost("evil.example").String(), want: one(421), code: "wrong-host"},
		{name: "opaque", raw: at("http:" + strings.TrimPrefix(d.path, "/")).String(), want: []int{400, 421}},
		{name: "absolute, without host", raw: at("http://" + d.path).String(), want: one(421), code: "wrong-host"},
		{name: "absolute, of another scheme", raw: at("ftp://" + s.host + d.path).String(), want: one(421), code: "wrong-host"},
		{name: "no slash", raw: at(strings.TrimPrefix(d.path, "/") + "x").String(), want: one(400)},
		{name: "blank inside", raw: at(d.path + " x").String(), want: one(400)},
		{name: "star", raw: at("*").String(), never2xx: true},
	}
}

// origins returns requests of pages that are not ours.
func (s *site) origins(d door) []attack {
	var all []attack
	own := s.scheme + "://" + s.host
	for _, origin := range []string{
		"", "null", "NULL", "*", "file://", "https://evil.example", "http://evil.example:" + s.port, own + "0", own + ".evil.example",
		own + "@evil.example", own + "/", own + ".", own + "#", own + ", null", own + " " + own, own + "\t\x20x", strings.ToUpper(own),
		s.scheme + "://localhost.:" + s.port, s.scheme + "://localhost:1", s.scheme + "://localhost", s.scheme + "://evil@" + s.host,
		s.host, "//" + s.host, "ws://" + s.host, "ftp://" + s.host, "chrome-extension://abcdefgh", s.scheme + "://0.0.0.0:" + s.port,
		s.scheme + "://[0:0:0:0:0:0:0:1]:" + s.port, map[string]string{"http": "https", "https": "http"}[s.scheme] + "://" + s.host,
	} {
		all = append(all,
			attack{name: "origin " + origin, raw: s.good(d).withHeader("Origin: " + origin).String(), want: one(403), code: "wrong-origin"},
			attack{name: "origin without token " + origin, raw: s.withoutToken(d).withHeader("Origin: " + origin).String(), want: one(403), code: "wrong-origin"})
	}
	foreign := "Origin: https://evil.example"
	upgrade := []string{"Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	ask := func(method string) rawRequest { return s.good(d).to(method, d.path).sending("") }
	return append(all,
		attack{name: "two origins, ours first", raw: s.good(d).withHeader("Origin: "+own, foreign).String(), want: one(403), code: "wrong-origin"},
		attack{name: "ours twice", raw: s.good(d).withHeader("Origin: "+own, "Origin: "+own).String(), want: one(403), code: "wrong-origin"},
		attack{name: "origin in another case", raw: s.good(d).withHeader("oRIGIN: https://evil.example").String(), want: one(403), code: "wrong-origin"},
		attack{name: "stream from afar", raw: s.good(d).withHeader("Accept: text/event-stream", foreign).String(), want: one(403), code: "wrong-origin"},
		attack{name: "websocket from afar", raw: s.good(d).withHeader(upgrade...).withHeader(foreign).String(), want: one(403), code: "wrong-origin"},
		attack{name: "preflight", raw: ask("OPTIONS").withHeader(foreign, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type").String(),
			want: one(403), code: "wrong-origin"},
		attack{name: "preflight for a private network", raw: ask("OPTIONS").withHeader("Origin: null", "Access-Control-Request-Method: GET", "Access-Control-Request-Private-Network: true").String(),
			want: one(403), code: "wrong-origin"},
		attack{name: "preflight for a local network", raw: ask("OPTIONS").withHeader(foreign, "Access-Control-Request-Local-Network: true").String(), want: one(403), code: "wrong-origin"},
		attack{name: "preflight without token", raw: s.withoutToken(door{method: "OPTIONS", path: d.path}).withHeader("Origin: "+own, "Access-Control-Request-Method: POST").String(),
			want: one(401), code: "no-token"},
	)
}

// sites returns requests with the browser's headers about their initiator.
func (s *site) sites(d door) []attack {
	var all []attack
	own := "Origin: " + s.scheme + "://" + s.host
	for _, lines := range [][]string{
		{"cross-site"}, {"same-site"}, {""}, {"Same-Origin"}, {"NONE"}, {"same-origin, cross-site"}, {"none, none"}, {"same-origin;x"}, {"evil"},
		{"none", "cross-site"}, {"cross-site", "none"}, {"same-origin", "same-origin"}, {"none", "none"}, {"none", ""},
	} {
		var header []string
		for _, l := range lines {
			header = append(header, "Sec-Fetch-Site: "+l)
		}
		name := "site " + strings.Join(lines, " and ")
		all = append(all,
			attack{name: name, raw: s.good(d).withHeader(header...).String(), want: one(403), code: "wrong-site"},
			attack{name: name + " with our origin", raw: s.good(d).withHeader(own).withHeader(header...).String(), want: one(403), code: "wrong-site"},
			attack{name: name + " navigating", raw: s.withoutToken(d).withHeader(header...).withHeader("Sec-Fetch-Mode: navigate", "Sec-Fetch-User: ?1", "Sec-Fetch-Dest: document").String(),
				want: one(403), code: "wrong-site"},
			attack{name: name + " as a script", raw: s.withoutToken(d).withHeader(header...).withHeader("Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script").String(),
				want: one(403), code: "wrong-site"})
	}
	return all
}

// tokens are all but the right one in the right place.
func (s *site) tokens(d door) []attack {
	t := s.token
	var all []attack
	for _, auth := range []string{
		"Bearer " + t[1:], "Bearer " + t + "x", "Bearer " + t + "," + t, "Bearer " + t + " x", "Bearer x " + t, "Bearer \"" + t + "\"", "Bearer" + t,
		"Bearer", "Bearer ", "", "Basic " + t, "Token " + t, t, "Bearer null", "Bearer undefined", "Basic x, Bearer " + t, "Bearer token=" + t,
		"Bearer " + t + t, "Bearer " + t[:len(t)/2], "Bearer \u200b" + t, "Bearer\t" + t, "Bearer " + t + "%00",
	} {
		all = append(all, attack{name: "wrong token " + strings.ReplaceAll(auth, t, "TOKEN"),
			raw: s.withoutToken(d).withHeader("Authorization: " + auth).String(), want: []int{401, 429}})
	}
	all = append(all,
		attack{name: "token twice", raw: s.good(d).withHeader("Authorization: Bearer " + t).String(), want: one(401), code: "no-token"},
		attack{name: "token with a NUL", raw: s.good(d).withHeader("Authorization: Bearer " + t + "\x00").String(), want: one(400)},
		attack{name: "wrong, then right", raw: s.withoutToken(d).withHeader("Authorization: Bearer x", "Authorization: Bearer "+t).String(), want: one(401), code: "no-token"},
	)
	if d.public {
		return all
	}
	for name, m := range map[string]rawRequest{
		"none":               s.withoutToken(d),
		"query":              s.withoutToken(d).to(d.method, d.path+"?token="+t+"&access_token="+t+"&auth_token="+t),
		"cookie":             s.withoutToken(d).withHeader("Cookie: token=" + t + "; Authorization=Bearer " + t),
		"other headers":      s.withoutToken(d).withHeader("Proxy-Authorization: Bearer "+t, "X-Authorization: Bearer "+t, "X-Api-Key: "+t, "Authorization_: Bearer "+t),
		"session id":         s.withoutToken(d).withHeader("Mcp-Session-Id: " + t),
		"websocket protocol": s.withoutToken(d).withHeader("Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Protocol: bearer, "+t),
		"claimed address":    s.withoutToken(d).withHeader("X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1"),
		"other path claimed": s.withoutToken(d).withHeader("X-Original-URL: /console/", "X-Rewrite-URL: /console/"),
	} {
		all = append(all, attack{name: "token: " + name, raw: m.String(), want: one(401), code: "no-token"})
	}
	return append(all, attack{name: "token: trailer", want: one(401), code: "no-token",
		raw: s.withoutToken(door{method: "POST", path: d.path}).sending("").withHeader("Trailer: Authorization").chunked("2\r\n{}\r\n0\r\nAuthorization: Bearer " + t + "\r\n\r\n")})
}

// contentAttacks returns what forms of other origins can send, and bodies of another type than
// declared. All carry the token, and none may be accepted.
func (s *site) contentAttacks(d door) []attack {
	var all []attack
	for _, kind := range []string{
		"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "text/plain; charset=utf-8", "text/plain;application/json",
		"application/json, text/plain", "application/jsonp", "application/json; charset=utf-16", "application/json; boundary=x", "application/octet-stream",
		"text/json", "application/xml", "*/*", "", ";", "application/json\ttext/plain",
	} {
		all = append(all, attack{name: "type " + kind, raw: s.post(d, kind, `{"evil":1}`).String(), want: one(415), code: "wrong-type"})
	}
	js := "application/json"
	multi := "--x\r\nContent-Disposition: form-data; name=\"{\"evil\":\"\r\n\r\n\"}\r\n--x--\r\n"
	large := fmt.Sprintf("Content-Length: %d", int64(1)<<40)
	return append(all,
		attack{name: "form in parts", raw: s.post(d, "multipart/form-data; boundary=x", multi).String(), want: one(415), code: "wrong-type"},
		attack{name: "two types", raw: s.post(d, js, "{}").withHeader("Content-Type: text/plain").String(), want: one(415), code: "wrong-type"},
		attack{name: "form that is cross-site", raw: s.post(d, "text/plain", "{}").withHeader("Origin: https://evil.example", "Sec-Fetch-Site: cross-site").String(), want: one(403), code: "wrong-origin"},
		attack{name: "form without origin", raw: s.post(d, "text/plain", "{}").withHeader("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate").String(), want: one(403), code: "wrong-site"},
		attack{name: "packed", raw: s.post(d, js, "{}").withHeader("Content-Encoding: gzip").String(), want: one(415), code: "wrong-coding"},
		attack{name: "get with a form", raw: s.post(d, "text/plain", "{}").to("GET", d.path).String(), want: one(415), code: "wrong-type"},
		attack{name: "delete with a form", raw: s.post(d, "text/plain", "{}").to("DELETE", d.path).String(), want: one(415), code: "wrong-type"},
		attack{name: "said to be huge", raw: s.post(d, js, "").withHeader(large).String(), want: one(413), code: "long-body"},
		attack{name: "larger than any number", raw: s.post(d, js, "").withHeader("Content-Length: 99999999999999999999").String(), want: one(400)},
	)
}
