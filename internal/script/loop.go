package script

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// loop is the engine's goroutine.
func (v *VM) loop() {
	defer close(v.gone)
	defer v.retire()
	// The engine is C code. An invalid memory access, caused by a bug or because its memory was
	// protected, must end the engine and not the process.
	debug.SetPanicOnFault(true)
	for {
		for _, work := range v.take() {
			if v.over.Load() {
				return
			}
			work()
			v.startCalls()
			v.account()
		}
		select {
		case <-v.wake:
		case <-v.dead:
			return
		}
	}
}

// retire frees what is left. It also runs after a panic in the engine, which is then not used any
// more.
func (v *VM) retire() {
	p := recover()
	if _, asked := p.(givenUp); p != nil && !asked && !v.over.Load() {
		v.log.Error("JavaScript engine failed", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
	v.die(ErrLost) // unless there was a reason already
	v.watch.Stop()
	why := v.why()
	for _, r := range v.requests {
		v.remove(r)
	}
	for _, c := range v.waiting {
		v.bury(c, why)
	}
	for _, c := range v.calls {
		v.bury(c, why)
	}
	v.engine.close()
	v.memory.Store(0)
	v.underWay.Store(0)
	v.pending.Store(0)
}

// bury ends a call without the engine.
func (v *VM) bury(c *call, why error) {
	if c.ended {
		return
	}
	c.ended, c.err = true, why
	close(c.done)
}

func (v *VM) account() {
	v.memory.Store(v.engine.arena.used)
	v.underWay.Store(int64(len(v.calls) + len(v.waiting)))
	v.pending.Store(int64(len(v.requests)))
}

// allow gives the script time from now on.
func (v *VM) allow(d time.Duration) {
	v.deadline = time.Now().Add(d)
	v.due.Store(max(int64(v.deadline.Sub(v.born)), 1))
	v.watch.Reset(max(d, 0))
}

// pauseClock stops the clock and returns the time that was left.
func (v *VM) pauseClock() time.Duration {
	v.due.Store(0)
	v.watch.Stop()
	return time.Until(v.deadline)
}

// overdue urges a script to stop whose time is over, and gives the VM up if it does not react. It
// runs on a goroutine of its own.
func (v *VM) overdue() {
	due := v.due.Load()
	switch late := time.Since(v.born) - time.Duration(due); {
	case due == 0: // it has just ended
	case late > v.opts.patience:
		v.die(ErrLost)
		v.engine.seize()
	default: // late, or another one has just begun
		v.engine.poke()
		v.watch.Reset(max(often, -late))
	}
}

// stop is asked by the engine all the time: is the script to end here? It sets why.
func (v *VM) stop() bool {
	c := v.current
	switch {
	case v.forced:
	case v.over.Load():
		v.stopped = v.why()
	case c != nil && !c.ended && !v.telling && c.ctx.Err() != nil:
		v.stopped = context.Cause(c.ctx)
	case time.Now().After(v.deadline):
		v.stopped = ErrTurn
	default:
		return false
	}
	return true
}

// runCall enters JavaScript for a call and returns when there is nothing left to do.
func (v *VM) runCall(c *call, begin func() error) {
	v.current, v.stopped, v.engine.arena.starved = c, nil, false
	v.allow(v.opts.Turn)
	if v.telling {
		v.allow(afterwards)
	}
	err := begin()
	v.runJobs()
	switch {
	case v.stopped != nil:
		v.freeThrown(err)
		v.halt(c)
	case err != nil:
		v.end(c, Data{}, v.thrown(err))
	}
	v.tellUnhappy()
	v.pauseClock()
	v.current = nil
	v.settleKept(c)
	if v.engine.arena.starved && v.engine.arena.used > v.opts.Memory/4*3 {
		v.die(ErrLost)
	}
}

// runJobs runs promise jobs until there are none, or the script must stop.
func (v *VM) runJobs() {
	for v.stopped == nil && v.engine.job() {
	}
}

// halt ends a call that was stopped. Its remaining jobs may run for a moment; then they are cut
// short, and calls that may have lost their promises by that are ended too.
func (v *VM) halt(c *call) {
	reason := v.stopped
	if c.ended {
		v.log.Warn("script stopped", "reason", reason)
		if c.kept {
			v.freePromises(v.release(c)...)
		}
	}
	v.forgive()
	if v.over.Load() {
		v.end(c, Data{}, reason)
		return
	}
	v.stopped = nil
	v.allow(afterwards)
	if !c.ended && c.ctx.Err() != nil && !v.telling {
		v.telling = true
		v.freeThrown(v.notifyEnd(c))
		v.runJobs()
		v.telling = false
	}
	v.end(c, Data{}, reason)
	v.runJobs()
	if v.stopped != nil && !v.over.Load() {
		v.cutJobs()
	}
	v.forgive()
}

// cutJobs runs the jobs that are left so that each ends before it begins.
func (v *VM) cutJobs() {
	v.forced = true
	for n := 0; ; n++ {
		v.engine.hurry()
		if !v.engine.job() {
			break
		}
		if n == 1_000_000 {
			v.die(ErrLost)
			return
		}
	}
	v.forced = false
	for _, other := range v.calls {
		v.end(other, Data{}, ErrStopped)
	}
}

// thrown converts what the engine threw to an error, and frees it.
func (v *VM) thrown(err error) error {
	raised, ok := errors.AsType[*raised](err)
	if !ok {
		return err
	}
	return v.portray(raised.thrown)
}

// portray has boot.js describe what was thrown, and frees it.
func (v *VM) portray(thrown value) error {
	text, err := v.engine.callFunction(v.engine.describe, thrown)
	if err != nil {
		v.freeThrown(err)
		return parseThrown(nil)
	}
	defer v.engine.free(text)
	b, _ := v.engine.toText(text)
	return parseThrown(b)
}

// freeThrown frees what was thrown.
func (v *VM) freeThrown(err error) {
	if raised, ok := errors.AsType[*raised](err); ok {
		v.engine.free(raised.thrown)
	}
}

// A rejection is an unhandled rejected promise and its reason.
type rejection struct{ promise, reason value }

// rejected is called by the engine for a rejected promise without a handler, and again if it gets
// one later.
func (v *VM) rejected(promise, reason value, handled bool) {
	id := pointerOf(promise)
	if handled {
		if r, ok := v.unhappy[id]; ok {
			delete(v.unhappy, id)
			v.engine.free(r.promise)
			v.engine.free(r.reason)
		}
		return
	}
	if len(v.unhappy) < 16 {
		v.unhappy[id] = rejection{v.engine.dup(promise), v.engine.dup(reason)}
	}
}

// tellUnhappy logs the unhandled rejections.
func (v *VM) tellUnhappy() {
	for id, r := range v.unhappy {
		delete(v.unhappy, id)
		v.engine.free(r.promise)
		err := v.portray(r.reason)
		where := ""
		if t, ok := errors.AsType[*Thrown](err); ok {
			where = t.Stack
		}
		v.log.Warn("promise rejected, and nobody listened", "error", err, "stack", where)
	}
}

// forgive drops the rejections that a forced end has caused.
func (v *VM) forgive() {
	for id, r := range v.unhappy {
		delete(v.unhappy, id)
		v.engine.free(r.promise)
		v.engine.free(r.reason)
	}
}
