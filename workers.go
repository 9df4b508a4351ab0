package helve

import (
	"sync"
	"time"
)

// crewIdle is how long an idle worker stays.
const crewIdle = time.Second

// A workerPool runs functions on its own goroutines. A worker that is done waits a while for the
// next function, because growing the stack of a new goroutine costs more than most calls.
type workerPool struct {
	done    <-chan struct{} // closed when idle workers have to end
	jobs    chan func()
	workers sync.WaitGroup
}

// run starts f at once, on an idle worker or on a new one.
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
