package mcpclient

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/mcp"
)

// A tool that has changed since it was first used asks again, with the
// difference, and is not shown in its new words until it is approved.
func TestDrift(t *testing.T) {
	pins := filepath.Join(t.TempDir(), "pins.json")
	before := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few")}}, mcp.Host{Pins: pins})
	before.gather()
	before.must("one_echo", nil)
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few drift")}}, mcp.Host{Pins: pins})
	b.gather()
	spec := b.tools["one_echo"].Spec()
	if shown := fmt.Sprint(spec.Description, asJSON(t, spec.Schema)); strings.Contains(shown, "password") || !strings.Contains(shown, "text") || spec.ReadOnly {
		t.Errorf("a model is shown %s", shown)
	}
	if err := b.fails("one_echo", map[string]any{"text": 5}); strings.Contains(err.Error(), "password") {
		t.Errorf("arguments are held against what the server says now: %v", err)
	}
	infos := b.pool.Tools("one")
	if len(infos) != 3 || infos[0].Changed == "" || !infos[0].Pinned || infos[1].Pinned || !strings.Contains(infos[0].Description, "passwords") {
		t.Errorf("%+v", infos)
	}
	b.mu.Lock()
	b.allowed = false // allowed once
	b.mu.Unlock()
	for range 2 { // nothing that the server asks for now is needed
		b.must("one_echo", nil)
		if last := b.asked[len(b.asked)-1]; !strings.Contains(last.Changed, "passwords") {
			t.Errorf("asked %+v", last)
		}
	}
	b.mu.Lock()
	b.allowed, b.session = true, "s" // in this session
	b.mu.Unlock()
	b.must("one_echo", nil)
	if changed := b.pool.Tools("one")[0].Changed; changed == "" {
		t.Error("what one session may do is taken for good")
	}
	b.mu.Lock()
	b.session = "" // from now on
	b.mu.Unlock()
	b.must("one_echo", nil)
	b.until("the new words", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.Contains(b.tools["one_echo"].Spec().Description, "passwords")
	})
	b.must("one_echo", nil)
	if last := b.asked[len(b.asked)-1]; last.Changed != "" {
		t.Errorf("asked %+v", last)
	}
	if err := b.pool.Approve("one", "nothing"); err == nil {
		t.Error("a tool that is not there was approved")
	}
	if err := b.pool.Approve("x", "echo"); !errors.Is(err, mcp.ErrNoServer) {
		t.Error(err)
	}
}

func TestApprove(t *testing.T) {
	pins := filepath.Join(t.TempDir(), "pins.json")
	before := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few")}}, mcp.Host{Pins: pins})
	before.gather()
	before.must("one_echo", nil)
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few drift")}}, mcp.Host{Pins: pins})
	b.gather()
	if err := b.pool.Approve("one", "echo"); err != nil {
		t.Fatal(err)
	}
	if i := b.pool.Tools("one")[0]; i.Changed != "" || !i.Pinned {
		t.Errorf("%+v", i)
	}
	b.until("the new words", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return strings.Contains(b.tools["one_echo"].Spec().Description, "passwords")
	})
}

// What is approved at once is all that has changed, and nothing that has not.
func TestApproveAll(t *testing.T) {
	pins := filepath.Join(t.TempDir(), "pins.json")
	before := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few")}}, mcp.Host{Pins: pins})
	before.gather()
	before.must("one_echo", nil)
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few drift")}}, mcp.Host{Pins: pins})
	b.gather()
	if err := b.pool.Approve("one", ""); err != nil {
		t.Fatal(err)
	}
	if infos := b.pool.Tools("one"); infos[0].Changed != "" || !infos[0].Pinned || infos[1].Pinned {
		t.Errorf("%+v", infos)
	}
}

// A program that takes the place of another one under its name is asked about.
func TestSwapped(t *testing.T) {
	pins, dir := filepath.Join(t.TempDir(), "pins.json"), t.TempDir()
	one := func(dir string, command ...string) *bench {
		s := fake("one", "few")
		s.Command = append(s.Command, command...)
		b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Pins: pins, Dir: dir})
		b.gather()
		b.must("one_echo", nil)
		return b
	}
	for _, c := range []struct {
		what, dir string
		command   []string
		asks      bool
	}{
		{"the first", dir, nil, false},
		{"the same", dir, nil, false},
		{"another", dir, []string{"evil"}, true},
		{"one of another project", t.TempDir(), []string{"docs"}, false},
	} {
		b := one(c.dir, c.command...)
		if asked := b.asked[0].Changed; (asked != "") != c.asks || c.asks && !strings.Contains(asked, `"one" is another program`) {
			t.Errorf("%s: asked %q", c.what, asked)
		}
	}
	inside := mcp.Server{Command: []string{"sh", "serve.sh"}}
	other := t.TempDir()
	if originOf(inside, dir) != originOf(inside, other) {
		t.Error("what does not depend on the folder does")
	}
	if err := os.WriteFile(filepath.Join(dir, "serve.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if originOf(inside, dir) == originOf(inside, other) {
		t.Error("what depends on the folder does not")
	}
}

// The server's hints are believed as they were approved.
func TestHintsFlip(t *testing.T) {
	pins, mark := filepath.Join(t.TempDir(), "pins.json"), filepath.Join(t.TempDir(), "mark")
	before := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few die")}}, mcp.Host{Pins: pins})
	before.gather()
	if err := before.fails("one_die", map[string]any{"text": mark + "1"}); err.Code != "server-died" {
		t.Fatal(err)
	}
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few die idempotent")}}, mcp.Host{Pins: pins})
	b.gather()
	if spec := b.tools["one_die"].Spec(); spec.Idempotent || !spec.Destructive {
		t.Errorf("%+v", spec)
	}
	if err := b.fails("one_die", map[string]any{"text": mark + "2"}); err.Code != "server-died" {
		t.Errorf("it was called twice: %v", err)
	}
	if last := b.asked[len(b.asked)-1]; !strings.Contains(last.Changed, "+idempotent: true") {
		t.Errorf("asked %+v", last)
	}
}
