package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errNotSent reports that a message did not reach the supervisor.
var errNotSent = fmt.Errorf("%w: gone", ErrKeeper)

// start has the supervisor start a command.
func (k *supervisor) start(ctx context.Context, s *spawn, p *Process) error {
	k.mu.Lock()
	if k.quits || k.closing {
		k.mu.Unlock()
		return errNotSent
	}
	k.asks++
	p.serial, p.by = k.asks, k
	wait := make(chan *message, 1)
	k.procs[p.serial], k.waits[p.serial] = p, wait
	if k.idle != nil {
		k.idle.Stop()
	}
	k.mu.Unlock()
	m := &message{op: opSpawn, id: p.serial, path: s.path, argv: s.argv, env: s.env, cwd: s.dir, mark: s.mark}
	if err := k.write(m, s.files[:]); err != nil {
		k.mu.Lock()
		delete(k.procs, p.serial)
		delete(k.waits, p.serial)
		k.mu.Unlock()
		if errors.Is(err, net.ErrClosed) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
			return errNotSent
		}
		return err
	}
	select {
	case m = <-wait:
	case <-ctx.Done():
		// The supervisor works in order, so this ends whatever may have started.
		_ = k.write(&message{op: opEnd, id: p.serial}, nil)
		return ctx.Err()
	}
	switch {
	case m == nil:
		return fmt.Errorf("%w: lost", ErrKeeper)
	case m.op == opFailed && m.dir:
		return &fs.PathError{Op: "chdir", Path: s.dir, Err: syscall.Errno(m.num)}
	case m.op == opFailed:
		return &fs.PathError{Op: "exec", Path: s.path, Err: syscall.Errno(m.num)}
	}
	p.pid = int(m.num)
	return nil
}

// write sends a message, with files if there are any.
func (k *supervisor) write(m *message, files []*os.File) error {
	b := m.encode()
	if len(b) > maxFrame {
		return unix.E2BIG
	}
	var oob []byte
	if files != nil {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd()) // which makes it blocking, as commands expect it
		}
		oob = unix.UnixRights(fds...)
	}
	k.send.Lock()
	defer k.send.Unlock()
	n, _, err := k.conn.WriteMsgUnix(b, oob, nil)
	runtime.KeepAlive(files)
	if err == nil && n < len(b) {
		_, err = k.conn.Write(b[n:])
	}
	return err
}

// request sends a message and waits for the reply. The reply is nil when the supervisor is gone,
// together with all its commands. A supervisor that does not reply is killed.
func (k *supervisor) request(m *message) *message {
	k.mu.Lock()
	if k.closing {
		k.mu.Unlock()
		<-k.gone
		return nil
	}
	k.asks++
	m.ask = k.asks
	wait := make(chan *message, 1)
	k.waits[m.ask] = wait
	k.mu.Unlock()
	if err := k.write(m, nil); err != nil {
		<-k.gone
		return nil
	}
	limit := time.NewTimer(m.grace + k.r.patience)
	defer limit.Stop()
	select {
	case m = <-wait:
		return m
	case <-limit.C:
	}
	k.cmd.Process.Kill() // it is not what it should be
	<-k.gone
	return nil
}

func (k *supervisor) signal(p *Process, sig syscall.Signal) error {
	m := k.request(&message{op: opSignal, id: p.serial, signal: int64(sig)})
	if m == nil || m.num == int64(syscall.ESRCH) {
		return fmt.Errorf("signal: %w", os.ErrProcessDone)
	}
	if m.num != 0 {
		return fmt.Errorf("signal: %w", syscall.Errno(m.num))
	}
	return nil
}

func (k *supervisor) end(p *Process, grace time.Duration) ([]Survivor, error) {
	return k.request(&message{op: opEnd, id: p.serial, grace: grace}).survivors(), nil
}

func (k *supervisor) list(p *Process) ([]Survivor, error) {
	return k.request(&message{op: opList, id: p.serial}).survivors(), nil
}

func (m *message) survivors() []Survivor {
	if m == nil {
		return nil
	}
	return m.list
}
