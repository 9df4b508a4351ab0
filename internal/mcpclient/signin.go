package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/mcp"
)

// signInTime limits how long a person may take to sign in.
const signInTime = 6 * time.Minute

// SignIn lets a person sign in to a server, over a connection of its own, and keeps the token.
func (p *Pool) SignIn(ctx context.Context, server string, way mcp.SignIn) error {
	e, err := p.find(server)
	switch {
	case err != nil:
		return err
	case e.s.URL == "":
		return fmt.Errorf("%q is a program on this machine, and not signed in to", server)
	case e.s.NoOAuth:
		return fmt.Errorf("the config says never to sign in to %q (oauth is false)", server)
	case p.signIns == nil:
		return errors.New("there is no folder to keep the token in")
	}
	s := e.s
	s.Timeout, s.Disabled = signInTime, false
	own := New(mcp.Options{Servers: []mcp.Server{s}, Version: p.opts.Version}, mcp.Host{Dir: p.host.Dir, SignIns: p.host.SignIns, Logger: p.log})
	own.person = auth.HandlerOptions{Interactive: true, SignIn: way}
	return errors.Join(own.Connect(ctx, server), own.Close())
}
