//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

const (
	directPause = 10 * time.Millisecond // between two looks at the process table
	lookPause   = 2 * time.Millisecond  // between two that have to agree
)

// direct reaches the processes of a command that runs directly.
type direct struct{ r *Runner }

// startDirect starts a command as a child of this program.
func (r *Runner) startDirect(s *spawn, p *Process) error {
	p.by = direct{r}
	started := make(chan error)
	go func() {
		// The kernel signals the command when the thread that started it dies, so the thread must
		// stay as long as the command does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		child, err := os.StartProcess(s.path, s.argv, &os.ProcAttr{
			Dir: s.dir, Env: s.env, Files: s.files[:], Sys: directAttr(),
		})
		if err == nil {
			p.pid = child.Pid
			r.tagDirect(p)
			p.since = startedAt(p.pid)
			err = r.enlist(p)
		}
		if err != nil && child != nil {
			_ = syscall.Kill(-p.pid, syscall.SIGKILL)
			_, _ = child.Wait()
		}
		started <- err
		if err == nil {
			r.waitChild(child, p)
		}
	}()
	return <-started
}

// enlist takes a command up, so that Close finds it.
func (r *Runner) enlist(p *Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.live[p] = true
	return nil
}

// waitChild waits for the end of a command.
func (r *Runner) waitChild(child *os.Process, p *Process) {
	state, err := child.Wait()
	status := Status{Code: -1, Err: err}
	if err == nil {
		ws := state.Sys().(syscall.WaitStatus)
		status = Status{Code: ws.ExitStatus()}
		if ws.Signaled() {
			status = Status{Code: -1, Signal: ws.Signal()}
		}
	}
	r.mu.Lock()
	delete(r.live, p)
	r.mu.Unlock()
	p.setStatus(status)
}

// members lists the living processes of a command, as far as they can be identified. known holds
// those found earlier, which stay members when they lose their parent; members adds to it.
func (direct) members(p *Process, known map[int]uint64) (list []processInfo, err error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	below := map[int][]processInfo{}
	var queue []processInfo
	for _, e := range all {
		below[e.parent] = append(below[e.parent], e)
		if e.since < p.since || e.pid == os.Getpid() {
			continue
		}
		since, old := known[e.pid]
		if e.pid == p.pid || e.session == p.pid || e.group == p.pid || old && since == e.since ||
			tagged(e.pid, p) || hasVariable(e.pid, p.mark) {
			queue = append(queue, e)
		}
	}
	seen := map[int]bool{}
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		if seen[e.pid] {
			continue
		}
		seen[e.pid] = true
		queue = append(queue, below[e.pid]...)
		if !e.zombie {
			known[e.pid] = e.since
			list = append(list, e)
		}
	}
	return list, nil
}

// hit sends a signal to the processes of a command. It looks for them first,
// as long as those are there whose children they are.
func (d direct) hit(p *Process, known map[int]uint64, sig syscall.Signal) (left int, err error) {
	result := error(syscall.ESRCH)
	note := func(err error) {
		if result != nil {
			result = err
		}
	}
	list, err := d.members(p, known)
	grouped := false
	select {
	case <-p.done:
	default: // its number is still its own
		note(syscall.Kill(-p.pid, sig))
		grouped = true
	}
	if errors.Is(err, errNoTable) {
		return 0, result
	}
	for _, e := range list {
		if !grouped || e.group != p.pid {
			note(syscall.Kill(e.pid, sig))
		}
	}
	return len(list), errors.Join(err, result)
}

func (d direct) signal(p *Process, sig syscall.Signal) error {
	_, err := d.hit(p, map[int]uint64{}, sig)
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("signal: %w", err)
	}
	return nil
}

func (d direct) list(p *Process) (alive []Survivor, err error) {
	known := map[int]uint64{}
	_, _ = d.members(p, known)
	time.Sleep(lookPause) // a process that becomes another program has no mark for a moment
	list, err := d.members(p, known)
	for _, e := range list {
		alive = append(alive, newSurvivor(e))
	}
	if errors.Is(err, errNoTable) {
		err = nil
	}
	return alive, err
}

func (d direct) end(p *Process, grace time.Duration) ([]Survivor, error) {
	known := map[int]uint64{}
	if grace > 0 {
		_, _ = d.hit(p, known, syscall.SIGTERM)
		_, _ = d.hit(p, known, syscall.SIGCONT)
		d.until(p, known, time.Now().Add(grace))
	}
	limit := time.Now().Add(killLimit)
	for none := 0; none < 2 && time.Now().Before(limit); time.Sleep(lookPause) {
		n, _ := d.hit(p, known, syscall.SIGKILL)
		none++
		if n > 0 {
			none = 0
		}
	}
	wait := time.NewTimer(time.Until(limit))
	defer wait.Stop()
	select {
	case <-p.done:
	case <-wait.C:
	}
	return d.list(p)
}

// until waits until no process of a command is left, or until the time is up.
func (d direct) until(p *Process, known map[int]uint64, limit time.Time) {
	pause := directPause
	for time.Now().Before(limit) {
		list, err := d.members(p, known)
		if errors.Is(err, errNoTable) { // the command itself is all that is known
			wait := time.NewTimer(time.Until(limit))
			defer wait.Stop()
			select {
			case <-p.done:
			case <-wait.C:
			}
			return
		}
		if err != nil || len(list) == 0 {
			return
		}
		time.Sleep(min(pause, time.Until(limit)))
		pause = min(2*pause, 5*directPause)
	}
}
