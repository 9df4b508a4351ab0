package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A child is a program that is run to its end, or to its limit, together with
// everything that it starts.
type child struct {
	argv  []string
	dir   string
	env   []string
	limit time.Duration
}

// An ending is how a child ended and what it printed.
type ending struct {
	out, log string
	code     int
	late     bool // it was ended because its time was up
	took     time.Duration
}

// run runs the child. The error says that it could not be started; how it
// ended is in the ending.
func (c child) run(ctx context.Context) (ending, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, log tail
	cmd.Stdout, cmd.Stderr = &out, &log
	proof.OwnGroup(cmd)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	cmd.WaitDelay = 2 * time.Second
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return ending{}, fmt.Errorf("starting %s: %w", filepath.Base(c.argv[0]), err)
	}
	err := cmd.Wait()
	_ = proof.EndGroup(cmd.Process) // what it left behind; mostly there is nothing
	e := ending{out: out.String(), log: log.String(), late: ctx.Err() != nil, took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		e.code = exit.ExitCode()
	case err != nil:
		e.code = -1
	}
	return e, nil
}

// why words an ending that was not the hoped-for one, with the last lines.
func (e ending) why() string {
	text := strings.TrimSpace(e.log)
	if text == "" {
		text = strings.TrimSpace(e.out)
	}
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-6):], " / ")
	if len(text) > 600 {
		text = "…" + text[len(text)-600:]
	}
	if e.late {
		return fmt.Sprintf("was ended after %s: %s", e.took.Round(time.Second), text)
	}
	return fmt.Sprintf("ended with %d: %s", e.code, text)
}

// A tail keeps the last megabyte that is written to it.
type tail struct{ bytes.Buffer }

const tailBytes = 1 << 20

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	if n > tailBytes {
		p = p[n-tailBytes:]
	}
	if over := t.Len() + len(p) - 2*tailBytes; over > 0 {
		t.Next(t.Len() + len(p) - tailBytes)
	}
	_, err := t.Buffer.Write(p)
	return n, err
}

// A world is a folder in which foreign programs live during a proof: a home, a
// project, and an environment without a way out of the machine.
type world struct {
	root, home, project string
}

func newWorld() (*world, error) {
	root, err := os.MkdirTemp("", "mcp-proof-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	w := &world{root: root, home: filepath.Join(root, "home"), project: filepath.Join(root, "project")}
	for _, dir := range []string{w.home, w.project, filepath.Join(w.root, "tmp")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(err, os.RemoveAll(root))
		}
	}
	return w, nil
}

// write writes a file below the root, with the folders above it.
func (w *world) write(name, text string) error {
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// env is the environment of the world's programs. Whatever they want from the
// network goes to a proxy that is not there.
func (w *world) env(node string, more ...string) []string {
	path := os.Getenv("PATH")
	if node != "" {
		path = filepath.Dir(node) + string(os.PathListSeparator) + path
	}
	const nowhere = "http://127.0.0.1:9"
	env := []string{
		"PATH=" + path, "HOME=" + w.home, "TMPDIR=" + filepath.Join(w.root, "tmp"),
		"LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "http_proxy=" + nowhere, "https_proxy=" + nowhere,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"DO_NOT_TRACK=1",
	}
	return append(env, more...)
}

// close removes the world from the disk.
func (w *world) close() error { return os.RemoveAll(w.root) }
