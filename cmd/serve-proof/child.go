package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A world is a folder in which the servers live: a home, a project with a small
// file, and an environment without a way out of the machine.
type world struct {
	root, home, project string
}

// smallText is what the small file holds: a hundred bytes.
func smallText() string { return strings.Repeat("all of it is read. ", 5) + "end.\n" }

func newWorld() (*world, error) {
	root, err := os.MkdirTemp("", "serve-proof-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	w := &world{root: root, home: filepath.Join(root, "home"), project: filepath.Join(root, "project")}
	for _, dir := range []string{w.home, w.project, filepath.Join(root, "tmp"), filepath.Join(w.project, ".git")} {
		err = errors.Join(err, os.Mkdir(dir, 0o700)) // a token lies there
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(w.project, "small.txt"), []byte(smallText()), 0o644))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) close() error { return os.RemoveAll(w.root) }

// env is the environment of the servers. Whatever they want from the network
// goes to a proxy that is not there.
func (w *world) env() []string {
	const nowhere = "http://127.0.0.1:9"
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + filepath.Join(w.root, "tmp"),
		"XDG_CONFIG_HOME=" + filepath.Join(w.home, "config"), "XDG_DATA_HOME=" + filepath.Join(w.home, "data"),
		"XDG_STATE_HOME=" + filepath.Join(w.home, "state"), "XDG_CACHE_HOME=" + filepath.Join(w.home, "cache"),
		"LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1", "DO_NOT_TRACK=1",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "http_proxy=" + nowhere, "https_proxy=" + nowhere,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}
}

// A child is a server in a process of its own.
type child struct {
	cmd  *exec.Cmd
	read sync.WaitGroup
	end  context.CancelFunc
	said *words
}

// start starts a server and waits until found is content with a line that it
// prints.
func (w *world) start(ctx context.Context, found func(line string) bool, argv ...string) (*child, error) {
	ctx, end := context.WithCancel(ctx)
	c := &child{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), end: end, said: new(words)}
	c.cmd.Dir, c.cmd.Env = w.project, w.env()
	c.cmd.WaitDelay = 2 * time.Second
	c.cmd.Cancel = func() error { return endGroup(c.cmd.Process) }
	ownGroup(c.cmd)
	c.cmd.Stderr = c.said
	lines, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		end()
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(argv[0]), err)
	}
	ok := make(chan struct{})
	c.read.Go(func() {
		scan, once := bufio.NewScanner(lines), sync.OnceFunc(func() { close(ok) })
		for scan.Scan() {
			_, _ = c.said.Write(append(scan.Bytes(), '\n')) // never fails
			if found(scan.Text()) {
				once()
				break
			}
		}
		_, _ = io.Copy(io.Discard, lines) // so that it is never held up
	})
	select {
	case <-ok:
		return c, nil
	case <-time.After(30 * time.Second):
	case <-ctx.Done():
	}
	c.close()
	return nil, fmt.Errorf("%s does not say that it serves: %s", filepath.Base(argv[0]), c.said)
}

// close ends the server and everything that it has started.
func (c *child) close() {
	c.end()
	c.read.Wait()
	_ = c.cmd.Wait() // it was ended
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// words keep the first of what is written, for what to say of a failure.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() < 4096 {
		w.text.Write(p)
	}
	return len(p), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(w.text.String())
}

// A load is what a process has used.
type load struct {
	work time.Duration // of the processor
	peak int64         // bytes of memory at the most, with the pages of its program
}

// loadOf reads what a process has used, from Linux; elsewhere it is nothing.
func loadOf(pid int) (l load) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	tasks, err := filepath.Glob(filepath.Join(dir, "task", "*", "schedstat"))
	if err != nil {
		return l
	}
	for _, t := range tasks {
		text, _ := os.ReadFile(t) // nothing where the thread has ended
		word, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(word, 10, 64)
		l.work += time.Duration(n)
	}
	status, _ := os.ReadFile(filepath.Join(dir, "status"))
	for row := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(row, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			l.peak = kib << 10
		}
	}
	return l
}

// sockets counts the connections that a process has open.
func sockets(pid int) (n int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	names, _ := os.ReadDir(dir) // none where there is no such folder
	for _, name := range names {
		if to, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// machine says what it is measured on.
func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s. Server and clients share the machine.",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// busy is how many processes want to run, on average of the last minute, as
// Linux tells it: figures of a machine that others use too are worth less.
func busy() string {
	text, _ := os.ReadFile("/proc/loadavg") // not known where there is none
	first, _, _ := strings.Cut(string(text), " ")
	return cmp.Or(first, "not known")
}
