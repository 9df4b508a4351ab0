package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// How small reads are made.
const (
	readRate     = 2000 // a second
	readWires    = 64
	readSessions = 16
)

// reads makes small reads at a rate, over the connections of a real server.
func reads(ctx context.Context, d *desk) (err error) {
	p, err := d.place(`{"permission":{"*":"allow"}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	at, child, err := p.serve(ctx, d)
	if err != nil {
		return err
	}
	defer child.Close()
	plan := proof.Plan{Wires: readWires, Rate: d.size(readRate, 200), Last: d.lasting(20*time.Second, time.Second/2)}
	for i := range readSessions {
		body := fmt.Sprintf(`{"tool":"read","session":"reads-%d","input":{"filePath":%q}}`, i, smallFile)
		plan.Turns = append(plan.Turns, at.Request("/v1/calls", body, smallEnd))
	}
	if _, err := at.Put(ctx, plan); err != nil { // until what it keeps of the last events is full
		return err
	}
	plan.Last = d.lasting(time.Duration(d.minutes*float64(time.Minute)), 2*time.Second)
	due := plan.Rate * int(plan.Last/time.Millisecond) / 1000
	d.say("reads: %d a second for %s", plan.Rate, plan.Last)
	before := d.resident(at.PID)
	load, err := at.Put(ctx, plan)
	if err != nil {
		return err
	}
	after := proof.UsageOf(at.PID)
	note := fmt.Sprintf("%d reads of 100 bytes a second for %s over %d connections, each timed from when it was due", plan.Rate, plan.Last, plan.Wires)
	d.times("reads", load.Times, note)
	d.figure("reads.rate", float64(len(load.Times))/load.Took.Seconds(), "a second", note)
	d.figure("reads.answered", float64(len(load.Times)), "", fmt.Sprintf("of %d that were due", due))
	d.figure("reads.failed", float64(load.Failed), "", note)
	d.figure("reads.memory.before", before, "MiB", "of the server, when it is warm")
	d.figure("reads.memory.after", proof.MiB(after.Resident), "MiB", fmt.Sprintf("of the server, at the end; %.0f MiB at the most", proof.MiB(after.Peak)))
	d.hold(load.Failed == 0, "%d reads failed, the first one: %v", load.Failed, load.First)
	return nil
}

// lasting is how long something is to last.
func (d *desk) lasting(full, quick time.Duration) time.Duration {
	if d.quick {
		return quick
	}
	return full
}
