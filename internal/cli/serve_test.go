package cli_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/auth/authtest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A served folder is helve serve as a process.
type served struct {
	t                    *testing.T
	URL, Link, TokenFile string
	MCP                  struct{ URL, TokenFile string }
	Directory            string
	Pid                  int
	token                string
	env                  []string
}

// serve starts helve serve in a folder and home of its own.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	cmd, _ := serving(t)
	cmd.Args = append(cmd.Args[:1], append([]string{"serve", "--json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !asExit(err, &exit) {
			t.Error(err)
		}
		if exit == nil || exit.ExitCode() != 130 {
			t.Errorf("it ended with %v", exit)
		}
	})
	s := &served{t: t, env: cmd.Env}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("it said nothing: %v", err)
	}
	if err := json.Unmarshal([]byte(line), s); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	token, err := os.ReadFile(s.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return s
}

func asExit(err error, to **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*to = e
	return ok
}

// send makes a request and returns its status and body.
func (s *served) send(method, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// helve runs the command beside the server, in a folder.
func (s *served) helve(dir string, args ...string) (string, error) {
	cmd := exec.Command(command(s.t), args...)
	cmd.Dir, cmd.Env = dir, s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := serve(t, "--addr", "127.0.0.1:0")
	status, text := s.send("POST", "/v1/calls", `{"tool":"read","input":{"filePath":"a.txt"}}`)
	if status != 200 || !strings.Contains(text, "hello") {
		t.Errorf("%d %s", status, text)
	}
	for path, want := range map[string]string{
		"/v1":        `"directory"`,
		"/v1/config": `"sources"`,
		"/v1/models": `"models":\[`,
		"/v1/tools":  `"filePath"`,
		"/v1/rules":  `"rules"`,
	} {
		if status, text := s.send("GET", path, ""); status != 200 || !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
	}
	status, text = s.send("POST", "/v1/explain", `{"permission":"bash","pattern":"git status && rm -rf /"}`)
	if status != 200 || !strings.Contains(text, `"units"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.send("GET", "/v1/files/content?path=../../etc/passwd", ""); status != 403 {
		t.Errorf("%d %s", status, text)
	}
	if status, text := s.send("GET", "/v1/files/content?path=.env", ""); status != 403 || strings.Contains(text, "SECRET=1") {
		t.Errorf("%d %s", status, text)
	}
}

// The link opens once; another comes from the command, which finds the server
// from any folder below.
func TestServeLinks(t *testing.T) {
	t.Parallel()
	s := serve(t, "--addr", "127.0.0.1:0")
	exchange := func(link string) (int, string) {
		_, code, found := strings.Cut(link, "/console/#open=")
		if !found {
			t.Fatalf("no link: %q", link)
		}
		token := s.token
		s.token = "" // none is needed
		defer func() { s.token = token }()
		resp, err := http.Post(s.URL+"/v1/open", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if status, text := exchange(s.Link); status != 200 || !strings.Contains(text, s.token) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := exchange(s.Link); status != 403 || !strings.Contains(text, "bad-code") {
		t.Errorf("the second time: %d %s", status, text)
	}
	below := filepath.Join(s.Directory, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	link, err := s.helve(below, "open", "--print")
	if err != nil {
		t.Fatalf("%v: %s", err, link)
	}
	if status, _ := exchange(strings.TrimSpace(link)); status != 200 {
		t.Errorf("the link of helve open: %d", status)
	}
	if out, err := s.helve(t.TempDir(), "open", "--print"); err == nil || !strings.Contains(out, "no server runs for this folder") {
		t.Errorf("elsewhere: %v %s", err, out)
	}
}

// What a crash leaves behind is no server: its port may be anybody's by now.
func TestServeLeftovers(t *testing.T) {
	t.Parallel()
	s := serve(t, "--addr", "127.0.0.1:0")
	servers := filepath.Join(filepath.Dir(s.TokenFile), "servers")
	left := filepath.Join(servers, "99999999.json")
	dir := t.TempDir()
	gone, err := json.Marshal(map[string]any{"url": "http://127.0.0.1:9", "pid": 99999999, "directory": dir, "tokenFile": s.TokenFile})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, gone, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := s.helve(dir, "open", "--print"); err == nil || strings.Contains(out, "127.0.0.1:9") {
		t.Errorf("%v %s", err, out)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it was not removed")
	}
	if files, _ := filepath.Glob(filepath.Join(servers, "*.json")); len(files) != 1 {
		t.Errorf("%q", files)
	}
}

// An agent over MCP works where the console looks, and its questions wait there.
func TestServeMCP(t *testing.T) {
	t.Parallel()
	s := serve(t, "--addr", "127.0.0.1:0")
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	connect := func(token string) (*mcp.ClientSession, error) {
		return client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: s.MCP.URL, HTTPClient: &http.Client{Transport: authorized{"Bearer " + token}}, MaxRetries: -1,
		}, nil)
	}
	secret, err := os.ReadFile(s.MCP.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	agent := strings.TrimSpace(string(secret))
	if _, err := connect(s.token); err == nil || agent == s.token {
		t.Error("a person's token is an agent's")
	}
	session, err := connect(agent)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	read := make(chan string, 1)
	go func() { read <- said(callTool(t, session, "read", map[string]any{"filePath": ".env"})) }()
	var waiting struct{ Permissions []struct{ ID string } }
	for end := time.Now().Add(20 * time.Second); len(waiting.Permissions) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing waits")
		}
		_, text := s.send("GET", "/v1/requests", "")
		if err := json.Unmarshal([]byte(text), &waiting); err != nil {
			t.Fatal(err)
		}
	}
	person := s.token
	s.token = agent
	if status, _ := s.send("POST", "/v1/permissions/"+waiting.Permissions[0].ID, `{"reply":"once"}`); status != 401 {
		t.Errorf("an agent answers for itself: %d", status)
	}
	s.token = person
	if status, text := s.send("POST", "/v1/permissions/"+waiting.Permissions[0].ID, `{"reply":"once"}`); status != 204 {
		t.Fatalf("%d %s", status, text)
	}
	if got := <-read; !strings.Contains(got, "SECRET=1") {
		t.Errorf("got %q", got)
	}
	if _, text := s.send("GET", "/v1/calls", ""); !strings.Contains(text, `"tool":"read"`) {
		t.Errorf("the call is not listed: %s", text)
	}
}

func TestServeRefusesToStart(t *testing.T) {
	t.Parallel()
	taken := serve(t, "--addr", "127.0.0.1:0")
	for _, c := range []struct{ args, want string }{
		{"--addr 0.0.0.0:0", "--beyond-loopback"},
		{"--addr " + strings.TrimPrefix(taken.URL, "http://"), "give another --addr"},
		{"--addr example.com:1", "example.com"},
		{"--tls-cert none.pem", "tls:"},
		{"--tls-cert none.pem --tls-key none.pem", "none.pem"},
		{"--patience 0s", "--patience"},
		{"--token-file a.txt", "token file"},
		{"surplus", "surplus"},
	} {
		out, err := taken.helve(taken.Directory, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v %s", c.args, err, out)
		}
	}
}

// certified writes a certificate for a name and an address, and its key.
func certified(t *testing.T) (cert, key string) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"box.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &pair.PublicKey, pair)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// With a certificate others may come, and the command finds the server by it
// whatever it is called.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	cert, key := certified(t)
	s := serve(t, "--addr", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
	at, err := url.Parse(s.URL)
	if err != nil || at.Scheme != "https" || at.Hostname() != "box.example" {
		t.Fatalf("%s %v", s.URL, err)
	}
	link, err := s.helve(s.Directory, "open", "--print")
	if err != nil || !strings.HasPrefix(link, s.URL+"/console/#open=") {
		t.Errorf("%v %s", err, link)
	}
	authtest.Hostile(t, "https://127.0.0.1:"+at.Port(), s.token, []string{"/v1/sessions", "POST /v1/calls", "public GET /console/"})
}

// The real command behind the real guard, on every kind of route.
func TestServeHostile(t *testing.T) {
	s := serve(t, "--addr", "127.0.0.1:0")
	authtest.Hostile(t, strings.TrimPrefix(s.URL, "http://"), s.token, []string{
		"/v1", "/v1/events", "/v1/sessions", "/v1/requests", "/v1/openapi.json", "/v1/files/content?path=a.txt",
		"POST /v1/calls", "POST /v1/prompts", "POST /v1/undo", "POST /v1/permissions/per_none", "DELETE /v1/approvals/none",
		"public GET /", "public GET /console/", "public GET /console/app.js", "public POST /v1/open",
	})
	agent, err := os.ReadFile(s.MCP.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"no token":       {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"rebound":        {func(r *http.Request) { r.Host = "evil.example" }, 421},
		"another origin": {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"cross-site":     {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"a form":         {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.MCP.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(agent)))
		req.Header.Set("Content-Type", "application/json")
		c.change(req)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("MCP, %s: %d", name, resp.StatusCode)
		}
	}
}
