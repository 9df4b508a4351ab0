package process

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keeping reports whether there are supervisors on this system.
const keeping = true

const (
	keeperName = "helve-keeper"
	controlFD  = 3 // in a supervisor: the connection to its runner
	readSize   = 64 << 10
	roundPause = 10 * time.Millisecond // between two rounds of killing, unless something ends before
)

// A trace is by what a command is found again.
type trace struct {
	serial uint64 // by which the supervisor knows it
	since  uint64 // without a supervisor: when it was started, by the clock of the process table
	tag    uint64 // without a supervisor
}

// A supervisorState is the state of a supervisor: the commands it has started, and the connection
// to the runner.
type supervisorState struct {
	tree   *childTree
	parent int // at the start; another one later says that the runner has died

	send sync.Mutex // held while a frame is written

	// mu is held while a command is started, the dead are reaped or the living are listed: so a
	// process number stays valid meanwhile.
	mu       sync.Mutex
	calls    map[uint64]*kept
	byPID    map[int]*kept // of those whose own process is not reaped
	byGroup  map[int]*kept // by session and group, the latest of a number
	byTag    map[uint64]*kept
	byMark   map[string]*kept
	tags     tags
	started  int
	retiring bool
	children chan struct{} // one token: there may be children to wait for
	changed  chan struct{} // closed and made anew when something was reaped
}

// A kept is a command as its supervisor knows it.
type kept struct {
	id   uint64
	pid  int
	tag  uint64
	mark string
	done bool
}

// KeeperMain is the main function of a supervisor: the helper program runs it in a process that a
// [Runner] has started, or in a program that such a process has exec'd. It returns the exit code,
// after everything that it started is gone.
func KeeperMain() int {
	runtime.LockOSThread() // the one thread that has children: they are signalled when it dies
	if err := keepMain(); err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		return 1
	}
	return 0
}

func keepMain() error {
	// Nothing that is open here is for the commands. Old systems lack the one
	// call for it; there the files of a Place are all there is.
	if unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		for fd := controlFD; fd < controlFD+64; fd++ {
			unix.CloseOnExec(fd)
		}
	}
	if err := unix.SetNonblock(controlFD, false); err != nil {
		return fmt.Errorf("no runner: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become sub-reaper: %w", err)
	}
	setName()
	// No command may inspect this process or take over its connection to the runner. The sandbox
	// works without this, so an error does not matter.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	k := &supervisorState{
		tree: newTree(unix.Gettid()), parent: os.Getppid(),
		calls: map[uint64]*kept{}, byPID: map[int]*kept{}, byGroup: map[int]*kept{},
		byTag: map[uint64]*kept{}, byMark: map[string]*kept{},
		children: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	k.tags.open()
	go k.reap()
	go k.obey(signals)
	k.sendMessage(&message{op: opHello})
	err := k.serveRunner()
	k.killAll()
	return err
}

// setName sets the name of the supervisor's process, for people and other runners. In a sandbox the
// file may not be writable.
func setName() {
	err := os.WriteFile("/proc/self/comm", []byte(keeperName), 0)
	if err != nil && unix.Gettid() == os.Getpid() {
		name := append([]byte(keeperName), 0)
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	}
}

// obey ends everything when the runner has died. Signals from elsewhere, as
// from a command that ends its parent, are passed over.
func (k *supervisorState) obey(signals <-chan os.Signal) {
	for range signals {
		if os.Getppid() != k.parent {
			k.killAll()
			os.Exit(0)
		}
	}
}

// serveRunner does what the runner asks for, until it is gone or asks to quit.
func (k *supervisorState) serveRunner() error {
	var stream []byte
	var fds []int
	buf := make([]byte, readSize)
	oob := make([]byte, unix.CmsgSpace(8*4))
	for {
		n, on, _, _, err := unix.Recvmsg(controlFD, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return nil // the runner is gone
		}
		fds = append(fds, rights(oob[:on])...)
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
			if quit := k.handle(m, &fds); quit {
				return nil
			}
		}
		if len(stream) == 0 {
			stream = nil
		}
	}
}

func rights(oob []byte) (fds []int) {
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range list {
		got, err := unix.ParseUnixRights(&list[i])
		if err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

// handle does what one message asks for.
func (k *supervisorState) handle(m *message, fds *[]int) (quit bool) {
	switch m.op {
	case opSpawn:
		if len(*fds) < 3 {
			k.sendMessage(&message{op: opFailed, id: m.id, num: int64(unix.EBADF)})
			return false
		}
		mine := (*fds)[:3]
		*fds = (*fds)[3:]
		k.spawn(m, mine)
	case opSignal:
		errno := k.hit(m.id, unix.Signal(m.signal))
		k.sendMessage(&message{op: opAnswer, ask: m.ask, num: int64(errno)})
	case opList:
		k.sendMessage(&message{op: opAnswer, ask: m.ask, list: k.list(m.id)})
	case opEnd:
		go k.end(m)
	case opRetire:
		k.mu.Lock()
		k.retiring = true
		k.mu.Unlock()
		k.wake()
	case opQuit:
		return true
	}
	return false
}

// sendMessage writes a message to the runner. When it is gone, serve finds out.
func (k *supervisorState) sendMessage(m *message) {
	b := m.encode()
	k.send.Lock()
	defer k.send.Unlock()
	for len(b) > 0 {
		n, err := unix.SendmsgN(controlFD, b, nil, nil, unix.MSG_NOSIGNAL)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		b = b[n:]
	}
}

// spawn starts a command, in a session of its own and with a tag, and closes the files that came
// with the request.
func (k *supervisorState) spawn(m *message, fds []int) {
	c := &kept{id: m.id, mark: m.mark}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.started++
	if k.started%256 == 0 {
		k.forgetEnded()
	}
	c.tag = k.tags.next(k.byTag)
	restore := k.tags.put(c.tag)
	pid, err := syscall.ForkExec(m.path, m.argv, &syscall.ProcAttr{
		Dir: m.cwd, Env: m.env,
		Files: []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	restore()
	for _, fd := range fds {
		unix.Close(fd)
	}
	if err != nil {
		errno, ok := err.(syscall.Errno)
		if !ok {
			errno = unix.EIO
		}
		k.sendMessage(&message{op: opFailed, id: m.id, num: int64(errno), dir: badFolder(m.cwd)})
		return
	}
	c.pid = pid
	k.calls[c.id], k.byPID[pid], k.byGroup[pid], k.byMark[c.mark] = c, c, c, c
	if c.tag != 0 {
		k.byTag[c.tag] = c
	}
	k.sendMessage(&message{op: opStarted, id: c.id, num: int64(pid), tag: c.tag})
	k.wake()
}

// badFolder reports whether a command cannot run in a folder at all.
func badFolder(dir string) bool {
	if dir == "" {
		return false
	}
	info, err := os.Stat(dir)
	return err != nil || !info.IsDir() || unix.Access(dir, unix.X_OK) != nil
}

func (k *supervisorState) wake() {
	select {
	case k.children <- struct{}{}:
	default:
	}
}

// reap takes note of what has ended, for ever.
func (k *supervisorState) reap() {
	for {
		// The child is left as it is.
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err == unix.ECHILD {
			k.mu.Lock()
			over := k.retiring
			k.mu.Unlock()
			if over {
				os.Exit(0)
			}
			<-k.children
			continue
		}
		k.mu.Lock()
		k.reapAll()
		k.mu.Unlock()
	}
}

// reapAll takes what has ended out of the process table.
func (k *supervisorState) reapAll() {
	any := false
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		any = true
		c := k.byPID[pid]
		if c == nil {
			continue // it had lost its parent
		}
		delete(k.byPID, pid)
		c.done = true
		m := &message{op: opExited, id: c.id, num: -1}
		if ws.Signaled() {
			m.signal = int64(ws.Signal())
		} else {
			m.num = int64(ws.ExitStatus())
		}
		k.sendMessage(m)
	}
	if any {
		close(k.changed)
		k.changed = make(chan struct{})
	}
}
