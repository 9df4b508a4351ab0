//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A process is a line of the process table.
type process struct {
	pid, parent, group, session int
	start                       string
}

// startOf returns when a process began; ok is false if there is none.
func startOf(pid int) (start string, ok bool) {
	if pid <= 0 {
		return "", false
	}
	p, ok := look(pid)
	return p.start, ok
}

// ours reports whether a process descends from this one. A process of another PID namespace, as in
// a container, does not.
func ours(pid int) bool {
	for range 64 {
		p, ok := look(pid)
		if !ok || p.parent <= 1 {
			return false
		}
		if p.parent == os.Getpid() {
			return true
		}
		pid = p.parent
	}
	return false
}

// endTree ends a process that began at the given time with what it started:
// its descendants, its group and its session. Where another process has the
// number by now, nothing is done.
func endTree(ctx context.Context, pid int, start string) error {
	root, ok := look(pid)
	if !ok || start == "" || root.start != start {
		return nil
	}
	if pid <= 1 {
		return fmt.Errorf("process %d is not ours to end", pid)
	}
	known := map[int]process{pid: root}
	until := time.Now().Add(sweepGrace)
	for {
		updateTree(known, listProcesses())
		if _, ok := known[os.Getpid()]; ok {
			return errors.New("this process is part of it")
		}
		if len(known) == 0 {
			return nil
		}
		sig := unix.SIGTERM
		if time.Now().After(until) {
			sig = unix.SIGKILL
		}
		var errs []error
		for _, p := range known {
			errs = append(errs, p.send(sig))
		}
		select {
		case <-ctx.Done():
			return errors.Join(append(errs, ctx.Err())...)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// updateTree drops those that are gone from the table and adds what the others
// started: their children, and the members of the groups and sessions they lead.
func updateTree(known map[int]process, table []process) {
	now := make(map[int]process, len(table))
	for _, p := range table {
		now[p.pid] = p
	}
	for pid, p := range known {
		if there, ok := now[pid]; !ok || there.start != p.start {
			delete(known, pid)
		}
	}
	leads := func(pid int) bool { _, ok := known[pid]; return ok }
	for more := true; more; {
		more = false
		for _, p := range table {
			if _, ok := known[p.pid]; ok || p.pid <= 1 {
				continue
			}
			if leads(p.parent) || leads(p.group) || leads(p.session) {
				known[p.pid] = p
				more = true
			}
		}
	}
}
