package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// An operation answers one request of the modules, see OPS.md.
type operation func(ctx context.Context, arg script.Data) (script.Data, error)

// A world is a host for tests: it does what it is asked on the real machine, unguarded.
type world struct {
	ops  map[string]operation
	cwd  string
	born time.Time

	mu     sync.Mutex
	lines  []string // what was logged
	opened map[int]*os.File
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{ops: map[string]operation{}, cwd: cwd, born: time.Now(), opened: map[int]*os.File{}}
	w.add(w.machineOps())
	w.add(fileOps())
	w.add(w.descriptorOps())
	t.Cleanup(func() {
		for _, f := range w.opened {
			_ = f.Close()
		}
	})
	return w
}

// add makes further requests known.
func (w *world) add(ops map[string]operation) { maps.Copy(w.ops, ops) }

func (w *world) Now(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	do := w.ops[op]
	if do == nil {
		return script.Data{}, &script.Failure{Message: "no such operation: " + op, Code: "ENOSYS"}
	}
	return do(ctx, arg)
}

func (w *world) Later(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	return w.Now(ctx, op, arg)
}

// logged gives what scripts have logged so far, one "level text" each.
func (w *world) logged() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

// op makes an operation of a function that takes and gives JSON values.
func op[A any](do func(A) (any, error)) operation {
	return func(_ context.Context, arg script.Data) (script.Data, error) {
		var a A
		if err := json.Unmarshal(arg.JSON, &a); err != nil {
			return script.Data{}, err
		}
		value, err := do(a)
		if err != nil {
			return script.Data{}, refused(err)
		}
		text, err := json.Marshal(value)
		return script.Data{JSON: text}, err
	}
}

// refused names the reason a request failed for, as the system does; the modules make the text of
// it.
func refused(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return &script.Failure{Message: errno.Error(), Code: errnoName(errno)}
	}
	return err
}

func errnoName(e syscall.Errno) string {
	for name, errno := range map[string]syscall.Errno{
		"ENOENT": syscall.ENOENT, "EEXIST": syscall.EEXIST, "EISDIR": syscall.EISDIR, "ENOTDIR": syscall.ENOTDIR,
		"EACCES": syscall.EACCES, "EPERM": syscall.EPERM, "ENOTEMPTY": syscall.ENOTEMPTY, "EINVAL": syscall.EINVAL,
		"ELOOP": syscall.ELOOP, "ENAMETOOLONG": syscall.ENAMETOOLONG, "EBADF": syscall.EBADF, "EXDEV": syscall.EXDEV,
		"EBUSY": syscall.EBUSY, "EMFILE": syscall.EMFILE, "ENOSPC": syscall.ENOSPC, "EROFS": syscall.EROFS,
	} {
		if errno == e {
			return name
		}
	}
	return "EIO"
}

// none is no argument.
type none struct{}

func (w *world) machineOps() map[string]operation {
	return map[string]operation{
		"module.source": func(_ context.Context, arg script.Data) (script.Data, error) {
			var a struct{ Name string }
			if err := json.Unmarshal(arg.JSON, &a); err != nil {
				return script.Data{}, err
			}
			text, ok := script.Source(a.Name)
			if !ok {
				return script.Data{}, &script.Failure{Message: "no module " + a.Name}
			}
			return script.Data{Raw: []byte(text)}, nil
		},
		"log": op(func(a struct{ Level, Text string }) (any, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lines = append(w.lines, a.Level+" "+a.Text)
			return nil, nil
		}),
		"sleep": op(func(a struct{ Ms float64 }) (any, error) {
			time.Sleep(time.Duration(a.Ms * float64(time.Millisecond)))
			return nil, nil
		}),
		"time.zone": op(func(a struct {
			Zone string
			Ms   float64
		}) (any, error) {
			zone, err := time.LoadLocation(a.Zone)
			if err != nil {
				return nil, err
			}
			name, seconds := time.UnixMilli(int64(a.Ms)).In(zone).Zone()
			return map[string]any{"minutes": seconds / 60, "name": name}, nil
		}),
		"clock": op(func(none) (any, error) { return float64(time.Since(w.born).Microseconds()) / 1000, nil }),
		"env.all": op(func(none) (any, error) {
			all := map[string]string{}
			for _, line := range os.Environ() {
				name, value, _ := strings.Cut(line, "=")
				all[name] = value
			}
			return all, nil
		}),
		"proc.info": op(func(none) (any, error) {
			host, err := os.Hostname()
			if err != nil {
				return nil, err
			}
			home, _ := os.UserHomeDir()
			arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
			if arch == "" {
				arch = runtime.GOARCH
			}
			return map[string]any{
				"platform": runtime.GOOS, "arch": arch, "pid": os.Getpid(), "ppid": os.Getppid(), "argv": []string{"bun", "tool.js"},
				"cwd": w.cwd, "home": home, "tmp": strings.TrimSuffix(os.TempDir(), "/"), "hostname": host,
				"uid": os.Getuid(), "gid": os.Getgid(), "user": "root", "shell": "/bin/sh", "cpus": runtime.NumCPU(), "release": "6.0.0",
				"memory": 8 << 30, "free": 4 << 30, "timezone": "UTC",
			}, nil
		}),
	}
}

type pathArg struct {
	Path, From, To, Target, Flags, Position string
	Mode                                    *uint32
	Recursive, Force, Link, Exclusive       bool
	Atime, Mtime, Length                    float64
}

func (a pathArg) mode(usual uint32) uint32 {
	if a.Mode == nil {
		return usual
	}
	return *a.Mode & 0o7777
}

func fileOps() map[string]operation {
	return map[string]operation{
		"fs.read":  readOp,
		"fs.write": writeOp,
		"fs.stat": op(func(a pathArg) (any, error) {
			if a.Link {
				return facts(os.Lstat(a.Path))
			}
			return facts(os.Stat(a.Path))
		}),
		"fs.list": op(func(a pathArg) (any, error) { return list(a.Path, a.Recursive) }),
		"fs.mkdir": op(func(a pathArg) (any, error) {
			if !a.Recursive {
				return nil, syscall.Mkdir(a.Path, a.mode(0o777))
			}
			return makeAll(a.Path, a.mode(0o777))
		}),
		"fs.rmdir":  op(func(a pathArg) (any, error) { return nil, syscall.Rmdir(a.Path) }),
		"fs.unlink": op(func(a pathArg) (any, error) { return nil, unlink(a.Path) }),
		"fs.remove": op(func(a pathArg) (any, error) {
			if !a.Recursive {
				return nil, unlink(a.Path)
			}
			return nil, os.RemoveAll(a.Path)
		}),
		"fs.rename":   op(func(a pathArg) (any, error) { return nil, syscall.Rename(a.From, a.To) }),
		"fs.copy":     op(func(a pathArg) (any, error) { return nil, copyFile(a) }),
		"fs.link":     op(func(a pathArg) (any, error) { return nil, syscall.Link(a.From, a.To) }),
		"fs.symlink":  op(func(a pathArg) (any, error) { return nil, syscall.Symlink(a.Target, a.Path) }),
		"fs.readlink": op(func(a pathArg) (any, error) { return os.Readlink(a.Path) }),
		"fs.real": op(func(a pathArg) (any, error) {
			if _, err := os.Stat(a.Path); err != nil {
				return nil, err
			}
			return filepath.EvalSymlinks(a.Path)
		}),
		"fs.access": op(func(a pathArg) (any, error) { return nil, access(a.Path, a.mode(0)) }),
		"fs.chmod":  op(func(a pathArg) (any, error) { return nil, os.Chmod(a.Path, os.FileMode(a.mode(0))) }),
		"fs.chown": op(func(a struct {
			Path     string
			UID, GID int
		}) (any, error) {
			return nil, os.Chown(a.Path, a.UID, a.GID)
		}),
		"fs.truncate": op(func(a pathArg) (any, error) { return nil, os.Truncate(a.Path, int64(a.Length)) }),
		"fs.utimes": op(func(a pathArg) (any, error) {
			return nil, os.Chtimes(a.Path, moment(a.Atime), moment(a.Mtime))
		}),
	}
}

func moment(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)) }

func unlink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return syscall.EISDIR
	}
	return syscall.Unlink(path)
}

func copyFile(a pathArg) error {
	info, err := os.Stat(a.From)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	text, err := os.ReadFile(a.From)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if a.Exclusive {
		flags |= os.O_EXCL
	}
	to, err := os.OpenFile(a.To, flags, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = to.Write(text)
	return errors.Join(err, to.Close())
}

func makeAll(path string, mode uint32) (any, error) {
	first := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil {
			if !info.IsDir() && first == "" {
				return nil, syscall.EEXIST
			}
			break
		}
		first = at
	}
	if first == "" {
		return nil, nil
	}
	return first, os.MkdirAll(path, os.FileMode(mode))
}

func readOp(_ context.Context, arg script.Data) (script.Data, error) {
	var a pathArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	text, err := os.ReadFile(a.Path)
	if err != nil {
		return script.Data{}, refused(err)
	}
	if text == nil {
		text = []byte{}
	}
	return script.Data{Raw: text}, nil
}

func writeOp(_ context.Context, arg script.Data) (script.Data, error) {
	var a pathArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	f, err := os.OpenFile(a.Path, openFlags(a.Flags), os.FileMode(a.mode(0o666)))
	if err != nil {
		return script.Data{}, refused(err)
	}
	_, err = f.Write(arg.Raw)
	return script.Data{}, errors.Join(err, f.Close())
}

// openFlags reads Node's letters.
func openFlags(letters string) int {
	flags := os.O_RDONLY
	plus := strings.Contains(letters, "+")
	switch {
	case strings.HasPrefix(letters, "w"):
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	case strings.HasPrefix(letters, "c"):
		flags = os.O_WRONLY | os.O_CREATE
	case strings.HasPrefix(letters, "a"):
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	if plus {
		flags = flags&^(os.O_RDONLY|os.O_WRONLY) | os.O_RDWR
	}
	if strings.Contains(letters, "x") {
		flags |= os.O_EXCL
	}
	return flags
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "dir"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeCharDevice != 0:
		return "char"
	}
	return "block"
}

// list gives what is in a folder, each as its path in it and its kind.
func list(path string, deep bool) (any, error) {
	all := [][2]string{}
	var walk func(below string) error
	walk = func(below string) error {
		entries, err := os.ReadDir(filepath.Join(path, below))
		if err != nil {
			return err
		}
		for _, e := range entries {
			at := filepath.Join(below, e.Name())
			all = append(all, [2]string{at, kind(e.Type())})
			if deep && e.IsDir() {
				if err := walk(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return all, walk("")
}
