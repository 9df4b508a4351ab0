package auth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// A tokenError is a response of the guard itself. Its texts are constant: nothing a client sent is
// repeated.
type tokenError struct {
	code   string // for programs; never changes its meaning
	status int
	detail string // what to do
	header [2]string
}

func noTLS() *tokenError {
	return &tokenError{code: "no-tls", status: http.StatusMisdirectedRequest,
		detail: "This server speaks TLS only. Use https:// and the address it printed when it started."}
}

func wrongHost() *tokenError {
	return &tokenError{code: "wrong-host", status: http.StatusMisdirectedRequest,
		detail: "This server does not answer to that host name. Use the address it printed when it started, with the port."}
}

func wrongOrigin() *tokenError {
	return &tokenError{code: "wrong-origin", status: http.StatusForbidden,
		detail: "Web pages of another origin may not use this server. Programs send no Origin header."}
}

func wrongSite() *tokenError {
	return &tokenError{code: "wrong-site", status: http.StatusForbidden,
		detail: "The browser says that another site sent this request. Open this server's address yourself."}
}

const methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

func badMethod() *tokenError {
	return &tokenError{"bad-method", http.StatusMethodNotAllowed,
		"Use one of the methods of the Allow header.", [2]string{"Allow", methods}}
}

// options returns the response to OPTIONS, which is handled like the errors.
func options() *tokenError {
	return &tokenError{status: http.StatusNoContent, header: [2]string{"Allow", methods}}
}

func longTarget() *tokenError {
	return &tokenError{code: "long-target", status: http.StatusRequestURITooLong,
		detail: fmt.Sprintf("Send a request target of at most %d bytes.", maxTarget)}
}

func longHeader() *tokenError {
	return &tokenError{code: "long-header", status: http.StatusRequestHeaderFieldsTooLarge,
		detail: fmt.Sprintf("Send header fields of at most %d bytes altogether.", maxHeader)}
}

func noToken() *tokenError {
	return &tokenError{"no-token", http.StatusUnauthorized,
		"Send the header \"Authorization: Bearer TOKEN\", once. The token is in the file the server named when it started; it is not taken from the query or a cookie.",
		[2]string{"WWW-Authenticate", `Bearer realm="helve"`}}
}

func wrongToken() *tokenError {
	return &tokenError{"wrong-token", http.StatusUnauthorized,
		"The token is not the one of this server. It is in the file the server named when it started.",
		[2]string{"WWW-Authenticate", `Bearer realm="helve", error="invalid_token"`}}
}

func manyWrong() *tokenError {
	return &tokenError{"many-wrong-tokens", http.StatusTooManyRequests,
		"Too many wrong tokens. The right one is in the file the server named when it started, and is taken at any time.",
		[2]string{"Retry-After", "1"}}
}

func wrongType() *tokenError {
	return &tokenError{"wrong-type", http.StatusUnsupportedMediaType,
		"Send \"Content-Type: application/json\", in UTF-8.", [2]string{"Accept", "application/json"}}
}

func wrongCoding() *tokenError {
	return &tokenError{"wrong-coding", http.StatusUnsupportedMediaType,
		"Send the body as it is, without Content-Encoding.", [2]string{"Accept-Encoding", "identity"}}
}

func longBody(limit int64) *tokenError {
	return &tokenError{code: "long-body", status: http.StatusRequestEntityTooLarge,
		detail: fmt.Sprintf("Send a body of at most %d bytes.", limit)}
}

func slowBody(limit time.Duration) *tokenError {
	return &tokenError{code: "slow-body", status: http.StatusRequestTimeout,
		detail: fmt.Sprintf("Send the whole body within %s.", limit)}
}

func brokenBody() *tokenError {
	return &tokenError{code: "broken-body", status: http.StatusBadRequest,
		detail: "The body ended early or is not well formed. Send it again."}
}

func busy() *tokenError {
	return &tokenError{"busy", http.StatusServiceUnavailable,
		"Too many requests or streams are open. Close some, or try again later.", [2]string{"Retry-After", "5"}}
}

// refuse responds with a refusal and closes the connection if more of the request may follow.
func (g *Guard) refuse(a *answer, r *http.Request, no *tokenError) {
	g.log.Debug("request refused", slog.Int("status", no.status), slog.String("code", no.code), slog.String("from", r.RemoteAddr))
	h := a.Header()
	if r.ContentLength != 0 {
		// net/http reads on for a while, but must not wait for a slow peer.
		_ = a.control.SetReadDeadline(time.Now().Add(refuseTime))
		h.Set("Connection", "close")
	}
	if no.header[0] != "" {
		h.Set(no.header[0], no.header[1])
	}
	if no.detail == "" {
		a.WriteHeader(no.status)
		return
	}
	h.Set("Content-Type", "application/problem+json")
	text, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Code   string `json:"code"`
	}{"about:blank", http.StatusText(no.status), no.status, no.detail, no.code})
	if err != nil { // strings and a number: cannot fail
		panic(err)
	}
	a.WriteHeader(no.status)
	_, _ = a.Write(append(text, '\n')) // the peer may be gone
}

// policy forbids a page everything; a handler that serves pages sets its own.
const policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// features are browser features that no page of ours needs. Writing to the clipboard is not among
// them: the console has copy buttons.
const features = "accelerometer=(), autoplay=(), camera=(), clipboard-read=(), display-capture=(), " +
	"encrypted-media=(), geolocation=(), gyroscope=(), hid=(), idle-detection=(), local-fonts=(), magnetometer=(), " +
	"microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), " +
	"xr-spatial-tracking=()"

// An answer is a response writer that sets the headers every response has, and drops a peer that
// reads nothing.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	sealed  bool
	stall   time.Duration // how long the peer may take nothing
	until   time.Time     // when all of it must be taken; zero: whenever
}

// extend moves the deadline for the next write.
func (a *answer) extend() {
	until := a.until
	if until.IsZero() {
		until = time.Now().Add(a.stall)
	}
	_ = a.control.SetWriteDeadline(until) // not every writer has one
}

// seal sets the headers that are not the handler's to choose.
func (a *answer) seal() {
	if a.sealed {
		return
	}
	h := a.Header()
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			h.Del(name)
		}
	}
	if cache := strings.Join(h["Cache-Control"], ", "); cache == "" {
		h.Set("Cache-Control", "no-store")
	} else if !strings.Contains(lower(cache), "no-store") {
		h.Set("Cache-Control", cache+", no-store")
	}
	fixed := []string{"same-origin", "no-referrer", "nosniff", "DENY", features, policy}
	h["Cross-Origin-Opener-Policy"] = fixed[0:1:1]
	h["Cross-Origin-Resource-Policy"] = fixed[0:1:1]
	h["Referrer-Policy"] = fixed[1:2:2]
	h["X-Content-Type-Options"] = fixed[2:3:3]
	h["X-Frame-Options"] = fixed[3:4:4]
	h["Permissions-Policy"] = fixed[4:5:5]
	if h.Get("Content-Security-Policy") == "" {
		h["Content-Security-Policy"] = fixed[5:6:6]
	}
}

// handlerDone is called when the handler is done, which may have written nothing.
func (a *answer) handlerDone() {
	a.seal()
	a.extend()
}

// WriteHeader seals the header before it is sent.
func (a *answer) WriteHeader(status int) {
	a.seal()
	a.sealed = a.sealed || status >= 200 || status == http.StatusSwitchingProtocols
	a.extend()
	a.ResponseWriter.WriteHeader(status)
}

// Write sends the header first if that has not been done.
func (a *answer) Write(p []byte) (int, error) {
	a.seal()
	a.sealed = true
	a.extend()
	return a.ResponseWriter.Write(p)
}

// Flush is FlushError without the error.
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError sends what is buffered.
func (a *answer) FlushError() error {
	a.seal()
	a.sealed = true
	a.extend()
	return a.control.Flush()
}

// Hijack hands over the connection, without deadlines. It refuses for a request without a token,
// whose connection must end at a certain time.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !a.until.IsZero() {
		return nil, nil, http.ErrNotSupported
	}
	return a.control.Hijack()
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
