//go:build unix

package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"golang.org/x/sys/unix"
)

// programs are those that scripts have started.
type programs struct {
	mu   sync.Mutex
	last int
	all  map[int]*started
}

// A started program and our ends of its pipes.
type started struct {
	cmd    *exec.Cmd
	input  *os.File
	output map[string]*os.File
	done   chan struct{}
}

// withPrograms gives a world programs, the shell, the network, sums and databases.
func withPrograms(t *testing.T, w *world) *world {
	t.Helper()
	p := &programs{all: map[int]*started{}}
	t.Cleanup(p.close)
	w.add(map[string]operation{
		"proc.run":   runProgram,
		"proc.start": p.start,
		"proc.read":  p.read,
		"proc.write": p.write,
		"proc.wait":  p.wait,
		"proc.kill":  p.kill,
		"proc.close": p.forget,
		"proc.shell": runShell,
		"proc.which": op(func(a struct {
			Name, Cwd string
			Path      *string
		}) (any, error) {
			if found := which(a.Name, a.Cwd, pathList(a.Path)); found != "" {
				return found, nil
			}
			return nil, nil
		}),
	})
	w.add(netOps(t))
	for name, do := range scripthost.CryptoOperations() {
		w.ops[name] = do
	}
	w.add(databaseOps(t))
	return w
}

// A program is what proc.run and proc.start take.
type program struct {
	Argv           []string
	Argv0          string
	Cwd            string
	Env            map[string]string
	Set            map[string]*string
	Timeout        float64
	Kill           string
	Max            *int
	Stdin          string
	Stdout, Stderr json.RawMessage
}

func environment(env map[string]string, set map[string]*string) []string {
	if env != nil {
		list := make([]string, 0, len(env))
		for name, value := range env {
			list = append(list, name+"="+value)
		}
		return list
	}
	list := slices.DeleteFunc(os.Environ(), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		_, changed := set[name]
		return changed
	})
	for name, value := range set {
		if value != nil {
			list = append(list, name+"="+*value)
		}
	}
	return list
}

func pathList(given *string) string {
	if given != nil {
		return *given
	}
	return os.Getenv("PATH")
}

func which(name, cwd, path string) string {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(cwd, name)
		}
		if executable(name) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, name); dir != "" && executable(full) {
			return full
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

func (p *program) command() (*exec.Cmd, error) {
	env := environment(p.Env, p.Set)
	path := ""
	for _, line := range env {
		if value, ok := strings.CutPrefix(line, "PATH="); ok {
			path = value
		}
	}
	if p.Env != nil && path == "" {
		path = os.Getenv("PATH")
	}
	found := which(p.Argv[0], p.Cwd, path)
	if found == "" {
		return nil, &script.Failure{Message: "not found", Code: "ENOENT", Syscall: "which"}
	}
	if info, err := os.Stat(p.Cwd); err != nil || !info.IsDir() {
		return nil, &script.Failure{Message: "no such folder", Code: "ENOENT"}
	}
	argv := slices.Clone(p.Argv)
	if p.Argv0 != "" {
		argv[0] = p.Argv0
	}
	return &exec.Cmd{Path: found, Args: argv, Dir: p.Cwd, Env: env, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}, nil
}

func signalOf(name string) syscall.Signal {
	if sig := unix.SignalNum(name); sig != 0 {
		return sig
	}
	return syscall.SIGTERM
}

// outcome tells how a program ended.
func outcome(cmd *exec.Cmd) map[string]any {
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return map[string]any{"code": 128 + int(status.Signal()), "signal": unix.SignalName(status.Signal()), "pid": cmd.Process.Pid}
	}
	return map[string]any{"code": status.ExitStatus(), "pid": cmd.Process.Pid}
}

// A bounded buffer takes so much and calls stop at the first byte that is too many.
type bounded struct {
	held bytes.Buffer
	max  *int
	stop func()
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.max == nil || b.held.Len()+len(p) <= *b.max {
		return b.held.Write(p)
	}
	b.held.Write(p[:max(*b.max-b.held.Len(), 0)])
	b.over = true
	b.stop()
	return len(p), nil
}

func runProgram(ctx context.Context, arg script.Data) (script.Data, error) {
	var p program
	if err := json.Unmarshal(arg.JSON, &p); err != nil {
		return script.Data{}, err
	}
	cmd, err := p.command()
	if err != nil {
		return script.Data{}, err
	}
	kill := func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, signalOf(p.Kill)) // and what it has started
		}
	}
	out, errs := &bounded{max: p.Max, stop: kill}, &bounded{max: p.Max, stop: kill}
	cmd.Stdin = bytes.NewReader(arg.Raw)
	if arg.Raw == nil {
		cmd.Stdin = nil
	}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		return script.Data{}, refused(err)
	}
	var late atomic.Bool
	if p.Timeout > 0 {
		timer := time.AfterFunc(time.Duration(p.Timeout*float64(time.Millisecond)), func() { late.Store(true); kill() })
		defer timer.Stop()
	}
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })()
	_ = cmd.Wait()
	told := outcome(cmd)
	told["timedOut"], told["overflow"], told["out"] = late.Load(), out.over || errs.over, out.held.Len()
	text, err := json.Marshal(told)
	return script.Data{JSON: text, Raw: slices.Concat([]byte{}, out.held.Bytes(), errs.held.Bytes())}, err
}

// outlet makes what a program writes to: a pipe, a file or nothing.
func outlet(mode json.RawMessage) (ours, theirs *os.File, err error) {
	var file struct{ Path string }
	if json.Unmarshal(mode, &file) == nil && file.Path != "" {
		theirs, err = os.Create(file.Path)
		return nil, theirs, err
	}
	if string(mode) == `"pipe"` {
		return os.Pipe()
	}
	return nil, nil, nil
}

func (p *programs) start(_ context.Context, arg script.Data) (script.Data, error) {
	var a program
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	cmd, err := a.command()
	if err != nil {
		return script.Data{}, err
	}
	s := &started{cmd: cmd, output: map[string]*os.File{}, done: make(chan struct{})}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	for name, mode := range map[string]json.RawMessage{"stdout": a.Stdout, "stderr": a.Stderr} {
		ours, end, err := outlet(mode)
		if err != nil {
			return script.Data{}, refused(err)
		}
		if end == nil {
			continue
		}
		theirs = append(theirs, end)
		s.output[name] = ours
		if name == "stdout" {
			cmd.Stdout = end
		} else {
			cmd.Stderr = end
		}
	}
	switch a.Stdin {
	case "bytes":
		cmd.Stdin = bytes.NewReader(arg.Raw)
	case "pipe":
		end, ours, err := os.Pipe()
		if err != nil {
			return script.Data{}, err
		}
		theirs = append(theirs, end)
		s.input, cmd.Stdin = ours, end
	}
	if err := cmd.Start(); err != nil {
		return script.Data{}, refused(err)
	}
	id := p.keep(s, a)
	text, err := json.Marshal(map[string]int{"id": id, "pid": cmd.Process.Pid})
	return script.Data{JSON: text}, err
}

// keep takes note of a program that runs and waits for its end.
func (p *programs) keep(s *started, a program) int {
	var timer *time.Timer
	if a.Timeout > 0 {
		timer = time.AfterFunc(time.Duration(a.Timeout*float64(time.Millisecond)), func() { _ = syscall.Kill(-s.cmd.Process.Pid, signalOf(a.Kill)) })
	}
	go func() {
		_ = s.cmd.Wait()
		if timer != nil {
			timer.Stop()
		}
		close(s.done)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.all[p.last] = s
	return p.last
}

type programArg struct {
	ID     int
	From   string
	Signal string
	End    bool
}

func (p *programs) find(arg script.Data) (*started, programArg, error) {
	var a programArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return nil, a, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.all[a.ID]; s != nil {
		return s, a, nil
	}
	return nil, a, &script.Failure{Message: "no such program", Code: "ESRCH"}
}

func (p *programs) read(ctx context.Context, arg script.Data) (script.Data, error) {
	s, a, err := p.find(arg)
	if err != nil {
		return script.Data{}, err
	}
	f := s.output[a.From]
	if f == nil {
		return script.Data{JSON: []byte(`{"done":true}`)}, nil
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	chunk := make([]byte, 64<<10)
	n, err := f.Read(chunk)
	if n > 0 {
		return script.Data{JSON: []byte(`{"done":false}`), Raw: chunk[:n]}, nil
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		return script.Data{}, refused(err)
	}
	return script.Data{JSON: []byte(`{"done":true}`)}, nil
}

func (p *programs) write(_ context.Context, arg script.Data) (script.Data, error) {
	s, a, err := p.find(arg)
	if err != nil || s.input == nil {
		return script.Data{}, err
	}
	if len(arg.Raw) > 0 {
		if _, err := s.input.Write(arg.Raw); err != nil {
			return script.Data{}, &script.Failure{Message: "EPIPE: broken pipe, write", Code: "EPIPE", Errno: -32, Syscall: "write"}
		}
	}
	if a.End {
		_ = s.input.Close()
	}
	return script.Data{}, nil
}

func (p *programs) wait(ctx context.Context, arg script.Data) (script.Data, error) {
	s, _, err := p.find(arg)
	if err != nil {
		return script.Data{}, err
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		return script.Data{}, ctx.Err()
	}
	text, err := json.Marshal(outcome(s.cmd))
	return script.Data{JSON: text}, err
}

func (p *programs) kill(_ context.Context, arg script.Data) (script.Data, error) {
	s, a, err := p.find(arg)
	if err != nil {
		return script.Data{}, err
	}
	sig := signalOf(a.Signal)
	if a.Signal == "0" {
		sig = 0
	}
	text, err := json.Marshal(map[string]bool{"sent": s.cmd.Process.Signal(sig) == nil})
	return script.Data{JSON: text}, err
}

func (p *programs) forget(_ context.Context, arg script.Data) (script.Data, error) {
	s, a, err := p.find(arg)
	if err != nil {
		return script.Data{}, nil // twice is no mistake
	}
	p.mu.Lock()
	delete(p.all, a.ID)
	p.mu.Unlock()
	s.close()
	return script.Data{}, nil
}

func (s *started) close() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.done
	if s.input != nil {
		_ = s.input.Close()
	}
	for _, f := range s.output {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (p *programs) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.all {
		s.close()
	}
}
