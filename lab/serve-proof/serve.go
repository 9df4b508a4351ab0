package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/gate"
	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// ready is what a server prints when it serves, as helve serve --json does.
type ready struct {
	URL       string `json:"url"`
	TokenFile string `json:"tokenFile"`
}

// serve serves a folder as helve serve does, with one tool more, which makes
// events at a pace. data is where records are kept.
func serve(ctx context.Context, out io.Writer, dir, data string) (err error) {
	rt, err := helve.New(helve.Options{
		Dir: dir, Worktree: dir, DataDir: data, Client: "web",
		Agents: helve.Agents(helve.AgentOptions{User: permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}}),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	if _, err := rt.Register(ticker(rt)); err != nil {
		return err
	}
	file := filepath.Join(data, "serve-token")
	bound, err := gate.Listen(gate.Bind{Addr: "127.0.0.1:0", File: file})
	if err != nil {
		return err
	}
	api, err := server.New(server.Options{
		Runtime: rt, Dir: dir, Worktree: dir, URL: bound.URL(), Token: func() string { return bound.Token },
	})
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	g, err := gate.New(gate.Options{Token: bound.Token, Hosts: bound.Hosts, MaxBody: 16 << 20, MaxStreams: 2048})
	if err != nil {
		return errors.Join(err, bound.Close())
	}
	web := g.Server(api.Handler())
	if err := json.NewEncoder(out).Encode(ready{bound.URL(), file}); err != nil {
		return errors.Join(err, bound.Close())
	}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })() // Serve says so
	if err := web.Serve(bound); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// mostBehind is how late an event may be and still be made up for.
const mostBehind = 50 * time.Millisecond

// A pace is what the tool tick takes.
type pace struct {
	Count int `json:"count" jsonschema:"how many events"`
	Rate  int `json:"rate" jsonschema:"how many a second" min:"1"`
	Run   int `json:"run" jsonschema:"what they are known by"`
}

// ticker is a tool that makes events: each holds its place in the row, when it
// was made, and about as much text as the events of a small call.
func ticker(rt *helve.Runtime) tool.Tool {
	pad := strings.Repeat("x", 160)
	spec := tool.Spec{Name: "tick", Description: "Makes events at a pace.", ReadOnly: true}
	return tool.New(spec, func(ctx context.Context, _ *tool.Call, p pace) (*tool.Result, error) {
		began := time.Now()
		for i := range p.Count {
			due := began.Add(time.Duration(i) * time.Second / time.Duration(p.Rate))
			if err := proof.Until(ctx, due); err != nil {
				return nil, err
			}
			if behind := time.Since(due); behind > mostBehind {
				began = began.Add(behind) // not all that a stopped machine left out, at once
			}
			rt.Notify("proof.tick", json.RawMessage(fmt.Sprintf(`{"run":%d,"n":%d,"at":%d,"pad":%q}`, p.Run, i, time.Now().UnixNano(), pad)))
		}
		return &tool.Result{Title: "tick", Output: strconv.Itoa(p.Count)}, nil
	})
}
