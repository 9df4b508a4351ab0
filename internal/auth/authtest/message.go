package authtest

import (
	"fmt"
	"slices"
	"strings"
)

// A rawRequest is a request before it is written.
type rawRequest struct {
	method, target, host string
	header               []string
	body                 string
}

// good is a request that passes.
func (s *site) good(d door) rawRequest {
	return s.withoutToken(d).withHeader("Authorization: Bearer " + s.token)
}

// withoutToken is one without token.
func (s *site) withoutToken(d door) rawRequest {
	m := rawRequest{method: d.method, target: d.path, host: s.host}
	if d.writes() {
		m = m.sending("{}").withHeader("Content-Type: application/json")
	}
	return m
}

// post returns a request with a body of a type.
func (s *site) post(d door, kind, body string) rawRequest {
	d.method = "GET"
	m := s.good(d).sending(body).withHeader("Content-Type: " + kind)
	m.method = "POST"
	return m
}

// withHeader adds header lines.
func (m rawRequest) withHeader(header ...string) rawRequest {
	m.header = slices.Concat(m.header, header)
	return m
}

func (m rawRequest) sending(body string) rawRequest {
	m.body = body
	return m
}

func (m rawRequest) withHost(host string) rawRequest {
	m.host = host
	return m
}

func (m rawRequest) to(method, target string) rawRequest {
	m.method, m.target = method, target
	return m
}

// String returns the request as sent. It closes the connection, unless it says otherwise.
func (m rawRequest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", m.method, m.target, m.host)
	ends := true
	for _, h := range m.header {
		b.WriteString(h + "\r\n")
		ends = ends && !strings.HasPrefix(h, "Connection:")
	}
	if ends {
		b.WriteString("Connection: close\r\n")
	}
	if m.body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(m.body))
	}
	return b.String() + "\r\n" + m.body
}

// chunked returns the request with a raw body that is declared as chunked.
func (m rawRequest) chunked(body string) string {
	return m.sending("").withHeader("Transfer-Encoding: chunked").String() + body
}
