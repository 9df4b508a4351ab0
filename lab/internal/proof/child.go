package proof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A World is a folder in which programs live while they are measured: a home, a
// project, and an environment without a way out of the machine.
type World struct {
	Root, Home, Project, Temp string
}

// NewWorld makes one; the project is the root of a repository without a commit.
func NewWorld() (*World, error) {
	root, err := os.MkdirTemp("", "helve-proof-")
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	w := &World{Root: root, Home: filepath.Join(root, "home"), Project: filepath.Join(root, "project"), Temp: filepath.Join(root, "tmp")}
	for _, dir := range []string{w.Home, w.Project, w.Temp, filepath.Join(w.Project, ".git")} {
		err = errors.Join(err, os.Mkdir(dir, 0o700)) // a token lies there
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Close removes the folder.
func (w *World) Close() error { return os.RemoveAll(w.Root) }

// Write puts a file into the project.
func (w *World) Write(name, text string) error {
	path := filepath.Join(w.Project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// Env is the environment of the programs, with what else they need. Whatever they want from the network
// goes to a proxy that is not there.
func (w *World) Env(more ...string) []string {
	const nowhere = "http://127.0.0.1:9"
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home, "TMPDIR=" + w.Temp,
		"XDG_CONFIG_HOME=" + filepath.Join(w.Home, "config"), "XDG_DATA_HOME=" + filepath.Join(w.Home, "data"),
		"XDG_STATE_HOME=" + filepath.Join(w.Home, "state"), "XDG_CACHE_HOME=" + filepath.Join(w.Home, "cache"),
		"LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1", "DO_NOT_TRACK=1",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "http_proxy=" + nowhere, "https_proxy=" + nowhere,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}, more...)
}

// A Child is a program that goes on running, in a process group of its own.
type Child struct {
	cmd  *exec.Cmd
	read sync.WaitGroup
	end  context.CancelFunc
	said *words
}

// Start starts a program in the project and waits until found is content with a
// line that it prints.
func (w *World) Start(ctx context.Context, found func(line string) bool, argv ...string) (*Child, error) {
	ctx, end := context.WithCancel(ctx)
	c := &Child{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), end: end, said: new(words)}
	c.cmd.Dir, c.cmd.Env = w.Project, w.Env()
	c.cmd.WaitDelay = 2 * time.Second
	c.cmd.Cancel = func() error { return EndGroup(c.cmd.Process) }
	OwnGroup(c.cmd)
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
	c.Close()
	return nil, fmt.Errorf("%s does not say that it is ready: %s", filepath.Base(argv[0]), c.said)
}

// Serve starts a server of ours, which prints where it is as helve serve --json
// does.
func (w *World) Serve(ctx context.Context, argv ...string) (Server, *Child, error) {
	var said struct{ URL, TokenFile string }
	c, err := w.Start(ctx, func(line string) bool { return json.Unmarshal([]byte(line), &said) == nil && said.URL != "" }, argv...)
	if err != nil {
		return Server{}, nil, err
	}
	token, err := os.ReadFile(said.TokenFile)
	if err != nil {
		c.Close()
		return Server{}, nil, err
	}
	return Server{Name: "helve", Addr: strings.TrimPrefix(said.URL, "http://"), Token: strings.TrimSpace(string(token)), PID: c.PID()}, c, nil
}

// Close ends the program and everything that it has started.
func (c *Child) Close() {
	c.end()
	c.read.Wait()
	_ = c.cmd.Wait() // it was ended
}

// PID is the id of its process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

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
