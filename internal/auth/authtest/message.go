package authtest

import (
	"fmt"
	"slices"
	"strings"
)

// A message is a request before it is written.
type message struct {
	method, target, host string
	header               []string
	body                 string
}

// good is a request that passes.
func (s *site) good(d door) message { return s.bare(d).with("Authorization: Bearer " + s.token) }

// bare is one without token.
func (s *site) bare(d door) message {
	m := message{method: d.method, target: d.path, host: s.host}
	if d.writes() {
		m = m.sending("{}").with("Content-Type: application/json")
	}
	return m
}

// post is a request with a body of a type, wherever it goes.
func (s *site) post(d door, kind, body string) message {
	d.method = "GET"
	m := s.good(d).sending(body).with("Content-Type: " + kind)
	m.method = "POST"
	return m
}

// with adds header lines.
func (m message) with(header ...string) message {
	m.header = slices.Concat(m.header, header)
	return m
}

func (m message) sending(body string) message {
	m.body = body
	return m
}

func (m message) at(host string) message {
	m.host = host
	return m
}

func (m message) to(method, target string) message {
	m.method, m.target = method, target
	return m
}

// String is the request as it goes over the wire. The connection ends with it,
// unless it says otherwise.
func (m message) String() string {
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

// chunked is the request with a raw body said to be in chunks.
func (m message) chunked(body string) string {
	return m.sending("").with("Transfer-Encoding: chunked").String() + body
}
