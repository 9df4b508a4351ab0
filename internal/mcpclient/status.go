package mcpclient

import (
	"context"
	"sync"
	"time"

	"github.com/helve-dev/helve/mcp"
)

// Limits on the age of a remote server's status.
const (
	freshFor = time.Second
	pingTime = 900 * time.Millisecond
)

// Status returns the state of each server, in the order of the configuration. It is at most two
// seconds old: a remote server that has been silent for a moment is pinged, which takes a second at
// most.
func (p *Pool) Status() []mcp.Status {
	peers := p.list()
	ctx, cancel := context.WithTimeout(p.life, pingTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, e := range peers {
		if l := e.current(); l != nil && l.remote != nil && time.Since(l.remote.seen()) > freshFor {
			wg.Go(func() { e.probe(ctx, l) })
		}
	}
	wg.Wait()
	out := make([]mcp.Status, len(peers))
	for i, e := range peers {
		out[i] = e.status()
	}
	return out
}

// status returns the present state, as far as it is known.
func (e *peer) status() mcp.Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := mcp.Status{
		Name: e.s.Name, Kind: "remote", State: e.state, Error: e.fault, Detail: e.detail,
		Tools: len(e.tools.offers), Off: e.tools.off, Since: e.since, Restarts: e.restarts,
	}
	if isLocal(e.s) {
		s.Kind = "local"
	}
	if l := e.link; l != nil {
		s.PID, s.Transport = l.pid(), l.transport
		s.Instructions, s.Program = l.instructions, l.program
		s.Resources, s.Prompts = l.has.resources, l.has.prompts
	}
	return s
}
