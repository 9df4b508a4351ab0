package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/mcp"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits of pending notifications.
const (
	maxSubscriptions = 1000
	maxNews          = 1000                  // that wait for delivery
	maxURI           = 8 << 10               // bytes
	newsDelay        = 50 * time.Millisecond // for more to come, and
	newsMax          = time.Second           // at most, when a server goes on and on
)

// subscriptions hold the pending change notifications of a server and the resources that are
// subscribed to.
type subscriptions struct {
	e    *peer
	turn chan struct{} // held by who talks to the server about subscriptions

	mu        sync.Mutex
	users     map[string]int // of each resource that is subscribed to
	updates   []mcp.ResourceUpdate
	waiting   map[mcp.ResourceUpdate]bool
	resources bool
	prompts   bool
	running   bool
}

func newNews(e *peer) *subscriptions {
	return &subscriptions{e: e, turn: make(chan struct{}, 1), users: map[string]int{}, waiting: map[mcp.ResourceUpdate]bool{}}
}

// relisted notes that lists have changed.
func (n *subscriptions) relisted(resources, prompts bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.resources, n.prompts = n.resources || resources, n.prompts || prompts
	n.wake()
}

// updated notes that a resource has changed, if that interests anybody.
func (n *subscriptions) updated(uri string) {
	if len(uri) > maxURI {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range len(uri) + 1 {
		if i == len(uri) || namesPart(uri, i) {
			if n.users[uri[:i]] > 0 {
				n.add(mcp.ResourceUpdate{Server: n.e.s.Name, URI: uri[:i], Part: uri})
			}
		}
	}
}

// namesPart reports whether what follows the first i bytes of a URI denotes a part of what they
// name.
func namesPart(uri string, i int) bool {
	return i > 0 && (uri[i] == '/' || uri[i] == '?' || uri[i] == '#' || uri[i-1] == '/')
}

// add queues an update; n.mu is held. If there are too many parts of a whole, only the whole is
// kept.
func (n *subscriptions) add(u mcp.ResourceUpdate) {
	if len(n.updates) >= maxNews {
		u.Part = u.URI
	}
	if !n.waiting[u] {
		n.waiting[u] = true
		n.updates = append(n.updates, u)
	}
	n.wake()
}

// wake starts the delivery of notifications; n.mu is held.
func (n *subscriptions) wake() {
	if !n.running {
		n.running = n.e.pool.spawn(n.run)
	}
}

// run delivers notifications. While they keep arriving, the intervals grow.
func (n *subscriptions) run() {
	host, server := &n.e.pool.host, n.e.s.Name
	for pause := newsDelay; ; pause = min(2*pause, newsMax) {
		timer := time.NewTimer(pause)
		select {
		case <-n.e.pool.life.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		n.mu.Lock()
		updates, resources, prompts := n.updates, n.resources, n.prompts
		n.updates, n.resources, n.prompts = nil, false, false
		clear(n.waiting)
		if n.running = len(updates) > 0 || resources || prompts; !n.running {
			n.mu.Unlock()
			return
		}
		n.mu.Unlock()
		if (resources || prompts) && host.Relisted != nil {
			host.Relisted(server, resources, prompts)
		}
		for _, u := range updates {
			if host.Updated != nil {
				host.Updated(u)
			}
		}
	}
}

// talk runs f while no other subscription request to the server is in progress.
func (n *subscriptions) talk(ctx context.Context, f func() error) error {
	select {
	case n.turn <- struct{}{}:
		defer func() { <-n.turn }()
		return f()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// addUsers adds n to the number of subscribers of a resource, and returns the new number.
func (n *subscriptions) addUsers(uri string, more int) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if more > 0 && n.users[uri] == 0 && len(n.users) >= maxSubscriptions {
		return 0, fmt.Errorf("there are %d subscriptions already", maxSubscriptions)
	}
	left := max(n.users[uri]+more, 0)
	if n.users[uri] = left; left == 0 {
		delete(n.users, uri)
	}
	return left, nil
}

// Subscribe makes the pool call Options.Updated for changes of a resource, including after the
// server was lost and has come back, until Unsubscribe was called as often.
func (p *Pool) Subscribe(ctx context.Context, server, uri string) error {
	e, err := p.find(server)
	if err != nil {
		return err
	}
	if len(uri) > maxURI {
		return errors.New("the URI is too long")
	}
	return e.news.talk(ctx, func() error {
		if _, err := e.news.addUsers(uri, +1); err != nil {
			return fmt.Errorf("MCP server %q: %w", server, err)
		}
		err := p.withConnection(ctx, server, func(ctx context.Context, l *connection) error {
			if !l.has.subscribe {
				return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "it does not tell when its resources change"}
			}
			return l.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri})
		})
		if err != nil {
			_, _ = e.news.addUsers(uri, -1) // removing cannot fail
		}
		return err
	})
}

// Unsubscribe undoes one Subscribe. After the last one the server is notified soon.
func (p *Pool) Unsubscribe(server, uri string) {
	e, err := p.find(server)
	if err != nil {
		return
	}
	p.spawn(func() {
		ctx, cancel := context.WithTimeout(p.life, connectTimeout(e.s))
		defer cancel()
		err := e.news.talk(ctx, func() error {
			l := e.current()
			if left, _ := e.news.addUsers(uri, -1); left > 0 || l == nil {
				return nil
			}
			return l.session.Unsubscribe(ctx, &sdk.UnsubscribeParams{URI: uri})
		})
		if err != nil && p.life.Err() == nil {
			e.log.Add("helve", "a subscription could not be ended: "+err.Error())
		}
	})
}

// renew subscribes again, over a new connection. All subscribed resources count as changed.
func (n *subscriptions) renew(l *connection) {
	n.mu.Lock()
	var uris []string
	for uri := range n.users {
		uris = append(uris, uri)
	}
	n.mu.Unlock()
	if len(uris) == 0 || !l.has.subscribe {
		return
	}
	n.e.pool.spawn(func() {
		for _, uri := range uris {
			ctx, cancel := context.WithTimeout(l.life, connectTimeout(n.e.s))
			err := n.talk(ctx, func() error { return n.resubscribe(ctx, l, uri) })
			cancel()
			if err != nil && !l.isDead() {
				n.e.log.Add("helve", "a subscription could not be renewed: "+err.Error())
			}
		}
	})
}

// resubscribe renews one subscription, if anybody still wants it.
func (n *subscriptions) resubscribe(ctx context.Context, l *connection, uri string) error {
	n.mu.Lock()
	users := n.users[uri]
	n.mu.Unlock()
	if users == 0 {
		return nil
	}
	if err := l.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.add(mcp.ResourceUpdate{Server: n.e.s.Name, URI: uri, Part: uri})
	return nil
}
