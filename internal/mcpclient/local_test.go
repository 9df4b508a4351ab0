//go:build unix

package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
	"github.com/helve-dev/helve/tool"
)

func TestLocal(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{})
	if s := b.status("one"); s.State != mcp.Idle || s.Kind != "local" {
		t.Fatalf("before: %+v", s)
	}
	b.gather()
	s := b.status("one")
	if s.State != mcp.Connected || s.Tools != 25 || s.PID == 0 || s.Program != "fake 0.1" || s.Instructions != "be kind" || s.Transport != "stdio" {
		t.Fatalf("%+v", s)
	}
	if got := b.must("one_echo", map[string]any{"text": "hi"}).Output; got != "hi" {
		t.Errorf("echo said %q", got)
	}
	if got := b.must("one_pid", map[string]any{}).Output; got != strconv.Itoa(s.PID) {
		t.Errorf("pid is %s, want %d", got, s.PID)
	}
	req := b.asked[0]
	if req.Permission != "one_echo" || !slices.Equal(req.Patterns, []string{"*"}) || req.Changed != "" || req.Metadata["server"] != "one" {
		t.Errorf("asked %+v", req)
	}
	if err := b.fails("one_fail", nil); err.Error() != "it is broken" {
		t.Errorf("isError became %v", err)
	}
	if err := b.fails("one_refuse", nil); err.Error() != "MCP error -32602: no" {
		t.Errorf("an error became %v", err)
	}
	if got := b.must("one_odd", nil).Output; !strings.Contains(got, "fine") {
		t.Errorf("odd content became %q", got)
	}
	if got := b.must("one_roots", nil).Output; !strings.Contains(got, "file://"+b.pool.host.Dir) {
		t.Errorf("roots are %s", got)
	}
	b.answer = errors.New("no")
	if _, err := b.call(t.Context(), "one_echo", nil); !errors.Is(err, b.answer) {
		t.Errorf("a denied call gave %v", err)
	}
}

func TestKilled(t *testing.T) {
	rounds := 20
	if os.Getenv("HELVE_LONG") != "" {
		rounds = 100
	}
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{})
	b.gather()
	for i := range rounds {
		pid, err := strconv.Atoi(b.must("one_pid", nil).Output)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		// Nothing says that the tool may be called twice.
		if got := b.must("one_echo", map[string]any{"text": strconv.Itoa(i)}).Output; got != strconv.Itoa(i) {
			t.Fatalf("round %d gave %q", i, got)
		}
	}
	if s := b.status("one"); s.State != mcp.Connected || s.Restarts != rounds {
		t.Errorf("%+v", s)
	}
	if len(b.removed) != 0 {
		t.Errorf("tools were taken away meanwhile: %v", b.removed)
	}
}

func TestKilledIdle(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "child")}}, mcp.Host{})
	b.gather()
	before := b.status("one")
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// It comes back by itself, although a child of it holds the pipe open.
	b.until("another process", func() bool {
		s := b.status("one")
		return s.State == mcp.Connected && s.PID != before.PID
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.ContainsFunc(b.states, func(s mcp.Status) bool { return s.State == mcp.Failed && strings.Contains(s.Error, "killed") }) {
		t.Errorf("nobody was told: %+v", b.states)
	}
}

func TestDied(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{})
	b.gather()
	mark := filepath.Join(t.TempDir(), "mark")
	if err := b.fails("one_die", nil); err.Code != "server-died" || !strings.Contains(err.Error(), "ended before it answered") {
		t.Errorf("%v (%s)", err, err.Code)
	}
	if got := b.must("one_dieonce", map[string]any{"text": mark}).Output; got != "survived" {
		t.Errorf("an idempotent call gave %q", got)
	}
	if err := b.fails("one_diechatty", map[string]any{"text": mark + "2"}); err.Code != "server-died" {
		t.Errorf("a call of which something was heard: %v", err)
	}
	b.must("one_echo", nil)
	for i := range 40 { // whichever of the two ends is noticed first, it is not called twice
		if err := b.fails("one_die", map[string]any{"text": fmt.Sprint(mark, "-", i)}); err.Code != "server-died" {
			t.Errorf("%v (%s)", err, err.Code)
		}
	}
}

func TestNotAServer(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{
		fake("exits", "exit"), fake("good", ""), {Name: "missing", Command: []string{"no-such-program-helve"}},
		{Name: "off", Command: []string{"no-such-program-helve"}, Disabled: true}, fake("nolist", "nolist"), {Name: "empty"},
	}}, mcp.Host{})
	b.gather()
	if s := b.status("good"); s.State != mcp.Connected {
		t.Errorf("%+v", s)
	}
	if s := b.status("exits"); s.State != mcp.Failed || s.Error != "The server has ended (exit code 3)." || s.Detail != "the licence is missing" {
		t.Errorf("%+v", s)
	}
	if s := b.status("missing"); s.State != mcp.Failed || !strings.Contains(s.Error, "no-such-program-helve") {
		t.Errorf("%+v", s)
	}
	if s := b.status("off"); s.State != mcp.Disabled || s.Error != "" {
		t.Errorf("%+v", s)
	}
	if s := b.status("nolist"); s.State != mcp.Failed || s.Error != "Failed to get tools" || !strings.Contains(s.Detail, "broken") {
		t.Errorf("%+v", s)
	}
	if s := b.status("empty"); s.State != mcp.Failed {
		t.Errorf("%+v", s)
	}
}

func TestTimeouts(t *testing.T) {
	silent, list, good := fake("silent", "silent deaf"), fake("list", "hanglist"), fake("good", "")
	silent.Timeout, list.Timeout = 300*time.Millisecond, 3*time.Second // the second has to be greeted within it
	b := newBench(t, mcp.Options{Servers: []mcp.Server{silent, list, good}}, mcp.Host{})
	b.gather()
	alive := 0
	for _, pid := range b.pids {
		if syscall.Kill(pid, 0) == nil {
			alive++
		}
	}
	if alive != 1 {
		t.Errorf("%d of %d processes are alive", alive, len(b.pids))
	}
	if s := b.status("silent"); s.State != mcp.Failed || s.Error != "Operation timed out after 300ms" || s.PID != 0 {
		t.Errorf("%+v", s)
	}
	if s := b.status("list"); s.State != mcp.Failed || s.Error != "Failed to get tools" {
		t.Errorf("%+v", s)
	}
	b.must("good_echo", nil)
}

func TestCallTimeouts(t *testing.T) {
	s := fake("one", "")
	s.Timeout, s.Limit = 2*time.Second, 6*time.Second
	long := fake("long", "")
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s, long}, Timeout: 1500 * time.Millisecond}, mcp.Host{})
	b.gather()
	if err := b.fails("one_hang", nil); err.Code != "timeout" || !strings.Contains(err.Error(), "2000 ms") ||
		!strings.HasSuffix(err.Error(), "`helve mcp logs one` shows what it said; \"timeout\" in its config gives it longer.") {
		t.Errorf("%v", err)
	}
	if err := b.fails("long_hang", nil); err.Code != "timeout" || !strings.Contains(err.Error(), "1500 ms") {
		t.Errorf("%v", err)
	}
	if got := b.must("one_slow", map[string]any{"n": 30}).Output; got != "done" {
		t.Errorf("%s", got)
	}
	if n := len(b.progress); n < 3 || n > 31 || b.progress[0]["output"] != "step 0" || b.progress[0]["total"] != 10.0 {
		t.Errorf("progress: %v", b.progress)
	}
	if err := b.fails("one_slow", map[string]any{"n": 100}); err.Code != "timeout" || !strings.Contains(err.Error(), "6000 ms") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := b.call(ctx, "one_hang", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	b.must("one_echo", nil)
	if s := b.status("one"); s.Restarts != 0 {
		t.Errorf("a slow call cost the connection: %+v", s)
	}
}

func TestStray(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "stray lie")}}, mcp.Host{})
	b.gather()
	for range 3 {
		if got := b.must("one_echo", map[string]any{"text": "x"}).Output; got != "x" {
			t.Fatal(got)
		}
	}
	log := strings.Join(b.pool.Log("one"), "\n")
	for _, want := range []string{"stdout: Server starting…", "stdout: {not json", "stdout: 42"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

func TestHuge(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{})
	b.gather()
	for _, name := range []string{"one_huge", "one_hugelast"} {
		if err := b.fails(name, nil); !strings.Contains(err.Error(), "larger than 16 MiB") ||
			!strings.HasSuffix(err.Error(), "`helve mcp logs one` shows what the server said.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.must("one_echo", nil)
}

func TestFlood(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("wild", "floods"), fake("calm", "")}}, mcp.Host{})
	b.gather()
	for range 10 {
		b.must("calm_echo", nil)
		b.must("wild_echo", nil)
	}
	b.until("lines", func() bool { return len(b.pool.Log("wild")) > 0 })
	if n := len(b.pool.Log("wild")); n > 1000 {
		t.Errorf("%d lines are kept", n)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("the heap has %d MiB", m.HeapAlloc>>20)
	}
}

func TestPages(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("p", "pages few"), fake("loop", "loop"), fake("endless", "endless")}}, mcp.Host{})
	b.gather()
	if got, want := b.names(), []string{"p_echo", "p_page0", "p_page1", "p_page2", "p_tool-a", "p_tool_b"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if s := b.status("loop"); s.State != mcp.Failed || s.Error != "Failed to get tools" || !strings.Contains(s.Detail, "cursor") {
		t.Errorf("%+v", s)
	}
	if s := b.status("endless"); s.State != mcp.Failed || !strings.Contains(s.Detail, "1000 pages") {
		t.Errorf("%+v", s)
	}
}

func TestNames(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("my.special-server", "few")}}, mcp.Host{})
	b.pool.Need(t.Context(), "other_tool")
	if s := b.status("my.special-server"); s.State != mcp.Idle {
		t.Errorf("%+v", s)
	}
	b.pool.Need(t.Context(), "my_special-server_tool-a")
	if got, want := b.names(), []string{"my_special-server_echo", "my_special-server_tool-a", "my_special-server_tool_b"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := b.must("my_special-server_tool_b", map[string]any{"text": "x"}).Output; got != "x" {
		t.Error(got)
	}
}

func TestListChanged(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "")}}, mcp.Host{})
	b.gather()
	n := len(b.added)
	b.must("one_grow", nil)
	b.until("the new tool", func() bool { return slices.Contains(b.names(), "one_grown") })
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.added) != n+1 || len(b.removed) != 0 {
		t.Errorf("others were touched: %v, %v", b.added[n:], b.removed)
	}
}

func TestCollisions(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("a.b", "few"), fake("a b", "few"), fake("twice", "clash"), fake("built", "few"), fake("ok", "few")}}, mcp.Host{})
	b.gather()
	if s := b.state("a.b", mcp.Connected); s.Tools != 3 {
		t.Errorf("%+v", s)
	}
	s := b.state("a b", mcp.Failed)
	for _, want := range []string{`"a b"`, `"a.b"`, "a_b_"} {
		if !strings.Contains(s.Error, want) {
			t.Errorf("%q lacks %s", s.Error, want)
		}
	}
	if s := b.status("twice"); s.State != mcp.Failed || !strings.Contains(s.Error, `"a.b" and "a b"`) || s.Tools != 0 {
		t.Errorf("%+v", s)
	}
	b.must("a_b_echo", nil)
	b.must("ok_echo", nil)
}

// A server cannot take names that begin like those of another, be that one
// there or not, and whichever stands first.
func TestTrespass(t *testing.T) {
	off := fake("a_b_c", "few")
	off.Disabled = true
	for _, servers := range [][]mcp.Server{
		{fake("a", "few b_c"), fake("a.b", "few"), fake("a_z", "few")},
		{fake("a.b", "few"), fake("a", "few b_c"), fake("a_z", "few")},
		{fake("a_b", "few b_c"), fake("a_b_b", "few"), fake("a_z", "few")},
	} {
		bad, good := servers[0].Name, servers[1].Name
		if len(bad) > len(good) {
			bad, good = good, bad
		}
		b := newBench(t, mcp.Options{Servers: servers}, mcp.Host{})
		b.gather()
		s := b.status(bad)
		if s.State != mcp.Failed || s.Tools != 0 || !strings.Contains(s.Error, strconv.Quote(bad)) || !strings.Contains(s.Error, strconv.Quote(good)) || !strings.Contains(s.Error, `"b_c"`) {
			t.Errorf("%+v", s)
		}
		for _, name := range []string{good, "a_z"} {
			if s := b.status(name); s.State != mcp.Connected || s.Tools != 3 {
				t.Errorf("%+v", s)
			}
		}
	}
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("a_b", "few"), fake("a", "few"), off, fake("a-b", "few"), fake("x", "few b_c")}}, mcp.Host{})
	b.pool.Need(t.Context(), "a_b_echo")
	for name, want := range map[string]mcp.State{"a_b": mcp.Connected, "a": mcp.Idle, "a_b_c": mcp.Disabled, "a-b": mcp.Idle} {
		if s := b.status(name); s.State != want {
			t.Errorf("%+v", s)
		}
	}
	for name, want := range map[string]string{"a_b_echo": "a_b", "a_b_x": "a_b", "a_x": "a", "a_b_c_d": "a_b_c", "a_b_c": "a_b", "a-b_": "a-b", "b_c": "", "a": ""} {
		if got, ok := b.pool.Owner(name); got != want || ok != (want != "") {
			t.Errorf("%s is of %q", name, got)
		}
	}
	off.Name = "x_b"
	b = newBench(t, mcp.Options{Servers: []mcp.Server{fake("x", "few b_c"), off}}, mcp.Host{})
	b.gather()
	if s := b.status("x"); s.State != mcp.Failed {
		t.Errorf("what is of a server that is switched off: %+v", s)
	}
}

func TestDisconnect(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "few")}}, mcp.Host{})
	b.gather()
	echo := b.tools["one_echo"]
	if err := b.pool.Disconnect("one"); err != nil {
		t.Fatal(err)
	}
	var gone *tool.Error
	if _, err := echo.Run(t.Context(), &tool.Call{Host: b}); !errors.As(err, &gone) || gone.Code != "tool-gone" || !strings.HasSuffix(gone.Error(), "`helve mcp inspect one` shows what it has.") {
		t.Errorf("%v", err)
	}
	if s := b.status("one"); s.State != mcp.Disabled || s.Tools != 0 || len(b.names()) != 0 {
		t.Errorf("%+v %v", s, b.names())
	}
	b.gather()
	if s := b.status("one"); s.State != mcp.Disabled {
		t.Errorf("%+v", s)
	}
	if err := b.pool.Connect(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	b.must("one_echo", nil)
	for _, err := range []error{b.pool.Connect(t.Context(), "x"), b.pool.Disconnect("x")} {
		if !errors.Is(err, mcp.ErrNoServer) {
			t.Errorf("%v", err)
		}
	}
}

func TestResourcesOnly(t *testing.T) {
	b := newBench(t, mcp.Options{Servers: []mcp.Server{fake("one", "resources")}}, mcp.Host{})
	if b.status("one").Resources {
		t.Error("resources before anything is connected")
	}
	b.gather()
	if s := b.status("one"); s.State != mcp.Connected || s.Tools != 0 || !s.Resources {
		t.Errorf("%+v", s)
	}
	list, err := b.pool.Resources(t.Context(), "one")
	if err != nil || len(list) != 1 || list[0].URI != "x://1" {
		t.Errorf("%v %v", list, err)
	}
	parts, err := b.pool.ReadResource(t.Context(), "one", "x://1")
	if err != nil || len(parts) != 2 || parts[0].Text != "hello" || string(parts[1].Blob) != "hi" {
		t.Errorf("%v %v", parts, err)
	}
	if prompts, err := b.pool.Prompts(t.Context(), "one"); err != nil || prompts != nil {
		t.Errorf("%v %v", prompts, err)
	}
	if _, err := b.pool.Resources(t.Context(), "x"); !errors.Is(err, mcp.ErrNoServer) {
		t.Errorf("%v", err)
	}
}

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := fake("one", "")
	s.Dir, s.Env["WHO"] = "sub", "me"
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{Dir: dir})
	b.gather()
	if got := b.must("one_cwd", nil).Output; got != filepath.Join(dir, "sub") {
		t.Errorf("it runs in %s", got)
	}
	if got := b.must("one_env", map[string]any{"text": "WHO"}).Output; got != "me" {
		t.Errorf("WHO is %q", got)
	}
}

// A server that becomes another one while it is started again does not get the
// call that was meant for the old one unasked.
func TestTurncoat(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	s := fake("one", "")
	s.Env["HELVE_TEST_DRIFT"] = mark
	b := newBench(t, mcp.Options{Servers: []mcp.Server{s}}, mcp.Host{})
	b.gather()
	b.must("one_echo", nil)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(b.status("one").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_, err := b.call(t.Context(), "one_echo", nil)
	b.mu.Lock()
	last := b.asked[len(b.asked)-1]
	b.mu.Unlock()
	var failed *tool.Error
	if refused := errors.As(err, &failed) && failed.Code == "tool-changed"; !refused && !strings.Contains(last.Changed, "passwords") {
		t.Errorf("%v, asked %+v", err, last)
	}
}
