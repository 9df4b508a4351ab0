//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A trial is an attempt with the answers that are right, by level.
type trial struct {
	attempted
	write, strict string // answers, divided by |
}

// shut is what keeps writes out.
const shut = "EROFS|EACCES|EPERM|EXDEV|ENOENT"

// trials are the ways out of the sandbox, and some that have to stay open.
func (w *world) trials() []trial {
	ws, out := w.ws, w.outside
	same := func(answers string, all ...attempted) (list []trial) {
		for _, a := range all {
			list = append(list, trial{a, answers, answers})
		}
		return list
	}
	list := same(shut,
		attempted{Do: "write", A: out + "/file"},
		attempted{Do: "truncate", A: out + "/file"},
		attempted{Do: "create", A: out + "/new"},
		attempted{Do: "mkdir", A: out + "/newdir"},
		attempted{Do: "remove", A: out + "/file"},
		attempted{Do: "rename", A: out + "/file", B: out + "/moved"},
		attempted{Do: "rename", A: out + "/file", B: ws + "/moved"},
		attempted{Do: "rename", A: ws + "/src.txt", B: out + "/src"},
		attempted{Do: "link", A: out + "/file", B: ws + "/linked-file"},
		attempted{Do: "link", A: ws + "/src.txt", B: out + "/linked-file"},
		attempted{Do: "chmod", A: out + "/file"},
		attempted{Do: "chown", A: out + "/file"},
		attempted{Do: "utimes", A: out + "/file"},
		attempted{Do: "xattr", A: out + "/file"},
		attempted{Do: "write", A: ws + "/out/file"},
		attempted{Do: "chmod", A: ws + "/out/file"},
		attempted{Do: "write", A: "/proc/1/root" + out + "/file"},
		attempted{Do: "write", A: "/proc/self/root" + out + "/file"},
		attempted{Do: "write", A: "/proc/self/cwd" + out + "/file"},
		attempted{Do: "write", A: w.home + "/go/pkg/mod/m"},
		attempted{Do: "open-rw", A: "/proc/self/mem"},
		attempted{Do: "open-rw", A: "/proc/1/mem"},
		attempted{Do: "open-rw", A: "/proc/sys/kernel/core_pattern"},
		attempted{Do: "open-rw", A: "/proc/sysrq-trigger"},
		attempted{Do: "open-rw", A: "/dev/vda"},
		attempted{Do: "open-rw", A: "/dev/mem"},
		attempted{Do: "create", A: "/dev/new"},
		attempted{Do: "chmod", A: "/dev/null"},
		attempted{Do: "mkdir", A: "/sys/fs/cgroup/new"},
		attempted{Do: "create", A: "/etc/wall-test"},
		attempted{Do: "create", A: "/wall-test"},
	)
	list = append(list, same("EPERM",
		attempted{Do: "mount", A: ws + "/sub"},
		attempted{Do: "umount", A: ws + "/.env"},
		attempted{Do: "umount", A: ws},
		attempted{Do: "remount", A: ws + "/.git/hooks"},
		attempted{Do: "setattr", A: "/"},
		attempted{Do: "chroot", A: ws},
		attempted{Do: "ptrace", N: 0},
		attempted{Do: "ptrace", N: os.Getpid()},
		attempted{Do: "vm-read"},
		attempted{Do: "unshare", N: unix.CLONE_NEWUSER},
		attempted{Do: "unshare", N: unix.CLONE_NEWNS},
		attempted{Do: "setns"},
		attempted{Do: "io_uring"},
		attempted{Do: "keyctl"},
		attempted{Do: "bpf"},
		attempted{Do: "sleep-ns"},
		attempted{Do: "socket", N: unix.AF_VSOCK},
		attempted{Do: "socket", N: unix.AF_ALG},
		attempted{Do: "socketpair", N: unix.AF_INET},
		attempted{Do: "tiocsti"},
	)...)
	list = append(list, same("ENOSYS", attempted{Do: "clone3"})...)
	list = append(list, same("EPERM|EACCES", attempted{Do: "mknod", A: ws + "/device"})...)
	list = append(list, same("EPERM|ESRCH", attempted{Do: "kill", N: os.Getpid()})...)
	list = append(list, same("EPERM|ENOENT|EACCES|ESRCH", attempted{Do: "dial", A: w.abstract, B: "unix"})...)
	list = append(list, w.keptTrials(same)...)
	return append(list, w.openTrials(same)...)
}

// keptTrials are about masks and protected paths.
func (w *world) keptTrials(same func(string, ...attempted) []trial) []trial {
	ws := w.ws
	list := same("EACCES",
		attempted{Do: "read", A: ws + "/.env"},
		attempted{Do: "read", A: ws + "/env-link"},
		attempted{Do: "read", A: ws + "/sub/deep/.env"},
		attempted{Do: "read", A: "/proc/1/root" + ws + "/.env"},
	)
	list = append(list, same("EBUSY|EROFS|EXDEV|EACCES|EPERM|EEXIST",
		attempted{Do: "write", A: ws + "/.env"},
		attempted{Do: "remove", A: ws + "/.env"},
		attempted{Do: "chmod", A: ws + "/.env"},
		attempted{Do: "rename", A: ws + "/.env", B: ws + "/env"},
		attempted{Do: "rename", A: ws + "/src.txt", B: ws + "/.env"},
		attempted{Do: "link", A: ws + "/.env", B: ws + "/env"},
		attempted{Do: "create", A: ws + "/.git/hooks/x"},
		attempted{Do: "remove", A: ws + "/.git/hooks"},
		attempted{Do: "write", A: ws + "/.git/config"},
		attempted{Do: "remove", A: ws + "/.git/config"},
		attempted{Do: "rename", A: ws + "/src.txt", B: ws + "/.git/config"},
		attempted{Do: "rename", A: ws + "/.git", B: ws + "/git"},
		attempted{Do: "removeall", A: ws + "/.git/hooks"},
		attempted{Do: "chmod", A: ws + "/.git/hooks"},
		attempted{Do: "remove", A: ws + "/.mcp.json"},
		attempted{Do: "create", A: ws + "/.mcp.json/x"},
		attempted{Do: "rename", A: ws + "/src.txt", B: ws + "/.mcp.json"},
		attempted{Do: "rename", A: ws + "/pub", B: ws + "/.vscode"},
		attempted{Do: "create", A: ws + "/.vscode/settings.json"},
		attempted{Do: "write", A: ws + "/linked/conf"},
		attempted{Do: "write", A: ws + "/real/conf"},
		attempted{Do: "remove", A: ws + "/linked"},
		attempted{Do: "rename", A: ws + "/linked", B: ws + "/x"},
		attempted{Do: "rename", A: ws + "/real", B: ws + "/x"},
		attempted{Do: "remove", A: ws + "/worktree"},
		attempted{Do: "remove", A: ws + "/chain"},
		attempted{Do: "remove", A: ws + "/next"},
		attempted{Do: "rename", A: ws + "/src.txt", B: ws + "/next"},
		attempted{Do: "write", A: ws + "/chained"},
	)...)
	list = append(list, same("EEXIST",
		attempted{Do: "create", A: ws + "/.mcp.json"},
		attempted{Do: "mkdir", A: ws + "/.vscode"},
	)...)
	// A folder above a mask may be moved; the mask goes with it.
	list = append(list, same("ok", attempted{Do: "rename", A: ws + "/sub", B: ws + "/sub2"})...)
	list = append(list, same("EACCES", attempted{Do: "read", A: ws + "/sub2/deep/.env"})...)
	return append(list, same("ok", attempted{Do: "rename", A: ws + "/sub2", B: ws + "/sub"})...)
}

// openTrials are what differs by level, and what has to work.
func (w *world) openTrials(same func(string, ...attempted) []trial) []trial {
	ws := w.ws
	list := same("ok",
		attempted{Do: "create", A: ws + "/made"},
		attempted{Do: "write", A: ws + "/made"},
		attempted{Do: "chmod", A: ws + "/made"},
		attempted{Do: "utimes", A: ws + "/made"},
		attempted{Do: "link", A: ws + "/made", B: ws + "/made2"},
		attempted{Do: "rename", A: ws + "/made2", B: ws + "/pub/made2"},
		attempted{Do: "remove", A: ws + "/pub/made2"},
		attempted{Do: "remove", A: ws + "/made"},
		attempted{Do: "create", A: ws + "/.git/objects/o"},
		attempted{Do: "remove", A: ws + "/.git/objects/o"},
		attempted{Do: "read", A: ws + "/.git/config"},
		attempted{Do: "create", A: w.temp + "/t"},
		attempted{Do: "remove", A: w.temp + "/t"},
		attempted{Do: "create", A: w.cache + "/c"},
		attempted{Do: "remove", A: w.cache + "/c"},
		attempted{Do: "create", A: "/tmp/private"},
		attempted{Do: "create", A: "/dev/shm/private"},
		attempted{Do: "write", A: "/dev/null"},
		attempted{Do: "read", A: "/dev/urandom"},
		attempted{Do: "open-rw", A: "/dev/ptmx"},
		attempted{Do: "read", A: "/proc/self/status"},
		attempted{Do: "read", A: "/etc/passwd"},
		attempted{Do: "read", A: w.home + "/go/pkg/mod/m"},
		attempted{Do: "read", A: w.home + "/.gitconfig"},
		attempted{Do: "socketpair", N: unix.AF_UNIX},
		attempted{Do: "memfd-exec", A: "/bin/true"},
		attempted{Do: "thread", A: "/bin/sh", B: "exit 0"},
		attempted{Do: "pid", N: 1},
		attempted{Do: "privileges"},
		attempted{Do: "secure-bits", N: 1 | 2 | 4 | 8 | 32 | 64 | 128},
	)
	hidden := "ok"
	if strings.HasPrefix(w.outside, "/tmp/") {
		hidden = "ENOENT"
	}
	return append(list,
		trial{attempted{Do: "read", A: w.outside + "/file"}, hidden, "EACCES|ENOENT"},
		trial{attempted{Do: "read", A: w.home + "/.ssh/id"}, hidden, "EACCES|ENOENT"},
		trial{attempted{Do: "read", A: "/etc/shadow"}, "ok|EACCES|ENOENT", "EACCES|ENOENT"},
		trial{attempted{Do: "dial", A: w.tcp, B: "tcp"}, "ok", "EPERM"},
		trial{attempted{Do: "dial", A: w.udp, B: "udp"}, "ok", "EPERM"},
		trial{attempted{Do: "dial", A: w.unix, B: "unix"}, hidden, "EPERM"},
		trial{attempted{Do: "socket", N: unix.AF_UNIX}, "ok", "EPERM"},
		trial{attempted{Do: "socket", N: unix.AF_NETLINK}, "ok", "EPERM"},
	)
}

func TestWall(t *testing.T) {
	needsNamespaces(t)
	for where, base := range places(t) {
		for _, level := range []Level{Write, Strict} {
			t.Run(where+"/"+string(level), func(t *testing.T) {
				w := newWorld(t, mkdir(t, base, string(level)))
				w.listen(t)
				p := w.profile(level)
				if where == "tmp" { // toolchains below a covered folder are not there
					p.Readable = []string{w.home}
				}
				before := snapshot(t, w.outside)
				list := w.trials()
				if where == "tmp" {
					list = slices.DeleteFunc(list, func(tr trial) bool { return strings.HasPrefix(tr.A, w.home) })
				}
				w.judge(t, p, list)
				if after := snapshot(t, w.outside); after != before {
					t.Errorf("outside was\n%s\nand is\n%s", before, after)
				}
			})
		}
	}
}

// judge runs trials in the sandbox and compares.
func (w *world) judge(t *testing.T, p Profile, list []trial) {
	t.Helper()
	lease, err := p.Prepare()
	must(t, err)
	var all []attempted
	for _, tr := range list {
		all = append(all, tr.attempted)
	}
	for i, answer := range try(t, p, all...) {
		want := list[i].write
		if p.Level == Strict {
			want = list[i].strict
		}
		if !slices.Contains(strings.Split(want, "|"), answer) {
			t.Errorf("%+v: %s, want %s", list[i].attempted, answer, want)
		}
	}
	left, err := lease.Release()
	if err != nil || len(left) > 0 {
		t.Errorf("placeholders left: %v, %v", left, err)
	}
	for _, name := range []string{".mcp.json", ".vscode"} {
		if _, err := os.Lstat(filepath.Join(w.ws, name)); err == nil {
			t.Errorf("the placeholder %s is still there", name)
		}
	}
}

func mkdir(t *testing.T, base, name string) string {
	t.Helper()
	dir := filepath.Join(base, name)
	must(t, os.Mkdir(dir, 0o755))
	return dir
}

// snapshot describes a folder: names, modes, times, contents.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		b.WriteString("\n")
		return nil
	})
	must(t, err)
	return b.String()
}

// A link that was put where a folder was resolved is not followed.
func TestHandle(t *testing.T) {
	dir := realDir(t, "a")
	must(t, os.Mkdir(dir+"/real", 0o755))
	must(t, os.Symlink("real", dir+"/link"))
	must(t, createEmpty(dir+"/real/file"))
	fd, err := handle(dir + "/real/file")
	must(t, err)
	must(t, unix.Close(fd))
	if _, err := handle(dir + "/link/file"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("%v", err)
	}
	fd, err = handle(dir + "/link")
	must(t, err)
	var st unix.Stat_t
	must(t, unix.Fstat(fd, &st))
	must(t, unix.Close(fd))
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Error("the link itself was followed")
	}
}

// What may be read below a folder that is private in the sandbox is there,
// and can be read only.
func TestReadableBelowTemp(t *testing.T) {
	needsNamespaces(t)
	for _, level := range []Level{Write, Strict} {
		w := newWorld(t, mkdir(t, places(t)["tmp"], string(level)))
		must(t, os.WriteFile(w.outside+"/dir/inner", []byte("x"), 0o644))
		p := w.profile(level)
		p.Readable = []string{w.outside, w.outside + "/dir", w.home + "/.gitconfig", w.ws + "/sub", w.base + "/nothing", "/tmp"}
		p.Writable = []string{w.outside + "/dir/inner"}
		want := map[attempted]string{
			{Do: "read", A: w.outside + "/file"}:       "ok",
			{Do: "read", A: w.home + "/.gitconfig"}:    "ok",
			{Do: "read", A: w.home + "/.ssh/id"}:       "ENOENT",
			{Do: "write", A: w.outside + "/file"}:      "EROFS",
			{Do: "create", A: w.outside + "/dir/new"}:  "EROFS",
			{Do: "write", A: w.home + "/.gitconfig"}:   "EROFS",
			{Do: "write", A: w.outside + "/dir/inner"}: "ok",
			{Do: "create", A: w.ws + "/sub/new"}:       "ok",
			{Do: "create", A: "/tmp/private"}:          "ok",
		}
		for a, answer := range want {
			if got := try(t, p, a); got[0] != answer {
				t.Errorf("%s: %+v: %s, want %s", level, a, got[0], answer)
			}
		}
	}
}
