//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// enterWall puts the calling thread into the sandbox, irrevocably. It locks the goroutine to its
// thread, which must then exec: only that leaves no other thread of the process outside. The
// process must have been started with [Profile.Attr]. No step is skipped: an error names the step
// that failed, and the caller must not go on. programs are descriptors of the programs that it may
// exec.
func enterWall(p Profile, programs ...int) error {
	runtime.LockOSThread()
	if !p.Bare { // first: without mapped ids, files of other users appear as nobody's
		if err := p.mapSelf(); err != nil {
			return fmt.Errorf("wall: the own ids: %w", err)
		}
	}
	p, err := p.Check()
	if err != nil {
		return err
	}
	if p.Level == Off {
		return errors.New("wall: the level is off, so there is nothing to enter")
	}
	b := &builder{p: p}
	steps := []enterStep{
		{"closing descriptors", func() error { return closeAllBut(p.Keep) }},
		{"no new privileges", func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
		{"landlock", func() error { return landlock(p, b.private, programs) }},
		{"dropping capabilities", func() error { return dropCapabilities(p.kept()) }},
		{"keeping the parent-death signal", func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(p.Death), 0, 0, 0) }}, // changes of credentials clear it
		{"the system call filter", func() error { return seccomp(p.Level) }},
	}
	if !p.Bare {
		if os.Getpid() != 1 {
			return errors.New("wall: the process was not started in namespaces of its own")
		}
		steps = append([]enterStep{{"mounts", b.build}}, steps...)
	}
	return run(steps)
}

// closeAllBut marks all descriptors from 3 on to be closed by exec, but those
// to keep. The runtime of Go still uses some of them until then.
func closeAllBut(keep []int) error {
	from := uint(3)
	for _, fd := range keep { // sorted
		if fd < 3 {
			continue
		}
		if uint(fd) > from {
			if err := unix.CloseRange(from, uint(fd)-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
				return err
			}
		}
		from = uint(fd) + 1
	}
	return unix.CloseRange(from, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// owners are the capabilities by which root treats files of others as its own.
const owners = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID

// kept returns the capabilities that remain in the sandbox.
func (p Profile) kept() uint32 {
	if p.Owners && !p.Bare && os.Geteuid() == 0 {
		return owners
	}
	return 0
}

// dropCapabilities gives up all capabilities but some, and all ways to get
// more: also for root, by setuid programs, and by files that carry some.
func dropCapabilities(keep uint32) error {
	may := hasCapability(unix.CAP_SETPCAP)
	if may {
		// No exec may ever give these back.
		for c := uintptr(0); c < 64; c++ {
			if c < 32 && keep&(1<<c) != 0 {
				continue
			}
			err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
			if err == unix.EINVAL {
				break // the kernel knows no more
			}
			if err != nil {
				return err
			}
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if may {
		if err := setCapabilities(keep|1<<unix.CAP_SETPCAP, keep); err != nil {
			return err
		}
		for c := range uintptr(32) {
			if keep&(1<<c) != 0 {
				if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c, 0, 0); err != nil {
					return err
				}
			}
		}
		// The kernel's secure bits: root gets no privileges from exec (1) or setuid (4),
		// capabilities are not kept (16, left out), none can be made ambient (64), and none of this
		// can be changed (the bit above each).
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, 1|2|4|8|32|64|128, 0, 0, 0); err != nil {
			return err
		}
	}
	if err := setCapabilities(keep, keep); err != nil {
		return err
	}
	return onlyCapabilities(keep)
}

func setCapabilities(now, inherited uint32) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	sets := [2]unix.CapUserData{{Effective: now, Permitted: now, Inheritable: inherited}}
	return unix.Capset(&header, &sets[0])
}

// onlyCapabilities returns an error if this thread has more than keep.
func onlyCapabilities(keep uint32) error {
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if v, err := strconv.ParseUint(status(set), 16, 64); err != nil || v&^uint64(keep) != 0 {
			return fmt.Errorf("the set %s is %q", set, status(set))
		}
	}
	return nil
}

// Main is the main function of the helper program. args are a profile, as text or as "fd:N", then
// "exec", a program and its arguments: it enters the sandbox and execs that program. With "-" and
// "probe" it is in the sandbox already, and runs the probes for [Prove]. It returns an exit status
// only if it has failed or has probed; the reason is on standard error.
func Main(args []string) int {
	if len(args) == 2 && args[0] == "-" && args[1] == "probe" {
		return probeMain(os.Stdin, os.Stdout)
	}
	if len(args) < 3 || args[1] != "exec" {
		fmt.Fprintln(os.Stderr, "wall: wanted: a profile, exec, a program and its arguments")
		return 2
	}
	p, err := receive(args[0])
	if err == nil {
		err = become(p, args[2:])
	}
	fmt.Fprintln(os.Stderr, err)
	return 126
}

// receive reads the profile that Main was given.
func receive(text string) (Profile, error) {
	number, ok := strings.CutPrefix(text, "fd:")
	if !ok {
		return Decode(text)
	}
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return Profile{}, fmt.Errorf("wall: %q is no descriptor", text)
	}
	f := os.NewFile(uintptr(fd), "profile")
	defer f.Close()
	// From its beginning, wherever another helper that got the same file has
	// read to.
	all, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return Profile{}, fmt.Errorf("reading the wall's profile: %w", err)
	}
	return Decode(string(all))
}

// become enters the sandbox and execs. It opens the program first, because the program's name need
// not resolve in the sandbox.
func become(p Profile, argv []string) error {
	path := argv[0]
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("wall: program %s: %w", path, err)
	}
	if err := enterWall(p, fd); err != nil {
		return err
	}
	var before, now unix.Stat_t
	if err := unix.Fstat(fd, &before); err != nil {
		return fmt.Errorf("wall: program %s: %w", path, err)
	}
	if unix.Stat(path, &now) != nil || now.Dev != before.Dev || now.Ino != before.Ino {
		path = "/proc/self/fd/" + strconv.Itoa(fd)
	}
	return fmt.Errorf("wall: starting %s: %w", argv[0], syscall.Exec(path, argv, os.Environ()))
}
