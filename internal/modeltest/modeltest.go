// Package modeltest is a model server for tests. It is a real one, on the
// loopback, that speaks the streaming forms of Anthropic's Messages API and of
// OpenAI's chat completions. What it says is written in scripts, also how it
// fails. It is as strict as the real ones: a conversation that they would not
// take it does not take either.
package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Server answers requests to both protocols. Close ends it.
type Server struct {
	http *httptest.Server
	gone chan struct{} // closed when the server is

	mu       sync.Mutex
	scripts  []script
	compute  func(Request) Reply
	requests []Request
	played   map[place]int // how often a fault was
	ids      int
	note     func(Request)
}

type script struct {
	match   string
	replies []Reply
}

// A place is a reply of a script.
type place struct{ script, reply int }

// Start starts a server, which is closed with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(l)
	t.Cleanup(s.Close)
	return s
}

func serve(l net.Listener) *Server {
	s := &Server{gone: make(chan struct{}), played: map[place]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.handler(anthropic{}))
	mux.HandleFunc("POST /v1/chat/completions", s.handler(openai{}))
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	s.http.Start()
	return s
}

// Close ends the server and whatever it is still saying.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.gone:
	default:
		close(s.gone)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is where both protocols are served: http://127.0.0.1:<port>/v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Script says what is answered to conversations whose first message holds
// match, of several scripts by the one that was added first. Which reply it is
// is told by the number of the model's turns in the request, so that a request
// that is repeated is answered alike. After the last reply the model says
// "done", as it does where no script fits. A model that is offered no tools
// calls none, whatever the script says.
func (s *Server) Script(match string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, script{match, replies})
}

// Func lets a function answer in the place of the scripts, which it can ask
// for their answer by [Server.Scripted]. It may be called by several requests
// at the same time.
func (s *Server) Func(compute func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compute = compute
}

// Requests returns what the server was asked so far, also what it did not
// take.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Scripted is what the scripts answer to a request. A fault is in the answer
// as often as it is to be played.
func (s *Server) Scripted(req Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := Reply{Text: "done"}
	for i, sc := range s.scripts {
		if !strings.Contains(req.First(), sc.match) {
			continue
		}
		if n := req.Turns(); n < len(sc.replies) {
			said = sc.replies[n]
			at := place{i, n}
			if said.Fault != nil && s.played[at] >= max(said.Fault.Times, 1) {
				said.Fault = nil
			}
			s.played[at]++
		}
		break
	}
	if len(req.Tools) == 0 && len(said.Calls) > 0 {
		said.Calls = nil
		if said.Text == "" {
			said.Text = "done"
		}
	}
	return said
}

// A protocol is one of the two forms in which models are spoken to.
type protocol interface {
	// decode reads a request; the error is what the real server would say.
	decode(r *http.Request, body []byte) (Request, error)
	// events are a whole answer, as it is streamed.
	events(req Request, said Reply) []event
	// failure is the body of an answer with an error.
	failure(status int, message string) any
	// broken is an error in the midst of a stream.
	broken(message string) event
}

func (s *Server) handler(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // who asked has gone
		}
		req, err := p.decode(r, body)
		req.Path, req.Header, req.Body = r.URL.Path, r.Header.Clone(), body
		s.mu.Lock()
		s.requests = append(s.requests, req)
		compute, note := s.compute, s.note
		s.mu.Unlock()
		if note != nil {
			note(req)
		}
		if err != nil {
			status := http.StatusBadRequest
			if err == errNoKey {
				status = http.StatusUnauthorized
			}
			answer(w, status, p.failure(status, err.Error()))
			return
		}
		if compute == nil {
			compute = s.Scripted
		}
		s.say(&stream{w: w, ctx: r.Context(), gone: s.gone, protocol: p}, req, compute(req))
	}
}

func (s *Server) say(out *stream, req Request, said Reply) {
	if !out.wait(said.Hold, said.Delay) {
		return
	}
	if said.Before != nil {
		said.Before()
	}
	said.Calls = slices.Clone(said.Calls)
	for i := range said.Calls {
		if said.Calls[i].ID == "" {
			s.mu.Lock()
			s.ids++
			said.Calls[i].ID = fmt.Sprintf("call_made_%d", s.ids)
			s.mu.Unlock()
		}
	}
	out.play(req, said)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if text, ok := v.(string); ok {
		_, _ = io.WriteString(w, text)
		return
	}
	_, _ = w.Write(encode(v))
}

// encode writes what is known to be writable, as the real servers do: without
// escapes that HTML needs.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
