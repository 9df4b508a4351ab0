package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// play sends one request to a model and returns the body of the answer.
func play(t *testing.T, url, path string, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url+path, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %v: %s", res.Status, err, out)
	}
	return string(out)
}

func testModel(t *testing.T) (*model, string) {
	t.Helper()
	m := &model{server: "helve", script: []step{
		{"read", map[string]any{"filePath": "a"}},
		{"bash", map[string]any{"command": "ls"}},
	}}
	url, stop, err := serveModel(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return m, url
}

// A wireCase plays the whole script in one wire format.
type wireCase struct {
	path string
	// ask is the request of a conversation with so many results.
	ask  func(results []string) any
	want []string // in the answers, in order
}

func wireCases() map[string]wireCase {
	type object = map[string]any
	return map[string]wireCase{
		"chat": {
			path: "/v1/chat/completions",
			ask: func(results []string) any {
				messages := []any{object{"role": "user", "content": "go"}}
				for _, r := range results {
					messages = append(messages, object{"role": "assistant"}, object{"role": "tool", "content": r})
				}
				return object{"stream": true, "messages": messages, "tools": []any{
					object{"function": object{"name": "read"}}, object{"function": object{"name": "helve_read"}}, object{"function": object{"name": "helve_bash"}},
				}}
			},
			want: []string{`"name":"helve_read"`, `"name":"helve_bash"`, `"content":"done"`},
		},
		"responses": {
			path: "/v1/responses",
			ask: func(results []string) any {
				input := []any{object{"type": "message"}}
				for _, r := range results {
					input = append(input, object{"type": "function_call_output", "output": []any{object{"type": "input_text", "text": r}}})
				}
				return object{"input": input, "tools": []any{
					object{"type": "function", "name": "read"},
					object{"type": "namespace", "name": "mcp__helve", "tools": []any{object{"name": "read"}, object{"name": "bash"}}},
				}}
			},
			want: []string{`"name":"read","namespace":"mcp__helve"`, `"name":"bash","namespace":"mcp__helve"`, `"text":"done"`},
		},
		"gemini": {
			path: "/v1beta/models/x:streamGenerateContent",
			ask: func(results []string) any {
				contents := []any{object{"role": "user", "parts": []any{object{"text": "go"}}}}
				for _, r := range results {
					contents = append(contents, object{"parts": []any{object{"functionResponse": object{"response": object{"output": r}}}}})
				}
				return object{"contents": contents, "tools": []any{object{"functionDeclarations": []any{
					object{"name": "read_file"}, object{"name": "mcp_helve_read"}, object{"name": "mcp_helve_bash"},
				}}}}
			},
			want: []string{`"name":"mcp_helve_read"`, `"name":"mcp_helve_bash"`, `"text":"done"`},
		},
	}
}

func TestModelPlaysItsScript(t *testing.T) {
	for name, c := range wireCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, url := testModel(t)
			results := []string{"first result", "second result"}
			for i, want := range c.want {
				got := play(t, url, c.path, c.ask(results[:i]))
				if !strings.Contains(got, want) {
					t.Fatalf("after %d results: %s, want %s", i, got, want)
				}
				if again := play(t, url, c.path, c.ask(results[:i])); again != got {
					t.Errorf("asked twice, it answers %s and then %s", got, again)
				}
			}
			_, seen, missing := m.seen()
			if diff := cmp.Diff(results, seen); diff != "" || missing != "" {
				t.Errorf("results (-want +got):\n%s missing %q", diff, missing)
			}
		})
	}
}

func TestModelMissesATool(t *testing.T) {
	t.Parallel()
	m, url := testModel(t)
	got := play(t, url, "/v1/chat/completions", map[string]any{
		"messages": []any{}, "tools": []any{map[string]any{"function": map[string]any{"name": "read"}}},
	})
	if _, _, missing := m.seen(); missing != "read" || !strings.Contains(got, "not offered") {
		t.Errorf("a tool of the client's own was taken for the server's: missing %q, %s", missing, got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	m := &model{server: "helve"}
	for _, tc := range []struct {
		offers []offer
		want   string
	}{
		{[]offer{{name: "helve_read"}}, "_helve_read"},
		{[]offer{{name: "mcp__helve__read"}}, "_mcp__helve__read"},
		{[]offer{{name: "helve_thread"}, {name: "helve_read"}}, "_helve_read"},
		{[]offer{{group: "mcp__helve", name: "read"}}, "mcp__helve_read"},
		{[]offer{{name: "read"}, {name: "helve_thread"}}, ""},
	} {
		got := ""
		if o := m.find(tc.offers, "read"); o != nil {
			got = o.full()
		}
		if got != tc.want {
			t.Errorf("find in %v is %q, want %q", tc.offers, got, tc.want)
		}
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	text := "# head\nserver:\n  # one\n  # two\n  - a\n  - b\n  # other\n  - c\nclient:\n  # far\n  - a\n"
	want := baseline{"a": "one two", "b": "one two", "c": "other"}
	if diff := cmp.Diff(want, readBaseline(text, "server")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(baseline{"a": "far"}, readBaseline(text, "client")); diff != "" {
		t.Error(diff)
	}
	for _, side := range []string{"server", "client"} {
		for name, why := range readBaseline(baselineText, side) {
			if why == "" {
				t.Errorf("%s %s is expected to fail, and nobody says why", side, name)
			}
		}
	}
}

func TestScenario(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name, "checks.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("server-ping-2026-01-01T00-00-00-000Z", `[{"status": "SUCCESS"}, {"status": "INFO"}]`)
	put("auth/x-2026-01-01T00-00-00-000Z", `[{"status": "SUCCESS"}, {"status": "WARNING", "errorMessage": "hm"}, {"status": "FAILURE", "description": "no"}]`)
	ping, err := readScenario(dir, "server", "ping")
	if diff := cmp.Diff(scenario{Name: "ping", Passed: 1}, ping); err != nil || diff != "" {
		t.Error(err, diff)
	}
	x, err := readScenario(dir, "client", "auth/x")
	if diff := cmp.Diff(scenario{Name: "auth/x", Passed: 1, Failed: 1, Warned: 1, Why: "hm"}, x); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := readScenario(dir, "client", "auth/y"); err == nil {
		t.Error("a scenario without results was read")
	}
	names := scenarioNames("✓ not: this\n=== SUITE SUMMARY ===\n\n✓ ping: 1 passed, 0 failed\n✗ auth/x: 1 passed, 1 failed, 1 warnings\n\nTotal: 2\n")
	if diff := cmp.Diff([]string{"ping", "auth/x"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestReportTellsSurprises(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := report(&out, []section{conformSection("suite", []scenario{
		{Name: "good", Passed: 2},
		{Name: "known", Failed: 1, Expected: "that is so"},
		{Name: "broken", Failed: 1, Why: "it | broke"},
		{Name: "mended", Passed: 1, Expected: "that was so"},
	})})
	if err == nil || !strings.Contains(err.Error(), "2 things") {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"2 of 4 scenarios", "it \\| broke", "in the baseline, and passes", "| that is so |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestChildIsEndedWithWhatItStarted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	e, err := child{
		argv: []string{"sh", "-c", "sleep 60 & echo $! > pid; echo out; wait"}, dir: dir, env: os.Environ(), limit: 500 * time.Millisecond,
	}.run(context.Background())
	if err != nil || !e.late || !strings.Contains(e.why(), "out") {
		t.Fatalf("%+v %v", e, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	gone := func() bool {
		_, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(text)), "fd", "1"))
		return errors.Is(err, os.ErrNotExist)
	}
	if runtime.GOOS != "linux" {
		return
	}
	for end := time.Now().Add(10 * time.Second); !gone(); {
		if time.Now().After(end) {
			t.Fatal("what the child started is still there")
		}
		runtime.Gosched()
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var b tail
	for i := range 40 {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("x", 100_000))
	}
	got := b.String()
	if len(got) > 2*tailBytes || !strings.Contains(got, "\n39 x") {
		t.Errorf("%d bytes are kept, the end is %q", len(got), got[len(got)-20:])
	}
	n, err := b.Write(bytes.Repeat([]byte("y"), 3*tailBytes))
	if n != 3*tailBytes || err != nil || b.Len() > 2*tailBytes {
		t.Errorf("a long text: %d %v, %d are kept", n, err, b.Len())
	}
}
