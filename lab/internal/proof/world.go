package proof

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// Command is a command in a process group of its own, all of which ends with ctx.
func Command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return EndGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	ownGroup(cmd)
	return cmd
}

// Command is such a command in the project.
func (w *World) Command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := Command(ctx, argv...)
	cmd.Dir, cmd.Env = w.Project, w.Env()
	return cmd
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
