package mcpserve

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
)

const (
	rootsWait = 2 * time.Second // for the client to name its roots
	maxStays  = 8               // runtimes that a session with changing roots is kept in
)

// A session is one client, from its handshake to the end of its connection.
type session struct {
	s       *Server
	ss      *mcp.ServerSession
	name    string // that HTTP clients say; empty over standard input
	client  string // what the client calls itself, for the log
	program string // the name alone
	named   sync.Once
	version string   // of the protocol
	roots   bool     // the client names roots
	asks    bool     // the client can put a form to a person
	lends   *sampler // the client's model; nil where it lends none

	life context.Context // ends with the session, and with the server
	end  context.CancelFunc

	ended sync.Once

	// Of the server, under its lock.
	place *list.Element
	busy  int         // requests under way
	open  int         // HTTP requests that are open
	timer *time.Timer // ends an unused HTTP session

	slots   chan struct{} // one for each call at work
	verbose atomic.Bool   // the client wants all log messages
	logged  atomic.Bool   // the client has set its log level
	met     atomic.Bool   // the handshake is over
	moves   atomic.Int64  // how often the client has said that its roots changed

	mu      sync.Mutex
	closed  bool
	id      string           // of the session in all its runtimes
	stays   []*sharedRuntime // where the session is and was, the newest last
	stale   bool             // the client's roots have changed
	moving  *pendingMove
	calls   map[string]*callState
	waiting int                    // calls, also those that have no slot yet
	listed  string                 // what the client was last shown, as a digest
	lists   [kinds]map[string]bool // the servers whose things the client was shown; nil where it has not asked
	watches map[resourceWatch]bool // what the client wants to hear about
	notices notices
}

// A pendingMove is the search for the folder of a session, while it is in progress.
type pendingMove struct {
	done chan struct{}
	hall *sharedRuntime
	err  error
}

func newSession(s *Server, ss *mcp.ServerSession, p *mcp.InitializeParams, version string) *session {
	se := &session{
		s: s, ss: ss, name: ss.ID(), version: version,
		slots: make(chan struct{}, maxAtWork), calls: map[string]*callState{},
	}
	if p.ClientInfo != nil {
		se.program = p.ClientInfo.Name
		se.client, _ = text.Cut(text.VisibleLine(p.ClientInfo.Name+" "+p.ClientInfo.Version), 200)
	}
	if c := p.Capabilities; c != nil {
		se.roots = c.RootsV2 != nil
		se.asks = c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
	}
	se.lends = newSampler(ss, p)
	se.life, se.end = context.WithCancel(s.life)
	return se
}

// rootsChanged is the notification of a client that its roots have changed.
const rootsChanged = "notifications/roots/list_changed"

// heard acts on a notification of the client.
func (se *session) heard(method string) {
	switch method {
	case "notifications/initialized":
		se.met.Store(true)
	case rootsChanged:
		se.mu.Lock()
		se.stale = true
		se.mu.Unlock()
		se.moves.Add(1)
	default:
		return
	}
	if se.name != "" { // over HTTP only the answer to a request surely reaches the client
		return
	}
	se.s.spawn(func() {
		h, err := se.currentRuntime(se.life)
		if err != nil {
			se.s.log.Warn("a session has no workspace yet", "client", se.client, "error", err)
			return
		}
		se.notifyToolChange(h)
	})
}

// currentRuntime returns the runtime that the session works in. It asks the client for its roots if
// they are unknown, and opens the runtime.
func (se *session) currentRuntime(ctx context.Context) (*sharedRuntime, error) {
	for {
		se.mu.Lock()
		if se.closed {
			se.mu.Unlock()
			return nil, errors.New("the session has ended")
		}
		if n := len(se.stays); n > 0 && !se.stale && se.moving == nil {
			h := se.stays[n-1]
			se.mu.Unlock()
			return h, nil
		}
		w, mine := se.moving, false
		if w == nil {
			w, mine = &pendingMove{done: make(chan struct{})}, true
			se.moving, se.stale = w, false
		}
		se.mu.Unlock()
		if mine {
			h, err := se.findRuntime(ctx)
			se.arrive(w, h, err)
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if w.err == nil || mine {
			return w.hall, w.err
		}
	}
}

// findRuntime finds the place and opens it.
func (se *session) findRuntime(ctx context.Context) (*sharedRuntime, error) {
	w := Workspace{Dir: se.s.opt.Dir, Attended: se.asks}
	if se.s.opt.Shared != nil {
		return se.moveTo(ctx, Workspace{Dir: se.s.opt.Dir})
	}
	if se.roots {
		dirs, err := se.folders(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			se.warn(ctx, "The client did not name its roots: %v", err)
			if h := se.here(); h != nil { // it stays where it is
				return h, se.s.halls.retain(h)
			}
		case len(dirs) > 1:
			w.Also = dirs[1:]
			fallthrough
		case len(dirs) > 0:
			w.Dir = dirs[0]
		}
	}
	return se.moveTo(ctx, w)
}

// here is where the session is, nil before it is anywhere.
func (se *session) here() *sharedRuntime {
	se.mu.Lock()
	defer se.mu.Unlock()
	if len(se.stays) == 0 {
		return nil
	}
	return se.stays[len(se.stays)-1]
}

// arrive keeps what move has found. A session that has ended meanwhile gives
// it back.
func (se *session) arrive(w *pendingMove, h *sharedRuntime, err error) {
	se.mu.Lock()
	var leave []*sharedRuntime
	switch {
	case err != nil:
		se.stale = len(se.stays) > 0
	case se.closed:
		leave, err = []*sharedRuntime{h}, errors.New("the session has ended")
	default:
		if se.id == "" {
			se.id = h.rt.NewID("ses")
		}
		if i := slices.Index(se.stays, h); i >= 0 { // it is back, and needs its place only once
			se.stays = append(slices.Delete(se.stays, i, i+1), h)
			se.s.halls.release(h)
		} else {
			se.stays = append(se.stays, h)
			h.mu.Lock()
			h.sessions[se.id] = se
			if se.lends != nil {
				h.loans[se.id] = h.rt.Turns().Lend(se.id, model.Model{Provider: se.lends, ProviderID: "client", ID: se.lends.name})
			}
			h.mu.Unlock()
		}
		if len(se.stays) > maxStays {
			leave, se.stays = se.stays[:1:1], slices.Clone(se.stays[1:])
		}
	}
	id := se.id
	se.moving, w.hall, w.err = nil, h, err
	se.mu.Unlock()
	close(w.done)
	for _, old := range leave {
		se.unwatch(func(w resourceWatch) bool { return w.h == old })
		old.removeSession(id)
		se.s.halls.release(old)
	}
}

// endStays ends what the session had in its runtimes, once. It returns when that
// is done.
func (se *session) endStays() { se.ended.Do(se.windUp) }

func (se *session) windUp() {
	se.end()
	se.mu.Lock()
	se.closed = true
	stays, id := se.stays, se.id
	se.stays = nil
	se.mu.Unlock()
	se.unwatch(func(resourceWatch) bool { return true })
	for _, h := range stays {
		h.removeSession(id)
		se.s.halls.release(h)
	}
}

// close ends the connection. Calls under way are cancelled first, or it would
// wait for them.
func (se *session) close() {
	se.end()
	_ = se.ss.Close() // it is gone either way
}

// logToClient sends a log message to the client, if it wants such messages.
func (se *session) logToClient(ctx context.Context, level mcp.LoggingLevel, data map[string]any) {
	err := se.ss.Log(ctx, &mcp.LoggingMessageParams{Logger: "helve", Level: level, Data: data})
	if err != nil && ctx.Err() == nil {
		se.s.log.Debug("a log message did not reach the client", "client", se.client, "error", err)
	}
}

// warn reports a problem to the client and the log.
func (se *session) warn(ctx context.Context, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	se.s.log.Warn(message, "client", se.client)
	se.logToClient(ctx, "warning", map[string]any{"message": message})
}
