package authtest

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxAnswer bounds what is read of one answer.
const maxAnswer = 1 << 20

// A response is what came back for one request.
type response struct {
	status int
	header http.Header
	body   string
	code   string // of a problem
}

// send writes raw bytes to a new connection and returns the responses, up to the end of the
// connection or the beginning of a stream.
func (s *site) send(raw string) ([]response, error) {
	c, err := s.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	sent := make(chan struct{})
	go func() { // an answer may come before all is sent
		defer close(sent)
		_, _ = io.WriteString(c, raw)
	}()
	method, _, _ := strings.Cut(raw, " ")
	got, err := readAnswers(bufio.NewReader(c), method)
	_ = c.Close()
	<-sent
	return got, err
}

// readAnswers reads until the connection ends; err is set if it did not end cleanly.
func readAnswers(in *bufio.Reader, method string) (all []response, err error) {
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return all, nil
		}
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return all, err
		}
		if resp.StatusCode == http.StatusContinue {
			continue
		}
		a := response{status: resp.StatusCode, header: resp.Header}
		if resp.StatusCode == http.StatusSwitchingProtocols || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			return append(all, a), nil
		}
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		a.body = string(body)
		if resp.Header.Get("Content-Type") == "application/problem+json" {
			var problem struct{ Code string }
			_ = json.Unmarshal(body, &problem) // judge examines the body
			a.code = problem.Code
		}
		all = append(all, a)
		if err != nil || len(body) == maxAnswer {
			return all, err
		}
		method = "" // only the first may be a HEAD
	}
}

// isGate reports whether a problem code is one of the guard's own.
func isGate(code string) bool {
	return slices.Contains([]string{
		"no-tls", "wrong-host", "wrong-origin", "wrong-site", "bad-method", "long-target", "long-header", "no-token", "wrong-token",
		"many-wrong-tokens", "wrong-type", "wrong-coding", "long-body", "slow-body", "broken-body",
	}, code)
}

// checkResponse checks what must hold for every response, whatever its source.
func (s *site) checkResponse(r reporter, name string, a response) {
	r.Helper()
	for header, values := range a.header {
		if strings.HasPrefix(header, "Access-Control-") || header == "Set-Cookie" || header == "X-Injected" {
			r.Errorf("%s: the answer has %s", name, header)
		}
		if strings.Contains(strings.Join(values, " "), s.token) {
			r.Errorf("%s: the header %s tells the token", name, header)
		}
	}
	if strings.Contains(a.body, s.token) {
		r.Errorf("%s: the answer tells the token", name)
	}
	if a.status == http.StatusSwitchingProtocols {
		r.Errorf("%s: another protocol is spoken", name)
	}
	if to := a.header.Get("Location"); to != "" && !s.leadsHere(to) {
		r.Errorf("%s: it leads to %q", name, to)
	}
	if a.header.Get("X-Frame-Options") == "" {
		// Responses of the HTTP server itself: it could not parse the request and never called us.
		if !slices.Contains([]int{400, 431, 501, 505}, a.status) {
			r.Errorf("%s: status %d without our headers", name, a.status)
		}
		return
	}
	s.judgeHeaders(r, name, a)
}

// leadsHere reports whether a redirect stays on our server.
func (s *site) leadsHere(to string) bool {
	u, err := url.Parse(strings.ReplaceAll(to, "\\", "/")) // browsers take one for the other
	return err == nil && (u.Host == "" || u.Host == s.host) && (u.Scheme == "" || u.Scheme == s.scheme)
}

func (s *site) judgeHeaders(r reporter, name string, a response) {
	r.Helper()
	for header, want := range map[string]string{
		"Cache-Control":                "no-store",
		"Content-Security-Policy":      "frame-ancestors 'none'",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=()",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
	} {
		if got := a.header.Get(header); !strings.Contains(got, want) {
			r.Errorf("%s: %s is %q, want %q", name, header, got, want)
		}
	}
	if csp := a.header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe-") {
		r.Errorf("%s: the policy is %q", name, csp)
	}
	if a.code == "" {
		return
	}
	var p struct {
		Type, Title, Detail string
		Status              int
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || p.Status != a.status || p.Type == "" || p.Title == "" || p.Detail == "" {
		r.Errorf("%s: the problem is %.300q (%v)", name, a.body, err)
	}
}
