package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// How calls are made beside the rate that is asked for.
const (
	steadyWires = 64               // connections at a rate
	eagerWires  = 16               // connections that ask again at once
	eagerTime   = 10 * time.Second // how long they do
	warmTime    = 3 * time.Second  // before anything counts
	shellRate   = 10               // commands a second
	shellTime   = 20 * time.Second
)

// A side is a server and its ways to read the small file and to run a command.
type side struct {
	proof.Server
	read, shell []proof.Request // of one connection each
}

// proveCalls measures small calls, helve's beside OpenCode's.
func proveCalls(ctx context.Context, s *settings) (text string, err error) {
	w, err := newWorld()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var sides []side
	ours, child, err := w.Serve(ctx, s.helve, "serve", "--addr", "127.0.0.1:0", "--json")
	if err != nil {
		return "", err
	}
	defer child.Close()
	one, err := ourSide(ctx, ours)
	if err != nil {
		return "", err
	}
	sides = append(sides, one)
	if s.opencode != "" {
		theirs, end, err := startOpenCode(ctx, w, s.opencode)
		if err != nil {
			return "", err
		}
		defer end()
		theirs.Name += " " + version(ctx, w, s.opencode)
		other, err := theirSide(ctx, theirs)
		if err != nil {
			return "", err
		}
		sides = append(sides, other)
	}
	return compare(ctx, s, sides)
}

// compare puts the same plans to every side, one after the other.
func compare(ctx context.Context, s *settings, sides []side) (string, error) {
	reads := func(d side) []proof.Request { return d.read }
	shells := func(d side) []proof.Request { return d.shell }
	var out strings.Builder
	for _, c := range []struct {
		id, title string
		turns     func(side) []proof.Request
		plan      proof.Plan
	}{
		{"", "", reads, proof.Plan{Wires: eagerWires, Last: warmTime}},
		{"", "", shells, proof.Plan{Wires: 1, Last: warmTime}},
		{"serve.read.steady", fmt.Sprintf("A file of 100 bytes, %d a second for %s, over %d connections; times from when a request was due", s.rate, s.calling, steadyWires),
			reads, proof.Plan{Wires: steadyWires, Rate: s.rate, Last: s.calling}},
		{"serve.read.eager", fmt.Sprintf("The same file, as often as it can be had over %d connections, for %s", eagerWires, eagerTime),
			reads, proof.Plan{Wires: eagerWires, Last: eagerTime}},
		{"serve.read.single", "The same file, over one connection", reads, proof.Plan{Wires: 1, Last: eagerTime}},
		{"serve.shell.steady", fmt.Sprintf("The command \"echo hello\", %d a second for %s", shellRate, shellTime),
			shells, proof.Plan{Wires: eagerWires, Rate: shellRate, Last: shellTime}},
		{"serve.shell.eager", fmt.Sprintf("The same command, as often as it can be had over %d connections, for %s", eagerWires, eagerTime),
			shells, proof.Plan{Wires: eagerWires, Last: eagerTime}},
	} {
		var rows []figure
		for _, d := range sides {
			if c.title != "" {
				fmt.Fprintf(s.log, "calls: %s: %s\n", d.Name, c.title)
			}
			c.plan.Turns = c.turns(d)
			f, err := d.Put(ctx, c.plan)
			if err != nil {
				return "", fmt.Errorf("%s: %w", d.Name, err)
			}
			rows = append(rows, figure{d.Name, f})
		}
		if c.title == "" { // to warm up
			continue
		}
		fmt.Fprintf(&out, "%s:\n\n", c.title)
		figures(&out, c.plan.Rate*int(c.plan.Last.Seconds()), rows)
		addCalls(&s.sheet, c.id, rows)
	}
	out.WriteString(compared)
	return out.String(), nil
}

// compared says what the figures are of.
const compared = `What is compared: helve's side is POST /v1/calls of the tool read (and bash): the token is checked, the arguments are
validated, the rules are asked, three events are told, and the call is recorded in SQLite. OpenCode's HTTP interface has no
route that makes a tool call of read; its side is GET /file/content, which reads the file, checks no permission and records
nothing, without a password set. The command goes to POST /session/ID/shell there, which records a message of its session,
and to POST /v1/calls of bash here; the connections share sixteen sessions on both sides.
`

// ourSide knows helve's routes. Connections share as many sessions as there are
// eager ones.
func ourSide(ctx context.Context, at proof.Server) (d side, err error) {
	d.Server = at
	for range eagerWires {
		id, err := made(ctx, at, "/v1/sessions", `{"title":"load"}`)
		if err != nil {
			return d, err
		}
		d.read = append(d.read, at.Request("/v1/calls", fmt.Sprintf(`{"tool":"read","session":%q,"input":{"filePath":"small.txt"}}`, id), "all of it is read. end."))
		d.shell = append(d.shell, at.Request("/v1/calls", fmt.Sprintf(`{"tool":"bash","session":%q,"input":{"command":"echo hello","description":"Says hello"}}`, id), `hello\n`))
	}
	return d, nil
}

// theirSide knows OpenCode's.
func theirSide(ctx context.Context, at proof.Server) (d side, err error) {
	d.Server = at
	d.read = []proof.Request{at.Request("/file/content?path=small.txt", "", "all of it is read. end.")}
	for range eagerWires {
		id, err := made(ctx, at, "/session", `{}`)
		if err != nil {
			return d, err
		}
		d.shell = append(d.shell, at.Request("/session/"+id+"/shell", `{"agent":"build","command":"echo hello","model":{"providerID":"none","modelID":"none"}}`, `hello\n`))
	}
	return d, nil
}

// made makes a session and returns its id.
func made(ctx context.Context, at proof.Server, path, body string) (string, error) {
	w, err := at.Dial(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = w.Close() }()
	answer, err := w.Ask(at.Request(path, body, `"id"`), time.Minute)
	if err != nil {
		return "", fmt.Errorf("%s: making a session: %w", at.Name, err)
	}
	var session struct{ ID string }
	if err := json.Unmarshal(answer, &session); err != nil || session.ID == "" {
		return "", fmt.Errorf("%s: making a session: answered %.300s", at.Name, answer)
	}
	return session.ID, nil
}

// version is what a program says of itself, in the world that it is measured in.
func version(ctx context.Context, w *proof.World, program string) string {
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Dir, cmd.Env = w.Project, w.Env()
	said, _ := cmd.Output() // nothing where it does not say
	return strings.TrimSpace(string(said))
}

// startOpenCode starts OpenCode's server and reads where it is.
func startOpenCode(ctx context.Context, w *proof.World, program string) (at proof.Server, end func(), err error) {
	at.Name = "OpenCode"
	c, err := w.Start(ctx, func(line string) (ok bool) {
		_, at.Addr, ok = strings.Cut(line, "listening on http://")
		return ok
	}, program, "serve", "--hostname", "127.0.0.1", "--port", "0")
	if err != nil {
		return at, nil, err
	}
	at.Addr, at.PID = strings.TrimSpace(at.Addr), c.PID()
	return at, c.Close, nil
}
