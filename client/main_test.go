package client_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/client"
	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tooltest"
)

// TestMain also lets this program keep the commands that its tests run.
func TestMain(m *testing.M) { tooltest.Main(m) }

const token = "a-token-of-at-least-32-characters-for-tests"

// A house is a real server behind its gate, with a runtime in a folder of its
// own.
type house struct {
	dir  string
	rt   *helve.Runtime
	api  *server.Server
	http *httptest.Server
	cuts *cutter
	*client.Client
}

// A cutter is a listener that can cut the connections that it took.
type cutter struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cutter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
	}
	return conn, err
}

// cut closes all connections, as a network that fails would.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

// build opens a house. Rules stand after the defaults.
func build(t testing.TB, rules permission.Ruleset, change ...func(*helve.Options)) *house {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := helve.Options{Dir: dir, Worktree: dir, DataDir: t.TempDir(), Flags: map[string]bool{"question": true, "batch": true},
		Agents: agent.Specs(agent.SpecOptions{Worktree: dir, User: rules})}
	for _, f := range change {
		f(&o)
	}
	h := &house{dir: dir}
	if h.rt, err = helve.Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.rt.Close(); err != nil {
			t.Error(err)
		}
	})
	h.http = httptest.NewUnstartedServer(nil)
	h.cuts = &cutter{Listener: h.http.Listener}
	h.http.Listener = h.cuts
	h.serve(t)
	h.http.Start()
	t.Cleanup(func() {
		if err := h.api.Close(); err != nil {
			t.Error(err)
		}
		h.http.Close()
	})
	h.Client = h.client(t)
	return h
}

// serve makes a server over the runtime; made again, it is one that was
// restarted.
func (h *house) serve(t testing.TB) {
	t.Helper()
	var err error
	if h.api != nil {
		err = h.api.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	h.api, err = server.New(server.Options{Runtime: h.rt, Version: "1.2.3", Dir: h.dir, Worktree: h.dir,
		URL: "http://" + h.cuts.Addr().String(), Token: func() string { return token }})
	if err != nil {
		t.Fatal(err)
	}
	public := http.NewServeMux()
	for _, p := range server.Public() {
		public.Handle(p, http.NotFoundHandler())
	}
	g, err := auth.NewGuard(auth.GuardOptions{Token: token, Hosts: []string{h.cuts.Addr().String()}, Public: func(r *http.Request) bool {
		_, pattern := public.Handler(r)
		return pattern != ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.http.Config.Handler = g.Wrap(h.api.Handler())
}

func (h *house) client(t testing.TB, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New("http://"+h.cuts.Addr().String(), token, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// write makes a file in the house.
func (h *house) write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// soon is a context for what does not take long.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// holds checks that a text has another in it.
func holds(t testing.TB, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%q is not in %q", want, text)
	}
}

// rules reads permission, pattern and action, one after the other.
func rules(t testing.TB, words ...string) (set permission.Ruleset) {
	t.Helper()
	for i := 0; i+2 < len(words); i += 3 {
		set = append(set, permission.Rule{Permission: words[i], Pattern: words[i+1], Action: permission.Action(words[i+2])})
	}
	return set
}
