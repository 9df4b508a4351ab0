package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A way is one way to do what is measured, and what came of it.
type way struct {
	name   string // for people; with the version where it is somebody else's
	note   string // what a reader of its figures has to know
	inside bool   // it works in this process
	ready  func() error
	do     func(ctx context.Context) (string, error)
	check  func(said string) error                  // of every go
	peak   func(ctx context.Context) (int64, error) // a go of which only the memory counts; nil where it is not known

	close func() error // ends what a way keeps running between its goes

	walls, works []time.Duration
	memory       int64
}

// ofProgram is the way of a program.
func ofProgram(name string, p program) *way { return &way{name: name, do: p.run, peak: p.peak} }

// race lets all ways go in turns, each round beginning with another one. The
// first round of all is not counted.
func (s *settings) race(ctx context.Context, rounds int, all []*way) error {
	for round := range rounds + 1 {
		for i := range all {
			w := all[(i+round)%len(all)]
			wall, work, err := w.once(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if round > 0 {
				w.walls, w.works = append(w.walls, wall), append(w.works, work)
			}
		}
	}
	for _, w := range all {
		if err := errors.Join(w.settle(rounds+1), w.weigh(ctx, s.sizes.weighs)); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

// settle ends what a way keeps running. Only now it is known how much of the
// processor that has used: each go gets its share.
func (w *way) settle(goes int) error {
	if w.close == nil {
		return nil
	}
	_, before := proof.OwnWork()
	err := w.close()
	_, after := proof.OwnWork()
	for i := range w.works {
		w.works[i] += (after - before) / time.Duration(goes)
	}
	return err
}

// once goes once.
func (w *way) once(ctx context.Context) (wall, work time.Duration, err error) {
	if w.ready != nil {
		if err := w.ready(); err != nil {
			return 0, 0, err
		}
	}
	own, children := proof.OwnWork()
	began := time.Now()
	said, err := w.do(ctx)
	wall = time.Since(began)
	ownAfter, childrenAfter := proof.OwnWork()
	work = childrenAfter - children
	if w.inside {
		work += ownAfter - own
	}
	if err == nil && w.check != nil {
		err = w.check(said)
	}
	return wall, work, errors.Join(err, ctx.Err())
}

// weigh finds out about the memory, in goes of their own.
func (w *way) weigh(ctx context.Context, goes int) error {
	for range goes {
		if w.peak == nil {
			return nil
		}
		if w.ready != nil {
			if err := w.ready(); err != nil {
				return err
			}
		}
		most, err := w.peak(ctx)
		if err != nil {
			return err
		}
		w.memory = max(w.memory, most)
	}
	return nil
}

// table writes what came of some ways.
func (s *settings) table(title string, all []*way) {
	fmt.Fprintf(s.out, "### %s\n\n| | goes | median | p99 | processor | memory at most |\n|---|---|---|---|---|---|\n", title)
	for _, w := range all {
		memory := "–"
		if w.memory > 0 {
			memory = fmt.Sprintf("%.1f MiB", proof.MiB(w.memory))
		}
		fmt.Fprintf(s.out, "| %s | %d | %s | %s | %s | %s |\n", w.name, len(w.walls),
			ms(proof.Median(w.walls)), ms(proof.Quantile(w.walls, 0.99)), ms(proof.Median(w.works)), memory)
	}
	fmt.Fprintln(s.out)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", proof.Millis(d)) }

// fewest is of how many goes there is a p99.
const fewest = 20

// add adds the figures of one of helve's ways beside a peer's, if there is one.
func (s *settings) add(id string, ours, peer *way) {
	figure := func(kind, unit string, of func(*way) float64) {
		f := proof.Figure{ID: id + "." + kind, Unit: unit, Value: of(ours), Note: strings.TrimSpace(fmt.Sprintf("%d goes each. %s", len(ours.walls), ours.note))}
		if peer != nil {
			f.Peer, f.PeerValue = peer.name, of(peer)
		}
		s.sheet.Add(f)
	}
	figure("p50", "ms", func(w *way) float64 { return proof.Millis(proof.Median(w.walls)) })
	if len(ours.walls) >= fewest {
		figure("p99", "ms", func(w *way) float64 { return proof.Millis(proof.Quantile(w.walls, 0.99)) })
	}
	if proof.Median(ours.works) > 0 {
		figure("cpu", "ms", func(w *way) float64 { return proof.Millis(proof.Median(w.works)) })
	}
	if ours.memory > 0 && (peer == nil || peer.memory > 0) {
		figure("memory", "MiB", func(w *way) float64 { return proof.MiB(w.memory) })
	}
}

// missing says that a peer is not there.
func (s *settings) missing(what, why string) {
	fmt.Fprintf(s.log, "%s is not there (%s): helve is measured without it\n", what, why)
	fmt.Fprintf(s.out, "%s is not there: helve was measured without it.\n\n", what)
}
