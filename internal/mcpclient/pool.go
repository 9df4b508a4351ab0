package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

// errClosed says that the pool has been closed.
var errClosed = errors.New("the MCP servers are being closed")

// The defaults of a server's entry.
const (
	defaultConnect = 30 * time.Second
	defaultCall    = 60 * time.Second
	defaultLimit   = time.Hour
)

// maxSaid is how much of an error is kept.
const maxSaid = 4 << 10

func isLocal(s mcp.Server) bool { return len(s.Command) > 0 }

func connectTimeout(s mcp.Server) time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultConnect
}

// redact takes what may be secret out of a text about the server, and bounds it.
func redact(s mcp.Server, said string) string {
	if u, err := url.Parse(s.URL); err == nil && s.URL != "" {
		for _, secret := range [...]string{u.RawQuery, u.User.String()} {
			if secret != "" {
				said = strings.ReplaceAll(said, secret, "…")
			}
		}
	}
	for _, secret := range s.Headers {
		if len(secret) >= 8 {
			said = strings.ReplaceAll(said, secret, "…")
		}
	}
	said, _ = text.Cut(said, maxSaid)
	return said
}

func limitOf(s mcp.Server) time.Duration {
	if s.Limit > 0 {
		return s.Limit
	}
	return defaultLimit
}

// A Pool is the servers of a configuration. It is safe for concurrent use.
type Pool struct {
	opts  mcp.Options
	host  mcp.Host
	log   *slog.Logger
	pins  *Pins
	life  context.Context // ends with Close
	end   context.CancelFunc
	work  sync.WaitGroup // every goroutine of the pool
	names names
	tell  teller

	signIns *auth.SignIns       // nil: servers that require a sign-in stay in the state NeedsAuth
	person  auth.HandlerOptions // reaches the person who signs in; zero for no one

	mu     sync.Mutex
	peers  []*peer // in the order of the configuration
	closed bool
}

// New makes a Pool. Nothing is started or read before something is needed.
// Of two servers of one name the later counts.
func New(o mcp.Options, h mcp.Host) *Pool {
	p := &Pool{opts: o, host: h, log: h.Logger, pins: OpenPins(h.Pins)}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if h.SignIns != "" {
		p.signIns = auth.OpenSignIns(h.SignIns)
	}
	if p.host.Register == nil {
		p.host.Register = func(tool.Tool) (func(), error) { return func() {}, nil }
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.tell.pool = p
	for _, s := range o.Servers {
		p.put(s)
	}
	return p
}

// put makes the peer of s, in the place of one of the same name.
func (p *Pool) put(s mcp.Server) {
	n := newPeer(p, s)
	for i, have := range p.peers {
		if have.s.Name == s.Name {
			p.peers[i] = n
			return
		}
	}
	p.peers = append(p.peers, n)
}

// list returns the peers of now.
func (p *Pool) list() []*peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.peers)
}

func (p *Pool) find(name string) (*peer, error) {
	for _, e := range p.list() {
		if e.s.Name == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("%q: %w", name, mcp.ErrNoServer)
}

// precedes reports whether a comes before b in the configuration.
func (p *Pool) precedes(a, b *peer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Index(p.peers, a) < slices.Index(p.peers, b)
}

// Need connects the server that may have a tool of this name, and waits until it is connected or
// has failed, or ctx ends.
func (p *Pool) Need(ctx context.Context, tool string) { connectAll(ctx, p.owners(tool)) }

// Gather connects all servers at once, and returns when each is connected or has failed, or ctx
// ends.
func (p *Pool) Gather(ctx context.Context) { connectAll(ctx, p.list()) }

func connectAll(ctx context.Context, some []*peer) {
	var wg sync.WaitGroup
	for _, e := range some {
		wg.Go(func() { e.connectIfUnknown(ctx) })
	}
	wg.Wait()
}

// Connect connects a server now, also one that is disabled, and waits for it.
func (p *Pool) Connect(ctx context.Context, name string) error {
	e, err := p.find(name)
	if err != nil {
		return err
	}
	e.enable()
	_, err = e.ensure(ctx)
	return err
}

// Disconnect ends a server and takes its tools away. It stays disabled until
// Connect.
func (p *Pool) Disconnect(name string) error {
	e, err := p.find(name)
	if err != nil {
		return err
	}
	e.disconnect()
	return nil
}

// Log returns the last lines that a server has logged or printed, oldest first. They are untrusted:
// escape them before they are shown.
func (p *Pool) Log(server string) []string {
	e, err := p.find(server)
	if err != nil {
		return nil
	}
	return e.log.Lines()
}

// Close ends all servers with all their processes, takes their tools away and
// waits for that.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end()
	var wg sync.WaitGroup
	for _, e := range p.list() {
		wg.Go(e.disconnect)
	}
	wg.Wait()
	p.work.Wait()
	for _, e := range p.list() {
		e.log.Close()
	}
	return nil
}

// spawn runs f in a goroutine that Close waits for. It reports false, and
// does nothing, once the pool is closed.
func (p *Pool) spawn(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.work.Go(f)
	return true
}

// A teller calls Host.Changed from one goroutine, which lives as long as there are changes to
// deliver.
type teller struct {
	pool *Pool

	mu      sync.Mutex
	dirty   []string
	running bool
}

func (t *teller) changed(server string) {
	if t.pool.host.Changed == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.dirty, server) {
		t.dirty = append(t.dirty, server)
	}
	if !t.running {
		t.running = t.pool.spawn(t.run)
	}
}

func (t *teller) run() {
	for {
		t.mu.Lock()
		if len(t.dirty) == 0 {
			t.running = false
			t.mu.Unlock()
			return
		}
		name := t.dirty[0]
		t.dirty = t.dirty[1:]
		t.mu.Unlock()
		if e, err := t.pool.find(name); err == nil {
			t.pool.host.Changed(e.status())
		}
	}
}
