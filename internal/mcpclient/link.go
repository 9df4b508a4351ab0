package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
)

// firstProtocol is the newest protocol that begins with the initialize handshake. It is tried first
// because some servers exit at anything else; a server that no longer supports it is tried again
// with the newest of all.
const firstProtocol = "2025-11-25"

// How long things take at the end of a connection.
const (
	drainTime  = 250 * time.Millisecond // for what a dead server has printed last
	leaveTime  = 500 * time.Millisecond // for a server to end when its input does
	endGrace   = 500 * time.Millisecond // between asking processes to end and killing them
	pingPeriod = 15 * time.Second
)

// The limits of the texts that a server sends about itself.
const (
	maxInstructions = 16 << 10
	maxLabel        = 200
)

// A connection is one connection to a server.
type connection struct {
	e         *peer
	born      time.Time
	transport string
	local     *local  // of a local server
	remote    *remote // of a remote one
	life      context.Context
	kill      context.CancelFunc

	session      *sdk.ClientSession
	has          struct{ tools, resources, subscribe, prompts, completions bool }
	instructions string
	program      string
	caches       atomic.Bool // the session caches lists until notified of a change

	relist chan struct{} // the list of tools has changed
	nudge  chan struct{} // a sign of life is wanted
	turn   chan struct{} // held by the question that is put to the person

	mu      sync.Mutex
	conn    sdk.Connection
	calls   map[string]*pendingCall
	serial  int
	waiting int  // questions to the person that were not answered yet
	asking  bool // one of them is being put

	closing bool // it is being closed

	once sync.Once
	dead chan struct{} // closed when the connection is no good any more
	why  error         // after dead
	gone chan struct{} // closed when nothing is left of it
}

func newLink(e *peer) *connection {
	l := &connection{
		e: e, born: time.Now(), calls: map[string]*pendingCall{},
		relist: make(chan struct{}, 1), nudge: make(chan struct{}, 1), turn: make(chan struct{}, 1),
		dead: make(chan struct{}), gone: make(chan struct{}),
	}
	l.life, l.kill = context.WithCancel(context.Background())
	return l
}

func (l *connection) isDead() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

func (l *connection) pid() int {
	if l.local == nil || l.local.proc == nil {
		return 0
	}
	return l.local.proc.PID()
}

// open connects to the server.
func (e *peer) open(ctx context.Context) (*connection, error) {
	limit := connectTimeout(e.s)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timedOut(limit))
	defer cancel()
	way := e.openRemote
	if isLocal(e.s) {
		way = e.openLocal
	} else if e.s.URL == "" {
		return nil, &connectError{state: mcp.Failed, text: "The server has neither a command nor a URL.", final: true}
	}
	l, err := way(ctx, firstProtocol)
	if modern(err) {
		l, err = way(ctx, "")
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

// modern reports whether an error is that of a server which no longer supports the initialize
// handshake: it does not know the method or the version, or misses the headers that the newest
// version requires.
func modern(err error) bool {
	wire, ok := wireError(err)
	return ok && slices.Contains([]int64{jsonrpc.CodeMethodNotFound, sdk.CodeUnsupportedProtocolVersion, sdk.CodeHeaderMismatch}, wire.Code)
}

// A kept transport remembers its connection, so that it can be cut.
type kept struct {
	sdk.Transport
	l *connection
}

// Connect implements [sdk.Transport].
func (k kept) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := k.Transport.Connect(ctx)
	if err == nil {
		k.l.mu.Lock()
		k.l.conn = conn
		k.l.mu.Unlock()
	}
	return conn, err
}

// shake does the handshake over a transport. It does not outlast ctx.
func (l *connection) shake(ctx context.Context, t sdk.Transport, protocol string) error {
	client := l.client()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.session, err = client.Connect(l.life, kept{t, l}, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	}()
	select {
	case <-done:
	case <-ctx.Done():
		l.breakConn()
		<-done
		if l.session != nil {
			_ = l.session.Close()
		}
		return context.Cause(ctx)
	}
	if err != nil {
		l.session = nil
		return err
	}
	return l.learn(l.session.InitializeResult())
}

// breakConn closes the connection, whatever is in progress.
func (l *connection) breakConn() {
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
	l.kill()
}

// learn stores what the server says about itself. It fails if the server is this very program at
// work in the same folder.
func (l *connection) learn(r *sdk.InitializeResult) error {
	if r == nil {
		return nil
	}
	l.caches.Store(r.ProtocolVersion > firstProtocol)
	l.instructions, _ = text.Cut(r.Instructions, maxInstructions)
	if r.ServerInfo != nil {
		l.program, _ = text.Cut(strings.TrimSpace(r.ServerInfo.Name+" "+r.ServerInfo.Version), maxLabel)
	}
	if c := r.Capabilities; c != nil {
		l.has.tools, l.has.resources, l.has.prompts = c.Tools != nil, c.Resources != nil, c.Prompts != nil
		l.has.subscribe, l.has.completions = c.Resources != nil && c.Resources.Subscribe, c.Completions != nil
		if l.e.itself(c.Experimental["helve"]) {
			return &connectError{state: mcp.Failed, text: startsItself, final: true}
		}
	}
	return nil
}

// startsItself tells people that an entry starts helve again where it already works. Such an entry
// is in the config of every agent that uses helve, and helve reads some of these. Each would start
// the next, whatever the command is wrapped in.
const startsItself = `This is helve itself, in the folder where it already works, so its tools are not offered twice. ` +
	`Remove the entry, or give it another folder with "cwd" and "roots": false.`

// itself reports whether a server is a helve that would work in the same folder as this one. said
// is the metadata it sent about itself; other servers send none.
func (e *peer) itself(said any) bool {
	s, _ := said.(map[string]any)
	if host, err := os.Hostname(); err != nil || s["host"] != host {
		return false
	}
	dir := e.pool.host.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return s["folder"] == dir || s["roots"] == true && !e.s.NoRoots
}

// client makes what talks the protocol.
func (l *connection) client() *sdk.Client {
	host := &l.e.pool.host
	caps := &sdk.ClientCapabilities{}
	if !l.e.s.NoRoots {
		caps.RootsV2 = &sdk.RootCapabilities{}
	}
	opts := &sdk.ClientOptions{
		Logger:                     l.e.pool.log,
		Capabilities:               caps,
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { l.listChanged() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { l.e.news.relisted(true, false) },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { l.e.news.relisted(false, true) },
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			if r.Params != nil {
				l.e.news.updated(r.Params.URI)
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			l.progressed(r.Params)
		},
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { l.logged(r.Params) },
	}
	if host.Ask != nil {
		caps.Elicitation = &sdk.ElicitationCapabilities{
			Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{},
		}
		opts.ElicitationHandler = l.elicit
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "helve", Version: l.e.pool.opts.Version}, opts)
	if host.Dir != "" && !l.e.s.NoRoots {
		path := filepath.ToSlash(host.Dir)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a drive
		}
		client.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: path}).String(), Name: filepath.Base(host.Dir)})
	}
	return client
}

// wireError returns the error that the server itself gave. The session's own
// errors are of the same type.
func wireError(err error) (*jsonrpc.Error, bool) {
	switch e := err.(type) {
	case nil:
		return nil, false
	case *jsonrpc.Error:
		ours := e.Code == -32005 && e.Message == "rejected by transport" ||
			e.Code == -32004 && e.Message == "server is closing" || e.Code == -32003 && e.Message == "client is closing"
		return e, !ours
	case interface{ Unwrap() error }:
		return wireError(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if wire, ok := wireError(part); ok {
				return wire, true
			}
		}
	}
	return nil, false
}

// ping pings the server. An error response of the server counts as alive.
func (l *connection) ping(ctx context.Context) error {
	err := l.session.Ping(ctx, nil)
	if _, ok := wireError(err); ok {
		return nil
	}
	return err
}

// listChanged schedules a new listing of the tools.
func (l *connection) listChanged() {
	select {
	case l.relist <- struct{}{}:
	default:
	}
}

// logged takes what the server logs.
func (l *connection) logged(p *sdk.LoggingMessageParams) {
	if p != nil {
		l.e.log.Message(string(p.Level), p.Logger, p.Data)
	}
}

// monitor starts supervising the connection.
func (l *connection) monitor() {
	ended := make(chan error, 1)
	p := l.e.pool
	ok := p.spawn(func() { ended <- l.session.Wait() }) &&
		p.spawn(func() { l.keepList() }) &&
		p.spawn(func() {
			if l.remote != nil {
				l.watchRemote(ended)
			} else {
				l.watchLocal(ended)
			}
		})
	if !ok {
		l.condemn(errClosed)
	}
}

func (l *connection) watchLocal(ended <-chan error) {
	select {
	case <-l.dead:
		l.close(l.why)
	case err := <-ended:
		select { // the end of a process explains more than that of a pipe
		case <-l.local.proc.Done():
			l.close(l.local.epitaph())
		case <-time.After(drainTime):
			l.close(broken(err))
		}
	case <-l.local.proc.Done():
		select { // for what it has printed last
		case <-ended:
		case <-time.After(2 * drainTime):
		}
		l.close(l.local.epitaph())
	}
}

func (l *connection) watchRemote(ended <-chan error) {
	wait := pingPeriod
	for {
		timer := time.NewTimer(wait)
		select {
		case <-l.dead:
			timer.Stop()
			l.close(l.why)
			return
		case err := <-ended:
			timer.Stop()
			l.close(broken(err))
			return
		case <-l.nudge:
			timer.Stop()
		case <-timer.C:
		}
		ctx, cancel := context.WithTimeout(l.life, pingTime)
		l.e.probe(ctx, l)
		cancel()
		if wait = pingPeriod; time.Since(l.remote.seen()) > pingPeriod/2 {
			wait = 2 * time.Second
		}
	}
}

// broken words the end of a connection.
func broken(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return &connectError{state: mcp.Failed, text: "The server has closed the connection."}
	}
	return &connectError{state: mcp.Failed, text: "The connection to the server is broken.", detail: err.Error()}
}

// condemn marks the connection dead.
func (l *connection) condemn(why error) {
	l.once.Do(func() {
		l.why = why
		close(l.dead)
		l.e.pool.log.Debug("MCP connection ends", "server", l.e.s.Name, "why", fmt.Sprint(why))
	})
}

// close ends the connection and everything that belongs to it. It may be
// called more than once; only one call does the work.
func (l *connection) close(why error) {
	l.condemn(why)
	l.e.handleLost(l)
	l.mu.Lock()
	mine := !l.closing
	l.closing = true
	l.mu.Unlock()
	if !mine {
		return
	}
	defer close(l.gone)
	if l.local != nil {
		l.local.letExit()
	}
	l.breakConn()
	if l.local != nil {
		l.local.end()
	}
	if l.session != nil {
		_ = l.session.Close() // nothing holds it up any more
	}
	if l.remote != nil {
		l.remote.close()
	}
}
