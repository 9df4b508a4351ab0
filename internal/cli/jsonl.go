package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/server"
)

// serveLines serves a program: requests on standard input, a line each, and
// the ends of calls on standard output. See docs/jsonl.md.
func (a *app) serveLines(ctx context.Context, f *callFlags) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	if err := s.checkReady(f.agent); err != nil {
		return err
	}
	opt := a.options(s)
	opt.Unattended = !f.events
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Plugins.Watch = watchFiles
	opt.Strict = f.strict
	opt.Repair = f.repair || s.cfg.Repair != nil && *s.cfg.Repair
	opt.Provider, opt.Model = f.provider, f.model
	rt, err := helve.Open(opt)
	if err != nil {
		return err
	}
	// A reader that goes away shows as an error of the write, and does not end
	// the process before the calls are.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	err = server.ServeLines(ctx, rt, server.LinesOptions{
		In: a.Stdin, Out: a.Stdout, Session: f.session, Agent: f.agent, Timeout: f.timeout, Events: f.events,
	})
	switch err {
	case server.ErrOutputClosed:
		return &silent{exitFailed}
	case server.ErrCanceled:
		return &silent{exitCanceled}
	}
	return err
}
