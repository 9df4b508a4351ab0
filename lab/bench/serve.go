package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A side is a server and its ways to read the small file and to run a command,
// of one connection each.
type side struct {
	target
	read, shell []request
}

// serves measures the HTTP server: the stream of events, and calls beside
// OpenCode's server.
func serves(ctx context.Context, b *bench) {
	b.events(ctx)
	w := b.world(allowed)
	sides := []side{b.ourSide(ctx, b.serveHelve(ctx, w))}
	if opencode := b.peers["opencode"]; opencode != "" {
		sides = append(sides, b.theirSide(ctx, w, opencode))
	}
	const wires = 16
	brief := b.lasting(10*time.Second, time.Second/2)
	for _, c := range []struct {
		id   string
		load load
	}{
		{"", load{wires: wires, last: brief / 3}}, // to warm up
		{"serve.read.steady", load{wires: 64, rate: b.size(2000, 200), last: b.lasting(time.Minute, time.Second/2)}},
		{"serve.read.eager", load{wires: wires, last: brief}},
		{"serve.read.single", load{wires: 1, last: brief}},
		{"serve.shell.eager", load{wires: wires, last: brief}},
	} {
		b.say("%s", c.id)
		var came []load
		for _, s := range sides {
			if c.load.turns = s.read; strings.Contains(c.id, "shell") {
				c.load.turns = s.shell
			}
			l, err := s.put(ctx, c.load)
			b.must(err)
			b.hold(l.failed == 0 || s.name != "helve", "%s: %d of helve's calls failed: %v", c.id, l.failed, l.first)
			came = append(came, l)
		}
		if c.id != "" {
			b.addLoads(c.id, sides, came)
		}
	}
}

// addLoads adds what came of a load: helve's, beside the other's if there is one.
func (b *bench) addLoads(id string, sides []side, came []load) {
	for _, f := range []struct {
		kind, unit string
		of         func(load) float64
	}{
		{"p50", "ms", func(l load) float64 { return median(l.times) }},
		{"p99", "ms", func(l load) float64 { return quantile(l.times, 0.99) }},
		{"max", "ms", func(l load) float64 { return quantile(l.times, 1) }},
		{"cpu", "ms", func(l load) float64 { return millis(l.used.Work) / max(1, float64(len(l.times))) }},
		{"rate", "a second", func(l load) float64 { return float64(len(l.times)) / l.took.Seconds() }},
		{"memory", "MiB", func(l load) float64 { return proof.MiB(l.used.Peak) }},
		{"failed", "", func(l load) float64 { return float64(l.failed) }},
	} {
		if len(came) > 1 {
			b.beside(id+"."+f.kind, f.unit, f.of(came[0]), sides[1].name, f.of(came[1]), "")
		} else {
			b.add(id+"."+f.kind, f.of(came[0]), f.unit, "")
		}
	}
}

// ourSide knows helve's routes. Connections share sixteen sessions.
func (b *bench) ourSide(ctx context.Context, at target) side {
	s := side{target: at}
	for range 16 {
		id := b.session(ctx, at, "/v1/sessions", `{"title":"load"}`)
		s.read = append(s.read, at.call(id, "read", `{"filePath":"small.txt"}`, smallEnd))
		s.shell = append(s.shell, at.call(id, "bash", `{"command":"echo hello","description":"Says hello"}`, `hello\n`))
	}
	return s
}

// theirSide starts OpenCode's server, which has no route for a call of read: its
// side reads the file, checks no permission and records nothing. The command
// goes into a message of a session.
func (b *bench) theirSide(ctx context.Context, w *proof.World, opencode string) side {
	at := target{name: b.openCode(ctx, w)}
	at.pipe = b.start(ctx, w, func(line string) (ok bool) {
		_, at.addr, ok = strings.Cut(strings.TrimSpace(line), "listening on http://")
		return ok
	}, opencode, "serve", "--hostname", "127.0.0.1", "--port", "0")
	s := side{target: at, read: []request{at.request("/file/content?path=small.txt", "", smallEnd)}}
	for range 16 {
		id := b.session(ctx, at, "/session", `{}`)
		s.shell = append(s.shell, at.request("/session/"+id+"/shell", `{"agent":"build","command":"echo hello","model":{"providerID":"none","modelID":"none"}}`, `hello\n`))
	}
	return s
}

// session makes a session and returns its id.
func (b *bench) session(ctx context.Context, at target, path, body string) string {
	answer, err := at.once(ctx, at.request(path, body, `"id"`))
	var made struct{ ID string }
	if err == nil {
		err = json.Unmarshal(answer, &made)
	}
	if err == nil && made.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		b.must(fmt.Errorf("%s: making a session: %w", at.name, err))
	}
	return made.ID
}
