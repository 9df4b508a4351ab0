package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// suiteServer is what the suite's server is called in the config.
const suiteServer = "suite"

// A subject is helve's client as the suite drives it: a runtime with one remote
// server, and a person who signs in where that is wanted.
type subject struct {
	rt  *helve.Runtime
	log io.Writer
}

// conformanceClient connects to a server of the suite and calls all of its
// tools. Which scenario it is, is in the environment; it matters little.
func conformanceClient(ctx context.Context, url string, log io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp("", "mcp-proof-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server := helve.MCPServer{Name: suiteServer, URL: url}
	if server.OAuth, err = knownClient(); err != nil {
		return err
	}
	rt, err := helve.New(helve.Options{
		Dir: dir, Worktree: dir, DataDir: filepath.Join(dir, "data"), Agents: allowAll(),
		MCP: helve.MCP{Servers: []helve.MCPServer{server}, Version: "proof"},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	stop := attend(ctx, rt, func(e helve.Event) {
		if q, ok := e.Properties.(helve.QuestionAsked); ok {
			answer(rt, q, func(tool.Question) []string { return nil }) // every field stays as it is
		}
	})
	defer stop()
	return (&subject{rt: rt, log: log}).run(ctx)
}

// allowAll are agents that may do everything.
func allowAll() []helve.Agent {
	return helve.Agents(helve.AgentOptions{User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}})
}

// knownClient is as whom the scenario says that a client is registered.
func knownClient() (c helve.MCPOAuth, err error) {
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		// A client whose id is the address of its description is one that the
		// config names: helve has no page of its own.
		c.ClientID = "https://conformance-test.local/client-metadata.json"
	}
	text := os.Getenv("MCP_CONFORMANCE_CONTEXT")
	if text == "" {
		return c, nil
	}
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(text), &known); err != nil {
		return c, fmt.Errorf("reading the context of the scenario: %w", err)
	}
	return helve.MCPOAuth{ClientID: known.ID, ClientSecret: known.Secret}, nil
}

// attend tells what happens in a runtime, until the function that it returns is
// called.
func attend(ctx context.Context, rt *helve.Runtime, see func(helve.Event)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range rt.Events(ctx, 0) {
			see(e)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// answer answers what a runtime wants to know of the person.
func answer(rt *helve.Runtime, q helve.QuestionAsked, say func(tool.Question) []string) {
	answers := make([][]string, len(q.Questions))
	for i, one := range q.Questions {
		if answers[i] = say(one); answers[i] == nil {
			answers[i] = []string{}
		}
	}
	_ = rt.Answer(q.ID, answers) // a question that is settled already needs none
}

func (s *subject) state() helve.MCPStatus { return s.rt.MCP()[0] }

func (s *subject) run(ctx context.Context) error {
	s.rt.Gather(ctx)
	if s.state().State == "needs_auth" {
		if err := s.signIn(ctx); err != nil {
			return fmt.Errorf("signing in: %w", err)
		}
	}
	tools, err := s.rt.MCPTools(ctx, suiteServer)
	if err != nil {
		return fmt.Errorf("listing the tools: %w", err)
	}
	if now := s.state(); now.State != "connected" {
		return fmt.Errorf("the server is %s: %s %s", now.State, now.Error, now.Detail)
	}
	for _, t := range tools {
		if err := s.call(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// call calls a tool, and once more after a sign-in where the first time fails:
// a server may want more agreed to for a call than for a list.
func (s *subject) call(ctx context.Context, t helve.MCPTool) error {
	if t.Name == "" {
		return fmt.Errorf("the tool %s is not offered: %s", t.Tool, t.Off)
	}
	res, err := s.rt.Call(ctx, tool.Call{Tool: t.Name, Input: suiteInput(t.Tool)})
	if err != nil {
		fmt.Fprintln(s.log, "signing in again:", err)
		if err := s.signIn(ctx); err != nil {
			return fmt.Errorf("signing in again: %w", err)
		}
		res, err = s.rt.Call(ctx, tool.Call{Tool: t.Name, Input: suiteInput(t.Tool)})
	}
	if err != nil {
		return fmt.Errorf("calling %s: %w", t.Name, err)
	}
	fmt.Fprintf(s.log, "%s: %s\n", t.Name, clip(res.Output, 200))
	return nil
}

// signIn does what a person does who is told to run helve mcp auth: open the
// page that the server names, and agree.
func (s *subject) signIn(ctx context.Context) error {
	return s.rt.SignInMCP(ctx, suiteServer, helve.SignIn{Open: func(url string) error { return visit(ctx, url) }})
}

// suiteInput is what a tool of the suite is called with.
func suiteInput(name string) []byte {
	if name == "add_numbers" {
		return []byte(`{"a": 5, "b": 3}`)
	}
	return []byte(`{}`)
}

// visit is the browser: the suite's page agrees by itself and sends it back.
func visit(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return errors.Join(err, res.Body.Close())
}
