package cli_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serving is helve mcp as a process, with a home of its own.
func serving(t *testing.T, args ...string) (cmd *exec.Cmd, home string) {
	t.Helper()
	home = t.TempDir()
	dir := t.TempDir()
	for name, body := range map[string]string{"a.txt": "hello\n", ".env": "SECRET=1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd = exec.Command(command(t), append([]string{"mcp"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "HELVE_DATA_DIR="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+home, "GORACE=atexit_sleep_ms=0")
	return cmd, home
}

func said(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func callTool(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) *mcp.CallToolResult {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

// A slip in what is said about the sandbox lets an agent run nothing either.
func TestServeWithBrokenWall(t *testing.T) {
	cmd, home := serving(t)
	if err := os.MkdirAll(filepath.Join(home, "helve"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "helve", "helve.json"), []byte(`{"wal": {"level": "write"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res := callTool(t, session, "bash", map[string]any{"command": "touch ran", "description": "x"})
	if !res.IsError || !strings.Contains(said(res), `did you mean "wall"`) {
		t.Errorf("bash gave %q", said(res))
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// An agent starts the command, calls tools, and is asked what a person has to
// decide.
func TestServeOverStdio(t *testing.T) {
	cmd, _ := serving(t)
	var asked []string
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, req.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "once"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := said(callTool(t, session, "read", map[string]any{"filePath": "a.txt"})); !strings.Contains(got, "hello") {
		t.Errorf("read gave %q", got)
	}
	res := callTool(t, session, "read", map[string]any{"filePath": ".env"})
	if res.IsError || !strings.Contains(said(res), "SECRET=1") || len(asked) != 1 || !strings.Contains(asked[0], ".env") {
		t.Errorf("after %q: %q", asked, said(res))
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// Over HTTP the token in the file lets in, and nothing else does.
func TestServeOverHTTP(t *testing.T) {
	cmd, home := serving(t, "--http", "127.0.0.1:0")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	url := ""
	lines := bufio.NewScanner(out)
	for found := regexp.MustCompile(`http://\S+/mcp`); url == "" && lines.Scan(); {
		url = found.FindString(lines.Text())
	}
	lines.Scan() // where the token is
	token, err := os.ReadFile(filepath.Join(home, "data", "mcp-token"))
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	connect := func(header string) (*mcp.ClientSession, error) {
		web := &http.Client{Transport: authorized{header}}
		return client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web, MaxRetries: -1}, nil)
	}
	if _, err := connect("Bearer wrong"); err == nil {
		t.Error("a wrong token let in")
	}
	session, err := connect("Bearer " + strings.TrimSpace(string(token)))
	if err != nil {
		t.Fatal(err)
	}
	if got := said(callTool(t, session, "read", map[string]any{"filePath": "a.txt"})); !strings.Contains(got, "hello") {
		t.Errorf("read gave %q", got)
	}
	if res := callTool(t, session, "read", map[string]any{"filePath": ".env"}); !res.IsError || !strings.Contains(said(res), `"allow"`) {
		t.Errorf("nobody can be asked, and the answer was %q", said(res))
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to the end, so that Wait may close the pipe
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v", err)
	}
	_ = session.Close() // nobody is there
}

// authorized sends a header with every request.
type authorized struct{ header string }

func (a authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", a.header)
	return http.DefaultTransport.RoundTrip(req)
}

// The folders that a client names do not take it out of the rules of the one
// that helve was started in, nor past what the person denies.
func TestRootsKeepRules(t *testing.T) {
	base := t.TempDir()
	for name, body := range map[string]string{
		"p/helve.json":      `{"permission": {"bash": "deny", "read": {"secrets/*": "deny", "*.pem": "deny"}}}`,
		"p/secrets/s.txt":   "s\n",
		"p/sub/.git/HEAD":   "ref: refs/heads/main\n",
		"p/sub/k.pem":       "key\n",
		"p/sub/a.txt":       "inner\n",
		"ext/private/p.txt": "private\n",
		"ext/open.txt":      "open\n",
		"ext/helve.json":    `{"permission": {"read": {"*.mine": "deny"}}}`,
		"ext/x.mine":        "mine\n",
		"home/helve/helve.json": `{"permission": {"external_directory": {"*": "ask", "` + filepath.Join(base, "ext", "private") + `/*": "deny", "` +
			filepath.Join(base, "never") + `*": "deny"}}}`,
		"never/n.txt": "never\n",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	connect := func(roots ...string) *mcp.ClientSession {
		cmd := exec.Command(command(t), "mcp")
		cmd.Dir = filepath.Join(base, "p")
		home := filepath.Join(base, "home")
		cmd.Env = append(os.Environ(), "HOME="+home, "HELVE_DATA_DIR="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+home, "GORACE=atexit_sleep_ms=0")
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		for _, root := range roots {
			client.AddRoots(&mcp.Root{URI: "file://" + filepath.Join(base, root)})
		}
		session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}
	check := func(s *mcp.ClientSession, file string, open bool) {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"filePath": filepath.Join(base, file)}})
		if err != nil {
			t.Fatal(err)
		}
		if res.IsError == open {
			t.Errorf("read %s: %q, want it open: %v", file, said(res), open)
		}
	}
	inner := connect("p/sub")
	check(inner, "p/sub/a.txt", true)
	check(inner, "p/sub/k.pem", false)
	check(inner, "p/secrets/s.txt", false)
	if res := callTool(t, inner, "bash", map[string]any{"command": "echo hi"}); !res.IsError {
		t.Errorf("bash ran: %q", said(res))
	}
	two := connect("p", "ext")
	check(two, "ext/open.txt", true)
	check(two, "ext/private/p.txt", false)
	check(two, "ext/x.mine", false)
	never, err := connect("never").CallTool(t.Context(), &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"filePath": filepath.Join(base, "never", "n.txt")}})
	if err == nil && !never.IsError {
		t.Errorf("a folder that a rule denies was opened: %q", said(never))
	}
}
