//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/helve-dev/helve/internal/leaktest"
)

// TestMain lets the test program play all parts: with "wall" it is the
// helper, with "act" a program in the sandbox that tries things.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "wall":
			os.Exit(Main(os.Args[2:]))
		case "act":
			os.Exit(act(os.Args[2]))
		case "contained":
			os.Exit(contain(os.Args[2], os.Args[3]))
		}
	}
	if os.Getenv(shutTest) != "" {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	leaktest.Main(m)
}

// shutTest makes the tests a process that nobody may look into, as a program
// that holds keys is.
const shutTest = "WALL_TEST_SHUT"

func self() Helper { return Helper{Path: "/proc/self/exe", Args: []string{"wall"}} }

// An attempt is one thing a program in the sandbox tries.
type attempted struct {
	Do   string `json:"do"`
	A, B string
	N    int
}

// act tries things and prints, for each, "ok" or the name of the error.
func act(text string) int {
	runtime.LockOSThread()
	var all []attempted
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	answers := []string{}
	for _, a := range all {
		answer := measured(a.run())
		if answer == "allowed" {
			answer = "ok"
		}
		answers = append(answers, answer)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		return 1
	}
	return 0
}

func (a attempted) run() error {
	switch a.Do {
	case "write":
		return appendTo(a.A)
	case "truncate":
		return os.Truncate(a.A, 0)
	case "create":
		return createEmpty(a.A)
	case "mkdir":
		return os.Mkdir(a.A, 0o755)
	case "read":
		return read(a.A)
	case "open-rw":
		f, err := os.OpenFile(a.A, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	case "rename":
		return os.Rename(a.A, a.B)
	case "remove":
		return os.Remove(a.A)
	case "removeall":
		return os.RemoveAll(a.A)
	case "link":
		return os.Link(a.A, a.B)
	case "symlink":
		return os.Symlink(a.A, a.B)
	case "chmod":
		return os.Chmod(a.A, 0o777)
	case "chown":
		return os.Chown(a.A, os.Getuid(), os.Getgid())
	case "utimes":
		return os.Chtimes(a.A, time.Unix(5, 0), time.Unix(5, 0))
	case "xattr":
		return unix.Setxattr(a.A, "user.x", []byte("x"), 0)
	case "dial":
		return dial(a.B, a.A)
	case "chdir":
		return os.Chdir(a.A)
	default:
		return a.system()
	}
}

func (a attempted) system() error {
	var errno unix.Errno
	switch a.Do {
	case "mount":
		return unix.Mount("none", a.A, "tmpfs", 0, "")
	case "remount":
		return unix.Mount("", a.A, "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "umount":
		return unix.Unmount(a.A, unix.MNT_DETACH)
	case "setattr":
		return unix.MountSetattr(unix.AT_FDCWD, a.A, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	case "chroot":
		return unix.Chroot(a.A)
	case "mknod":
		return unix.Mknod(a.A, unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0)))
	case "ptrace":
		_, _, errno = unix.Syscall(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(a.N), 0)
	case "vm-read":
		_, _, errno = unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid()), 0, 0, 0, 0, 0)
	case "unshare":
		return unix.Unshare(a.N)
	case "setns":
		return unix.Setns(0, 0)
	case "clone3":
		_, _, errno = unix.Syscall(unix.SYS_CLONE3, 0, 0, 0)
	case "io_uring":
		_, _, errno = unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	case "keyctl":
		_, _, errno = unix.Syscall(unix.SYS_KEYCTL, 0, 0, 0)
	case "bpf":
		_, _, errno = unix.Syscall(unix.SYS_BPF, 0, 0, 0)
	case "socket":
		fd, err := unix.Socket(a.N, unix.SOCK_DGRAM, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	case "socketpair":
		_, err := unix.Socketpair(a.N, unix.SOCK_STREAM, 0)
		return err
	case "tiocsti":
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, 0)
	case "kill":
		return unix.Kill(a.N, 0)
	case "setuid":
		_, _, errno = unix.Syscall(unix.SYS_SETUID, uintptr(a.N), 0, 0)
	case "memfd-exec":
		return memfdExec(a.A)
	case "thread":
		return exec.Command(a.A, "-c", a.B).Run()
	case "sleep-ns":
		return cloneNamespace()
	case "privileges":
		return Profile{}.privileges()
	case "owners":
		return Profile{Owners: true}.privileges()
	case "pid":
		if os.Getpid() != a.N {
			return fmt.Errorf("pid %d", os.Getpid())
		}
		return nil
	case "secure-bits":
		if bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0); err != nil || bits != a.N {
			return fmt.Errorf("the bits are %#x, %v", bits, err)
		}
		return nil
	case "death":
		if unix.Gettid() != os.Getpid() {
			return errors.New("another thread") // only the first one knows
		}
		var sig int32
		if err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&sig)), 0, 0, 0); err != nil || int(sig) != a.N {
			return fmt.Errorf("the signal is %d, %v", sig, err)
		}
		return nil
	case "race":
		return swapRace(a.A, a.B)
	default:
		return errors.New("unknown attempt " + a.Do)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// memfdExec runs a program that exists in memory only.
func memfdExec(path string) error {
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fd, err := unix.MemfdCreate("program", 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "program")
	defer f.Close()
	if _, err := f.Write(program); err != nil {
		return err
	}
	return exec.Command("/proc/self/fd/" + strconv.Itoa(fd)).Run()
}

// cloneNamespace starts a process in a namespace by clone.
func cloneNamespace() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUTS}
	return cmd.Run()
}

// swapRace puts a link to the folder outside in place of one inside, and
// back, while another goroutine writes through the name.
func swapRace(name, outside string) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 500 {
			// Which of the two wins does not matter here; the test looks at
			// the folder outside.
			_ = os.RemoveAll(name)
			_ = os.Symlink(outside, name)
			_ = os.Remove(name)
			_ = os.Mkdir(name, 0o755)
		}
	}()
	for {
		select {
		case <-done:
			return nil
		default:
			_ = os.WriteFile(filepath.Join(name, "swapped"), []byte("x"), 0o644)
			_ = os.WriteFile(filepath.Join(name, "file"), []byte("x"), 0o644)
		}
	}
}

// A world is a workspace with things around it that are not to be touched.
type world struct {
	base, ws, outside, temp, cache, home string
	unix, abstract, tcp, udp             string
}

// newWorld makes one below base.
func newWorld(tb testing.TB, base string) *world {
	tb.Helper()
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{
		base: base, ws: base + "/ws", outside: base + "/outside", temp: base + "/run/temp", cache: base + "/run/cache", home: base + "/home",
	}
	for _, dir := range []string{".git/hooks", ".git/objects", "sub/deep", "real", "pub"} {
		must(tb, os.MkdirAll(filepath.Join(w.ws, dir), 0o755))
	}
	for _, dir := range []string{w.outside + "/dir", w.temp, w.cache, w.home + "/go/pkg/mod", w.home + "/.ssh"} {
		must(tb, os.MkdirAll(dir, 0o755))
	}
	for _, file := range []string{
		w.ws + "/.env", w.ws + "/sub/deep/.env", w.ws + "/.git/config", w.ws + "/src.txt", w.ws + "/real/conf", w.ws + "/worktree",
		w.outside + "/file", w.home + "/.ssh/id", w.home + "/go/pkg/mod/m", w.home + "/.gitconfig",
	} {
		must(tb, os.WriteFile(file, []byte("# text\n"), 0o644))
	}
	must(tb, os.Symlink("real", w.ws+"/linked"))
	must(tb, os.Symlink(".git/hooks/onwards", w.ws+"/chain")) // through a folder that is protected, and out again
	must(tb, os.Symlink("../../next", w.ws+"/.git/hooks/onwards"))
	must(tb, os.Symlink("chained", w.ws+"/next"))
	must(tb, os.WriteFile(w.ws+"/chained", nil, 0o666))
	must(tb, os.Symlink(w.outside, w.ws+"/out"))
	must(tb, os.Symlink("sub/deep/.env", w.ws+"/env-link"))
	return w
}

// listen opens sockets of all kinds outside.
func (w *world) listen(tb testing.TB) {
	tb.Helper()
	w.abstract = "@wall-test-" + strconv.Itoa(os.Getpid()) + strings.ReplaceAll(w.base, "/", "-")
	w.unix = w.outside + "/s"
	short, release, err := shorten(w.unix)
	must(tb, err)
	defer release()
	for _, address := range []string{short, w.abstract} {
		l, err := net.Listen("unix", address)
		must(tb, err)
		tb.Cleanup(func() { l.Close() })
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(tb, err)
	tb.Cleanup(func() { tcp.Close(); udp.Close() })
	w.tcp, w.udp = tcp.Addr().String(), udp.LocalAddr().String()
}

// profile is the one most tests use.
func (w *world) profile(level Level) Profile {
	return Profile{
		Level: level, Roots: []string{w.ws}, Temp: w.temp, Cache: w.cache, Home: w.home,
		Masks:     []string{w.ws + "/.env", w.ws + "/env-link", w.ws + "/nothing-here"},
		Protected: []string{w.ws + "/.git/hooks", w.ws + "/.git/config", w.ws + "/.mcp.json", w.ws + "/.vscode/settings.json", w.ws + "/linked/conf", w.ws + "/worktree/hooks", w.ws + "/chain"},
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// command returns a command that will run in the sandbox.
func command(ctx context.Context, tb testing.TB, p Profile, argv ...string) *exec.Cmd {
	tb.Helper()
	h := self()
	arg, file, err := p.Pass(3)
	must(tb, err)
	cmd := exec.CommandContext(ctx, h.Path, append(append(h.Args, arg, "exec"), argv...)...)
	if file != nil {
		tb.Cleanup(func() { file.Close() })
		cmd.ExtraFiles = []*os.File{file}
	}
	cmd.Env = append(os.Environ(), p.Env()...)
	cmd.SysProcAttr = p.Attr()
	return cmd
}

// try runs attempts in the sandbox and returns what came of each.
func try(tb testing.TB, p Profile, all ...attempted) []string {
	tb.Helper()
	text, err := json.Marshal(all)
	must(tb, err)
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, tb, p, "/proc/self/exe", "act", string(text))
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		tb.Fatalf("behind the wall: %v: %s", err, complaint.String())
	}
	var answers []string
	must(tb, json.Unmarshal(out.Bytes(), &answers))
	return answers
}

// places returns folders to build worlds in: one on the disk, and one below
// /tmp, which the sandbox covers.
func places(tb testing.TB) map[string]string {
	tb.Helper()
	candidates := []string{os.Getenv("WALL_TEST_BASE")}
	if cache, err := os.UserCacheDir(); err == nil {
		candidates = append(candidates, cache)
	}
	for _, disk := range append(candidates, "/var/cache", "/var/lib", "/srv") {
		if disk == "" || isWithin(disk, "/tmp") || isWithin(disk, "/var/tmp") || isWithin(disk, "/dev") {
			continue
		}
		_ = os.MkdirAll(disk, 0o700) // where it cannot be, the next one may
		if made, err := os.MkdirTemp(disk, "wall-test-"); err == nil {
			tb.Cleanup(func() { os.RemoveAll(made) })
			return map[string]string{"disk": made, "tmp": tb.TempDir()}
		}
	}
	tb.Skip("there is no folder outside of the temporary ones to work in")
	return nil
}

// needsNamespaces skips where there are none.
func needsNamespaces(tb testing.TB) {
	tb.Helper()
	if m := Available(); !m.Namespaces || m.Landlock == 0 {
		tb.Skip("this machine does not offer the whole wall: " + strings.Join(m.Missing, " "))
	}
}

// TestAsUser runs the tests of this package again as another user. Most of
// what they show could otherwise be root's doing.
func TestAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	const uid = 65534
	base, err := os.MkdirTemp("/var/lib", "wall-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	for _, dir := range []string{base, base + "/home"} {
		if dir != base {
			must(t, os.Mkdir(dir, 0o755))
		}
		must(t, os.Chown(dir, uid, uid))
		must(t, os.Chmod(dir, 0o755))
	}
	run := func(tests, extra string) {
		t.Helper()
		args := []string{"-test.run", tests, "-test.skip", "^TestAsUser$", "-test.count=1"}
		if testing.Verbose() {
			args = append(args, "-test.v")
		}
		cmd := exec.Command("/proc/self/exe", args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		cmd.Dir = base
		cmd.Env = append(os.Environ(), "HOME="+base+"/home", "WALL_TEST_BASE="+base, extra)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("as another user, %s: %v\n%s", extra, err, out)
		}
		t.Logf("%s", out)
	}
	run("^Test", "")
	run("^Test(Wall|Prove|NotSkipped|Descriptors|LongProfile|DeathSignal|Available)$", shutTest+"=1")
}
