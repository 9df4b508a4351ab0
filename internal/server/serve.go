package server

import (
	"net/http"
	"path"
	"runtime/debug"
)

// serve answers a request, whatever it is: also paths and methods that there
// are not, and handlers that break, get a problem.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	a := &trackedWriter{ResponseWriter: w}
	defer s.rescue(a)
	if p := s.routeProblem(r); p != nil {
		p.write(a)
		return
	}
	s.mux.ServeHTTP(a, r)
}

// routeProblem says why no route takes a request; nil where one does.
func (s *Server) routeProblem(r *http.Request) *problem {
	// The mux would redirect to the tidy form of a path, which repeats what the
	// client sent in a header.
	if r.URL.Path != "/" && path.Clean(r.URL.Path)+slash(r.URL.Path) != r.URL.Path {
		return noRoute()
	}
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		return nil
	}
	got := &silent{header: http.Header{}}
	h.ServeHTTP(got, r) // the mux knows which methods there are
	if got.status != http.StatusMethodNotAllowed {
		return noRoute()
	}
	return newProblem(http.StatusMethodNotAllowed, "no-method", "This path does not take that method. Use one of the Allow header.").
		withHeader("Allow", got.header.Get("Allow"))
}

func slash(p string) string {
	if len(p) > 1 && p[len(p)-1] == '/' {
		return "/"
	}
	return ""
}

func noRoute() *problem {
	return newProblem(http.StatusNotFound, "no-route", "There is nothing at this path. GET /v1/openapi.json lists what there is.")
}

// rescue answers for a handler that broke. Where the answer has begun it is
// broken off, so that nobody takes a part for the whole.
func (s *Server) rescue(a *trackedWriter) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.log.Error("a handler broke", "panic", v, "stack", string(debug.Stack()))
	if a.begun {
		panic(http.ErrAbortHandler)
	}
	broken("Something went wrong here. The log of the server says what.").write(a)
}

// An answer knows whether it has begun.
type trackedWriter struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader begins the answer. A second time it does nothing: huma notes that
// way that the client is gone.
func (a *trackedWriter) WriteHeader(status int) {
	if a.begun {
		return
	}
	a.begun = status >= http.StatusOK
	a.ResponseWriter.WriteHeader(status)
}

// Write begins the answer too.
func (a *trackedWriter) Write(p []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(p)
}

// FlushError sends what is there, for http.ResponseController: it tells that
// the client is gone. It begins the answer too.
func (a *trackedWriter) FlushError() error {
	a.begun = true
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Flush sends what is there, for those who look for this method.
func (a *trackedWriter) Flush() { _ = a.FlushError() }

// Unwrap is for http.ResponseController.
func (a *trackedWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// A silent writer keeps the head of an answer and nothing else.
type silent struct {
	header http.Header
	status int
}

func (w *silent) Header() http.Header         { return w.header }
func (w *silent) Write(p []byte) (int, error) { return len(p), nil }
func (w *silent) WriteHeader(status int)      { w.status = status }
