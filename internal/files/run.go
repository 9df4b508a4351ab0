package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// tailSize is how much of the end of what a child prints is kept.
	tailSize = 2 << 10
	// probeTime is how long a program may take to tell about itself.
	probeTime = 5 * time.Second
	// pipeTime is how long to wait for the output of a child that has ended. A daemon that it
	// started can keep the output open forever.
	pipeTime = 200 * time.Millisecond
)

// run formats a file with one formatter.
func (s *Formatters) run(ctx context.Context, it *item, program, path string) FormatReport {
	args := make([]string, 0, len(it.Command))
	for _, arg := range it.Command[1:] {
		args = append(args, strings.ReplaceAll(arg, "$FILE", path))
	}
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, stopped{s.timeout})
	defer cancel()
	out := &tail{max: tailSize}
	err := s.child(ctx, it, append([]string{program}, args...), out)
	report := FormatReport{Name: it.Name, Took: time.Since(start), Output: out.String()}
	if err != nil {
		report.Err = err
		if text := strings.TrimSpace(report.Output); text != "" {
			report.Err = fmt.Errorf("%w: %s", err, text)
		}
	}
	return report
}

// stopped is the cause of the end of a child that timed out.
type stopped struct{ after time.Duration }

func (s stopped) Error() string { return fmt.Sprintf("stopped, it took longer than %v", s.after) }

// Unwrap returns context.DeadlineExceeded.
func (s stopped) Unwrap() error { return context.DeadlineExceeded }

// probe asks a program to identify itself. Only the start of the answer counts.
func (s *Formatters) probe(ctx context.Context, it *item) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	out := &head{max: tailSize}
	err := s.child(ctx, it, append([]string{it.program}, it.builtin.ask...), out)
	return it.builtin.probe(string(out.kept), err)
}

// child runs a command to its end.
func (s *Formatters) child(ctx context.Context, it *item, command []string, out io.Writer) error {
	program, err := lookUp(command[0], it.Environment, s.place.dir)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.Dir = s.place.dir
	cmd.Env = environment(it.Environment)
	cmd.Stdout, cmd.Stderr = out, out // the same, so there is one pipe and one writer
	cmd.WaitDelay = pipeTime
	ownGroup(cmd)
	err = cmd.Run()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well and left somebody behind
		return nil
	}
	return err
}

// lookUp finds a configured program: in PATH of the formatter's environment, or relative to its
// working directory.
func lookUp(name string, env map[string]string, dir string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if filepath.Base(name) != name {
		return filepath.Join(dir, name), nil
	}
	path, ok := env["PATH"]
	if !ok {
		return exec.LookPath(name)
	}
	for _, in := range filepath.SplitList(path) {
		if !filepath.IsAbs(in) { // not from wherever we happen to be
			continue
		}
		if program, err := exec.LookPath(filepath.Join(in, name)); err == nil {
			return program, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// environment returns the environment of a child: those of our variables that name places,
// languages and the homes of tools, and then set. Keys and tokens are not passed on.
func environment(set map[string]string) []string {
	var env []string
	for _, pair := range os.Environ() {
		key, _, _ := strings.Cut(pair, "=")
		if passedOn(key) {
			env = append(env, pair)
		}
	}
	for key, value := range set {
		env = append(env, key+"="+value)
	}
	return env
}

func passedOn(key string) bool {
	key = strings.ToUpper(key)
	switch key {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "LANG", "LANGUAGE", "TMPDIR", "TMP", "TEMP",
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERNAME",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "COMMONPROGRAMFILES",
		"GOROOT", "GOPATH", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "NODE_PATH", "NVM_DIR", "VOLTA_HOME",
		"PYENV_ROOT", "PYENV_VERSION", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH",
		"RBENV_ROOT", "RBENV_VERSION", "JAVA_HOME", "MIX_HOME", "HEX_HOME", "MIX_ENV", "OPAM_SWITCH_PREFIX", "OPAMROOT", "NIX_PATH",
		"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NO_COLOR":
		return true
	}
	for _, prefix := range []string{"LC_", "XDG_", "ASDF_", "MISE_DATA_", "FNM_"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// A tail keeps the end of what is written to it.
type tail struct {
	max  int
	kept []byte
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	if len(b) > t.max {
		b, t.cut = b[len(b)-t.max:], true
	}
	if over := len(t.kept) + len(b) - t.max; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	t.kept = append(t.kept, b...)
	return n, nil
}

// String returns the end of what was written, from the start of a line if it was cut.
func (t *tail) String() string {
	text := string(t.kept)
	if t.cut {
		if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" {
			text = rest
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// A head keeps the start of what is written to it.
type head struct {
	max  int
	kept []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.kept = append(h.kept, b[:min(len(b), h.max-len(h.kept))]...)
	return len(b), nil
}
