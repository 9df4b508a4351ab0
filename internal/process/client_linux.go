package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	keeperLimit = 15 * time.Second // for a supervisor to start
	maxTags     = 4096
	maxTries    = 10 // supervisors that exit just when they are asked

	childStopped = 5 // CLD_STOPPED
)

// keepers are the supervisors of a runner, by the key of their SupervisorSpec, and those that
// accept no more commands but still have some running.
type keepers struct {
	by    map[string]*supervisor
	old   map[*supervisor]bool
	lives sync.WaitGroup

	tags   tags // of commands that run directly
	tagged bool // they are open
}

// A supervisor is the runner's end of a supervisor process.
type supervisor struct {
	r     *Runner
	ready chan struct{} // closed when it is up, or err says why not
	dead  chan struct{} // closed when its process has ended
	gone  chan struct{} // closed when it and all it kept are gone
	err   error
	cmd   *exec.Cmd
	conn  *net.UnixConn
	words *brief // what it has printed

	send sync.Mutex // held while a frame is written

	mu      sync.Mutex
	procs   map[uint64]*Process // that are not done
	tags    map[uint64]uint64   // of commands, for when the supervisor is lost
	waits   map[uint64]chan *message
	asks    uint64
	idle    *time.Timer
	quits   bool // it was asked to exit
	closing bool // its reader has ended: nothing waits any more
}

// startKept starts a command through the supervisor of its place.
func (r *Runner) startKept(ctx context.Context, place SupervisorSpec, s *spawn, p *Process) error {
	for try := 0; ; try++ {
		k, err := r.keeper(ctx, place)
		if err != nil {
			return err
		}
		err = k.start(ctx, s, p)
		if errors.Is(err, errNotSent) && try < maxTries {
			continue // it has just gone: another one
		}
		return err
	}
}

// keeper returns the running supervisor of a place, and starts it if needed.
func (r *Runner) keeper(ctx context.Context, place SupervisorSpec) (*supervisor, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	k := r.keepers.by[place.Key]
	if k == nil {
		k = &supervisor{
			r: r, ready: make(chan struct{}), gone: make(chan struct{}), dead: make(chan struct{}), words: &brief{},
			procs: map[uint64]*Process{}, tags: map[uint64]uint64{}, waits: map[uint64]chan *message{},
		}
		if r.keepers.by == nil {
			r.keepers.by, r.keepers.old = map[string]*supervisor{}, map[*supervisor]bool{}
		}
		r.keepers.by[place.Key] = k
		r.keepers.lives.Go(func() { k.live(place) })
	}
	r.mu.Unlock()
	select {
	case <-k.ready:
		return k, k.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// live runs a supervisor until it ends. It locks its thread, because the kernel signals the
// supervisor when the thread that started it dies.
func (k *supervisor) live(place SupervisorSpec) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(k.gone)
	up := make(chan error, 1)
	lost := make(chan struct{})
	err := k.open(place)
	if err == nil {
		go k.readLoop(place, up, lost)
		err = k.waitReady(up)
	}
	if err != nil {
		k.err = fmt.Errorf("%w: %w", ErrKeeper, err)
		k.detach(place)
		k.mu.Lock()
		k.quits = true
		k.mu.Unlock()
		if k.cmd != nil {
			k.cmd.Process.Kill()
			k.cmd.Wait()
			close(k.dead)
			k.conn.Close()
			<-lost
			if words := k.words.String(); words != "" {
				k.err = fmt.Errorf("%w: %s", ErrKeeper, words)
			}
		}
		close(k.ready)
		return
	}
	// It retires if it has had nothing to do for long enough.
	k.mu.Lock()
	k.restLocked()
	k.mu.Unlock()
	close(k.ready)
	wakeful(k.cmd.Process.Pid)
	k.cmd.Wait()
	close(k.dead)
	_ = k.conn.SetReadDeadline(time.Now().Add(time.Second)) // in case another process holds the other end
	<-lost
	k.conn.Close()
}

// wakeful waits for a child to exit, and continues it whenever a command stops it.
func wakeful(pid int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case err == unix.EINTR:
		case err == nil && info.Code == childStopped:
			_ = unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
			_ = unix.Kill(pid, unix.SIGCONT)
		default:
			return
		}
	}
}

// open starts the helper.
func (k *supervisor) open(place SupervisorSpec) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	mine, its := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer mine.Close()
	defer its.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	cmd := exec.Command(k.r.opts.Helper, place.Args...)
	cmd.Env = append([]string{}, place.Env...)
	cmd.Dir = "/"
	cmd.Stderr = k.words
	cmd.WaitDelay = time.Second
	cmd.ExtraFiles = append([]*os.File{its}, place.Files...)
	attr := syscall.SysProcAttr{}
	if place.Attr != nil {
		attr = *place.Attr
	}
	attr.Setsid = true
	attr.Pdeathsig = syscall.SIGTERM
	cmd.SysProcAttr = &attr
	if err := cmd.Start(); err != nil {
		conn.Close()
		return err
	}
	k.cmd, k.conn = cmd, conn.(*net.UnixConn)
	return nil
}

func (k *supervisor) waitReady(up <-chan error) error {
	limit := time.NewTimer(keeperLimit)
	defer limit.Stop()
	select {
	case err := <-up:
		return err
	case <-limit.C:
		return errors.New("does not come up")
	}
}

// readLoop reads the messages of the supervisor until the connection ends.
func (k *supervisor) readLoop(place SupervisorSpec, up chan<- error, lost chan<- struct{}) {
	defer close(lost)
	err := k.readMessages(up)
	if err != nil && err != io.EOF {
		// Only the supervisor may send here: a command has got hold of the connection.
		k.cmd.Process.Kill()
	}
	k.detach(place)
	k.mu.Lock()
	k.closing = true
	procs, waits, whole := k.procs, k.waits, k.quits || k.asks == 0
	k.procs, k.waits = nil, nil
	k.mu.Unlock()
	if !whole || len(procs) > 0 {
		k.killLeftovers()
	}
	for serial, p := range procs {
		if waits[serial] != nil {
			continue // not started as far as is known: the caller of start gets an error and may try another supervisor
		}
		p.setStatus(Status{Code: -1, Signal: syscall.SIGKILL, Err: fmt.Errorf("%w: lost", ErrKeeper)})
	}
	for _, c := range waits {
		close(c)
	}
	select {
	case up <- errors.New("ended"):
	default:
	}
}

func (k *supervisor) readMessages(up chan<- error) error {
	var stream []byte
	buf := make([]byte, 16<<10)
	for {
		n, err := k.conn.Read(buf)
		if err != nil {
			return io.EOF
		}
		stream = append(stream, buf[:n]...)
		for {
			frame, rest, err := cutFrame(stream)
			if err != nil {
				return err
			}
			if frame == nil {
				break
			}
			m, err := decode(frame)
			if err != nil {
				return err
			}
			stream = rest
			if m.op == opHello {
				select {
				case up <- nil:
				default:
				}
			} else {
				k.take(m)
			}
		}
		if len(stream) == 0 {
			stream = nil
		}
	}
}

// take passes a message on to who waits for it.
func (k *supervisor) take(m *message) {
	k.mu.Lock()
	var wait chan *message
	var done *Process
	switch m.op {
	case opStarted:
		k.tags[m.id] = m.tag
		wait = k.waits[m.id]
		delete(k.waits, m.id)
	case opFailed:
		wait = k.waits[m.id]
		delete(k.waits, m.id)
		delete(k.procs, m.id)
		k.restLocked()
	case opAnswer:
		wait = k.waits[m.ask]
		delete(k.waits, m.ask)
	case opExited:
		done = k.procs[m.id]
		delete(k.procs, m.id)
		// Until there are many, the tags of commands that are done are kept: processes that were left
		// by them can be found.
		if len(k.tags) >= maxTags {
			for id := range k.tags {
				if k.procs[id] == nil {
					delete(k.tags, id)
				}
			}
		}
		k.restLocked()
	}
	k.mu.Unlock()
	if wait != nil {
		wait <- m // has capacity
	}
	if done != nil {
		done.setStatus(Status{Code: int(m.num), Signal: syscall.Signal(m.signal)})
	}
}

// detach removes the supervisor from the runner: it gets no more commands.
func (k *supervisor) detach(place SupervisorSpec) {
	k.r.mu.Lock()
	if k.r.keepers.by[place.Key] == k {
		delete(k.r.keepers.by, place.Key)
	}
	delete(k.r.keepers.old, k)
	k.r.mu.Unlock()
	k.mu.Lock()
	if k.idle != nil {
		k.idle.Stop()
	}
	k.mu.Unlock()
}

func (k *supervisor) restLocked() {
	if len(k.procs) > 0 || k.quits || k.closing {
		return
	}
	if k.idle == nil {
		k.idle = time.AfterFunc(k.r.opts.Idle, k.retire)
	} else {
		k.idle.Reset(k.r.opts.Idle)
	}
}

// retire tells the supervisor to exit as soon as none of its commands is left.
func (k *supervisor) retire() {
	k.r.mu.Lock()
	defer k.r.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.procs) > 0 || k.quits || k.closing || k.r.closed {
		return
	}
	for key, other := range k.r.keepers.by {
		if other == k {
			delete(k.r.keepers.by, key)
			k.r.keepers.old[k] = true
		}
	}
	k.quits = true
	go k.write(&message{op: opRetire}, nil)
}

// closeKeepers ends the supervisors with all their commands.
func (r *Runner) closeKeepers() error {
	r.mu.Lock()
	var all []*supervisor
	for _, k := range r.keepers.by {
		all = append(all, k)
	}
	for k := range r.keepers.old {
		all = append(all, k)
	}
	r.mu.Unlock()
	errs := make(chan error, len(all))
	for _, k := range all {
		go func() { errs <- k.close() }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	r.keepers.lives.Wait()
	return err
}

func (k *supervisor) close() error {
	<-k.ready
	if k.err != nil {
		<-k.gone
		return nil // it never was
	}
	k.mu.Lock()
	k.quits = true
	k.mu.Unlock()
	_ = k.write(&message{op: opQuit}, nil)
	limit := time.NewTimer(k.r.patience)
	defer limit.Stop()
	select {
	case <-k.gone:
		return nil
	case <-limit.C:
	}
	k.cmd.Process.Kill()
	<-k.gone
	return fmt.Errorf("close runner: %w had to be killed", ErrKeeper)
}

// brief keeps the first bytes that a supervisor prints: why it could not start.
type brief struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write takes everything and keeps the beginning.
func (w *brief) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := 2000 - w.b.Len(); room > 0 {
		w.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String returns the kept bytes as one line.
func (w *brief) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(w.b.String()), " ")
}
