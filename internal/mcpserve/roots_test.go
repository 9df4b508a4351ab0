package mcpserve

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func uri(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func TestRootFolder(t *testing.T) {
	t.Parallel()
	dir := evalLinks(t.TempDir())
	spaced := filepath.Join(dir, "with space", "ünï#?%")
	link, plain := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.MkdirAll(spaced, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(spaced, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ uri, want, problem string }{
		{uri(dir), dir, ""},
		{uri(dir) + "/", dir, ""},
		{uri(spaced), spaced, ""},
		{uri(link), spaced, ""},
		{"FILE://LOCALHOST" + dir, dir, ""},
		{"file:" + dir, dir, ""},
		{uri(filepath.Join(dir, "with space")) + "/../with%20space/./", filepath.Join(dir, "with space"), ""},
		{"file://elsewhere" + dir, "", "another machine"},
		{"https://localhost" + dir, "", "no file: URI"},
		{dir, "", "no file: URI"},
		{"", "", "no file: URI"},
		{"file:relative", "", "no absolute path"},
		{"file://" + dir + "/%00", "", "no absolute path"},
		{"file://%zz", "", "no URI"},
		{uri(plain), "", "no such folder"},
		{uri(filepath.Join(dir, "none")), "", "no such folder"},
	}
	for _, tt := range tests {
		got, err := rootFolder(tt.uri)
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %q, %v; want %q %s", tt.uri, got, err, tt.want, tt.problem)
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dir      string
		ceilings []string
		ok       bool
	}{
		{"/a", nil, true},
		{"/a", []string{"/a"}, true},
		{"/a/b", []string{"/x", "/a"}, true},
		{"/ab", []string{"/a"}, false},
		{"/", []string{"/a"}, false},
		{"/a", []string{"/a/b"}, false},
		{"/a/..b", []string{"/a"}, true},
	}
	for _, tt := range tests {
		if err := checkCeilings(tt.dir, tt.ceilings); (err == nil) != tt.ok {
			t.Errorf("%s in %v: %v", tt.dir, tt.ceilings, err)
		}
	}
}

// The first root of a client is where it works, the others are further roots;
// those outside of what is allowed are left out.
func TestRoots(t *testing.T) {
	t.Parallel()
	outside := evalLinks(t.TempDir())
	var base string
	h := build(t, nil, func(o *Options) {
		base = o.Dir
		o.Roots = []string{base}
	}, nil)
	h.write(t, "one two/a.txt", "in the first")
	h.write(t, "three/b.txt", "in the second")
	first, second := filepath.Join(base, "one two"), filepath.Join(base, "three")
	cs := h.connect(t, nil, &mcp.Root{URI: uri(outside)}, &mcp.Root{URI: uri(first)}, &mcp.Root{URI: uri(second)}, &mcp.Root{URI: uri(first) + "/"})
	contains(t, call(t, cs, "read", map[string]any{"filePath": "a.txt"}), "in the first")
	want := []Workspace{{Dir: first, Also: []string{second}}}
	got := h.workspaces()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	contains(t, h.log.String(), "does not lie in")
}

// A client whose roots are all outside works where clients without roots do.
func TestNoRootFits(t *testing.T) {
	t.Parallel()
	h := build(t, nil, func(o *Options) { o.Roots = []string{o.Dir} }, nil)
	h.write(t, "a.txt", "at home")
	cs := h.connect(t, nil, &mcp.Root{URI: uri(t.TempDir())})
	contains(t, call(t, cs, "read", map[string]any{"filePath": "a.txt"}), "at home")
}

// Clients of the same folders share a runtime; it closes when the last is gone.
func TestSharedRuntime(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	sub := filepath.Dir(h.write(t, "sub/x", ""))
	for _, roots := range [][]*mcp.Root{nil, nil, {{URI: uri(sub)}}, {{URI: uri(h.dir)}}} {
		cs := h.connect(t, nil, roots...)
		if _, err := cs.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]Workspace{{Dir: h.dir}, {Dir: sub}}, h.workspaces(), cmp.Transformer("set", func(all []Workspace) map[string]int {
		n := map[string]int{}
		for _, w := range all {
			n[w.Dir+strings.Join(w.Also, ",")]++
		}
		return n
	})); diff != "" {
		t.Error(diff)
	}
}

// A client that says that it has roots and does not name them is served all
// the same.
func TestSilentRoots(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "a.txt", "at home")
	w := h.raw(t)
	w.greet(`{"roots":{}}`)
	contains(t, w.read(), "roots/list")
	w.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read","arguments":{"filePath":"a.txt"}}}`)
	both := w.read() + w.read() // the library gives the question up beside the call
	contains(t, both, "notifications/cancelled")
	contains(t, both, "at home")
}
