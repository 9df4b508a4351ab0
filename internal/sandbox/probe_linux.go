//go:build amd64 || arm64

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// targets are what the probes try to reach: things that were made for it
// outside, and the profile in force.
type targets struct {
	Profile  Profile  `json:"profile"`
	Inside   string   `json:"inside"`   // a root of the sandbox, with a mask and protected paths
	Outside  string   `json:"outside"`  // a folder of the same user that is not a root
	TCP      string   `json:"tcp"`      // addresses with a listener
	UDP      string   `json:"udp"`      //
	Unix     string   `json:"unix"`     //
	Abstract string   `json:"abstract"` //
	PID      int      `json:"pid"`      // a process outside
	Environ  string   `json:"environ"`  // a hash of its environment
	Started  string   `json:"started"`  // when it was started, as /proc says
	Masked   []string `json:"masked"`   // those of the profile's masks that exist
	Fixed    []string `json:"fixed"`    // those of the profile's protected paths that exist
}

// A probe tries one action. For most, an error means that the sandbox works.
type probe struct {
	name, text string
	promised   bool
	wanted     bool // the thing has to succeed
	try        func() error
}

// probeMain runs in the sandbox. It tries everything and reports the results.
func probeMain(in io.Reader, out io.Writer) int {
	runtime.LockOSThread() // a probe may change its thread
	var t targets
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		fmt.Fprintln(os.Stderr, "wall: reading what to probe:", err)
		return 2
	}
	var promises []Promise
	for _, p := range t.probes() {
		err := p.try()
		r := Promise{Name: p.name, Text: p.text, Verdict: NotHeld, Measured: measured(err)}
		switch {
		case !p.promised:
			r.Verdict = NotPromised
		case (err == nil) == p.wanted:
			r.Verdict = Held
		}
		promises = append(promises, r)
	}
	if err := json.NewEncoder(out).Encode(promises); err != nil {
		fmt.Fprintln(os.Stderr, "wall: writing what was found:", err)
		return 1
	}
	return 0
}

// measured names what the kernel said.
func measured(err error) string {
	if err == nil {
		return "allowed"
	}
	var errno unix.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// The files of the scratch workspace.
const (
	probeMask    = ".env"
	probeHooks   = ".git/hooks"
	probeConfig  = ".git/config"
	probeMissing = "missing/settings.json"
	probeFile    = "file"
)

func (t targets) probes() []probe {
	in := func(name string) string { return filepath.Join(t.Inside, name) }
	out := func(name string) string { return filepath.Join(t.Outside, name) }
	strict, edit := t.Profile.Level == Strict, !t.Profile.ReadOnly
	list := []probe{
		{"write-outside", "files outside the workspace can not be written or made", true, false, func() error {
			return firstSuccess(appendTo(out(probeFile)), createEmpty(out("new")), os.Remove(out(probeFile)), os.Rename(out(probeFile), out("moved")))
		}},
		{"protected", "protected paths can not be written, replaced or made", true, false, func() error {
			return firstSuccess(createEmpty(in(probeHooks+"/hook")), appendTo(in(probeConfig)), os.Remove(in(probeConfig)),
				os.Rename(in(".git"), in("git")), os.MkdirAll(in(filepath.Dir(probeMissing)+"/x"), 0o755), createEmpty(in(probeMissing)))
		}},
		{"masked", "what the rules deny to read can not be read, moved or removed", true, false, func() error {
			return firstSuccess(read(in(probeMask)), os.Rename(in(probeMask), in("env")), os.Remove(in(probeMask)), os.Link(in(probeMask), in("env")))
		}},
		{"metadata-outside", "mode, owner and times of files outside can not be changed", true, false, func() error {
			return firstSuccess(os.Chmod(out(probeFile), 0o600), os.Chtimes(out(probeFile), time.Unix(1, 0), time.Unix(1, 0)), os.Chown(out(probeFile), os.Getuid(), os.Getgid()))
		}},
		{"link-outside", "files outside can not be linked into the workspace", true, false, func() error { return os.Link(out(probeFile), in("linked")) }},
		{"read-outside", "files outside can not be read", strict, false, func() error { return read(out(probeFile)) }},
		{"tcp", "there is no TCP", strict, false, func() error { return dial("tcp", t.TCP) }},
		{"udp", "there is no UDP", strict, false, func() error { return dial("udp", t.UDP) }},
		{"unix-socket", "sockets of others in the file system can not be reached", strict, false, func() error { return dial("unix", t.Unix) }},
		{"abstract-socket", "abstract sockets of others can not be reached", true, false, func() error { return dial("unix", t.Abstract) }},
		{"doors", "sockets of daemons that run programs for others are shut", true, false, t.openDoors},
	}
	if edit {
		list = append(list, probe{"write-inside", "the workspace can be written", true, true, func() error { return firstError(createEmpty(in("new")), os.Remove(in("new"))) }})
	} else {
		list = append(list, probe{"read-only", "the workspace can not be written", true, false, func() error { return firstSuccess(createEmpty(in("new")), appendTo(in(probeFile))) }})
	}
	return append(list, t.systemProbes()...)
}

func (t targets) systemProbes() []probe {
	return []probe{
		{"process-list", "processes outside can not be seen", true, false, t.seeProcess},
		{"environment", "the environment of processes outside can not be read", true, false, t.readEnvironment},
		{"signals", "processes outside can not be signalled", true, false, func() error {
			if t.seeProcess() != nil && !t.Profile.Bare {
				return unix.ESRCH // the number is free here, or is one of ours
			}
			return unix.Kill(t.PID, 0)
		}},
		{"ptrace", "no process can steer another", true, false, func() error {
			// No process has this number: who gets to look for it gets ESRCH.
			_, _, errno := unix.Syscall(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 0, 0)
			return unless(errno, unix.ESRCH)
		}},
		{"namespaces", "no namespaces can be made", true, false, func() error {
			// Of a process with several threads the kernel refuses it as
			// invalid before anything else; only the filter comes first.
			return unless(unix.Unshare(unix.CLONE_NEWUSER), unix.EINVAL)
		}},
		{"mounts", "nothing can be mounted or unmounted", true, false, func() error {
			return firstSuccess(unix.Mount("none", t.Inside, "tmpfs", 0, ""), unix.Unmount(filepath.Join(t.Inside, probeMask), unix.MNT_DETACH))
		}},
		{"privileges", "there are no capabilities but those asked for, and no program brings any", true, true, t.Profile.privileges},
		{"kernel", "settings of the kernel can not be changed", true, false, func() error {
			f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return f.Close()
		}},
		{"devices", "no device can be made", true, false, func() error {
			return unix.Mknod(filepath.Join(t.Inside, "device"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0)))
		}},
		{"own-masks", "each of the profile's masks covers its file", true, true, func() error {
			return each(t.Masked, func(path string) error { return contradict(read(path), path) })
		}},
		{"own-protected", "each of the profile's protected paths is read-only", true, true, func() error {
			return each(t.Fixed, func(path string) error { return contradict(unix.Access(path, unix.W_OK), path) })
		}},
	}
}

// firstSuccess returns nil if one of several attempts came through, else the first
// error.
func firstSuccess(attempts ...error) error {
	for _, err := range attempts {
		if err == nil {
			return nil
		}
	}
	return attempts[0]
}

// firstError returns the first error of several things that all have to work.
func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func each(paths []string, try func(string) error) error {
	for _, path := range paths {
		if err := try(path); err != nil {
			return err
		}
	}
	return nil
}

// contradict turns an attempt that should have failed into an error.
func contradict(err error, path string) error {
	if err == nil {
		return fmt.Errorf("%s is open", path)
	}
	return nil
}

// unless returns err, or nil if err is what the kernel returns when the sandbox lets the action
// through.
func unless(err error, open unix.Errno) error {
	if err == open || err == unix.Errno(0) {
		return nil
	}
	return err
}

func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("probe\n")
	return errors.Join(err, f.Close())
}

func createEmpty(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// read tells whether a file can be read, or a folder be listed.
func read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err == nil || err == io.EOF {
		return err // of an empty folder there is nothing to know
	}
	if _, err := f.Read(make([]byte, 1)); err != io.EOF {
		return err
	}
	return nil
}

// dial sends something to an address.
func dial(network, address string) error {
	if network == "unix" {
		short, release, err := shorten(address)
		if err != nil {
			return err
		}
		defer release()
		address = short
	}
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("probe\n"))
	return errors.Join(err, c.Close())
}

// shorten returns another name for a socket whose path may be too long for
// an address. It is good until release.
func shorten(path string) (short string, release func(), err error) {
	if len(path) < 100 {
		return path, func() {}, nil
	}
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path)), func() { unix.Close(fd) }, nil
}

// openDoors tries the sockets that are to be shut.
func (t targets) openDoors() error {
	err := error(unix.ENOENT)
	for _, path := range doors(t.Profile.Home) {
		if err = read(path); err == nil {
			return nil
		}
		if err = dial("unix", path); err == nil {
			return nil
		}
	}
	return err
}

// seeProcess returns nil if the process outside is in the process table. The
// number alone does not say it: here it may be another one's.
func (t targets) seeProcess() error {
	started, err := startTime(t.PID)
	if err == nil && started != t.Started {
		return unix.ESRCH
	}
	return err
}

// startTime returns when a process was started, in the kernel's own clock.
func startTime(pid int) (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	// The name, in brackets, may hold anything; 20 fields on is the time.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return "", errors.New("the process table has another form")
	}
	return fields[19], nil
}

func (t targets) readEnvironment() error {
	hash, err := environment(t.PID)
	if err == nil && hash != t.Environ {
		return unix.ESRCH
	}
	return err
}

// environment returns a hash of a process's environment.
func environment(pid int) (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// privileges returns an error if there are any, or a way to some.
func (p Profile) privileges() error {
	if err := onlyCapabilities(p.kept()); err != nil {
		return err
	}
	if v := status("NoNewPrivs"); v != "1" {
		return fmt.Errorf("new privileges can be had: %s", v)
	}
	if v := status("Seccomp"); v != "2" {
		return fmt.Errorf("there is no filter of system calls: %s", v)
	}
	return nil
}
