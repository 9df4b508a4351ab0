//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/helve-dev/helve/client"
)

// bearer adds a token to requests.
func bearer(token string, base http.RoundTripper) http.RoundTripper {
	return &oauth2.Transport{Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}), Base: base}
}

// connect is an agent over MCP: it comes, makes some calls, and goes.
func (w *worker) connect(ctx context.Context) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	decline := func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: decline})
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: w.subject.mcpURL, HTTPClient: &http.Client{Transport: bearer(w.subject.mcpKey, transport)}, MaxRetries: -1,
	}, nil)
	if err != nil {
		return err
	}
	_, err = session.ListTools(ctx, nil)
	for i := w.rand.IntN(6); err == nil && i >= 0; i-- {
		err = w.callByMCP(ctx, session)
	}
	return errors.Join(err, session.Close())
}

// callByMCP makes one call; some are ended by the agent.
func (w *worker) callByMCP(ctx context.Context, session *mcp.ClientSession) error {
	p := pick(w,
		&mcp.CallToolParams{Name: "read", Arguments: input{"filePath": w.source()}},
		&mcp.CallToolParams{Name: "grep", Arguments: input{"pattern": "needle-12"}},
		&mcp.CallToolParams{Name: "bash", Arguments: shell("for i in 1 2 3; do echo $i; sleep 0.1; done")},
		&mcp.CallToolParams{Name: "write", Arguments: input{"filePath": w.own(fmt.Sprintf("mcp-%d.txt", w.rand.IntN(10))), "content": "by mcp"}},
		&mcp.CallToolParams{Name: "things_echo", Arguments: input{"text": "through"}},
		&mcp.CallToolParams{Name: "read", Arguments: input{"filePath": ".env"}},
		&mcp.CallToolParams{Name: "todowrite", Arguments: input{"todos": "wrong"}},
	)
	p.SetProgressToken(w.id())
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := w.chance(8)
	if ended {
		defer time.AfterFunc(time.Duration(w.rand.IntN(200))*time.Millisecond, cancel).Stop()
	}
	res, err := session.CallTool(inner, p)
	switch {
	case err == nil && res.IsError:
		w.answered()
		w.did("call by mcp", "error")
	case err == nil:
		w.answered()
		w.did("call by mcp", "ok")
	case ended && ctx.Err() == nil:
		w.did("call by mcp", "cancelled")
	default:
		return fmt.Errorf("%s by MCP: %w", p.Name, err)
	}
	return nil
}

// helve runs the command in a process on the same store, and kills it, and it
// alone, where that is wanted: what it has started then has to end by itself.
func (w *worker) helve(ctx context.Context, a action, args []string) error {
	cmd := w.command(ctx, append(args, "--no-input")...)
	cmd.Env = append(cmd.Env, a.Env)
	if a.Kill {
		if err := cmd.Start(); err != nil {
			return err
		}
		w.pause(ctx, time.Second)
		err := cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		w.fault("kill helve call", err)
		return err
	}
	w.answered()
	out, err := cmd.CombinedOutput()
	if text := string(out); strings.Contains(text, "panic:") || strings.Contains(text, "internal error") {
		w.ours("%s: %.600s", a.Name, text)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return nil // an exit code is an answer
	}
	return err
}

// lines is a program that makes many calls by one process, which may be killed.
func (w *worker) lines(ctx context.Context, kill bool) error {
	if kill {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(50+w.rand.IntN(500))*time.Millisecond)
		defer stop()
	}
	session, want := "ses_lines_"+w.id(), map[string]bool{}
	var text strings.Builder
	for range 5 + w.rand.IntN(20) {
		id := w.id()
		want[id] = true
		fmt.Fprintf(&text, "{\"id\":%q,\"session\":%q,%s}\n", id, session, pick(w,
			`"tool":"read","args":{"filePath":"`+w.source()+`"}`, `"tool":"grep","args":{"pattern":"needle-4"}`,
			`"tool":"bash","args":{"command":"echo x; sleep 0.05","description":"Waits"}`, `"tool":"nothing"`, `"tool":"read","args":{"filePath":".env"}`))
	}
	cmd := w.command(ctx, "call", "--jsonl", "--events")
	cmd.Stdin = strings.NewReader(text.String() + "this is no JSON\n")
	if kill {
		cmd.Cancel = func() error { // it alone: what it started has to end by itself
			err := cmd.Process.Kill()
			w.fault("kill helve call --jsonl", err)
			return err
		}
	}
	out, ended := cmd.Output()
	for line := range bytes.Lines(out) {
		var a struct {
			ID, Status string
			Error      struct{ Kind, Code, Message string }
		}
		if json.Unmarshal(line, &a) != nil || a.ID == "" {
			continue // an event, or half a line of who was killed
		}
		delete(want, a.ID)
		if a.Error.Kind == "internal" {
			w.ours("helve call --jsonl: %s: %.300s", a.Error.Code, a.Error.Message)
		}
		w.ended(callKey{session, a.ID}, ending(a.Status))
	}
	for id := range want {
		if !kill {
			w.lose("helve call --jsonl: %s had no answer: %v", id, ended)
		}
		w.ended(callKey{session, id}, unheard)
	}
	return nil
}

// streamActions are about connections that are held and lost, and requests that
// have to be refused.
func streamActions() []action {
	all := []action{
		doing("subscriber", 6, func(w *worker, ctx context.Context) error {
			_, err := w.follow(ctx, client.EventQuery{}, time.Duration(w.rand.IntN(1500))*time.Millisecond)
			return err
		}),
		doing("subscriber that resumes", 4, func(w *worker, ctx context.Context) error {
			last, err := w.follow(ctx, client.EventQuery{}, 500*time.Millisecond)
			if err != nil {
				return err
			}
			w.pause(ctx, 500*time.Millisecond)
			_, err = w.follow(ctx, client.EventQuery{After: last}, 500*time.Millisecond)
			return err
		}),
		doing("subscriber that lags", 1, func(w *worker, ctx context.Context) error {
			res, err := w.raw(ctx, http.MethodGet, "/v1/events", w.subject.token, "")
			if err != nil {
				return err
			}
			w.pause(ctx, 3*time.Second) // it reads nothing
			w.fault("connection cut", res.Body.Close())
			return nil
		}),
	}
	for name, body := range map[string]string{
		"wrong token": `{"tool":"read"}`, "half a request": `{"tool":"read","input":{"filePath":`,
		"deep input": `{"tool":` + strings.Repeat("[", 20_000), "too much": strings.Repeat(" ", 17<<20),
	} {
		all = append(all, doing(name, 1, func(w *worker, ctx context.Context) error {
			if name == "wrong token" {
				return w.refused(ctx, "wrong", body)
			}
			return w.refused(ctx, w.subject.token, body)
		}))
	}
	return all
}

// follow reads events for some time, and returns the last one's id. They have
// to come in order.
func (w *worker) follow(ctx context.Context, q client.EventQuery, long time.Duration) (last string, err error) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	seq := uint64(0)
	for e, err := range w.api.Events(ctx, q) {
		switch {
		case err != nil && ctx.Err() != nil:
			return last, nil
		case err != nil:
			return last, err
		}
		if e.Type == client.EventReload || e.Type == client.EventMissed {
			seq = 0
		} else if e.Seq <= seq {
			return last, fmt.Errorf("event %d came after %d", e.Seq, seq)
		}
		last, seq = e.ID, max(seq, e.Seq)
	}
	return last, nil
}

// raw makes a request over a connection of its own.
func (w *worker) raw(ctx context.Context, method, path, token, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, w.subject.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return bearer(token, &http.Transport{DisableKeepAlives: true}).RoundTrip(r)
}

// refused sends a body, which has to be refused.
func (w *worker) refused(ctx context.Context, token, body string) error {
	res, err := w.raw(ctx, http.MethodPost, "/v1/calls", token, body)
	if err != nil && len(body) > 16<<20 {
		return nil // it may hang up on who sends too much
	}
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil || res.StatusCode < 400 || res.StatusCode >= 500 {
		return fmt.Errorf("what is to be refused was answered %s: %w", res.Status, err)
	}
	return nil
}
