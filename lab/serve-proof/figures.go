package main

import (
	"fmt"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// The figures, by id:
//
//	serve.read.steady, .eager, .single; serve.shell.steady, .eager
//	    .p50, .p99, .max and .cpu for one (ms), .rate (a second), .memory (MiB), .failed
//	serve.events.many, .few, .idle
//	    .p50, .p99, .max (ms), .cpu (% of one processor), .memory (MiB), .missed (subscribers)
//	serve.events.dropped (s)

// rate is how many a second were answered.
func (f figure) rate() float64 { return float64(len(f.Times)) / f.Took.Seconds() }

// workForOne is how much of the processor an answer took; 0 where it is not known.
func (f figure) workForOne() time.Duration {
	if len(f.Times) == 0 {
		return 0
	}
	return f.Used.Work / time.Duration(len(f.Times))
}

// addCalls adds what came of a plan: helve's beside the other's, if there is one.
func addCalls(sheet *proof.Sheet, id string, rows []figure) {
	add := func(kind, unit string, of func(figure) float64) {
		f := proof.Figure{ID: id + "." + kind, Unit: unit, Value: of(rows[0])}
		if len(rows) > 1 {
			f.Peer, f.PeerValue = rows[1].name, of(rows[1])
		}
		sheet.Add(f)
	}
	share := func(q float64) func(figure) float64 {
		return func(f figure) float64 { return proof.Millis(proof.Quantile(f.Times, q)) }
	}
	add("p50", "ms", func(f figure) float64 { return proof.Millis(proof.Median(f.Times)) })
	add("p99", "ms", share(0.99))
	add("max", "ms", share(1))
	add("cpu", "ms", func(f figure) float64 { return proof.Millis(f.workForOne()) })
	add("rate", "a second", figure.rate)
	add("memory", "MiB", func(f figure) float64 { return proof.MiB(f.Used.Peak) })
	add("failed", "", func(f figure) float64 { return float64(f.Failed) })
}

// addHearings adds what came of the stages.
func addHearings(sheet *proof.Sheet, rows []hearing) {
	names := []string{"many", "few", "idle"} // by the number of the stage
	for _, h := range rows {
		note := fmt.Sprintf("%d of %d heard everything.", h.whole, h.subscribers)
		add := func(kind, unit string, value float64) {
			sheet.Add(proof.Figure{ID: "serve.events." + names[h.run-1] + "." + kind, Unit: unit, Value: value, Note: note})
		}
		add("p50", "ms", proof.Millis(proof.Median(h.times)))
		add("p99", "ms", proof.Millis(proof.Quantile(h.times, 0.99)))
		add("max", "ms", proof.Millis(proof.Quantile(h.times, 1)))
		add("cpu", "%", 100*h.server.Work.Seconds()/h.took.Seconds())
		add("memory", "MiB", proof.MiB(h.server.Peak))
		add("missed", "", float64(h.subscribers-h.whole))
	}
}
