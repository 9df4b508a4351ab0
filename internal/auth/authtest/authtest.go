// Package authtest sends hostile requests to a server behind a guard: what web pages of other
// origins, rebound names, other users of the machine and broken or slow clients send. It relies
// only on responses, so that it can test any of our servers, including the real command.
package authtest

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// Hostile checks that every path of the server at addr refuses what must be refused, with our
// response, and that the server works as before afterwards. addr is host:port, or https://host:port
// for TLS (its certificate is not checked); token is the right one.
//
// A path may have a method in front, GET if it has none, and before that the word "public" if it is
// served without a token:
//
//	/v1/sessions
//	POST /v1/calls
//	public GET /console/
//
// Every request that could have an effect is one the guard refuses; only reads succeed. With
// -short, slow tests of timeouts are left out.
func Hostile(t *testing.T, addr, token string, paths []string) {
	t.Helper()
	s, doors, err := newSite(addr, token, paths)
	if err != nil {
		t.Fatal(err)
	}
	s.control(t, doors)
	for _, d := range doors {
		t.Run(d.String(), func(t *testing.T) { s.quick(t, d) })
	}
	t.Run("slow", func(t *testing.T) {
		if testing.Short() {
			t.Skip("waits for the server's limits of time, some 10 s; left out by -short")
		}
		s.slow(t, doors)
	})
	s.control(t, doors)
}

// A reporter receives failures; a *testing.T is one.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// A site is the server that is tried.
type site struct {
	scheme, host, port string // host is host:port
	token              string
}

// A door is a path with its method.
type door struct {
	method, path string
	public       bool
}

// String returns a door as it was given.
func (d door) String() string { return d.method + " " + d.path }

// writes reports whether a request to the door has a body.
func (d door) writes() bool { return d.method == "POST" || d.method == "PUT" || d.method == "PATCH" }

func newSite(addr, token string, paths []string) (*site, []door, error) {
	s := &site{scheme: "http", host: addr, token: token}
	if rest, ok := strings.CutPrefix(addr, "https://"); ok {
		s.scheme, s.host = "https", rest
	}
	s.host = strings.TrimPrefix(s.host, "http://")
	_, port, err := net.SplitHostPort(s.host)
	if err != nil {
		return nil, nil, fmt.Errorf("gatetest: %w", err)
	}
	s.port = port
	var doors []door
	for _, p := range paths {
		fields := strings.Fields(p)
		d := door{method: "GET"}
		if len(fields) > 0 && fields[0] == "public" {
			d.public, fields = true, fields[1:]
		}
		if len(fields) == 2 {
			d.method, fields = fields[0], fields[1:]
		}
		if len(fields) != 1 || !strings.HasPrefix(fields[0], "/") {
			return nil, nil, fmt.Errorf("gatetest: %q is not [public] [METHOD] /path", p)
		}
		d.path = fields[0]
		doors = append(doors, d)
	}
	if len(doors) == 0 {
		return nil, nil, fmt.Errorf("gatetest: no path to try")
	}
	return s, doors, nil
}

// dial opens a connection that does not outlive its time: nothing hangs.
func (s *site) dial() (net.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second}
	var c net.Conn
	var err error
	if s.scheme == "https" {
		c, err = tls.DialWithDialer(d, "tcp", s.host, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	} else {
		c, err = d.Dial("tcp", s.host)
	}
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(time.Minute))
}

// control checks that good requests come through, before and after: a server
// that refuses everything would pass all else.
func (s *site) control(r reporter, doors []door) {
	r.Helper()
	good := 0
	for _, d := range doors {
		if d.writes() || d.method == "DELETE" {
			continue
		}
		own := []string{"Origin: " + s.scheme + "://" + s.host, "Sec-Fetch-Site: same-origin"}
		tries := map[string]rawRequest{"with the token": s.good(d), "by our own page": s.good(d).withHeader(own...)}
		if d.public {
			tries["without token"] = s.withoutToken(d)
			tries["typed in"] = s.withoutToken(d).withHeader("Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		}
		for name, m := range tries {
			got, err := s.send(m.String())
			if err != nil || len(got) != 1 {
				r.Errorf("%s %s: %d answers, %v", d, name, len(got), err)
				continue
			}
			if isGate(got[0].code) {
				r.Errorf("%s %s: refused with %s", d, name, got[0].code)
			}
			if got[0].status < 400 {
				good++
			}
			s.checkResponse(r, d.String()+" "+name, got[0])
		}
	}
	if good == 0 {
		r.Errorf("no path gives a good answer to a good request: the rest proves nothing")
	}
}

// quick tries all attacks that need no waiting on one door.
func (s *site) quick(r reporter, d door) {
	r.Helper()
	for _, group := range [][]attack{
		s.hosts(d), s.targets(d), s.origins(d), s.sites(d), s.tokens(d), s.contentAttacks(d), s.heads(d), s.framing(d), s.injections(d), s.detours(d),
	} {
		for _, a := range group {
			s.sendAttack(r, d, a)
		}
	}
	s.pipelined(r, d)
	s.endless(r, d)
}

// sendAttack sends one hostile request and checks the response.
func (s *site) sendAttack(r reporter, d door, a attack) {
	r.Helper()
	name := fmt.Sprintf("%s: %s", d, a.name)
	got, err := s.send(a.raw)
	if len(got) == 0 {
		if !a.mayDrop {
			r.Errorf("%s: no answer: %v", name, err)
		}
		return
	}
	first := got[0]
	if a.want != nil && !slices.Contains(a.want, first.status) {
		r.Errorf("%s: status %d, want %v: %.200s", name, first.status, a.want, first.body)
	}
	if a.code != "" && first.status != 429 && first.code != a.code {
		r.Errorf("%s: code %q, want %q", name, first.code, a.code)
	}
	if a.never2xx && first.status < 300 {
		r.Errorf("%s: status %d", name, first.status)
	}
	for _, more := range got[1:] { // what was hidden behind the first
		if more.status < 400 {
			r.Errorf("%s: a second request got through, status %d", name, more.status)
		}
	}
	for _, g := range got {
		s.checkResponse(r, name, g)
		if isGate(g.code) && strings.Contains(g.body, "evil") {
			r.Errorf("%s: the answer repeats the request: %s", name, g.body)
		}
	}
}
