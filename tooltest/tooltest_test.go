package tooltest_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/skill"
	"github.com/helve-dev/helve/tool"
	"github.com/helve-dev/helve/tooltest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	tooltest.Main(m)
}

// A resolver leads every name to an address that looks public.
type resolver struct{}

func (resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

// pages is a network of one server.
func pages(t *testing.T) helve.Web {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>hello</p>")
	}))
	t.Cleanup(server.Close)
	return helve.Web{Resolver: resolver{}, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, server.Listener.Addr().String())
	}}
}

func TestBuiltinToolsConform(t *testing.T) {
	files := map[string]string{"a.txt": "one\ntwo\n"}
	flags := map[string]bool{"batch": true, "lsp": true}
	languages := &lsp.Options{Own: []lsp.Server{{Name: "fake", Command: lsptest.Command(), Extensions: []string{".txt"}}}}
	finder := helve.Finder{Provider: "command", Command: []string{"sh", "-c", "cat > /dev/null; echo found"}}
	subjects := []tooltest.Subject{
		{Name: "question", Input: `{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"A","description":"first"}]}]}`},
		{Name: "read", Input: `{"filePath":"a.txt","offset":1,"limit":5}`, Files: files},
		{Name: "list", Input: `{"path":"."}`, Files: files},
		{Name: "grep", Input: `{"pattern":"one","path":".","include":"*.txt"}`, Files: files},
		{Name: "glob", Input: `{"pattern":"*.txt","path":"."}`, Files: files},
		{Name: "edit", Input: `{"filePath":"a.txt","oldString":"one","newString":"1"}`, Files: files, Options: helve.Options{Unread: true}},
		{Name: "multiedit", Input: `{"filePath":"a.txt","edits":[{"oldString":"one","newString":"1"}]}`, Files: files,
			Options: helve.Options{Unread: true}},
		{Name: "write", Input: `{"filePath":"new.txt","content":"x"}`, Files: files},
		{Name: "apply_patch", Input: `{"patchText":"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch"}`, Files: files},
		{Name: "bash", Input: `{"command":"echo x > made.txt"}`, Files: files},
		{Name: "job", Input: `{"action":"list"}`, Harmless: true},
		{Name: "todowrite", Input: `{"todos":[{"content":"x","status":"pending","priority":"low","id":"1"}]}`},
		{Name: "todoread", Input: `{}`},
		{Name: "batch", Input: `{"tool_calls":[{"tool":"read","parameters":{"filePath":"a.txt"}}]}`, Files: files,
			Options: helve.Options{Flags: flags}},
		{Name: "webfetch", Input: `{"url":"http://pages.example/","format":"text","timeout":20,"whole":true}`, Options: helve.Options{Web: pages(t)}},
		{Name: "websearch", Input: `{"query":"x","numResults":3,"livecrawl":"fallback","type":"auto","contextMaxCharacters":100}`,
			Options: helve.Options{Web: helve.Web{Search: finder}}},
		{Name: "codesearch", Input: `{"query":"x","tokensNum":1000}`, Options: helve.Options{Web: helve.Web{Code: finder}}},
		{Name: "skill", Input: `{"name":"demo"}`, Options: helve.Options{Skills: &skill.Options{}},
			Files: map[string]string{".agents/skills/demo/SKILL.md": "---\nname: demo\ndescription: shows\n---\nDo it.\n"}},
		{Name: "lsp", Input: `{"operation":"rename","filePath":"a.txt","line":1,"character":1,"newName":"uno","query":"x","action":"x"}`, Files: files,
			Options: helve.Options{Flags: flags, LSP: languages}},
		{Name: "tool_search", Input: `{"query":"send mail","limit":3}`, Options: helve.Options{Flags: map[string]bool{"compact": true}}},
	}
	var checked []string
	for _, s := range subjects {
		checked = append(checked, s.Name)
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			tooltest.Conform(t, s)
		})
	}
	rt, err := helve.Open(helve.Options{Dir: t.TempDir(), Flags: flags, Web: helve.Web{Search: finder}, Skills: &skill.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, spec := range rt.Tools(tool.Audience{}) {
		if !slices.Contains(checked, spec.Name) {
			t.Errorf("the tool %s is not among those checked", spec.Name)
		}
	}
}

type noteInput struct {
	Text string `json:"text" jsonschema:"what to write down"`
}

// note returns a tool that writes down a text in the workspace, in the way
// that run says.
func note(spec tool.Spec, run func(context.Context, *tool.Call, noteInput) (*tool.Result, error)) tool.Tool {
	spec.Name = "note"
	if spec.Description == "" {
		spec.Description = "Writes a text down."
	}
	return tool.New(spec, run)
}

func ask(ctx context.Context, c *tool.Call) error {
	return c.Ask(ctx, permission.Request{Permission: "note", Patterns: []string{"note.txt"}, Always: []string{"*"}})
}

func write(c *tool.Call, in noteInput) error {
	return os.WriteFile(filepath.Join(c.Dir, "note.txt"), []byte(in.Text), 0o600)
}

func TestGoodToolConforms(t *testing.T) {
	tooltest.Conform(t, tooltest.Subject{Input: `{"text":"x"}`, Tool: note(tool.Spec{},
		func(ctx context.Context, c *tool.Call, in noteInput) (*tool.Result, error) {
			if err := ask(ctx, c); err != nil {
				return nil, err
			}
			return &tool.Result{Title: "note", Output: "Written."}, write(c, in)
		})})
}

// badTools are tools that each break one promise, and what is said of it.
func badTools() map[string]struct {
	said string
	tool tool.Tool
} {
	type bad = struct {
		said string
		tool tool.Tool
	}
	good := &tool.Result{Title: "note", Output: "Written."}
	return map[string]bad{
		"writes-first": {"the call was refused, and a file has changed", note(tool.Spec{},
			func(ctx context.Context, c *tool.Call, in noteInput) (*tool.Result, error) {
				if err := write(c, in); err != nil {
					return nil, err
				}
				return good, ask(ctx, c)
			})},
		"forgets-to-ask": {"asks for nothing", note(tool.Spec{},
			func(context.Context, *tool.Call, noteInput) (*tool.Result, error) { return good, nil })},
		"not-read-only": {"says that it only reads, and a file has changed", note(tool.Spec{ReadOnly: true},
			func(ctx context.Context, c *tool.Call, in noteInput) (*tool.Result, error) {
				if err := ask(ctx, c); err != nil {
					return nil, err
				}
				return good, write(c, in)
			})},
		"hides-the-denial": {"ended as failed and not as denied", note(tool.Spec{},
			func(ctx context.Context, c *tool.Call, _ noteInput) (*tool.Result, error) {
				if err := ask(ctx, c); err != nil {
					return nil, tool.Failf("It did not work: %v", err)
				}
				return good, nil
			})},
		"deaf": {"a tool did not end when the runtime closed", note(tool.Spec{ReadOnly: true},
			func(ctx context.Context, _ *tool.Call, _ noteInput) (*tool.Result, error) {
				select {
				case <-ctx.Done():
					select {} // and never end
				case <-time.After(50 * time.Millisecond): // its work
					return good, nil
				}
			})},
		"unbounded": {"the output has 1000000 bytes", note(tool.Spec{ReadOnly: true},
			func(context.Context, *tool.Call, noteInput) (*tool.Result, error) {
				return &tool.Result{Output: strings.Repeat("x", 1_000_000), Metadata: map[string]any{"truncated": false}}, nil
			})},
		"does-not-encode": {"encod", note(tool.Spec{ReadOnly: true},
			func(context.Context, *tool.Call, noteInput) (*tool.Result, error) {
				return &tool.Result{Metadata: map[string]any{"f": func() {}}}, nil
			})},
		"not-described": {"the field Text is not described", tool.New(tool.Spec{Name: "note", Description: "d", ReadOnly: true},
			func(context.Context, *tool.Call, struct{ Text string }) (*tool.Result, error) { return good, nil })},
		"panics": {"broke while it ran", note(tool.Spec{ReadOnly: true},
			func(context.Context, *tool.Call, noteInput) (*tool.Result, error) { panic("oh") })},
	}
}

// TestBadTools holds each bad tool against the promises, in another process,
// since the test of a bad tool has to fail.
func TestBadTools(t *testing.T) {
	if name := os.Getenv("TOOLTEST_BAD"); name != "" {
		key := "text"
		if name == "not-described" {
			key = "Text"
		}
		tooltest.Conform(t, tooltest.Subject{Tool: badTools()[name].tool, Input: `{"` + key + `":"x"}`})
		return
	}
	for name, bad := range badTools() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := inChild(t, "TOOLTEST_BAD", name)
			if err == nil || !strings.Contains(out, bad.said) {
				t.Errorf("%v; the output does not say %q:\n%s", err, bad.said, out)
			}
		})
	}
}

func inChild(t *testing.T, key, value string) (string, error) {
	t.Helper()
	root, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+root+"$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), key+"="+value)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// needAnswer makes the shout tool ask.
func needAnswer(e *tooltest.Env) error {
	e.Tools = append(e.Tools, shout())
	agents := agent.Specs(agent.SpecOptions{
		Worktree: e.Dir, DataDir: e.Options.DataDir,
		User: permission.Ruleset{{Permission: "shout", Pattern: "*", Action: permission.Ask}},
	})
	e.Options.Agents = agents
	return nil
}

// TestBadScripts runs scripts that have to fail, in another process.
func TestBadScripts(t *testing.T) {
	if dir := os.Getenv("TOOLTEST_SCRIPTS"); dir != "" {
		tooltest.Scripts(t, dir, needAnswer)
		return
	}
	for name, said := range map[string]string{
		"unanswered": "no answer left, and was asked for the permission shout",
		"leftover":   "1 answers are left",
		"succeeds":   "the call succeeded",
		"fails":      "the call failed (unknown_tool, unknown-tool)",
		"asked":      `asked was ["shout hello"]`,
		"metadata":   "the metadata letters is 5",
		"answer":     `"perhaps" is not one of`,
		"negated":    "can not be negated",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script, err := os.ReadFile(filepath.Join("testdata/bad", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+".txtar"), script, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := inChild(t, "TOOLTEST_SCRIPTS", dir)
			if err == nil || !strings.Contains(out, said) {
				t.Errorf("%v; the output does not say %q:\n%s", err, said, out)
			}
		})
	}
}
