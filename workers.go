package helve

import (
	"sync"
	"time"
)

// crewIdle is how long a worker without work stays.
const crewIdle = time.Second

// A workerPool runs functions on goroutines of its own. A worker that is done waits
// a while for the next function: a goroutine that has run a tool has a stack
// that fits, and growing one costs more than most calls.
type workerPool struct {
	done    <-chan struct{} // closed when workers without work are to end
	jobs    chan func()
	workers sync.WaitGroup
}

// run starts f at once, on a worker that waits or on a new one.
func (w *workerPool) run(f func()) {
	select {
	case w.jobs <- f:
	default:
		w.workers.Go(func() { w.runWorker(f) })
	}
}

func (w *workerPool) runWorker(f func()) {
	idle := time.NewTimer(crewIdle)
	defer idle.Stop()
	for {
		f()
		idle.Reset(crewIdle)
		select {
		case f = <-w.jobs:
		case <-idle.C:
			return
		case <-w.done:
			return
		}
	}
}
