package mcpclient

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve/mcp"
)

// HELVE_MCP_SERVERS names a node_modules folder with the reference servers.
func TestReferenceServers(t *testing.T) {
	modules := os.Getenv("HELVE_MCP_SERVERS")
	if modules == "" {
		t.Skip("HELVE_MCP_SERVERS is not set")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string {
		return filepath.Join(modules, "@modelcontextprotocol", name, "dist", "index.js")
	}
	b := newBench(t, mcp.Options{Servers: []mcp.Server{
		{Name: "fs", Command: []string{"node", at("server-filesystem"), dir}},
		{Name: "all", Command: []string{"node", at("server-everything"), "stdio"}},
	}}, mcp.Host{Dir: dir})
	start := time.Now()
	b.gather()
	t.Log("gathered in", time.Since(start))
	for _, s := range b.pool.Status() {
		t.Logf("%s %s %q tools=%d off=%v %s", s.Name, s.State, s.Error, s.Tools, s.Off, s.Program)
		if s.State != mcp.Connected {
			t.Errorf("%+v\n%s", s, strings.Join(b.pool.Log(s.Name), "\n"))
		}
	}
	t.Log(b.names())
	if got := b.must("fs_read_text_file", map[string]any{"path": filepath.Join(dir, "a.txt")}).Output; !strings.Contains(got, "hello") {
		t.Errorf("%q", got)
	}
	if err := b.fails("fs_read_text_file", map[string]any{"path": "/etc/passwd"}); !strings.Contains(err.Error(), "Access denied") {
		t.Error(err)
	}
	for name, args := range map[string]map[string]any{
		"echo": {"message": "hi"}, "get-sum": {"a": 2, "b": 3}, "get-tiny-image": {}, "get-env": {}, "get-annotated-message": {"messageType": "success", "includeImage": true},
		"get-structured-content": {"location": "Chicago"}, "get-resource-links": {"count": 3}, "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
		"trigger-long-running-operation": {"duration": 1, "steps": 4}, "get-roots-list": {},
	} {
		res, err := b.call(t.Context(), "all_"+name, args)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		out := res.Output
		t.Logf("%s: %.120q, %d attachments, data %v", name, out, len(res.Attachments), res.Data != nil)
	}
	t.Log(len(b.progress), "progress reports")
	if list, err := b.pool.Resources(t.Context(), "all"); err != nil || len(list) == 0 {
		t.Errorf("%d resources, %v", len(list), err)
	} else if c, err := b.pool.ReadResource(t.Context(), "all", list[0].URI); err != nil || len(c) == 0 {
		t.Errorf("%v %v", c, err)
	}
	if list, err := b.pool.Templates(t.Context(), "all"); err != nil || len(list) == 0 {
		t.Errorf("%v %v", list, err)
	}
	if list, err := b.pool.Prompts(t.Context(), "all"); err != nil || len(list) == 0 {
		t.Errorf("%v %v", list, err)
	}
}
