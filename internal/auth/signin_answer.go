package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	// fixedPath is the listener's path for a client that was registered by hand, whose address must
	// be known in advance.
	fixedPath = "/callback"
	maxPasted = 32 << 10
)

func randomPath() string { return fixedPath + "/" + rand.Text() }

// A signinAnswer is what the authorization server's redirect carries.
type signinAnswer struct {
	code, iss string
	err       error
}

// errState says that a redirect belongs to no sign-in of ours.
var errState = errors.New("the answer does not belong to this sign-in (wrong state)")

// parseResponse parses the parameters of a redirect. Only one with our state counts.
func parseResponse(q url.Values, state string) (signinAnswer, error) {
	if len(q["state"]) != 1 || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
		return signinAnswer{}, errState
	}
	a := signinAnswer{code: q.Get("code"), iss: q.Get("iss")}
	switch {
	case len(q["code"]) > 1 || len(q["iss"]) > 1 || len(q["error"]) > 1:
		a = signinAnswer{err: errors.New("the answer of the authorization server says a thing twice")}
	case q.Get("error") != "":
		text := clip(q.Get("error"))
		if more := clip(q.Get("error_description")); more != "" {
			text += ": " + more
		}
		a = signinAnswer{iss: a.iss, err: fmt.Errorf("the authorization server refused: %s", text)}
	case a.code == "":
		a = signinAnswer{err: errors.New("the answer of the authorization server has no code")}
	}
	return a, nil
}

// clip makes a server's text fit for a line on a terminal.
func clip(s string) string {
	const most = 300
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// pasted parses what a person pasted: the whole address the browser ended at, or its query.
func pasted(text, state string) (signinAnswer, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxPasted {
		return signinAnswer{}, errors.New("what was pasted is too long for an address")
	}
	text, _, _ = strings.Cut(text, "#")
	query := text
	if before, after, ok := strings.Cut(text, "?"); ok {
		query = after
	} else if strings.Contains(before, "://") {
		query = ""
	}
	q, err := url.ParseQuery(query)
	if err != nil || len(q) == 0 {
		return signinAnswer{}, errors.New("what was pasted is not the address the browser ended at")
	}
	return parseResponse(q, state)
}

// A callbackListener waits on this machine for the browser's redirect.
type callbackListener struct {
	redirect string
	state    string
	answers  chan signinAnswer // holds one
	strays   chan error        // holds one
	server   *http.Server
	done     chan struct{}
}

// relisten listens where an earlier listener did.
func relisten(ctx context.Context, redirect string, port int) (*callbackListener, error) {
	u, err := url.Parse(redirect)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(u.Port())
	if err != nil || port != 0 && port != n || !strings.HasPrefix(u.Path, fixedPath+"/") {
		return nil, errors.New("the address is not one of ours")
	}
	return newListener(ctx, n, u.Path)
}

// newListener starts a listener on the loopback address only.
func newListener(ctx context.Context, port int, path string) (*callbackListener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("waiting for the browser: %w", err)
	}
	e := &callbackListener{
		redirect: "http://" + l.Addr().String() + path,
		state:    rand.Text(),
		answers:  make(chan signinAnswer, 1),
		strays:   make(chan error, 1),
		done:     make(chan struct{}),
	}
	e.server = &http.Server{
		Handler: e.handler(l.Addr().String(), path), ErrorLog: log.New(io.Discard, "", 0),
		ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
	}
	e.server.SetKeepAlivesEnabled(false)
	go func() {
		defer close(e.done)
		e.server.Serve(l) // ends with close
	}()
	return e, nil
}

// close ends the listener after the page that is being sent. It does not wait
// long: browsers open connections that they never use.
func (e *callbackListener) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if e.server.Shutdown(ctx) != nil {
		e.server.Close()
	}
	<-e.done
}

func (e *callbackListener) handler(host, path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		head := w.Header()
		head.Set("Content-Type", "text/plain; charset=utf-8")
		head.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-store")
		if req.Host != host || req.URL.Path != path || req.Method != http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		q, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			q = nil
		}
		a, err := parseResponse(q, e.state)
		if err != nil {
			select {
			case e.strays <- err:
			default:
			}
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, "helve: "+err.Error()+".\n")
			return
		}
		select {
		case e.answers <- a:
		default:
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, "helve: this sign-in was already answered. You can close this window.\n")
			return
		}
		if a.err != nil {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, "helve: "+a.err.Error()+".\nYou can close this window.\n")
			return
		}
		io.WriteString(w, "helve has got the answer. You can close this window.\n")
	})
}

// waitResponse shows the person where to sign in and waits for the first redirect. A request with a
// wrong state is ignored: any program on the machine can send one.
func (h *handler) waitResponse(ctx context.Context, e *callbackListener, addr string) (signinAnswer, error) {
	if h.opts.Show != nil {
		h.opts.Show(addr)
	}
	opened := make(chan error, 1)
	if h.opts.Open != nil {
		go func() { opened <- h.opts.Open(addr) }()
	}
	type paste struct {
		text string
		err  error
	}
	pastes := make(chan paste, 1)
	if h.opts.Paste != nil {
		asking, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			text, err := h.opts.Paste(asking)
			pastes <- paste{text, err}
		}()
	}
	for {
		select {
		case a := <-e.answers:
			return a, a.err
		case p := <-pastes:
			if p.err != nil {
				return signinAnswer{}, fmt.Errorf("asking for the address: %w", p.err)
			}
			a, err := pasted(p.text, e.state)
			return a, errors.Join(err, a.err)
		case err := <-opened:
			if err != nil && h.opts.Show == nil && h.opts.Paste == nil {
				return signinAnswer{}, fmt.Errorf("opening a browser: %w", err)
			}
		case <-ctx.Done():
			select {
			case err := <-e.strays:
				return signinAnswer{}, err
			default:
				return signinAnswer{}, ctx.Err()
			}
		}
	}
}
