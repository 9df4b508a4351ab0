package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A step is one move of the scripted model: a call of a tool of the server
// under proof.
type step struct {
	tool string         // as the server names it
	args map[string]any // of the call
}

// An offer is a tool that a client shows the model.
type offer struct {
	name  string
	group string // some clients send the tools of a server as a named group
}

// full is the name with its group, as it is searched for the server's name.
func (o offer) full() string { return o.group + "_" + o.name }

// A turn is one request of a client, freed of its wire format.
type turn struct {
	offers  []offer
	results []string // of all calls of the conversation so far, in order
}

// A move is what the model does next: a call, or its last words.
type move struct {
	id   string
	call *offer
	args string // JSON
	text string
}

// A model plays a script to any client that asks. Where it stands is read from
// the conversation that the client sends, so a request that is sent twice gets
// the same answer twice.
type model struct {
	server string // the name under which clients know the server
	script []step

	mu       sync.Mutex
	offers   []offer
	results  []string
	requests int
	missing  string // a tool of the script that was not offered
	odd      []string
}

// next decides what to answer to a turn, and keeps what it shows.
func (m *model) next(t turn) move {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if len(t.offers) == 0 {
		return move{text: "A title"} // a side errand such as naming the session
	}
	if len(t.offers) > len(m.offers) {
		m.offers = t.offers
	}
	if len(t.results) > len(m.results) {
		m.results = t.results
	}
	at := len(t.results)
	if at >= len(m.script) {
		return move{text: "done"}
	}
	s := m.script[at]
	o := m.find(t.offers, s.tool)
	if o == nil {
		m.missing = s.tool
		return move{text: "The tool " + s.tool + " is not offered."}
	}
	args, err := json.Marshal(s.args)
	if err != nil {
		return move{text: err.Error()}
	}
	return move{id: fmt.Sprintf("call_%d", at+1), call: o, args: string(args)}
}

// find returns the server's tool of a name among all that a client offers.
// Clients put the server's name before the tool's, each in its own way.
func (m *model) find(offers []offer, name string) *offer {
	for i, o := range offers {
		full := o.full()
		if !strings.Contains(full, m.server) {
			continue
		}
		head, ok := strings.CutSuffix(full, name)
		if ok && (head == "" || strings.HasSuffix(head, "_") || strings.HasSuffix(head, ".")) {
			return &offers[i]
		}
	}
	return nil
}

// seen returns what the model was shown so far.
func (m *model) seen() (offers []offer, results []string, missing string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offers, m.results, m.missing
}

// strange keeps requests that no wire format explains, for the report.
func (m *model) strange(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.odd) < 20 {
		m.odd = append(m.odd, what)
	}
}

// ServeHTTP tells the wire formats apart by their paths.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	path := r.URL.Path
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/chat/completions"):
		err = m.chat(w, body)
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/responses"):
		err = m.respond(w, body)
	case r.Method == http.MethodPost && strings.Contains(path, ":"):
		err = m.gemini(w, path, body)
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		err = answerJSON(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": modelName, "object": "model"}}, "models": []any{}})
	default:
		m.strange(r.Method + " " + path)
		http.NotFound(w, r)
	}
	if err != nil {
		m.strange(r.Method + " " + path + ": " + err.Error())
	}
}

// modelName is what clients call the scripted model.
const modelName = "script-1"

func answerJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}

// A stream writes server-sent events.
type stream struct {
	w     http.ResponseWriter
	named bool // events carry the type of their data as their name
	err   error
}

func newStream(w http.ResponseWriter, named bool) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, named: named}
}

func (s *stream) send(v map[string]any) {
	text, err := json.Marshal(v)
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	if s.named {
		s.raw("event: " + fmt.Sprint(v["type"]) + "\n")
	}
	s.raw("data: " + string(text) + "\n\n")
}

func (s *stream) raw(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// serveModel serves a model on a free loopback port until stop is called.
func serveModel(m *model) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening for the model: %w", err)
	}
	srv := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends with the server
	}()
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close() // what is still open is a client that has been ended
		}
		<-done
	}
	return "http://" + l.Addr().String(), stop, nil
}
