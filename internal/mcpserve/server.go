package mcpserve

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve"
)

// A Workspace is where the calls of a session work. Sessions of equal
// workspaces share a runtime.
type Workspace struct {
	Dir      string   // relative paths start here
	Also     []string // further roots that the client has named
	Attended bool     // there is a person who can be asked
}

// Options set up a [Server].
type Options struct {
	// Open makes the runtime of a workspace. The server owns it, and closes it
	// when it is done.
	Open func(ctx context.Context, w Workspace) (*helve.Runtime, error)
	// Shared, if set, is the runtime of all clients, in its own folder, whatever roots they name.
	// It belongs to the caller, who must answer requests of clients without forms in another way;
	// Open is not called.
	Shared *helve.Runtime
	// Dir is the workspace of sessions whose client names no roots.
	Dir string
	// Roots, if any, are the folders that must contain the roots of clients: others are ignored.
	Roots []string

	// Agent, Model and Provider are who calls.
	Agent, Model, Provider string
	// Compact keeps the tools of other programs out of the list. Open switches
	// the tools on by which they are found, with the flag of that name.
	Compact bool
	// Relay announces resources, prompts and their completion to clients. They are those of the
	// runtime's MCP servers; requests for them are served in any case.
	Relay bool
	// Structured adds what searches found as data.
	Structured bool

	Version string       // of the program, sent to clients
	Logger  *slog.Logger // nothing is logged when nil
}

// What a server grants and waits for.
const (
	maxSessions = 1024             // at one time
	idleSession = 10 * time.Minute // of an HTTP session that no request is open for
	idleRuntime = time.Minute      // of a runtime that no session uses
	closeWait   = 3 * time.Second  // for clients that take nothing any more
)

// A Server offers the tools of runtimes to MCP clients. Make one with [New].
type Server struct {
	opt   Options
	log   *slog.Logger
	mcp   *mcp.Server
	halls *runtimePool

	life context.Context
	end  context.CancelFunc
	idle time.Duration  // of HTTP sessions
	most int            // sessions
	work sync.WaitGroup // what waits for the ends of sessions

	mu       sync.Mutex
	closed   bool
	sessions map[*mcp.ServerSession]*session
	names    map[string]*session // by the name that HTTP clients know them by
	order    *list.List          // of sessions, the longest idle first
	streams  map[string]context.Context
	serial   uint64
}

// New returns a server. It opens nothing: the first client does.
func New(o Options) *Server {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if dir, err := filepath.Abs(o.Dir); err == nil {
		o.Dir = evalLinks(dir)
	}
	roots := make([]string, 0, len(o.Roots))
	for _, r := range o.Roots {
		if dir, err := filepath.Abs(r); err == nil {
			roots = append(roots, evalLinks(dir))
		}
	}
	o.Roots = roots
	s := &Server{
		opt: o, log: o.Logger, idle: idleSession, most: maxSessions,
		sessions: map[*mcp.ServerSession]*session{}, names: map[string]*session{},
		order: list.New(), streams: map[string]context.Context{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.halls = &runtimePool{open: o.Open, shared: o.Shared != nil, log: o.Logger, idle: idleRuntime, life: s.life, all: map[string]*sharedRuntime{}}
	if o.Shared != nil {
		s.halls.open = func(context.Context, Workspace) (*helve.Runtime, error) { return o.Shared, nil }
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "helve", Title: "helve", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: o.abilities(), SupportedProtocolVersions: versions(),
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe,
	})
	s.mcp.AddReceivingMiddleware(s.receive)
	s.mcp.AddSendingMiddleware(sendNotice, sendTotal)
	return s
}

// abilities returns the capabilities that a client is offered. Some clients add tools of their own
// when a server has resources, which is useless if there are none.
//
// A client that is helve too uses the metadata to find out whether it is connected to itself.
func (o Options) abilities() *mcp.ServerCapabilities {
	c := &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{ListChanged: true}}
	if host, err := os.Hostname(); err == nil {
		follows := o.Shared == nil && len(o.Roots) == 0 // it works in the folders that the client names
		c.Experimental = map[string]any{"helve": map[string]any{"host": host, "folder": o.Dir, "roots": follows}}
	}
	if o.Relay {
		c.Resources = &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}
		c.Prompts = &mcp.PromptCapabilities{ListChanged: true}
		c.Completions = &mcp.CompletionCapabilities{}
	}
	return c
}

// instructions are what a client may show its model about the tools as a whole.
const instructions = `helve runs tools for working on code in the folders of this workspace: reading, searching and changing files, and running commands.
- Paths are absolute, or relative to the first folder of the workspace.
- Read a file before you change it. A file that somebody else has changed since has to be read again.
- What the user's rules deny fails, and the error says why and which rule decides. Do not try to get around it: do it another way, or tell the user.
- A long output is cut, and its beginning says where the whole is kept.`

// stateless is the first version of the protocol that has no handshake.
const stateless = "2026-07-28"

// versions are those of the protocol that are spoken: those with a handshake,
// because what a session has read belongs to it.
func versions() []string {
	return slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v >= stateless })
}

// receive is the middleware that serves requests about tools, resources and prompts, and tracks
// sessions.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = nil, s.broke(method, p)
			}
		}()
		ss, ok := req.GetSession().(*mcp.ServerSession)
		if !ok {
			return next(ctx, method, req)
		}
		if method == "initialize" {
			return s.initialize(ss, req, func() (mcp.Result, error) { return next(ctx, method, req) })
		}
		se := s.acquireSession(ss)
		if se == nil { // it has not said who it is
			return next(ctx, method, req)
		}
		defer s.releaseSession(se)
		switch p := req.GetParams().(type) {
		case *mcp.ListToolsParams:
			return se.listTools(ctx, p)
		case *mcp.CallToolParamsRaw:
			return se.callTool(ctx, p, s.stream(req))
		}
		if res, err := se.relayed(ctx, method, req); res != nil || err != nil {
			return res, err
		}
		switch method {
		case "tools/list": // without parameters
			return se.listTools(ctx, nil)
		case "tools/call":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the call names no tool"}
		}
		res, err = next(ctx, method, req)
		if err != nil {
			return nil, err
		}
		if p, ok := req.GetParams().(*mcp.SetLoggingLevelParams); ok && p != nil {
			se.verbose.Store(p.Level == "debug")
			se.logged.Store(true)
		}
		se.heard(method)
		return res, err
	}
}

// broke is the response to a request whose handler panicked.
func (s *Server) broke(method string, p any) error {
	s.log.Error("a request broke the server's code", "method", method, "panic", p)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request could not be handled: this is a fault of the server"}
}

// initialize accepts a client. A version of the protocol that has no handshake cannot be meant by
// one, so the newest that has one is used.
func (s *Server) initialize(ss *mcp.ServerSession, req mcp.Request, next func() (mcp.Result, error)) (mcp.Result, error) {
	params, ok := req.GetParams().(*mcp.InitializeParams)
	if !ok || params == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "initialize needs its parameters"}
	}
	if known := versions(); !slices.Contains(known, params.ProtocolVersion) {
		params.ProtocolVersion = known[0]
	}
	if err := s.makeRoom(); err != nil {
		return nil, err
	}
	res, err := next()
	if err != nil {
		return nil, err
	}
	version := params.ProtocolVersion
	if got, ok := res.(*mcp.InitializeResult); ok {
		version = got.ProtocolVersion
	}
	if err := s.addSession(newSession(s, ss, params, version)); err != nil {
		return nil, err
	}
	return res, nil
}

// makeRoom ensures space for one more session, by closing the one that has been idle for longest.
func (s *Server) makeRoom() error {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return errClosed()
		}
		if len(s.sessions) < s.most {
			s.mu.Unlock()
			return nil
		}
		var old *session
		for e := s.order.Front(); e != nil; e = e.Next() {
			if se, ok := e.Value.(*session); ok && se.busy == 0 {
				old = se
				break
			}
		}
		if old != nil {
			s.removeSession(old)
		}
		s.mu.Unlock()
		if old == nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("the server has %d sessions at work and takes no more: try again later", s.most)}
		}
		s.log.Info("a session has to go, because there are too many", "session", old.name)
		old.close()
	}
}

func errClosed() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server is closing"}
}

// addSession keeps a session until its connection ends.
func (s *Server) addSession(se *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		se.end()
		return errClosed()
	}
	s.sessions[se.ss] = se
	se.place = s.order.PushBack(se)
	if se.name != "" {
		s.names[se.name] = se
		se.timer = time.AfterFunc(s.idle, func() { s.expire(se) })
	}
	s.log.Info("a client has come", "client", se.client, "protocol", se.version, "asks", se.asks, "roots", se.roots)
	s.work.Go(func() {
		_ = se.ss.Wait() // why it ended is of no use: it has ended
		se.endStays()
		s.mu.Lock()
		s.removeSession(se)
		s.mu.Unlock()
		s.log.Info("a client has gone", "client", se.client)
	})
	return nil
}

// removeSession removes a session from all lists. The caller holds the lock.
func (s *Server) removeSession(se *session) {
	if s.sessions[se.ss] != se {
		return
	}
	delete(s.sessions, se.ss)
	delete(s.names, se.name)
	s.order.Remove(se.place)
	if se.timer != nil {
		se.timer.Stop()
	}
}

// acquireSession finds the session of a request and keeps it from being idle.
func (s *Server) acquireSession(ss *mcp.ServerSession) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	se := s.sessions[ss]
	if se != nil {
		se.busy++
		s.order.MoveToBack(se.place)
	}
	return se
}

func (s *Server) releaseSession(se *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	se.busy--
	if s.sessions[se.ss] == se {
		s.order.MoveToBack(se.place)
	}
}

// spawn runs f, which Close waits for. It reports whether the server is not
// closed.
func (s *Server) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Go(f)
	return true
}

// Close ends all sessions and closes all runtimes. Calls under way are
// cancelled.
func (s *Server) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	var open []*session
	for _, se := range s.sessions {
		open = append(open, se)
	}
	s.mu.Unlock()
	if again {
		return nil
	}
	s.end()
	for _, se := range open {
		s.work.Go(se.close)
	}
	err := error(nil)
	if !finishesWithin(closeWait, s.work.Wait) {
		err = errors.New("closing MCP sessions: a client does not take its answers")
	}
	return errors.Join(err, s.halls.close())
}

// finishesWithin reports whether f ends in time. Otherwise f is abandoned.
func finishesWithin(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
