//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Prove builds the sandbox of a profile, tries from inside everything that it must prevent, and
// returns the profile to use with the results. If the sandbox cannot be built in full and the
// profile allows less, the returned profile has Bare set. The error says why there is no sandbox at
// all, or, see [Transient], why that could not be determined.
func Prove(ctx context.Context, h Helper, p Profile) (Profile, State, error) {
	state := State{Level: p.Level}
	if p.Level == Off {
		return p, state, nil
	}
	p, err := p.Check()
	if err != nil {
		return p, state, err
	}
	if !p.Bare {
		state.Kind = "namespaces"
		if state.Promises, err = attempt(ctx, h, p); err == nil {
			return p, state, nil
		}
		if ctx.Err() != nil {
			return p, State{Level: p.Level}, ctx.Err()
		}
		if Transient(err) { // a weaker sandbox would not help
			return p, State{Level: p.Level}, fmt.Errorf("building the wall: %w", err)
		}
		state.Reason = advised(err)
		if !p.Fallback {
			return p, State{Level: p.Level, Reason: state.Reason}, fmt.Errorf("building the wall: %w", err)
		}
	}
	p.Bare, state.Kind = true, "landlock"
	var bare error
	if state.Promises, bare = attempt(ctx, h, p); bare != nil {
		if ctx.Err() != nil {
			return p, State{Level: p.Level}, ctx.Err()
		}
		state = State{Level: p.Level, Reason: strings.TrimPrefix(state.Reason+" "+advised(bare), " ")}
		return p, state, fmt.Errorf("building the wall: %w", errors.Join(err, bare))
	}
	return p, state, nil
}

// errPreparing says that the probes were not even started.
var errPreparing = errors.New("preparing the probes")

// Transient reports whether an error of [Prove] says nothing about this machine: memory, time or
// descriptors were short at that moment, and another try may succeed.
func Transient(err error) bool {
	for _, cause := range []error{
		errPreparing, context.Canceled, context.DeadlineExceeded, exec.ErrWaitDelay,
		unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.EINTR, unix.ETXTBSY,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL // as where memory is short
}

// advised is an error with what this machine lacks.
func advised(err error) string {
	return strings.Join(append([]string{err.Error() + "."}, Available().Missing...), " ")
}

// attempt runs the probes in a sandbox of the profile, with a scratch workspace added to it.
func attempt(ctx context.Context, h Helper, p Profile) (promises []Promise, err error) {
	s, err := newScratch(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPreparing, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	input, err := json.Marshal(s.targets)
	if err != nil {
		return nil, err
	}
	arg, file, err := s.profile.Pass(3)
	if err != nil {
		return nil, err
	}
	argv := append(slices.Clone(h.Args), arg, "exec", h.Path)
	cmd := exec.CommandContext(ctx, h.Path, append(append(argv, h.Args...), "-", "probe")...)
	if file != nil {
		defer file.Close()
		cmd.ExtraFiles = []*os.File{file}
	}
	var out, complaint bytes.Buffer
	cmd.Env = append(os.Environ(), "WALL_PROBE=1") // another environment than the one outside
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &complaint
	cmd.SysProcAttr = s.profile.Attr()
	cmd.SysProcAttr.Setsid = true
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			return nil, fmt.Errorf("%s (%w)", text, err)
		}
		return nil, fmt.Errorf("starting a process of its own: %w", err)
	}
	if err := json.Unmarshal(out.Bytes(), &promises); err != nil {
		return nil, fmt.Errorf("reading what the probes found: %w", err)
	}
	return s.confirm(promises), nil
}

// A scratch is what the probes are let loose on.
type scratch struct {
	dir     string
	profile Profile
	targets targets
	lease   *Lease
	open    []io.Closer
}

func newScratch(p Profile) (_ *scratch, err error) {
	dir, err := p.probeFolder()
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside")
	for _, d := range []string{inside, outside, filepath.Join(inside, probeHooks)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	for _, f := range []string{filepath.Join(outside, probeFile), filepath.Join(inside, probeMask), filepath.Join(inside, probeConfig), filepath.Join(inside, probeFile)} {
		if err := os.WriteFile(f, []byte("secret\n"), 0o600); err != nil {
			return nil, err
		}
	}
	s.targets = targets{Profile: p, Inside: inside, Outside: outside, PID: os.Getpid()}
	s.targets.Masked, s.targets.Fixed = existing(p.Masks), existing(p.Protected)
	if p.Bare {
		s.targets.Fixed = slices.DeleteFunc(s.targets.Fixed, func(path string) bool { return !p.writable(path) })
	}
	s.profile = p
	s.profile.Roots = append(slices.Clone(p.Roots), inside)
	s.profile.Masks = append(slices.Clone(p.Masks), filepath.Join(inside, probeMask))
	s.profile.Protected = append(slices.Clone(p.Protected), filepath.Join(inside, probeHooks), filepath.Join(inside, probeConfig), filepath.Join(inside, probeMissing))
	s.targets.Environ, err = environment(os.Getpid())
	if err != nil && !errors.Is(err, os.ErrPermission) { // a process that is not dumpable: it cannot inspect even itself
		return nil, err
	}
	if s.targets.Started, err = startTime(os.Getpid()); err != nil {
		return nil, err
	}
	if err = s.openListeners(); err != nil {
		return nil, err
	}
	s.lease, err = s.profile.Prepare()
	return s, err
}

// probeFolder makes a folder for the scratch workspace that the profile does not
// let be written, if possible one that is not hidden either.
func (p Profile) probeFolder() (string, error) {
	var last error
	for _, dir := range []string{filepath.Dir(p.Cache), filepath.Dir(p.Temp), filepath.Join(p.Home, ".cache"), p.Home, os.TempDir()} {
		if !filepath.IsAbs(dir) || p.writable(dir) || reserved(filepath.Join(dir, "x")) {
			continue
		}
		made, err := os.MkdirTemp(dir, ".wall-probe-")
		if err == nil {
			return filepath.EvalSymlinks(made)
		}
		last = err
	}
	if last == nil {
		last = errors.New("every folder of the user is one the profile lets be written")
	}
	return "", last
}

// existing returns those of the paths where there is something this user
// could otherwise get at.
func existing(paths []string) (found []string) {
	for _, path := range paths {
		if unix.Access(path, unix.R_OK) == nil {
			found = append(found, path)
		}
	}
	return found
}

// openListeners opens what the probes try to connect to.
func (s *scratch) openListeners() error {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.open = append(s.open, tcp)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.open = append(s.open, udp)
	// In the workspace, where it can be seen at every level.
	path := filepath.Join(s.targets.Inside, "socket")
	abstract := "@wall-probe-" + filepath.Base(s.dir)
	short, release, err := shorten(path)
	if err != nil {
		return err
	}
	defer release()
	for _, address := range []string{short, abstract} {
		l, err := net.Listen("unix", address)
		if err != nil {
			return err
		}
		s.open = append(s.open, l)
	}
	s.targets.TCP, s.targets.UDP = tcp.Addr().String(), udp.LocalAddr().String()
	s.targets.Unix, s.targets.Abstract = path, abstract
	return nil
}

// confirm looks from outside whether what was said to be out of reach has
// stayed as it was, and adds what can only be seen from there.
func (s *scratch) confirm(promises []Promise) []Promise {
	promises = append(promises, s.aliases())
	entries, err := os.ReadDir(s.targets.Outside)
	text, err2 := os.ReadFile(filepath.Join(s.targets.Outside, probeFile))
	if err == nil && err2 == nil && len(entries) == 1 && string(text) == "secret\n" {
		return promises
	}
	for i := range promises {
		if promises[i].Name == "write-outside" {
			promises[i].Verdict = NotHeld
			promises[i].Measured = "the folder outside was changed"
		}
	}
	return promises
}

// aliases tells of masked files that have a second name: a mask covers one.
func (s *scratch) aliases() Promise {
	r := Promise{Name: "mask-aliases", Text: "no masked file has a second name, by which it could be read", Verdict: Held, Measured: "none"}
	for _, path := range s.targets.Masked {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 {
			r.Verdict, r.Measured = NotHeld, fmt.Sprintf("%s is a hard link, of %d", path, st.Nlink)
		}
	}
	return r
}

func (s *scratch) close() error {
	var err error
	for _, c := range s.open {
		err = errors.Join(err, c.Close())
	}
	if s.lease != nil {
		_, e := s.lease.Release()
		err = errors.Join(err, e)
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// mostArg is the longest profile that is passed as an argument; the kernel
// allows 128 KiB.
const mostArg = 64 << 10

// Pass returns the argument by which [Main] gets the profile, and, if it is
// too long for one, the file to be handed to the process as descriptor fd.
// The file is the caller's to close after the start.
func (p Profile) Pass(fd int) (arg string, file *os.File, err error) {
	p.User, p.Group = os.Geteuid(), os.Getegid()
	text := p.Encode()
	if len(text) <= mostArg {
		return text, nil, nil
	}
	memory, err := unix.MemfdCreate("profile", unix.MFD_CLOEXEC)
	if err != nil {
		return "", nil, fmt.Errorf("passing the wall's profile: %w", err)
	}
	file = os.NewFile(uintptr(memory), "profile")
	if _, err = file.WriteString(text); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("passing the wall's profile: %w", err), file.Close())
	}
	return fmt.Sprintf("fd:%d", fd), file, nil
}
