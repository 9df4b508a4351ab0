package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// killLeftovers kills what a lost supervisor left behind. Killing the supervisor did not kill its
// commands, and nothing else knows about them.
func (k *supervisor) killLeftovers() {
	k.cmd.Process.Kill()
	<-k.dead // until then it still has its children
	k.mu.Lock()
	tags := make(map[uint64]bool, len(k.tags))
	for _, tag := range k.tags {
		if tag != 0 {
			tags[tag] = true
		}
	}
	k.mu.Unlock()
	limit := time.Now().Add(killLimit)
	for none := 0; none < 2 && time.Now().Before(limit); time.Sleep(lookPause) {
		lost := k.findLeftovers(tags)
		none++
		if len(lost) > 0 {
			none = 0
		}
		for _, pid := range lost {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// findLeftovers lists the living processes that carry a mark of this runner or one of the tags, and
// all their descendants, except those that have a supervisor.
func (k *supervisor) findLeftovers(tags map[uint64]bool) (pids []int) {
	list, err := table()
	if err != nil {
		return nil
	}
	by := make(map[int]processInfo, len(list))
	for _, e := range list {
		by[e.pid] = e
	}
	own := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !own[pid]; pid = by[pid].parent {
		own[pid] = true
	}
	have := k.r.roots()
	since := by[os.Getpid()].since
	prefix := k.r.opts.Mark + "=" + k.r.id + "."
	for _, e := range list {
		if e.zombie || own[e.pid] || e.since < since {
			continue
		}
		if orphaned(e, by, have, own) && (markedBy(e.pid, prefix) || tags[tagOf(e.pid)]) {
			pids = append(pids, e.pid)
		}
	}
	return (&childTree{}).descendants(pids)
}

// orphaned reports whether a process has no supervisor above it, neither of this runner nor of
// another one that happens to use the same tags.
func orphaned(e processInfo, by map[int]processInfo, have, own map[int]bool) bool {
	for n := 0; n < len(by); n++ {
		if have[e.pid] {
			return false
		}
		up, ok := by[e.parent]
		if !ok || own[up.pid] {
			return true // it has come to a process above this program
		}
		if up.name == keeperName {
			return false
		}
		e = up
	}
	return false
}

// roots are the processes of this program that have commands below them.
func (r *Runner) roots() map[int]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	pids := map[int]bool{}
	add := func(k *supervisor) {
		select {
		case <-k.ready:
			if k.err == nil {
				pids[k.cmd.Process.Pid] = true
			}
		default:
		}
	}
	for _, k := range r.keepers.by {
		add(k)
	}
	for k := range r.keepers.old {
		add(k)
	}
	for p := range r.live {
		pids[p.pid] = true
	}
	return pids
}
