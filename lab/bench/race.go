package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/lab/internal/proof"
	"github.com/helve-dev/helve/tool"
)

// A way is one way to do what is measured, and what came of it: a program that
// is run, or do where it works in this process.
type way struct {
	name  string       // with the version where it is somebody else's
	in    *proof.World // where it is not that of the race
	ready func() error
	do    func(ctx context.Context) (string, error)
	program
	check func(said string) error // of every go

	walls, cpus []float64 // ms
	memory      float64   // MiB at the most, of the goes that were watched
}

// once goes once.
func (w *way) once(ctx context.Context, in *proof.World, p program) (v life, err error) {
	in = cmp.Or(w.in, in)
	if w.ready != nil {
		if err := w.ready(); err != nil {
			return v, err
		}
	}
	if w.do == nil {
		v, err = run(ctx, in, p)
	} else {
		began := time.Now()
		v.out, err = w.do(ctx)
		v.wall = time.Since(began)
	}
	if err == nil && w.check != nil {
		err = w.check(v.out)
	}
	return v, errors.Join(err, ctx.Err())
}

// race lets all ways go in turns, each round beginning with another one. The
// first round of all is not counted. Programs whose memory is wanted go once
// more for that: looking at it takes some of the processor.
func (b *bench) race(ctx context.Context, in *proof.World, rounds int, all ...*way) {
	for round := range rounds + 1 {
		for i := range all {
			w := all[(i+round)%len(all)]
			p := w.program
			p.watched = false
			v, err := w.once(ctx, in, p)
			if err != nil {
				b.must(fmt.Errorf("%s: %w", w.name, err))
			}
			if round > 0 {
				w.walls, w.cpus = append(w.walls, millis(v.wall)), append(w.cpus, millis(v.cpu))
			}
		}
	}
	for _, w := range all {
		for range 3 {
			if w.watched {
				v, err := w.once(ctx, in, w.program)
				b.must(err)
				w.memory = max(w.memory, v.memory)
			}
		}
	}
}

// compare adds figures of some kinds (p50, p99, cpu, memory) of one of helve's
// ways, beside a peer's if there is one.
func (b *bench) compare(id string, ours, peer *way, note string, kinds ...string) {
	for _, kind := range kinds {
		unit, of := "ms", func(w *way) float64 { return median(w.walls) }
		switch kind {
		case "p99":
			of = func(w *way) float64 { return quantile(w.walls, 0.99) }
		case "cpu":
			of = func(w *way) float64 { return median(w.cpus) }
		case "memory":
			unit, of = "MiB", func(w *way) float64 { return w.memory }
		}
		note := strings.TrimSpace(fmt.Sprintf("%d goes each. %s", len(ours.walls), note))
		if peer == nil {
			b.add(id+"."+kind, of(ours), unit, note)
		} else {
			b.beside(id+"."+kind, unit, of(ours), peer.name, of(peer), note)
		}
	}
}

// beside adds a figure that has a peer.
func (b *bench) beside(id, unit string, value float64, peer string, peerValue float64, note string) {
	b.figures = append(b.figures, proof.Figure{ID: id, Unit: unit, Value: value, Peer: peer, PeerValue: peerValue, Note: note})
}

// call calls a tool of a runtime.
func call(ctx context.Context, rt *helve.Runtime, session, use string, args map[string]any) (string, error) {
	input, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	res, err := rt.Call(ctx, tool.Call{Tool: use, Session: session, Input: input})
	if err != nil {
		return "", err
	}
	return res.Output, nil
}

// says makes sure of a text in what was printed.
func says(want string) func(string) error {
	return func(said string) error {
		if !strings.Contains(said, want) {
			return fmt.Errorf("it says %.300q, and not %q", said, want)
		}
		return nil
	}
}

// ofCall is the way of a call in this process.
func ofCall(name string, rt *helve.Runtime, use string, args map[string]any) *way {
	return &way{name: name, do: func(ctx context.Context) (string, error) { return call(ctx, rt, "bench", use, args) }}
}

// helveCall is the way of a process of the command, which reads its arguments.
func (b *bench) helveCall(use string, args map[string]any) *way {
	input, err := json.Marshal(args)
	b.must(err)
	return &way{name: "helve call " + use, program: program{argv: []string{b.helve, "call", use, "--no-input"}, in: string(input), watched: true}}
}
