package auth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	here = "127.0.0.1:4096"
	js   = "Content-Type: application/json"
	two  = "Content-Length: 2\r\n\r\n{}" // the last header, and the body
)

// attack is a request and the answer it gets. The handler is reached exactly
// when that is 200.
type attack struct {
	name string
	raw  string
	want int
}

func hostileHosts() []attack {
	var all []attack
	for host, want := range map[string]int{
		"127.0.0.1:4096":                  200,
		"LocalHost:4096":                  200,
		"[::1]:4096":                      200,
		"evil.example:4096":               421,
		"evil.example":                    421,
		"127.0.0.1":                       421,
		"localhost":                       421,
		"[::1]":                           421,
		"localhost:80":                    421,
		"localhost:4097":                  421,
		"localhost:04096":                 421,
		"localhost:+4096":                 421,
		"localhost:4096:4096":             421,
		"localhost:":                      421,
		":4096":                           421,
		"localhost.:4096":                 421,
		"127.0.0.1.:4096":                 421,
		"localhost:4096.":                 421,
		"127.0.0.1:4096.evil.example":     421,
		"localhost.evil.example:4096":     421,
		"127.0.0.1.nip.example:4096":      421,
		"evil-localhost:4096":             421,
		"0.0.0.0:4096":                    421,
		"127.1:4096":                      421,
		"127.0.0.2:4096":                  421,
		"2130706433:4096":                 421,
		"0x7f000001:4096":                 421,
		"0177.0.0.1:4096":                 421,
		"[::ffff:127.0.0.1]:4096":         421,
		"[0:0:0:0:0:0:0:1]:4096":          421,
		"[::1%25lo]:4096":                 421,
		"::1:4096":                        421,
		"[::1]4096":                       421,
		"user@127.0.0.1:4096":             400,
		"127.0.0.1:4096@evil.example":     400,
		"evil.example@127.0.0.1:4096":     400,
		"127.0.0.1:4096,evil.example":     421,
		"127.0.0.1:4096, 127.0.0.1:4096":  400,
		"127.0.0.1:4096/":                 400,
		"127.0.0.1:4096#x":                400,
		"127.0.0.1:4096?x":                400,
		"evil.example\\127.0.0.1:4096":    400,
		"evil.example\x00.localhost:4096": 400,
		"loc\u212Alhost:4096":             400,
		"%6cocalhost:4096":                421,
		"":                                421,
	} {
		all = append(all, attack{"host " + host, request("GET /session", host, bearer), want})
	}
	return append(all,
		attack{"two hosts", request("GET /", here, "Host: evil.example", bearer), 400},
		attack{"two equal hosts", request("GET /", here, "Host: "+here, bearer), 400},
		attack{"no host", "GET / HTTP/1.1\r\n" + bearer + "\r\n\r\n", 400},
		attack{"no host, 1.0", "GET / HTTP/1.0\r\n" + bearer + "\r\n\r\n", 421},
		attack{"folded host", "GET / HTTP/1.1\r\nHost: evil.example\r\n " + here + "\r\n" + bearer + "\r\n\r\n", 400},
		attack{"forwarded host does not count", request("GET /", "evil.example", "X-Forwarded-Host: "+here, "Forwarded: host="+here, bearer), 421},
		attack{"absolute target, ours", request("GET http://"+here+"/session", here, bearer), 200},
		attack{"absolute target, foreign", request("GET http://evil.example/session", here, bearer), 421},
		attack{"absolute target with a user", request("GET http://evil@"+here+"/session", here, bearer), 421},
		attack{"absolute target, host in the user", request("GET http://"+here+"@evil.example/", here, bearer), 421},
		attack{"absolute target without host", request("GET http:///session", here, bearer), 421},
		attack{"absolute target with nothing", request("GET http:", here, bearer), 421},
		attack{"absolute target of TLS", request("GET https://"+here+"/session", here, bearer), 200},
		attack{"absolute target of another scheme", request("GET ftp://"+here+"/session", here, bearer), 421},
		attack{"opaque target", request("GET http:session", here, bearer), 421},
		attack{"path that looks like a host", request("GET //evil.example/session", here, bearer), 200},
		attack{"target without a slash", request("GET session", here, bearer), 400},
	)
}

func hostileOrigins() []attack {
	var all []attack
	for origin, want := range map[string]int{
		"http://127.0.0.1:4096":              200,
		"http://localhost:4096":              200,
		"http://[::1]:4096":                  200,
		"":                                   403,
		"null":                               403,
		"*":                                  403,
		"file://":                            403,
		"https://evil.example":               403,
		"https://localhost:4096":             403,
		"http://localhost":                   403,
		"http://localhost:80":                403,
		"http://localhost:4097":              403,
		"http://localhost:40960":             403,
		"http://localhost.:4096":             403,
		"HTTP://LOCALHOST:4096":              403,
		"localhost:4096":                     403,
		"//localhost:4096":                   403,
		"http://localhost:4096/":             403,
		"http://localhost:4096 ":             200, // blanks at the end are no part of a field
		"http://localhost:4096 x":            403,
		"http://localhost:4096, null":        403,
		"http://localhost:4096.evil.example": 403,
		"http://localhost:4096@evil.example": 403,
		"http://evil@localhost:4096":         403,
		"http://127.0.0.1:4096#evil":         403,
		"http://0.0.0.0:4096":                403,
		"http://[0:0:0:0:0:0:0:1]:4096":      403,
		"ws://localhost:4096":                403,
		"chrome-extension://abcdefgh":        403,
	} {
		all = append(all,
			attack{"get, origin " + origin, request("GET /session", here, bearer, "Origin: "+origin), want},
			attack{"stream, origin " + origin, request("GET /event", here, bearer, "Accept: text/event-stream", "Origin: "+origin), want},
			attack{"upgrade, origin " + origin, request("GET /ws", here, bearer, "Connection: Upgrade", "Upgrade: websocket", "Origin: "+origin), want},
			attack{"post, origin " + origin, request("POST /mcp", here, bearer, "Origin: "+origin, js, two), want},
			attack{"post without token, origin " + origin, request("POST /mcp", here, "Origin: "+origin, js, two), min(max(want, 401), 403)},
		)
	}
	return append(all,
		attack{"two origins, ours first", request("GET /", here, bearer, "Origin: http://"+here, "Origin: https://evil.example"), 403},
		attack{"two origins, ours twice", request("GET /", here, bearer, "Origin: http://"+here, "Origin: http://"+here), 403},
		attack{"origin in another case of name", request("GET /", here, bearer, "oRiGiN: https://evil.example"), 403},
		attack{"same origin", request("GET /", here, bearer, "Sec-Fetch-Site: same-origin"), 200},
		attack{"typed in", request("GET /", here, bearer, "Sec-Fetch-Site: none"), 200},
		attack{"cross-site", request("GET /", here, bearer, "Sec-Fetch-Site: cross-site"), 403},
		attack{"same-site", request("GET /", here, bearer, "Sec-Fetch-Site: same-site"), 403},
		attack{"site nobody knows", request("GET /", here, bearer, "Sec-Fetch-Site: Same-Origin"), 403},
		attack{"site empty", request("GET /", here, bearer, "Sec-Fetch-Site: "), 403},
		attack{"the same site twice", request("GET /", here, bearer, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: same-origin"), 403},
		attack{"sites in one", request("GET /", here, bearer, "Sec-Fetch-Site: none, same-origin"), 403},
		attack{"two sites", request("GET /", here, bearer, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"), 403},
		attack{"cross-site with our origin", request("POST /mcp", here, bearer, "Origin: http://"+here, "Sec-Fetch-Site: cross-site", js, two), 403},
		attack{"cross-site without token", request("GET /", here, "Sec-Fetch-Site: cross-site"), 403},
		attack{"preflight", request("OPTIONS /mcp", here, "Origin: https://evil.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"), 403},
		attack{"preflight for a private network", request("OPTIONS /mcp", here, "Origin: null", "Access-Control-Request-Private-Network: true"), 403},
		attack{"preflight of our own", request("OPTIONS /mcp", here, "Origin: http://"+here), 401},
		attack{"options with the token", request("OPTIONS /mcp", here, bearer), 204},
		attack{"options of all", request("OPTIONS *", here, bearer), 204},
		attack{"options of all without token", request("OPTIONS *", here), 401},
		attack{"options of all at a foreign host", request("OPTIONS *", "evil.example"), 421},
	)
}

func hostileTokens() []attack {
	t := goodToken
	var all []attack
	for auth, want := range map[string]int{
		"Bearer " + t:                  200,
		"bearer " + t:                  200,
		"BEARER   " + t:                200,
		"Bearer":                       401,
		"Bearer ":                      401,
		"Bearer " + t[1:]:              401,
		"Bearer " + t + "x":            401,
		"Bearer " + t + "=":            401,
		"Bearer " + t + "," + t:        401,
		"Bearer " + t + " x":           401,
		"Bearer x " + t:                401,
		"Bearer \"" + t + "\"":         401,
		"Bearer\t" + t:                 401,
		"Bearer" + t:                   401,
		"Bearer " + lower(t):           401,
		"Basic " + t:                   401,
		"Token " + t:                   401,
		t:                              401,
		"":                             401,
		"Basic Om" + t:                 401,
		"Bearer " + t + "\x00":         400,
		"Bearer null":                  401,
		"Bearer undefined":             401,
		"Basic x, Bearer " + t:         401,
		"Bearer " + t[:len(t)/2]:       401,
		"Bearer " + t + t:              401,
		"Bearer \u200b" + t:            401,
		"Bearer " + t + "%00":          401,
		"DPoP " + t:                    401,
		"Bearer realm=\"x\", " + t:     401,
		"Bearer token=" + t:            401,
		"Bearer " + strings.ToUpper(t): 401,
	} {
		all = append(all, attack{"authorization " + auth, request("GET /session", here, "Authorization: "+auth), want})
	}
	return append(all,
		attack{"none", request("GET /session", here), 401},
		attack{"twice", request("GET /session", here, bearer, bearer), 401},
		attack{"wrong, then right", request("GET /session", here, "Authorization: Bearer x", bearer), 401},
		attack{"query", request("GET /session?token="+t+"&access_token="+t+"&auth_token="+t, here), 401},
		attack{"cookie", request("GET /session", here, "Cookie: token="+t+"; Authorization=Bearer "+t), 401},
		attack{"user of the target", request("GET http://Bearer:"+t+"@"+here+"/", here), 421},
		attack{"other headers", request("GET /session", here, "Proxy-Authorization: Bearer "+t, "X-Authorization: Bearer "+t, "X-Api-Key: "+t), 401},
		attack{"session id", request("GET /mcp", here, "Mcp-Session-Id: "+t), 401},
		attack{"underscore", request("GET /session", here, "Authorization_: Bearer "+t), 401},
		attack{"websocket protocol", request("GET /ws", here, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Protocol: bearer, "+t), 401},
		attack{"form", request("POST /session", here, "Content-Type: application/x-www-form-urlencoded", fmt.Sprintf("Content-Length: %d\r\n\r\naccess_token=%s", 13+len(t), t)), 401},
		attack{"trailer", request("POST /session", here, js, "Transfer-Encoding: chunked", "Trailer: Authorization\r\n\r\n2\r\n{}\r\n0\r\n"+bearer), 401},
	)
}

func hostileContent() []attack {
	var all []attack
	for kind, want := range map[string]int{
		"application/json":                               200,
		"Application/JSON":                               200,
		"application/json; charset=utf-8":                200,
		"application/json;charset=\"UTF-8\"":             200,
		"application/json; charset=utf-16":               415,
		"application/json; charset=latin1":               415,
		"application/json; charset":                      415,
		"application/json; boundary=x":                   415,
		"application/json; x=utf-8":                      415,
		"application/json, text/plain":                   415,
		"text/plain; application/json":                   415,
		"application/json text/plain":                    415,
		"application/jsonp":                              415,
		"application/json-patch+json":                    415,
		"application/x-json":                             415,
		"text/json":                                      415,
		"text/plain":                                     415,
		"application/x-www-form-urlencoded":              415,
		"multipart/form-data; boundary=application/json": 415,
		"application/octet-stream":                       415,
		"*/*":                                            415,
		"":                                               415,
		";":                                              415,
	} {
		for _, m := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
			all = append(all, attack{m + " " + kind, request(m+" /session", here, bearer, "Content-Type: "+kind, two), want})
		}
	}
	return append(all,
		attack{"no type", request("POST /session", here, bearer, two), 415},
		attack{"no type, no body", request("POST /session", here, bearer), 415},
		attack{"no type, chunked", request("DELETE /session", here, bearer, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"), 415},
		attack{"delete without body", request("DELETE /session", here, bearer), 200},
		attack{"json without body", request("POST /session", here, bearer, js), 200},
		attack{"two types", request("POST /session", here, bearer, js, "Content-Type: text/plain", two), 415},
		attack{"two equal types", request("POST /session", here, bearer, js, js, two), 415},
		attack{"packed", request("POST /session", here, bearer, js, "Content-Encoding: gzip", two), 415},
		attack{"as it is", request("POST /session", here, bearer, js, "Content-Encoding: identity", two), 200},
		attack{"chunked json", request("POST /session", here, bearer, js, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"), 200},
		attack{"chunked twice", request("POST /session", here, bearer, js, "Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n"), 501},
		attack{"other transfer encoding", request("POST /session", here, bearer, js, "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n"), 501},
		attack{"two lengths", request("POST /session", here, bearer, js, "Content-Length: 3", two), 400},
		attack{"negative length", request("POST /session", here, bearer, js, "Content-Length: -1\r\n\r\n{}"), 400},
		attack{"body ends early", request("POST /session", here, bearer, js, "Content-Length: 50\r\n\r\n{}"), 400},
		attack{"bad chunk", request("POST /session", here, bearer, js, "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n"), 400},
		attack{"body of 64 bytes", request("POST /session", here, bearer, js, "Content-Length: 64\r\n\r\n"+strings.Repeat(" ", 64)), 200},
		attack{"body of 65 bytes", request("POST /session", here, bearer, js, "Content-Length: 65\r\n\r\n"+strings.Repeat(" ", 65)), 413},
		attack{"body of 65 bytes in chunks", request("POST /session", here, bearer, js, "Transfer-Encoding: chunked\r\n\r\n41\r\n"+strings.Repeat(" ", 65)+"\r\n0\r\n"), 413},
		attack{"said to be huge", request("POST /session", here, bearer, js, "Content-Length: 9223372036854775807"), 413},
		attack{"said to be huge, without token", request("POST /session", here, js, "Content-Length: 9223372036854775807"), 401},
	)
}

func hostileHeads() []attack {
	var all []attack
	for _, m := range []string{"TRACE", "CONNECT", "TRACK", "DEBUG", "PROPFIND", "SEARCH", "get", "Post", "PRI", "G-E-T"} {
		target := " /session"
		if m == "CONNECT" {
			target = " " + here
		}
		all = append(all,
			attack{m, request(m+target, here, bearer), 405},
			attack{m + " without token", request(m+target, here), 405},
			attack{m + " from afar", request(m+target, here, bearer, "Origin: https://evil.example"), 403},
		)
	}
	for _, m := range []string{"GET", "HEAD", "DELETE"} {
		all = append(all, attack{m, request(m+" /x", here, bearer), 200}, attack{m + " without token", request(m+" /x", here), 401})
	}
	return append(all,
		attack{"method by header", request("GET /session", here, bearer, "X-HTTP-Method-Override: TRACE"), 200},
		attack{"target of 8 KiB", request("GET /"+strings.Repeat("a", maxTarget-1), here, bearer), 200},
		attack{"target over 8 KiB", request("GET /"+strings.Repeat("a", maxTarget), here, bearer), 414},
		attack{"large header", request("GET /", here, bearer, "X-A: "+strings.Repeat("a", maxHeader)), 431},
		attack{"many headers", request("GET /", here, strings.Split(strings.Repeat("X-A: a,", 1000)+bearer, ",")...), 200},
		attack{"too many headers", request("GET /", here, strings.Split(strings.Repeat("X-A: a,", 2500)+bearer, ",")...), 431},
		attack{"huge header", request("GET /", here, bearer, "X-A: "+strings.Repeat("a", 1<<20)), 431},
		attack{"later protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 421},
		attack{"blank in a name", request("GET /", here, "Authorization : Bearer "+goodToken), 400},
		attack{"lone line feeds", "GET / HTTP/1.1\nHost: " + here + "\n" + bearer + "\n\n", 200},
		attack{"not HTTP", "\x16\x03\x01\x02\x00\x01\r\n\r\n", 400},
	)
}

func TestHostile(t *testing.T) {
	for group, attacks := range map[string][]attack{
		"hosts": hostileHosts(), "origins": hostileOrigins(), "tokens": hostileTokens(),
		"content": hostileContent(), "heads": hostileHeads(),
	} {
		for _, a := range attacks {
			t.Run(group+"/"+a.name, func(t *testing.T) {
				h := new(reach)
				resp, body := one(t, newGate(t, GuardOptions{MaxBody: 64}), h, a.raw)
				if resp.StatusCode != a.want {
					t.Errorf("status %d, want %d: %s", resp.StatusCode, a.want, body)
				}
				if want := map[bool]int{true: 1}[a.want == 200]; h.count() != want {
					t.Errorf("the handler was reached %d times, want %d", h.count(), want)
				}
				checkAnswer(t, resp, body)
			})
		}
	}
}

// checkAnswer holds what is true of every answer.
func checkAnswer(t *testing.T, resp *http.Response, body string) {
	t.Helper()
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("answer has %s", name)
		}
	}
	if strings.Contains(body, "evil") || strings.Contains(body, goodToken) {
		t.Errorf("answer repeats the request: %s", body)
	}
	if resp.Header.Get("X-Frame-Options") == "" {
		// net/http's own: what it could not read never came to the guard
		if c := resp.StatusCode; c != 400 && c != 431 && c != 501 && c != 505 {
			t.Errorf("status %d without our headers", c)
		}
		return
	}
	for name, want := range map[string]string{
		"Cache-Control":                "no-store",
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           features,
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for status, name := range map[int]string{401: "WWW-Authenticate", 405: "Allow", 204: "Allow", 429: "Retry-After", 503: "Retry-After"} {
		if resp.StatusCode == status && resp.Header.Get(name) == "" {
			t.Errorf("status %d without %s", status, name)
		}
	}
	if resp.StatusCode < 400 || resp.Request.Method == "HEAD" {
		return
	}
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Status != resp.StatusCode || p.Title == "" || p.Detail == "" || p.Code == "" || p.Type != "about:blank" {
		t.Errorf("problem %q: %v", body, err)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("problem of type %s", got)
	}
}
