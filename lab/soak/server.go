//go:build linux

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

// A reading is what the process of the server says of itself; sizes are bytes.
type reading struct {
	Goroutines int
	Heap       int64  // of live objects
	Stacks     string // who the goroutines are, where that was asked
}

// serveWithProbe is the command helve in a process that answers questions about
// itself: a line on stdin is one, a line on stdout its answer. The command's own
// output comes before. When stdin ends, so does it.
//
// A program that can ask for a profile of its memory keeps one, which grows with
// the load. helve cannot ask, so there is none here.
func serveWithProbe(ctx context.Context, args []string) int {
	runtime.MemProfileRate = 0
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer end()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			runtime.GC() // twice: what a finalizer or a pool held goes with the second
			debug.FreeOSMemory()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			r := reading{Goroutines: runtime.NumGoroutine(), Heap: int64(m.HeapAlloc)}
			if lines.Text() == "stacks" {
				var text bytes.Buffer
				_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // a buffer takes everything
				r.Stacks = text.String()
			}
			if json.NewEncoder(os.Stdout).Encode(r) != nil {
				return
			}
		}
	}()
	return helveCommand(ctx, args, strings.NewReader(""))
}

// A server is what is soaked.
type server struct {
	cmd *exec.Cmd

	url, token     string
	mcpURL, mcpKey string

	mu     sync.Mutex // one question at a time
	in     io.WriteCloser
	out    *bufio.Reader
	exited chan struct{}
	failed error // once it has exited
}

// startServer starts it in a world. What it logs goes to a file.
func startServer(w *world) (*server, error) {
	b := &server{exited: make(chan struct{})}
	b.cmd = w.Command(context.Background(), w.self, wordServer, "serve", "--addr", "127.0.0.1:0", "--json", "--patience", "3s")
	b.cmd.Stderr = w.log
	in, noIn := b.cmd.StdinPipe()
	out, noOut := b.cmd.StdoutPipe()
	if err := errors.Join(noIn, noOut, b.cmd.Start()); err != nil {
		return nil, err
	}
	b.in, b.out = in, bufio.NewReader(out)
	go func() {
		state, err := b.cmd.Process.Wait() // not Cmd.Wait: its output is still read
		b.failed = errors.Join(err, fmt.Errorf("the server ended: %v", state))
		close(b.exited)
	}()
	var at struct {
		URL, TokenFile string
		MCP            struct{ URL, TokenFile string }
	}
	line, err := b.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	token, noToken := os.ReadFile(at.TokenFile)
	key, noKey := os.ReadFile(at.MCP.TokenFile)
	if err := errors.Join(err, noToken, noKey); err != nil {
		return nil, errors.Join(fmt.Errorf("the server does not serve: %w in %.300s", err, line), b.end())
	}
	b.url, b.token = at.URL, strings.TrimSpace(string(token))
	b.mcpURL, b.mcpKey = at.MCP.URL, strings.TrimSpace(string(key))
	return b, nil
}

// ask puts a question to it.
func (b *server) ask(question string) (r reading, err error) {
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
func (b *server) end() error {
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
