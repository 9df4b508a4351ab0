package mcpserve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// Each of many clients has its own record of what was read: what one has read
// another may not change.
func TestManySessions(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	const clients = 50
	var wg sync.WaitGroup
	read := make(chan struct{}, clients)
	all := make(chan struct{})
	for i := range clients {
		h.write(t, fmt.Sprintf("f%d.txt", i), "before\n")
	}
	for i := range clients {
		cs := h.connect(t, nil)
		wg.Go(func() {
			mine := filepath.Join(h.dir, fmt.Sprintf("f%d.txt", i))
			other := filepath.Join(h.dir, fmt.Sprintf("f%d.txt", (i+1)%clients))
			if got := call(t, cs, "read", map[string]any{"filePath": mine}); !strings.Contains(got, "before") {
				t.Errorf("client %d read %s", i, got)
			}
			read <- struct{}{}
			<-all
			if got := call(t, cs, "edit", map[string]any{"filePath": other, "oldString": "before", "newString": "wrong"}); !strings.HasPrefix(got, "ERROR") {
				t.Errorf("client %d changed what another has read: %s", i, got)
			}
			if got := call(t, cs, "edit", map[string]any{"filePath": mine, "oldString": "before", "newString": fmt.Sprintf("after %d", i)}); strings.HasPrefix(got, "ERROR") {
				t.Errorf("client %d may not change what it has read: %s", i, got)
			}
		})
	}
	for range clients {
		<-read
	}
	close(all)
	wg.Wait()
	if n := len(h.workspaces()); n != 1 {
		t.Errorf("%d runtimes for one folder", n)
	}
}

// A client that cancels a call ends it.
func TestCancel(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	cs := h.connect(t, nil)
	call(t, cs, "glob", map[string]any{"pattern": "*"})
	began, ended := make(chan struct{}), make(chan struct{})
	if _, err := h.runtime(t).Register(own(t, "hang", func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	})); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "hang", Arguments: map[string]any{}})
		failed <- err
	}()
	<-began
	cancel()
	<-ended
	if err := <-failed; err == nil {
		t.Error("the call went well")
	}
}

// Tools that come and go are told of, to those who were shown the old ones.
func TestListChanged(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	told := make(chan struct{}, 10)
	cs := h.connect(t, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} }})
	listed := func() bool {
		res, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range res.Tools {
			if tl.Name == "late" {
				return true
			}
		}
		return false
	}
	if listed() {
		t.Error("it is too early")
	}
	remove, err := h.runtime(t).Register(own(t, "late", func(context.Context, *tool.Call) (*tool.Result, error) {
		return &tool.Result{Output: "here I am"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	<-told
	if !listed() {
		t.Error("it is not listed")
	}
	contains(t, call(t, cs, "late", map[string]any{}), "here I am")
	remove()
	<-told
	if listed() {
		t.Error("it is still listed")
	}
}

// At the end of the input calls get their answers, if they are quick.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "a.txt", "quick")
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"filePath":"a.txt"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, // and no end of the line
	}, "\n")
	var out strings.Builder
	if err := h.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	contains(t, out.String(), `"id":1`, "quick", `"id":3`, `"name":"edit"`)
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("%d lines", n)
	}
	h.halls.mu.Lock()
	defer h.halls.mu.Unlock()
	if len(h.halls.all) != 0 {
		t.Error("a runtime is left open")
	}
}

// Calls that are not quick are cancelled, and so is what waits for a person.
func TestEndOfInputCancels(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	w := h.raw(t)
	w.greet(`{"elicitation":{}}`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"echo x","description":"x"}}}`)
	contains(t, w.read(), "elicitation/create")
	_ = w.in.Close()
	rest, err := io.ReadAll(w.out)
	if err != nil || strings.Contains(string(rest), `"result"`) {
		t.Errorf("%s %v", rest, err)
	}
	if err := <-w.end; err != nil {
		t.Error(err)
	}
}

// The end of the context ends the server at once, whatever the client does.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	in, client := io.Pipe()
	out, server := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.ServeStdio(ctx, in, server) }()
	w := &wire{t: t, in: client, out: newReader(out)}
	w.greet(`{}`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"echo x > began; sleep 60","description":"sleeps"}}}`)
	for late := time.Now().Add(time.Minute); !exists(filepath.Join(h.dir, "began")); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("the command has not begun")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	why := fmt.Errorf("enough")
	cancel(why)
	if err := <-served; err != why {
		t.Errorf("got %v", err)
	}
	_ = client.Close() // the read that was under way
	_ = server.Close()
}

// A client that reads nothing does not keep the server from closing.
func TestDeafClient(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	in, client := io.Pipe()
	out, server := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.ServeStdio(ctx, in, server) }()
	w := &wire{t: t, in: client}
	w.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	w.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	cancel()
	if err := <-served; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	_ = client.Close()
	_ = out.Close()
	_ = server.Close()
}

// Questions that a client never takes keep nothing from ending, whether it is
// told to go or has closed its end.
func TestDeafClientWithQuestions(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancelled", "input ended"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil, nil, nil)
			h.write(t, ".env", "S=1\n")
			in, client := io.Pipe()
			out, server := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			served := make(chan error, 1)
			go func() { served <- h.ServeStdio(ctx, in, server) }()
			w := &wire{t: t, in: client}
			w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"deaf","version":"1"}}}`)
			if _, err := bufio.NewReaderSize(out, 1<<20).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			for i := range 12 {
				w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"filePath":".env"}}}`, 10+i))
			}
			eventually(t, "questions", func() bool {
				h.mu.Lock()
				defer h.mu.Unlock()
				return len(h.rts) > 0 && len(h.rts[0].Requests().Pending()) == 12
			})
			if how == "cancelled" {
				cancel()
			} else if err := client.Close(); err != nil {
				t.Fatal(err)
			}
			<-served
			_ = client.Close()
			_ = out.Close()
			_ = server.Close()
		})
	}
}

// A workspace that cannot be opened fails its requests, and is tried again.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	broken := true
	var mu sync.Mutex
	h := build(t, nil, func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context, w Workspace) (*rt, error) {
			mu.Lock()
			defer mu.Unlock()
			if broken {
				return nil, fmt.Errorf("the config is broken")
			}
			return open(ctx, w)
		}
	}, nil)
	cs := h.connect(t, nil)
	if _, err := cs.ListTools(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the config is broken") {
		t.Errorf("got %v", err)
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	if _, err := cs.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// A runtime that nobody uses is closed, and opened anew for the next.
func TestRuntimeRetires(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.halls.idle = time.Millisecond
	ctx := t.Context()
	a, err := h.halls.acquire(ctx, Workspace{Dir: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.halls.acquire(ctx, Workspace{Dir: h.dir})
	if err != nil || a != b {
		t.Fatalf("%p %p %v", a, b, err)
	}
	h.halls.release(a)
	if err := h.halls.retain(b); err != nil {
		t.Fatal(err)
	}
	h.halls.release(b)
	h.halls.release(b)
	a.events.Wait() // which end when it is closed
	c, err := h.halls.acquire(ctx, Workspace{Dir: h.dir})
	if err != nil || c == a {
		t.Fatalf("%p %p %v", a, c, err)
	}
	if err := h.halls.retain(a); err == nil {
		t.Error("a closed hall is held")
	}
	h.halls.release(c)
}

// What a runtime asked while nobody listened is asked all the same.
func TestMissedEvents(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	asked := make(chan struct{}, 1)
	cs := h.connect(t, answering(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		asked <- struct{}{}
		return accept(map[string]any{"decision": "once"}), nil
	}))
	call(t, cs, "glob", map[string]any{"pattern": "*"})
	here := hallOf(t, h.Server)
	here.catchUp() // with nothing to catch up with, but what everybody has
	contains(t, call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "says hello"}), "hello")
	<-asked

	// A request of a session that is gone is a no.
	done := make(chan error, 1)
	go func() {
		_, err := here.rt.Call(context.Background(), tool.Call{Session: "ses_gone", Tool: "bash", Input: []byte(`{"command":"echo x","description":"x"}`)})
		done <- err
	}()
	if err := <-done; tool.KindOf(err) != tool.Rejected {
		t.Errorf("got %v", err)
	}
	go func() {
		_, err := here.rt.Call(context.Background(), tool.Call{Session: "ses_gone", Client: "cli", Tool: "question",
			Input: []byte(`{"questions":[{"question":"Q?","header":"Q","options":[{"label":"a","description":"b"}]}]}`)})
		done <- err
	}()
	if err := <-done; tool.KindOf(err) != tool.Rejected {
		t.Errorf("got %v", err)
	}
}

// A request that nobody heard of is asked when that is noticed, and one that
// is being asked is not asked twice.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	h := build(t, permission.Ruleset{ask("bash", "*")}, nil, nil)
	asked, answer := make(chan string, 10), make(chan struct{})
	cs := h.connect(t, answering(func(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		asked <- p.Message
		select {
		case <-answer:
			return accept(map[string]any{"decision": "once"}), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}))
	done := make(chan string, 1)
	go func() { done <- call(t, cs, "bash", map[string]any{"command": "echo hello", "description": "x"}) }()
	<-asked
	here := hallOf(t, h.Server)
	here.catchUp()
	here.mu.Lock()
	if n := len(here.asked); n != 1 || len(asked) != 0 {
		t.Errorf("%d are asked, %d anew", n, len(asked))
	}
	clear(here.asked) // as if it had not been heard
	here.mu.Unlock()
	here.catchUp()
	<-asked
	close(answer)
	contains(t, <-done, "hello")
}

// Searches give data where that is wanted.
func TestStructuredSearch(t *testing.T) {
	t.Parallel()
	h := build(t, nil, func(o *Options) { o.Structured = true }, nil)
	path := h.write(t, "a.txt", "needle\n")
	cs := h.connect(t, nil)
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "grep", Arguments: map[string]any{"pattern": "needle"}})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, asJSON(t, res.StructuredContent), `"matches":[{"file":`+asJSON(t, path)+`,"line":1,"text":"needle"}]`)
}

// A compact server lists no tools of other programs, and calls them.
func TestCompact(t *testing.T) {
	t.Parallel()
	h := build(t, nil, func(o *Options) { o.Compact = true }, nil)
	cs := h.connect(t, nil)
	call(t, cs, "glob", map[string]any{"pattern": "*"})
	theirs, err := tool.Dynamic(tool.Spec{Name: "their_tool", Description: "d", Schema: anything(t), External: true},
		func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{Output: "called"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.runtime(t).Register(theirs); err != nil {
		t.Fatal(err)
	}
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range res.Tools {
		if tl.Name == "their_tool" {
			t.Error("it is listed")
		}
	}
	contains(t, call(t, cs, "their_tool", map[string]any{}), "called")
}

// An image is read as an image.
func TestImage(t *testing.T) {
	t.Parallel()
	h := build(t, nil, nil, nil)
	h.write(t, "dot.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82")
	cs := h.connect(t, nil)
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "read", Arguments: map[string]any{"filePath": "dot.png"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Content {
		if img, ok := c.(*mcp.ImageContent); ok {
			if img.MIMEType != "image/png" || !strings.HasPrefix(string(img.Data), "\x89PNG") {
				t.Errorf("%s %q", img.MIMEType, img.Data)
			}
			return
		}
	}
	t.Errorf("no image in %s", said(res))
}
