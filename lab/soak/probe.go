package main

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
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// withProfile is what the server is told first to keep a profile of its memory.
const withProfile = "profile"

// A reading is what the process of the server says of itself.
type reading struct {
	Goroutines int    `json:"goroutines"`
	Heap       uint64 `json:"heap"`    // bytes of live objects
	Held       uint64 `json:"held"`    // bytes that the heap holds and has not given back
	Stacks     uint64 `json:"stacks"`  // bytes
	Runtime    uint64 `json:"runtime"` // bytes that Go itself needs to look after them
	Profile    []byte `json:"profile,omitempty"`
}

// serveWithProbe is the command helve with the arguments, in a process that
// answers questions about itself: a line on stdin is one, a line on stdout its
// answer. The command's own output comes before. When stdin ends, so does it.
// Go keeps a profile of the memory in every program that could ask for it, and
// helve can not: the profile grows with the load and is no part of what helve
// holds. So there is one only where the first argument wants it.
func serveWithProbe(ctx context.Context, args []string) int {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if args[0] != withProfile {
		runtime.MemProfileRate = 0
	}
	out := &locked{to: os.Stdout}
	go func() {
		defer end()
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if err := json.NewEncoder(out).Encode(readSelf(lines.Text())); err != nil {
				return
			}
		}
	}()
	return helveCommand(ctx, args[1:], strings.NewReader(""), out)
}

// readSelf answers a question: "look", "rest" for what is left after what is
// not needed was given back, "goroutine" and "heap" for who is there, and for
// what is held by whom.
func readSelf(question string) (r reading) {
	if question == "rest" {
		runtime.GC() // twice: what a finalizer or a pool held goes with the second
		debug.FreeOSMemory()
	}
	if p := pprof.Lookup(question); p != nil {
		var data bytes.Buffer
		_ = p.WriteTo(&data, map[string]int{"goroutine": 1}[question]) // a buffer takes everything
		r.Profile = data.Bytes()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.Goroutines, r.Heap = runtime.NumGoroutine(), m.HeapAlloc
	r.Held, r.Stacks = m.HeapSys-m.HeapReleased, m.StackSys
	r.Runtime = m.MSpanSys + m.MCacheSys + m.BuckHashSys + m.GCSys + m.OtherSys
	return r
}

// locked lets one write at a time.
type locked struct {
	mu sync.Mutex
	to io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// A subject is the server that is soaked.
type subject struct {
	cmd *exec.Cmd

	url, token     string
	mcpURL, mcpKey string

	mu     sync.Mutex // one question at a time
	in     io.WriteCloser
	out    *bufio.Reader
	exited chan struct{}
	failed error // once it has exited
}

// startSubject starts the server in a world. What it logs goes to a file.
func startSubject(w *proof.World, s *settings, log *os.File) (*subject, error) {
	b := &subject{exited: make(chan struct{})}
	profile := "plain"
	if s.keep != "" {
		profile = withProfile
	}
	b.cmd = exec.Command(s.self, wordServer, profile, "serve", "--addr", "127.0.0.1:0", "--json", "--patience", "3s")
	b.cmd.Dir, b.cmd.Env, b.cmd.Stderr = w.Project, w.Env(), log
	proof.OwnGroup(b.cmd)
	in, err := b.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	b.in, b.out = in, bufio.NewReader(out)
	if err := b.greet(); err != nil {
		_ = proof.EndGroup(b.cmd.Process) // it is not there, then
		return nil, errors.Join(fmt.Errorf("the server does not serve: %w", err), b.cmd.Wait())
	}
	go func() {
		state, err := b.cmd.Process.Wait() // not Cmd.Wait: its output is still read
		b.failed = errors.Join(err, fmt.Errorf("the server ended: %v", state))
		close(b.exited)
	}()
	return b, nil
}

// greet reads where the server is.
func (b *subject) greet() error {
	line, err := b.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	var at struct {
		URL, TokenFile string
		MCP            struct{ URL, TokenFile string }
	}
	if err := json.Unmarshal(line, &at); err != nil {
		return fmt.Errorf("%w in %.300s", err, line)
	}
	token, err := os.ReadFile(at.TokenFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(at.MCP.TokenFile)
	b.url, b.token = at.URL, strings.TrimSpace(string(token))
	b.mcpURL, b.mcpKey = at.MCP.URL, strings.TrimSpace(string(key))
	return err
}

// pid is the id of its process.
func (b *subject) pid() int { return b.cmd.Process.Pid }

// ask puts a question to it.
func (b *subject) ask(question string) (r reading, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := fmt.Fprintln(b.in, question); err != nil {
		return r, fmt.Errorf("asking the server: %w", err)
	}
	line, err := b.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("the server does not answer: %w", err)
	}
	return r, json.Unmarshal(line, &r)
}

// end lets the server end by itself, and says whether it did.
func (b *subject) end() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.in.Close() // it ends by that
	select {
	case <-b.exited:
		return nil
	case <-time.After(30 * time.Second):
	}
	err := proof.EndGroup(b.cmd.Process)
	<-b.exited
	return errors.Join(errors.New("the server did not end within 30 s of being told to"), err)
}
