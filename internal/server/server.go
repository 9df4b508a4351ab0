package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/auth"
)

const (
	// maxDetached bounds what does not live in a request: the turns, whether
	// somebody waits for them or not, and the calls that nobody waits for.
	maxDetached = 1024
	// maxWaiting bounds the calls that clients wait for. It is less than the
	// gate has room for, so that what they ask can still be answered.
	maxWaiting = 512

	// DefaultPatience is how long what is asked waits for a person, where
	// nothing else is said.
	DefaultPatience = 30 * time.Minute
)

// errClosing ends what the server has started when it closes.
var errClosing = errors.New("the server is closing")

// Options set up a [Server].
type Options struct {
	// Runtime does the work. It belongs to the caller, who closes it after
	// the server. Without one there is nothing but the OpenAPI document.
	Runtime *helve.Runtime

	Version       string // of the program
	Dir, Worktree string // where the runtime works

	// TokenFile is where the token is kept, for whoever is told how to send it;
	// "" where it is in no file.
	TokenFile string

	// Patience is how long a request or a set of questions waits for a person;
	// [DefaultPatience] when 0. Afterwards it ends without an answer, and the
	// reason says so.
	Patience time.Duration

	// URL is where the console is reached, for links, such as
	// "http://127.0.0.1:4096". Token gives what a one-time code is exchanged
	// for; without it there are no links.
	URL   string
	Token func() string

	// Explain says what the rules would decide, Models who can be prompted,
	// and Config what is configured, without secrets. Where one is nil, its
	// route says that there is none.
	Explain func(ctx context.Context, q ExplainQuery) (Explained, error)
	Models  func(ctx context.Context) ([]ModelInfo, error)
	Config  func(ctx context.Context) (json.RawMessage, error)

	// Console serves /, /console and what lies below /console/; nil for nothing.
	Console http.Handler

	// Logger is told what no client is; nothing is logged when nil.
	Logger *slog.Logger
}

// A Server is a runtime over HTTP. Make one with [New].
type Server struct {
	opt      Options
	rt       *helve.Runtime
	log      *slog.Logger
	instance string // of this process: numbers of events mean nothing in another
	started  time.Time
	session  func() string // of calls that name none
	gathered sync.Once     // the tools of other programs

	api     huma.API
	mux     *http.ServeMux
	doc     []byte
	hub     *hub
	codes   *auth.Codes
	watch   *activity
	turns   *turns
	waits   chan struct{} // one for each call that a client waits for
	rooms   chan struct{} // one for each turn, and for each call that nobody waits for
	life    context.Context
	end     context.CancelCauseFunc
	closing sync.RWMutex
	closed  bool
	work    sync.WaitGroup // all that Close waits for
}

// New returns a server. Close ends it.
func New(o Options) (*Server, error) {
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opt: o, rt: o.Runtime, log: o.Logger, instance: strings.ToLower(rand.Text()[:12]), started: time.Now(),
		codes: auth.NewCodes(nil), watch: newWatch(), turns: newTurns(), rooms: make(chan struct{}, maxDetached), waits: make(chan struct{}, maxWaiting),
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	if err := s.registerRoutes(); err != nil {
		s.end(errClosing)
		return nil, err
	}
	if s.rt == nil {
		return s, nil
	}
	s.session = sync.OnceValue(func() string { return s.rt.NewID("ses") })
	s.hub = newHub(func(ctx context.Context) iter.Seq[event.Event] { return s.rt.Events(ctx, 0) }, s.instance, s.log)
	// The stream and the console are not described by types.
	s.mux.Handle("GET /v1/events", s.hub)
	if s.opt.Console != nil {
		for _, pattern := range pages() {
			s.mux.Handle(pattern, s.opt.Console)
		}
	}
	s.work.Go(s.followEvents)
	s.work.Go(s.expire)
	return s, nil
}

// Handler returns the handler of all routes. It stands behind the gate.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// OpenAPI returns the document that describes every route, in OpenAPI 3.1. It
// is the same whatever the options are.
func (s *Server) OpenAPI() []byte { return s.doc }

// Public returns the routes that need no token, as patterns of [http.ServeMux]:
// the pages of the console, which hold nothing of anybody, and the exchange of
// a one-time code, which is a secret itself.
func Public() []string {
	return append(pages(), "POST /v1/open", "GET /v1/proof")
}

// pages are the routes of the console.
func pages() []string { return []string{"GET /{$}", "GET /console", "GET /console/"} }

// Close ends the streams, and the calls and turns that the server has started,
// and waits for them. No other begins.
func (s *Server) Close() error {
	s.closing.Lock()
	again := s.closed
	s.closed = true
	s.closing.Unlock()
	if again {
		return nil
	}
	s.end(errClosing)
	if s.hub != nil {
		s.hub.close()
	}
	s.work.Wait()
	return nil
}

// beginOperation joins what a client began to the life of the server: Close cancels it
// and waits until leave is called.
func (s *Server) beginOperation(ctx context.Context) (_ context.Context, leave func(), err error) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return nil, nil, closedProblem()
	}
	s.work.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(errClosing) })
	return ctx, func() {
		stop()
		cancel(nil)
		s.work.Done()
	}, nil
}

// detach is enter for what goes on when the client leaves, of which there is
// room for so much only.
func (s *Server) detach() (_ context.Context, leave func(), err error) {
	select {
	case s.rooms <- struct{}{}:
	default:
		return nil, nil, fullProblem()
	}
	ctx, exit, err := s.beginOperation(context.Background())
	if err != nil {
		<-s.rooms
		return nil, nil, err
	}
	return ctx, func() {
		<-s.rooms
		exit()
	}, nil
}
