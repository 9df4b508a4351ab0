package mcpserve

import (
	"context"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxBody       = 4 << 20 // bytes of one request
	sessionHeader = "Mcp-Session-Id"
	// streamHeader carries the number of an HTTP request to the call in it, because the SDK offers
	// no other way.
	streamHeader = "X-Helve-Stream"
)

// Handler serves clients over streamable HTTP at /mcp. It does not authenticate: wrap it in an
// auth.Guard.
func (s *Server) Handler() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes:        maxBody,
		DisableLocalhostProtection: true, // the guard checks host names, in any spelling
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(sessionHeader)
		if r.Method == http.MethodDelete {
			// The session would wait for its calls otherwise.
			s.mu.Lock()
			se := s.names[id]
			s.mu.Unlock()
			if se != nil {
				se.end()
			}
		}
		number, ok := s.trackRequest(r.Context(), id)
		if !ok {
			http.Error(w, "the server is closing", http.StatusServiceUnavailable)
			return
		}
		defer s.finished(id, number)
		r = r.Clone(r.Context())
		r.Header.Set(streamHeader, number)
		h.ServeHTTP(w, r)
	})
	return mux
}

// trackRequest notes an HTTP request. While one is open its session is not idle.
func (s *Server) trackRequest(ctx context.Context, id string) (number string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", false
	}
	s.serial++
	number = strconv.FormatUint(s.serial, 10)
	s.streams[number] = ctx
	if se := s.names[id]; se != nil {
		se.open++
		se.timer.Stop()
	}
	return number, true
}

func (s *Server) finished(id, number string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, number)
	se := s.names[id]
	if se == nil {
		return
	}
	if se.open--; se.open <= 0 {
		se.open = 0
		se.timer.Reset(s.idle)
	}
}

// stream returns the context of the HTTP request that contained a message, and nil for other
// transports.
func (s *Server) stream(req mcp.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || extra.Header == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[extra.Header.Get(streamHeader)]
}

// expire ends an HTTP session that no request has been open for.
func (s *Server) expire(se *session) {
	s.mu.Lock()
	busy := se.open > 0 || se.busy > 0 || s.sessions[se.ss] != se
	if busy && s.sessions[se.ss] == se {
		se.timer.Reset(s.idle)
	}
	s.mu.Unlock()
	if busy {
		return
	}
	s.log.Info("a session has been idle for too long", "client", se.client)
	se.close()
}
