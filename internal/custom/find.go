package custom

import (
	"context"
	"errors"
	"fmt"
	"github.com/helve-dev/helve/internal/process"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// A WorkerRuntime is a program that runs JavaScript.
type WorkerRuntime struct {
	Name string // bun or node
	Path string // absolute
	// Private reports that it lies in a folder that is private in the sandbox, such as /tmp, where
	// it must be made visible.
	Private bool
}

// readable returns what must be made readable in the sandbox for the runtime.
func (r WorkerRuntime) readable() []string {
	if r.Private {
		return []string{r.Path}
	}
	return nil
}

// leastNode is the oldest major version of node that has all the worker needs.
const leastNode = 20

// FindRuntime finds the runtime that [Options.Runtime] means: bun if there is one, else node. The
// error says what to install.
func FindRuntime(ctx context.Context, opt WorkerOptions) (WorkerRuntime, error) {
	if runtime.GOOS == "windows" {
		return WorkerRuntime{}, errors.New("files that need bun or node can not be run on Windows yet, because there is no wall to keep them behind: use them in WSL, or make them an MCP server")
	}
	var names []string
	switch opt.Runtime {
	case "", "auto":
		names = []string{"bun", "node"}
	case "bun", "node":
		names = []string{opt.Runtime}
	case "off":
		return WorkerRuntime{}, errors.New("running files in bun or node is switched off: set the config key custom.worker to auto to allow it")
	default:
		return WorkerRuntime{}, fmt.Errorf("the config key custom.worker is %q, which is not one of auto, bun, node, off", opt.Runtime)
	}
	if lacks := opt.Shell.Lacks(); lacks != "" && !opt.open {
		return WorkerRuntime{}, fmt.Errorf("files that need bun or node run behind the wall or not at all, and there is none here: %s. See 'helve doctor'", strings.TrimSuffix(lacks, "."))
	}
	var misses []string
	for _, name := range names {
		found, err := find(ctx, opt, name)
		if err == nil {
			return found, nil
		}
		if _, refused := errors.AsType[*process.SandboxError](err); refused || ctx.Err() != nil {
			return WorkerRuntime{}, err
		}
		misses = append(misses, err.Error())
	}
	install := "Install bun (https://bun.com), or node 20 or newer (https://nodejs.org)"
	switch opt.Runtime {
	case "bun":
		install = "Install bun (https://bun.com), or set the config key custom.worker to auto"
	case "node":
		install = "Install node 20 or newer (https://nodejs.org), or set the config key custom.worker to auto"
	}
	return WorkerRuntime{}, fmt.Errorf("there is nothing that runs these files: %s. %s, and see that it is on the PATH", strings.Join(misses, "; "), install)
}

// find looks for one runtime and asks it for its version.
func find(ctx context.Context, opt WorkerOptions, name string) (WorkerRuntime, error) {
	look := opt.LookPath
	if look == nil {
		look = exec.LookPath
	}
	path, err := look(name)
	if err != nil || !filepath.IsAbs(path) {
		return WorkerRuntime{}, fmt.Errorf("%s was not found", name)
	}
	found := WorkerRuntime{Name: name, Path: path}
	ask := func() ([]byte, error) {
		return opt.Shell.Answer(ctx, process.Program{Path: found.Path, Args: []string{"--version"}, Dir: startDir, Walled: !opt.open, Sieve: opt.Sieve, Readable: found.readable()}, nil, 1000)
	}
	said, err := ask()
	if real, failed := filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) && !opt.open && failed == nil {
		found.Path, found.Private = real, true
		said, err = ask()
	}
	if errors.Is(err, fs.ErrNotExist) && !opt.open {
		return WorkerRuntime{}, fmt.Errorf("%s can not be seen behind the wall (name its folder in the config key wall.readable)", path)
	}
	if err != nil {
		return WorkerRuntime{}, fmt.Errorf("asking %s for its version: %w", path, err)
	}
	version := strings.TrimPrefix(strings.TrimSpace(string(said)), "v")
	major, _, _ := strings.Cut(version, ".")
	number, err := strconv.Atoi(major)
	switch {
	case err != nil:
		return WorkerRuntime{}, fmt.Errorf("%s says that its version is %.40q", path, version)
	case name == "node" && number < leastNode:
		return WorkerRuntime{}, fmt.Errorf("%s is version %s, which is too old", path, version)
	}
	return found, nil
}
