package modeltest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) {
	Child()
	leaktest.Main(m)
}

// post sends a request as a client of one protocol does, and returns the
// status and all that was answered.
func post(t *testing.T, url, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.HasSuffix(url, "/messages") {
		req.Header.Set("X-Api-Key", "key")
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	return res.StatusCode, string(data), err
}

const tools = `[{"name":"read","input_schema":{"type":"object"}}]`

// Conversations that the real servers do not take are not taken.
func TestStrict(t *testing.T) {
	anthropicOf := func(messages string) string {
		return `{"model":"m","max_tokens":9,"stream":true,"messages":` + messages + `}`
	}
	openaiOf := func(messages string) string { return `{"model":"m","stream":true,"messages":` + messages + `}` }
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}`
	result := `{"type":"tool_result","tool_use_id":"a","content":"x"}`
	openCall := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	for _, c := range []struct{ name, path, body, want string }{
		{"good", "/messages", anthropicOf(`[{"role":"user","content":"hi"},` + call + `,{"role":"user","content":[` + result + `]}]`), ""},
		{"no messages", "/messages", anthropicOf(`[]`), "at least one"},
		{"assistant first", "/messages", anthropicOf(`[{"role":"assistant","content":"x"}]`), "first message"},
		{"blank text", "/messages", anthropicOf(`[{"role":"user","content":" "}]`), "non-whitespace"},
		{"unanswered", "/messages", anthropicOf(`[{"role":"user","content":"hi"},` + call + `,{"role":"user","content":"x"}]`), "without `tool_result`"},
		{"answered twice", "/messages", anthropicOf(`[{"role":"user","content":"hi"},` + call + `,{"role":"user","content":[` + result + `,` + result + `]}]`), "single result"},
		{"never called", "/messages", anthropicOf(`[{"role":"user","content":[` + result + `]}]`), "unexpected"},
		{"results last", "/messages", anthropicOf(`[{"role":"user","content":"hi"},` + call + `,{"role":"user","content":[{"type":"text","text":"x"},` + result + `]}]`), "come first"},
		{"input is no object", "/messages", anthropicOf(`[{"role":"user","content":"hi"},` + strings.Replace(call, "{}", `"x"`, 1) + `]`), "dictionary"},
		{"thoughts without a seal", "/messages", anthropicOf(`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]`), "signature"},
		{"no bound", "/messages", `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`, "max_tokens"},
		{"good", "/chat/completions", openaiOf(`[{"role":"system","content":"s"},{"role":"user","content":"hi"},` + openCall + `,{"role":"tool","tool_call_id":"a","content":""}]`), ""},
		{"no messages", "/chat/completions", openaiOf(`[]`), "too short"},
		{"unanswered", "/chat/completions", openaiOf(`[{"role":"user","content":"hi"},` + openCall + `,{"role":"user","content":"x"}]`), "response messages"},
		{"unanswered at the end", "/chat/completions", openaiOf(`[{"role":"user","content":"hi"},` + openCall + `]`), "response messages"},
		{"never called", "/chat/completions", openaiOf(`[{"role":"tool","tool_call_id":"a","content":"x"}]`), "preceding"},
		{"says nothing", "/chat/completions", openaiOf(`[{"role":"assistant","content":""}]`), "expected content"},
		{"no JSON", "/chat/completions", `{`, "parse"},
	} {
		t.Run(c.path[1:]+" "+c.name, func(t *testing.T) {
			s := Start(t)
			status, answer, err := post(t, s.URL()+c.path, c.body)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if status != http.StatusOK || !strings.Contains(answer, "done") {
					t.Errorf("it is %d %s", status, answer)
				}
				return
			}
			if status != http.StatusBadRequest || !strings.Contains(answer, c.want) {
				t.Errorf("it is %d %s, and should tell of %q", status, answer, c.want)
			}
		})
	}
}

// Both protocols come out in the same form.
func TestRequests(t *testing.T) {
	s := Start(t)
	_, _, _ = post(t, s.URL()+"/messages", `{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"tools":`+tools+`,
		"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"tool_use","id":"c","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"out"}]},{"type":"text","text":"and"}]}]}`)
	_, _, _ = post(t, s.URL()+"/chat/completions", `{"model":"m","max_completion_tokens":9,"stream":true,"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"hi"},
		{"role":"assistant","content":"so","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c","content":"out"},{"role":"user","content":"and"}]}`)
	got := s.Requests()
	if len(got) != 2 {
		t.Fatalf("there are %d", len(got))
	}
	for i := range got {
		got[i].Path, got[i].Header, got[i].Body = "", nil, nil
	}
	if d := cmp.Diff(got[0], got[1]); d != "" {
		t.Error(d)
	}
	want := Request{Model: "m", MaxTokens: 9, System: "a\nb", Tools: []string{"read"}, Messages: []Message{
		{Role: "user", Texts: []string{"hi"}},
		{Role: "assistant", Texts: []string{"so"}, Calls: []Call{{"c", "read", "{}"}}},
		{Role: "user", Texts: []string{"and"}, Results: []Result{{ID: "c", Text: "out"}}},
	}}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Error(d)
	}
}

// A script is chosen by the first message, a reply by the turns before it, and
// a fault is played as often as it says.
func TestScripts(t *testing.T) {
	s := Start(t)
	s.Script("two", Reply{Text: "of two"})
	s.Script("", Reply{Text: "first", Fault: &Fault{Status: 529, Times: 2}}, Reply{Text: "second", Calls: []Call{{Name: "read"}}})
	ask := func(messages string) string {
		_, answer, err := post(t, s.URL()+"/chat/completions", `{"model":"m","stream":true,"messages":`+messages+`}`)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for i, c := range []struct{ messages, want string }{
		{`[{"role":"user","content":"one"}]`, "overloaded"},
		{`[{"role":"user","content":"number two"}]`, "of two"},
		{`[{"role":"user","content":"one"}]`, "overloaded"},
		{`[{"role":"user","content":"one"}]`, "first"},
		{`[{"role":"user","content":"one"}]`, "first"},
		{`[{"role":"user","content":"one"},{"role":"assistant","content":"x"}]`, "second"},
		{`[{"role":"user","content":"one"},{"role":"assistant","content":"x"},{"role":"user","content":"two"},{"role":"assistant","content":"x"}]`, "done"},
	} {
		if got := ask(c.messages); !strings.Contains(got, c.want) || strings.Contains(got, "tool_calls") {
			t.Errorf("request %d: %s", i, got)
		}
	}
	s.Func(func(r Request) Reply {
		said := s.Scripted(r)
		said.Text += "!"
		return said
	})
	if got := ask(`[{"role":"user","content":"two"}]`); !strings.Contains(got, "of two!") {
		t.Errorf("the function said %s", got)
	}
}

func TestFaults(t *testing.T) {
	body := map[string]string{
		"/messages":         `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`,
		"/chat/completions": `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`,
	}
	for path := range body {
		for _, c := range []struct {
			name   string
			fault  Fault
			status int
			want   string // in the answer
			broken bool   // the connection is
		}{
			{"status", Fault{Status: 503}, 503, "Service Unavailable", false},
			{"body", Fault{Status: 418, Body: "tea"}, 418, "tea", false},
			{"overflow", Fault{Overflow: true}, 400, "213462", false},
			{"drop", Fault{DropAfter: 2}, 200, "data:", true},
			{"hang up", Fault{DropAfter: -1}, 0, "", true},
			{"mid error", Fault{MidError: "sorry"}, 200, "sorry", false},
			{"garbage", Fault{Garbage: true}, 200, "<html>", false},
		} {
			t.Run(path[1:]+" "+c.name, func(t *testing.T) {
				s := Start(t)
				s.Script("", Reply{Text: "abcdef", Chunk: 1, Fault: &c.fault})
				status, answer, err := post(t, s.URL()+path, body[path])
				if status != c.status || !strings.Contains(answer, c.want) || (err != nil) != c.broken {
					t.Errorf("it is %d %s %v", status, answer, err)
				}
			})
		}
	}
}

// Who waits for a server that says nothing can go, and so can the server.
func TestHold(t *testing.T) {
	s := Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.Func(func(Request) Reply {
		cancel()
		return Reply{Hold: make(chan struct{})}
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions",
		strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
		t.Error("it was answered")
	}
}

func TestMainProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no signal that ends it")
	}
	dir := t.TempDir()
	script, log := filepath.Join(dir, "script.json"), filepath.Join(dir, "log.jsonl")
	data := `{"scripts":[{"match":"hi","replies":[{"text":"ho","usage":{"input":3},"calls":[{"name":"read","args":{"a": 1}},{"name":"read","args":"text"}]}]}]}`
	if err := os.WriteFile(script, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	line := Command("-requests", log, script)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	status, answer, err := post(t, strings.TrimSpace(url)+"/messages", `{"model":"m","max_tokens":9,"stream":true,"tools":`+tools+`,"messages":[{"role":"user","content":"hi"}]}`)
	for _, want := range []string{"ho", `"partial_json":"{\"a\":1}"`, `"partial_json":"text"`, `"input_tokens":3`} {
		if err != nil || status != 200 || !strings.Contains(answer, want) {
			t.Errorf("it is %d %s %v, without %s", status, answer, err, want)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	noted, err := os.ReadFile(log)
	var req struct{ Messages []Message }
	if err != nil || json.Unmarshal(noted, &req) != nil || len(req.Messages) != 1 || req.Messages[0].Texts[0] != "hi" {
		t.Errorf("noted was %s, %v", noted, err)
	}
	if Main([]string{}) == 0 || Main([]string{filepath.Join(dir, "none")}) == 0 {
		t.Error("it runs without a script")
	}
}
