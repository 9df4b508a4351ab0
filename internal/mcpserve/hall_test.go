package mcpserve

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// inUse are the names of the folders of the open runtimes, and how many
// sessions each has.
func inUse(hs *runtimePool) map[string]int {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	out := map[string]int{}
	for _, h := range hs.all {
		out[h.key] = h.refs
	}
	return out
}

// However often a client moves, only so many runtimes are open: the one that
// was left first goes first, and none that is in use does.
func TestHallsAreBounded(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.halls.most = 3
	folder := func(name string) Workspace {
		w := Workspace{Dir: filepath.Join(h.dir, name)}
		if err := os.MkdirAll(w.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return w
	}
	open := func(name string) bool {
		key, err := folder(name).key()
		if err != nil {
			t.Fatal(err)
		}
		_, ok := inUse(h.halls)[key]
		return ok
	}
	enter := func(name string) *sharedRuntime {
		t.Helper()
		at, err := h.halls.acquire(t.Context(), folder(name))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	used, first, second := enter("used"), enter("first"), enter("second")
	h.halls.release(second)
	h.halls.release(first)
	h.halls.release(enter("third"))
	if open("second") || !open("used") || !open("first") || !open("third") {
		t.Errorf("after the first move: %v", inUse(h.halls))
	}
	glob := tool.Call{Tool: "glob", Input: []byte(`{"pattern":"*"}`)}
	if _, err := first.rt.Call(t.Context(), glob); err != nil {
		t.Error(err)
	}
	if _, err := second.rt.Call(t.Context(), glob); !errors.Is(err, permission.ErrClosed) {
		t.Errorf("a runtime that was taken out is still open: %v", err)
	}
	for range 20 {
		for _, name := range []string{"a", "b", "c", "d"} {
			h.halls.release(enter(name))
			if n := len(inUse(h.halls)); n > 3 {
				t.Fatalf("%d runtimes are open", n)
			}
		}
	}
	if !open("used") {
		t.Error("a runtime that is in use was closed")
	}
	more := []*sharedRuntime{enter("a"), enter("b")}
	if _, err := h.halls.acquire(t.Context(), folder("c")); !errors.Is(err, errCrowded) {
		t.Errorf("one too many: %v", err)
	}
	if same := enter("a"); same != more[0] {
		t.Error("an open workspace has two runtimes")
	}
	h.halls.release(more[0])
	for _, at := range append(more, used) {
		h.halls.release(at)
	}
}

// A session that cannot move stays where it is, and is told why; one that is
// nowhere yet gets an error.
func TestCrowdedSessionStays(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.halls.most = 1
	h.write(t, "a.txt", "at home")
	cs := h.connect(t, nil)
	contains(t, call(t, cs, "read", map[string]any{"filePath": "a.txt"}), "at home")
	se := everySession(h.Server)[0]
	home := se.here()
	elsewhere := filepath.Dir(h.write(t, "sub/a.txt", "elsewhere"))
	at, err := se.moveTo(t.Context(), Workspace{Dir: elsewhere})
	if err != nil || at != home {
		t.Fatalf("the session is in %v (%v)", at, err)
	}
	h.halls.release(at)
	contains(t, h.log.String(), "stays in its old workspace", elsewhere, "too many workspaces")
	contains(t, call(t, cs, "read", map[string]any{"filePath": "a.txt"}), "at home")
	other := newSession(h.Server, se.ss, se.ss.InitializeParams(), se.version)
	defer other.end()
	if _, err := other.moveTo(t.Context(), Workspace{Dir: elsewhere}); !errors.Is(err, errCrowded) {
		t.Errorf("a new session: %v", err)
	}
}

// The order in which a client names its further roots makes no difference.
func TestWorkspaceKey(t *testing.T) {
	t.Parallel()
	key := func(also ...string) string {
		k, err := Workspace{Dir: "/a", Also: also}.key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	also := []string{"/c", "/b"}
	if key(also...) != key("/b", "/c") || strings.Join(also, " ") != "/c /b" {
		t.Error("the order counts")
	}
	if key() != key([]string{}...) || key() == key("/b") {
		t.Error("the keys are not those of the folders")
	}
}
