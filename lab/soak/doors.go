package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// mcpDeeds are what agents do that connect over MCP.
func mcpDeeds() []deed {
	return []deed{
		{"mcp connection", 6, func(w *hand, ctx context.Context) error { return w.connect(ctx, false) }},
		{"mcp connection, cut", 2, func(w *hand, ctx context.Context) error { return w.connect(ctx, true) }},
	}
}

// bearer adds a token to requests.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// connect is an agent over MCP: it comes, makes some calls, and goes, or loses
// its connections and says good-bye over new ones.
func (w *hand) connect(ctx context.Context, cut bool) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	dialer := &cutter{}
	transport.DialContext = dialer.dial
	defer transport.CloseIdleConnections()
	c := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	session, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: w.subject.mcpURL, HTTPClient: &http.Client{Transport: bearer{w.subject.mcpKey, transport}}, MaxRetries: -1,
	}, nil)
	if err != nil {
		return err
	}
	if _, err = session.ListTools(ctx, nil); err == nil {
		for range 1 + w.rand.IntN(6) {
			if err = w.callByMCP(ctx, session, cut); err != nil {
				break
			}
		}
	}
	if cut {
		err = nil // what was cut was not answered
		dialer.cut()
		w.goodBye(ctx, transport, session.ID())
	}
	if closing := session.Close(); err == nil && !cut {
		err = closing
	}
	return err
}

// callByMCP makes one call; some are ended by the agent.
func (w *hand) callByMCP(ctx context.Context, session *mcp.ClientSession, cut bool) error {
	calls := []*mcp.CallToolParams{
		{Name: "read", Arguments: input{"filePath": w.source()}},
		{Name: "grep", Arguments: input{"pattern": "needle-12"}},
		{Name: "bash", Arguments: input{"command": "for i in 1 2 3; do echo $i; sleep 0.1; done", "description": "Counts"}},
		{Name: "write", Arguments: input{"filePath": w.own("mcp-" + w.count.id()[5:6] + ".txt"), "content": "by mcp"}},
		{Name: "things_echo", Arguments: input{"text": "through"}},
		{Name: "read", Arguments: input{"filePath": ".env"}},
		{Name: "todowrite", Arguments: input{"todos": "wrong"}},
	}
	p := calls[w.rand.IntN(len(calls))]
	p.SetProgressToken(w.count.id())
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := w.chance(8)
	if ended {
		t := time.AfterFunc(time.Duration(w.rand.IntN(200))*time.Millisecond, cancel)
		defer t.Stop()
	}
	res, err := session.CallTool(inner, p)
	switch {
	case err == nil && res.IsError:
		w.count.answered()
		w.count.did("call by mcp", "error")
	case err == nil:
		w.count.answered()
		w.count.did("call by mcp", "ok")
	case ended && ctx.Err() == nil:
		w.count.did("call by mcp", "cancelled")
		return nil
	case cut:
		return err
	default:
		return fmt.Errorf("%s by MCP: %w", p.Name, err)
	}
	return nil
}

// goodBye ends a session whose connections are lost, over a new one.
func (w *hand) goodBye(ctx context.Context, transport *http.Transport, id string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.subject.mcpURL, nil)
	if err != nil {
		return
	}
	r.Header.Set("Mcp-Session-Id", id)
	if res, err := (bearer{w.subject.mcpKey, transport}).RoundTrip(r); err == nil {
		_ = res.Body.Close() // there is nothing in it
	}
}

// commandDeeds are what is done by processes of the command on the same store.
func commandDeeds() []deed {
	return []deed{
		{"helve call", 4, (*hand).single},
		{"helve call, killed", 2, (*hand).singleKilled},
		{"helve call, behind the wall", 2, (*hand).singleWall},
		{"helve call --jsonl", 4, func(w *hand, ctx context.Context) error { return w.lines(ctx, false) }},
		{"helve call --jsonl, killed", 2, func(w *hand, ctx context.Context) error { return w.lines(ctx, true) }},
		{"helve calls", 1, (*hand).records},
	}
}

// finish runs a command to its end. An exit code is an answer.
func (w *hand) finish(cmd *exec.Cmd, name string) error {
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); ended {
		if text := string(out); strings.Contains(text, "panic:") || strings.Contains(text, "internal error") {
			w.count.ours(fmt.Sprintf("%s: %.600s", name, text))
		}
		return nil
	}
	return err
}

func (w *hand) single(ctx context.Context) error {
	args := [][]string{
		{"call", "read", "filePath=" + w.source()}, {"call", "grep", "pattern=needle-3"}, {"call", "bash", "command=echo hello; setsid -f sleep 20"},
		{"call", "write", "filePath=" + w.own("single.txt"), "content=x"}, {"call", "lines", "path=" + w.source()}, {"call", "things_echo", "text=x"},
	}[w.rand.IntN(6)]
	w.count.answered()
	return w.finish(w.command(ctx, append(args, "--no-input")...), "helve call")
}

// singleKilled kills a command in the midst of its work.
func (w *hand) singleKilled(ctx context.Context) error {
	args := [][]string{{"call", "bash", "command=sleep 5; echo never", "--no-input"}, {"call", "sulk", "how=wait", "--no-input"}}[w.rand.IntN(2)]
	cmd := w.command(ctx, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	w.pause(ctx, time.Second)
	err := cmd.Process.Kill() // it alone: what it started has to end by itself
	_ = cmd.Wait()            // it was killed
	w.count.fault("kill helve call", err)
	return err
}

// singleWall runs a command behind the wall.
func (w *hand) singleWall(ctx context.Context) error {
	cmd := w.command(ctx, "call", "bash", "command=touch "+w.own("walled")+"; touch /etc/soak 2>/dev/null || echo kept out", "--no-input")
	cmd.Env = append(cmd.Env, `HELVE_CONFIG_CONTENT={"wall":{"level":"write"}}`)
	w.count.answered()
	return w.finish(cmd, "helve call behind the wall")
}

func (w *hand) records(ctx context.Context) error {
	return w.finish(w.command(ctx, "calls"), "helve calls")
}

// lines is a program that makes many calls by one process, which may be killed.
func (w *hand) lines(ctx context.Context, kill bool) error {
	cmd := w.command(ctx, "call", "--jsonl", "--events")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	session, want := "ses_lines_"+w.count.id(), map[string]bool{}
	var text strings.Builder
	for range 5 + w.rand.IntN(20) {
		id := w.count.id()
		want[id] = true
		tool := []string{
			`"tool":"read","args":{"filePath":"` + w.source() + `"}`, `"tool":"grep","args":{"pattern":"needle-4"}`,
			`"tool":"bash","args":{"command":"echo x; sleep 0.05","description":"Waits"}`, `"tool":"nothing"`, `"tool":"read","args":{"filePath":".env"}`,
		}[w.rand.IntN(5)]
		fmt.Fprintf(&text, "{\"id\":%q,\"session\":%q,%s}\n", id, session, tool)
	}
	text.WriteString("this is no JSON\n")
	killed := make(chan struct{})
	if kill {
		t := time.AfterFunc(time.Duration(50+w.rand.IntN(500))*time.Millisecond, func() {
			w.count.fault("kill helve call --jsonl", cmd.Process.Kill())
			close(killed)
		})
		defer t.Stop()
	}
	go func() {
		_, _ = fmt.Fprint(in, text.String()) // it may be killed meanwhile
		_ = in.Close()
	}()
	w.hearLines(bufio.NewScanner(out), session, want)
	ended := cmd.Wait()
	for id := range want {
		if !kill {
			w.count.lose(fmt.Sprintf("helve call --jsonl: %s had no answer: %v", id, ended))
		}
		w.count.ended(callKey{session, id}, unheard)
	}
	return nil
}

// hearLines notes the ends of calls, and takes them from those that are waited for.
func (w *hand) hearLines(lines *bufio.Scanner, session string, want map[string]bool) {
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var a struct {
			ID, Status string
			Error      struct{ Kind, Code, Message string }
		}
		if json.Unmarshal(lines.Bytes(), &a) != nil || a.ID == "" {
			continue // an event, or half a line of who was killed
		}
		delete(want, a.ID)
		how := ending(a.Status)
		if a.Error.Kind == "internal" && w.count.ours(fmt.Sprintf("helve call --jsonl: %s: %.300s", a.Error.Code, a.Error.Message)) {
			how = unkept
		}
		w.count.ended(callKey{session, a.ID}, how)
	}
}

// killChildren kills processes below the server whose command line holds a word.
func (h *house) killChildren(word string, most int) (n int) {
	for _, pid := range proof.Descendants(h.subject.pid()) {
		if n < most && strings.Contains(commandLine(pid), word) && killProcess(pid) == nil {
			n++
		}
	}
	return n
}

// A cutter makes connections that can be cut all at once.
type cutter struct {
	mu   sync.Mutex
	open []interface{ Close() error }
}
