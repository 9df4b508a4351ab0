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
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/mcp/connect"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// openRuntime makes a runtime in which everything is allowed, with the tools of
// servers in it. see is told what happens, and say what a person answers.
func openRuntime(ctx context.Context, dir string, see func(event.Event), say func(tool.Question) []string, servers ...mcp.Server) (rt *helve.Runtime, end func() error, err error) {
	rt, err = helve.Open(helve.Options{
		Dir: dir, Worktree: dir, DataDir: filepath.Join(filepath.Dir(dir), "data"), MCP: mcp.Options{Servers: servers, Client: connect.Client(), Version: "proof"},
		Rules: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}},
	})
	if err != nil {
		return nil, nil, err
	}
	watched, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range rt.Events(watched, 0) {
			see(e)
			q, ok := e.Properties.(event.QuestionAsked)
			answers := make([][]string, len(q.Questions))
			for i, one := range q.Questions {
				answers[i] = append([]string{}, say(one)...)
			}
			if ok {
				_ = rt.Requests().Answer(q.ID, answers) // a question that is settled already needs none
			}
		}
	}()
	return rt, func() error {
		stop()
		<-done
		return rt.Close()
	}, nil
}

// suiteClient is helve's client as the suite drives it: it connects to a server
// of the suite, signs in where that is wanted, and calls all tools. Which
// scenario it is, is in the environment; it matters little.
func suiteClient(ctx context.Context, url string, log io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	w, err := newWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	server := mcp.Server{Name: "suite", URL: url}
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") == "auth/basic-cimd" {
		// A client whose id is the address of its description is one that the
		// config names: helve has no page of its own.
		server.OAuth.ClientID = "https://conformance-test.local/client-metadata.json"
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		var known struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		}
		if err := json.Unmarshal([]byte(text), &known); err != nil {
			return fmt.Errorf("reading the context of the scenario: %w", err)
		}
		server.OAuth = mcp.OAuth{ClientID: known.ID, ClientSecret: known.Secret}
	}
	asIs := func(tool.Question) []string { return nil } // every field stays as it is
	rt, end, err := openRuntime(ctx, w.Project, func(event.Event) {}, asIs, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	// What a person does who is told to run helve mcp auth: open the page that the
	// server names, which agrees by itself and sends the browser back.
	signIn := func() error {
		return rt.MCP().SignIn(ctx, "suite", mcp.SignIn{Open: func(url string) error {
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
		}})
	}
	rt.Gather(ctx)
	if rt.MCP().Status()[0].State == "needs_auth" {
		if err := signIn(); err != nil {
			return fmt.Errorf("signing in: %w", err)
		}
	}
	tools, err := rt.MCP().Tools(ctx, "suite")
	if err != nil {
		return fmt.Errorf("listing the tools: %w", err)
	}
	if now := rt.MCP().Status()[0]; now.State != "connected" {
		return fmt.Errorf("the server is %s: %s %s", now.State, now.Error, now.Detail)
	}
	for _, t := range tools {
		if t.Name == "" {
			return fmt.Errorf("the tool %s is not offered: %s", t.Tool, t.Off)
		}
		call := tool.Call{Tool: t.Name, Input: []byte(`{}`)}
		if t.Tool == "add_numbers" {
			call.Input = []byte(`{"a": 5, "b": 3}`)
		}
		res, err := rt.Call(ctx, call)
		if err != nil { // a server may want more agreed to for a call than for a list
			fmt.Fprintln(log, "signing in again:", err)
			if err := signIn(); err != nil {
				return fmt.Errorf("signing in again: %w", err)
			}
			res, err = rt.Call(ctx, call)
		}
		if err != nil {
			return fmt.Errorf("calling %s: %w", t.Name, err)
		}
		fmt.Fprintf(log, "%s: %s\n", t.Name, clip(res.Output, 200))
	}
	return nil
}
