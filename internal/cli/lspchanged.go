package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
)

// changedFiles returns the files that differ from a commit and the untracked ones, relative to the
// working folder, without deleted files and folders such as nested repositories.
func (a *app) changedFiles(ctx context.Context, commit string) ([]string, error) {
	top := files.FindWorktree(a.workDir())
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		return nil, usagef("--changed needs a git repository, and %s is in none: name the files", a.workDir())
	}
	g := gitAsker{top}
	listed, err := g.differing(ctx, commit)
	if err != nil {
		return nil, err
	}
	fresh, err := g.names(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range append(listed, fresh...) {
		path := filepath.Join(top, filepath.FromSlash(name))
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if rel, err := filepath.Rel(a.workDir(), path); err == nil {
			path = rel
		}
		files = append(files, path)
	}
	return files, nil
}

// A gitAsker queries git about a repository. It disables programs that the repository's settings
// name, as far as git allows.
type gitAsker struct {
	top string
}

// differing are the files that are tracked and differ from a commit. Where
// there is no commit at all yet, that is all of them.
func (g gitAsker) differing(ctx context.Context, commit string) ([]string, error) {
	found, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	switch {
	case err == nil:
	case !isExit(err):
		return nil, err
	case commit == headCommit:
		return g.names(ctx, "ls-files", "-z", "--cached")
	default:
		return nil, usagef("git knows no commit %q here: --changed=COMMIT needs one that is fetched", commit)
	}
	return g.names(ctx, "diff", "--name-only", "-z", "--no-color", "--no-ext-diff", "--ignore-submodules=all", "--diff-filter=d",
		strings.TrimSpace(string(found)), "--")
}

// isExit reports whether a program ran and exited with an error.
func isExit(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// names runs git and returns the names that it prints.
func (g gitAsker) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	names := strings.Split(string(out), "\x00")
	return names[:len(names)-1], nil
}

func (g gitAsker) run(ctx context.Context, args ...string) ([]byte, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("--changed needs git, which is not on the PATH: install it, or name the files")
	}
	if disk.Within(g.top, git) {
		return nil, fmt.Errorf("--changed needs git, and the one on the PATH lies in the project (%s), whose programs are not run: name the files", git)
	}
	c := exec.CommandContext(ctx, git, append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"}, args...)...)
	var said bytes.Buffer
	c.Dir, c.Stderr = g.top, &said
	out, err := c.Output()
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, &silent{exitCanceled}
	}
	return nil, fmt.Errorf("asking git which files have changed: %w: %s", err, strings.TrimSpace(said.String()))
}
