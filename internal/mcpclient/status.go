package mcpclient

import (
	"context"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/foreign"
)

// A State is how a server is.
type State string

// The states of a server.
const (
	Idle              State = "idle" // not needed yet
	Connecting        State = "connecting"
	Connected         State = "connected"
	Disabled          State = "disabled"
	Failed            State = "failed"
	NeedsAuth         State = "needs_auth"                // somebody has to sign in
	NeedsRegistration State = "needs_client_registration" // the configuration has to name a client
)

// Limits on how old what Status tells about a remote server may be.
const (
	freshFor = time.Second
	pingTime = 900 * time.Millisecond
)

// A Status is how a server is now. Texts that come from the server are its own
// words: escape them before they are shown.
type Status struct {
	Name         string    `json:"name"`
	Kind         string    `json:"kind"` // local or remote
	State        State     `json:"status"`
	Error        string    `json:"error,omitempty"`
	Detail       string    `json:"detail,omitempty"` // more about Error
	Tools        int       `json:"tools"`            // that are offered
	Off          []Off     `json:"off,omitempty"`    // tools that are not
	PID          int       `json:"pid,omitempty"`
	Since        time.Time `json:"since,omitzero"` // when State began
	Restarts     int       `json:"restarts,omitempty"`
	Instructions string    `json:"instructions,omitempty"` // how the server wants to be used
	Program      string    `json:"program,omitempty"`      // name and version the server gives itself
	Transport    string    `json:"transport,omitempty"`    // stdio, http or sse
	Resources    bool      `json:"resources,omitempty"`    // it offers resources
	Prompts      bool      `json:"prompts,omitempty"`      // it offers prompts
}

// An Off is a tool that is not offered, and why.
type Off struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
}

// A ToolInfo is a tool as its server describes it.
type ToolInfo struct {
	Definition foreign.Definition
	Name       string // what models call it; empty where it is not offered
	Off        string // why it is not offered
	Pinned     bool   // it has been used, and so is known
	Changed    string // how it differs from what was first used, for people
}

// Status tells how each server is, in the order of the configuration. What it
// tells is never older than two seconds: a remote server that has not been
// heard of for a moment is asked for a sign of life, which takes a second at
// most.
func (p *Pool) Status() []Status {
	peers := p.list()
	ctx, cancel := context.WithTimeout(p.life, pingTime)
	defer cancel()
	var wg sync.WaitGroup
	for _, e := range peers {
		if l := e.linked(); l != nil && l.remote != nil && time.Since(l.remote.seen()) > freshFor {
			wg.Go(func() { e.probe(ctx, l) })
		}
	}
	wg.Wait()
	out := make([]Status, len(peers))
	for i, e := range peers {
		out[i] = e.status()
	}
	return out
}

// status is the state of now, as far as it is known.
func (e *peer) status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Status{
		Name: e.s.Name, Kind: "remote", State: e.state, Error: e.fault, Detail: e.detail,
		Tools: len(e.shelf.offers), Off: e.shelf.off, Since: e.since, Restarts: e.restarts,
	}
	if e.s.local() {
		s.Kind = "local"
	}
	if l := e.link; l != nil {
		s.PID, s.Transport = l.pid(), l.transport
		s.Instructions, s.Program = l.instructions, l.program
		s.Resources, s.Prompts = l.has.resources, l.has.prompts
	}
	return s
}
