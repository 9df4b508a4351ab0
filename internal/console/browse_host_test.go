package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helve-dev/helve/internal/modeltest"
)

// A host is `helve serve` as a process of its own, with a home, a folder to
// work in and a model that says what it is told to.
type host struct {
	t         *testing.T
	home, dir string
	model     *modeltest.Server
	client    *http.Client

	addr  string // "127.0.0.1:0" until it is known
	link  string // the one-time link that was printed at the last start
	token string
	cmd   *exec.Cmd
	said  *said
	ended chan error
}

// said is what a process printed.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// newHost prepares a host with rules, JSON as in the config, and starts
// nothing.
func newHost(t *testing.T, rules string) *host {
	t.Helper()
	browse(t)
	h := &host{t: t, home: t.TempDir(), dir: filepath.Join(t.TempDir(), "greeter"), addr: "127.0.0.1:0", model: modeltest.Start(t)}
	h.write(".git/HEAD", "ref: refs/heads/main\n") // as much of a repository as it takes to be one
	h.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}}
	t.Cleanup(h.client.CloseIdleConnections)
	h.config(fmt.Sprintf(`"permission": %s`, rules))
	return h
}

// config writes the config of the person: the model, and more.
func (h *host) config(more string) {
	h.t.Helper()
	h.write(filepath.Join(h.home, ".config", "helve", "helve.json"), fmt.Sprintf(`{
		"model": "local/scripted",
		"provider": {"local": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": %q, "apiKey": "none"}, "models": {"scripted": {
			"name": "Scripted", "limit": {"context": 100000, "output": 4000}, "cost": {"input": 1, "output": 2}}}}},
		%s
	}`, h.model.URL(), more))
}

// write writes a file, in the folder to work in where the path is relative.
func (h *host) write(path, body string) {
	h.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// read reads a file of the folder to work in; it is empty where there is none.
func (h *host) read(path string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, path))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(data)
}

func (h *host) env() []string {
	return []string{
		"HOME=" + h.home, "HELVE_DATA_DIR=" + filepath.Join(h.home, "data"), "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0",
	}
}

// helve runs helve to its end in the folder to work in.
func (h *host) helve(args ...string) string {
	h.t.Helper()
	bin, err := shared.program()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Env = h.dir, h.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("helve %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts the server and waits for the link that it prints. A server that
// was started before comes back at the same address.
func (h *host) start() *host {
	h.t.Helper()
	bin, err := shared.program()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(bin, "serve", "--addr", h.addr)
	h.said = &said{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.dir, h.env(), h.said, h.said
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.cmd, h.ended = cmd, make(chan error, 1)
	go func() { h.ended <- cmd.Wait() }()
	h.t.Cleanup(h.stop)
	printed := regexp.MustCompile(`https?://\S+/console/#open=\S+`)
	if !poll(h.t.Context(), func() bool {
		h.link = printed.FindString(h.said.String())
		return h.link != ""
	}) {
		h.t.Fatalf("helve serve printed no link:\n%s", h.said)
	}
	u, err := url.Parse(h.link)
	if err != nil {
		h.t.Fatal(err)
	}
	h.addr = u.Host
	return h
}

// stop ends the server as a person does, by a signal, and looks at how it went.
func (h *host) stop() {
	h.end(syscall.SIGTERM)
	if strings.Contains(h.said.String(), "DATA RACE") || strings.Contains(h.said.String(), "panic:") {
		h.t.Errorf("the server went wrong:\n%s", h.said)
	}
}

// kill ends the server as a loss of power does.
func (h *host) kill() { h.end(syscall.SIGKILL) }

func (h *host) end(signal syscall.Signal) {
	if h.cmd == nil {
		return
	}
	_ = h.cmd.Process.Signal(signal)
	select {
	case <-h.ended:
	case <-time.After(patience):
		h.t.Errorf("the server does not end:\n%s", h.said)
		_ = h.cmd.Process.Kill()
		<-h.ended
	}
	h.cmd = nil
}

func (h *host) origin() string { return "http://" + h.addr }

// newLink is a one-time link. The one that was printed is spent on the token
// by which the tests talk to the server.
func (h *host) newLink() string {
	h.t.Helper()
	var made struct{ URL string }
	h.call("POST", "/v1/links", map[string]any{}, &made)
	return made.URL
}

// key is the token of the server.
func (h *host) key() string {
	h.t.Helper()
	if h.token == "" {
		_, code, _ := strings.Cut(h.link, "#open=")
		var opened struct{ Token string }
		if status := h.send("POST", "/v1/open", map[string]any{"code": code}, &opened); status != http.StatusOK || opened.Token == "" {
			h.t.Fatalf("the link that was printed is answered with %d", status)
		}
		h.token = opened.Token
	}
	return h.token
}

// call asks the server for something that it has to give.
func (h *host) call(method, path string, body, answer any) {
	h.t.Helper()
	h.key()
	if status := h.send(method, path, body, answer); status >= 300 {
		h.t.Fatalf("%s %s is answered with %d", method, path, status)
	}
}

// send makes a request and returns the status.
func (h *host) send(method, path string, body, answer any) int {
	h.t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			h.t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.origin()+path, in)
	if err != nil {
		h.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if h.token != "" {
		r.Header.Set("Authorization", "Bearer "+h.token)
	}
	res, err := h.client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		h.t.Logf("%s %s: %d %.600s", method, path, res.StatusCode, raw)
	}
	if answer != nil && len(raw) > 0 {
		if err := json.Unmarshal(raw, answer); err != nil {
			h.t.Fatalf("%s %s: %v: %.300s", method, path, err, raw)
		}
	}
	return res.StatusCode
}

// begin makes a call that goes on when this returns, and tells where it is. Its
// record may be a moment behind the answer.
func (h *host) begin(tool string, input any) (session, call string) {
	h.t.Helper()
	var made struct{ ID, Session string }
	h.call("POST", "/v1/calls", map[string]any{"tool": tool, "input": input, "wait": false}, &made)
	if !poll(h.t.Context(), func() bool {
		return h.send("GET", "/v1/sessions/"+made.Session+"/calls/"+made.ID, nil, nil) == http.StatusOK
	}) {
		h.t.Fatalf("the call %s is never recorded", made.ID)
	}
	return made.Session, made.ID
}

// prompt starts an agent on a text and tells its session.
func (h *host) prompt(text string) (session string) {
	h.t.Helper()
	var made struct{ Session string }
	h.call("POST", "/v1/prompts", map[string]any{"text": text}, &made)
	return made.Session
}

// calls is a reply of the model that is one call.
func calls(name string, args map[string]any) modeltest.Reply {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return modeltest.Reply{Calls: []modeltest.Call{{Name: name, Args: string(raw)}}, Usage: modeltest.Usage{Input: 100, Output: 10}}
}

// says is a reply of the model that is only words.
func says(text string) modeltest.Reply {
	return modeltest.Reply{Text: text, Usage: modeltest.Usage{Input: 100, Output: 10}}
}

// run makes a call and waits for its end; without a session it is made in a
// new one.
func (h *host) run(session, tool string, input any) (in string) {
	h.t.Helper()
	body := map[string]any{"tool": tool, "input": input}
	if session != "" {
		body["session"] = session
	}
	var made struct{ Session string }
	h.call("POST", "/v1/calls", body, &made)
	return made.Session
}
