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
