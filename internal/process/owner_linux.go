package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// owner finds the command that a child of the supervisor belongs to: the child is the command
// itself, or the supervisor adopted it when it lost its parent.
func (k *supervisorState) owner(pid int) *kept {
	if c := k.byPID[pid]; c != nil {
		return c
	}
	if len(k.byTag) > 0 {
		if c := k.byTag[tagOf(pid)]; c != nil {
			return c
		}
	}
	if sid, err := unix.Getsid(pid); err == nil && k.byGroup[sid] != nil {
		return k.byGroup[sid]
	}
	if pgid, err := unix.Getpgid(pid); err == nil && k.byGroup[pgid] != nil {
		return k.byGroup[pgid]
	}
	for v := range environment(pid) {
		if c := k.byMark[string(v)]; c != nil {
			return c
		}
	}
	return nil
}

// roots lists the children of the supervisor that belong to a command. If there are none, the
// command has no process left, because every descendant has one of them above it.
func (k *supervisorState) roots(c *kept) (pids []int) {
	for _, pid := range k.tree.ownChildren() {
		if k.owner(pid) == c {
			pids = append(pids, pid)
		}
	}
	if !c.done && len(pids) == 0 {
		pids = append(pids, c.pid) // the process table cannot be read
	}
	return pids
}

// forgetEnded lets go of commands that have no process any more.
func (k *supervisorState) forgetEnded() {
	alive := map[*kept]bool{}
	for _, pid := range k.tree.ownChildren() {
		alive[k.owner(pid)] = true
	}
	for id, c := range k.calls {
		if !c.done || alive[c] {
			continue
		}
		delete(k.calls, id)
		delete(k.byTag, c.tag)
		delete(k.byMark, c.mark)
		if k.byGroup[c.pid] == c {
			delete(k.byGroup, c.pid)
		}
	}
}

// hit sends a signal to all processes of a command, by their groups: a group has processes of one
// command only, and none can leave or fork in between.
func (k *supervisorState) hit(id uint64, sig unix.Signal) unix.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.calls[id]
	if c == nil {
		return unix.ESRCH
	}
	return k.hitAll(k.roots(c), sig)
}

// hitAll sends a signal to children of the supervisor and all their descendants.
func (k *supervisorState) hitAll(roots []int, sig unix.Signal) unix.Errno {
	result := unix.ESRCH
	own := unix.Getpgrp()
	seen := map[int]bool{}
	strike := func(pid int) {
		pgid, err := unix.Getpgid(pid)
		if err != nil || pgid <= 1 || pgid == own {
			pgid = -pid // this process alone; it cannot be in our group
		}
		if seen[pgid] {
			return
		}
		seen[pgid] = true
		if err := unix.Kill(-pgid, sig); err == nil {
			result = 0
		} else if errno, ok := err.(unix.Errno); ok && result != 0 {
			result = errno
		}
	}
	if sig == unix.SIGKILL { // at once, before they can get away; what they leave comes to us
		for _, pid := range roots {
			strike(pid)
		}
	}
	for _, pid := range k.tree.descendants(roots) {
		strike(pid)
	}
	return result
}

// list returns the living processes of a command.
func (k *supervisorState) list(id uint64) (alive []Survivor) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.calls[id]
	if c == nil {
		return nil
	}
	for _, pid := range k.tree.descendants(k.roots(c)) {
		e, ok := readEntry(pid)
		if ok && !e.zombie && len(alive) < maxList {
			alive = append(alive, newSurvivor(e))
		}
	}
	return alive
}

// end ends all processes of a command and reports what is left.
func (k *supervisorState) end(m *message) {
	if m.grace > 0 && k.hit(m.id, unix.SIGTERM) == 0 {
		k.hit(m.id, unix.SIGCONT) // one that is stopped would not hear it
		over := time.After(m.grace)
		for waiting := true; waiting; {
			some, changed := k.some(m.id)
			waiting = some
			if some {
				select {
				case <-changed:
				case <-over:
					waiting = false
				}
			}
		}
	}
	for limit := time.Now().Add(killLimit); time.Now().Before(limit); {
		some, changed := k.some(m.id)
		if !some {
			break
		}
		k.hit(m.id, unix.SIGKILL)
		waitOrTimeout(changed, roundPause)
	}
	k.sendMessage(&message{op: opAnswer, ask: m.ask, list: k.list(m.id)})
}

// some reports whether a command has a process, and returns a channel that is closed when the next
// process of any command ends.
func (k *supervisorState) some(id uint64) (bool, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.calls[id]
	return c != nil && len(k.roots(c)) > 0, k.changed
}

func waitOrTimeout(c <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
	case <-t.C:
	}
}

// killAll kills everything. In a PID namespace, the end of the supervisor does the rest.
func (k *supervisorState) killAll() {
	for limit := time.Now().Add(killLimit); time.Now().Before(limit); {
		k.mu.Lock()
		k.reapAll()
		roots := k.tree.ownChildren()
		if len(roots) == 0 {
			for pid := range k.byPID {
				roots = append(roots, pid)
			}
		}
		changed := k.changed
		if len(roots) > 0 {
			k.hitAll(roots, unix.SIGKILL)
		}
		k.mu.Unlock()
		if len(roots) == 0 {
			return
		}
		waitOrTimeout(changed, roundPause)
	}
}
