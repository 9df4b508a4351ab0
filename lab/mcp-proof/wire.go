package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// protocol is the version that this program speaks.
const protocol = "2025-06-18"

// A line is a server under measurement: it takes a request and returns the
// answer. It is as thin as it can be, so that what is measured is the server.
type line interface {
	// call sends a request and decodes the result of the answer.
	call(method string, params, result any) error
	// tell sends a notification.
	tell(method string) error
	pid() int
	close() error
}

// A message is a JSON-RPC message, as far as it matters here.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// reply decodes an answer.
func (m *message) reply(result any) error {
	if m.Error != nil {
		return fmt.Errorf("the server says %d: %s", m.Error.Code, m.Error.Message)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// greet opens a session.
func greet(l line) error {
	err := l.call("initialize", map[string]any{
		"protocolVersion": protocol, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "mcp-proof", "version": "1"},
	}, nil)
	if err != nil {
		return fmt.Errorf("initializing: %w", err)
	}
	return l.tell("notifications/initialized")
}

// callTool calls a tool and returns its first text.
func callTool(l line, name string, args map[string]any) (string, error) {
	var res struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := l.call("tools/call", map[string]any{"name": name, "arguments": args}, &res); err != nil {
		return "", fmt.Errorf("calling %s: %w", name, err)
	}
	text := ""
	if len(res.Content) > 0 {
		text = res.Content[0].Text
	}
	if res.IsError {
		return "", fmt.Errorf("calling %s: %s", name, clip(text, 300))
	}
	return text, nil
}

// A pipe is a server on the other side of its standard streams.
type pipe struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	log  *tail
	last int
	stop context.CancelFunc
}

// openPipe starts a server. It is ended when ctx is.
func openPipe(ctx context.Context, argv []string, dir string, env []string) (*pipe, error) {
	ctx, stop := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	p := &pipe{cmd: cmd, log: &tail{}, stop: stop}
	cmd.Stderr = p.log
	proof.OwnGroup(cmd)
	cmd.Cancel = func() error { return proof.EndGroup(cmd.Process) }
	cmd.WaitDelay = 2 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := cmd.Start(); err != nil {
		stop()
		return nil, fmt.Errorf("starting %s: %w", argv[0], err)
	}
	return p, nil
}

func (p *pipe) pid() int { return p.cmd.Process.Pid }

func (p *pipe) send(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(text, '\n'))
	return err
}

func (p *pipe) tell(method string) error { return p.send(message{Version: "2.0", Method: method}) }

func (p *pipe) call(method string, params, result any) error {
	p.last++
	id := p.last
	if err := p.send(message{Version: "2.0", ID: &id, Method: method, Params: params}); err != nil {
		return err
	}
	for {
		text, err := p.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%w: %s", err, clip(p.log.String(), 300))
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("the server wrote %s: %w", clip(string(text), 100), err)
		}
		if m.ID != nil && *m.ID == id && m.Method == "" {
			return m.reply(result)
		}
	}
}

// close lets the server end by itself, and ends it where it does not.
func (p *pipe) close() error {
	err := p.in.Close()
	_, _ = io.Copy(io.Discard, p.out) // until the server has closed its end
	done := make(chan struct{})
	go func() {
		select {
		case <-done:
		case <-time.After(3 * time.Second):
			p.stop()
		}
	}()
	wait := p.cmd.Wait()
	close(done)
	_ = proof.EndGroup(p.cmd.Process)
	p.stop()
	var exit *exec.ExitError
	if errors.As(wait, &exit) {
		return err // how it ends is not the matter here
	}
	return errors.Join(err, wait)
}

// A post is a server behind streamable HTTP.
type post struct {
	url, token string
	session    string
	last       int
	process    int
	client     *http.Client
}

func (p *post) pid() int { return p.process }

func (p *post) tell(method string) error {
	res, err := p.send(message{Version: "2.0", Method: method})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}

func (p *post) send(m message) (*http.Response, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, p.url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	if p.session != "" {
		req.Header.Set("Mcp-Session-Id", p.session)
		req.Header.Set("Mcp-Protocol-Version", protocol)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return nil, errors.Join(fmt.Errorf("%s: %s", res.Status, clip(string(text), 300)), res.Body.Close())
	}
	return res, nil
}

func (p *post) call(method string, params, result any) (err error) {
	p.last++
	id := p.last
	res, err := p.send(message{Version: "2.0", ID: &id, Method: method, Params: params})
	if err != nil {
		return err
	}
	defer func() {
		_, drain := io.Copy(io.Discard, res.Body) // so that the connection is used again
		err = errors.Join(err, drain, res.Body.Close())
	}()
	if s := res.Header.Get("Mcp-Session-Id"); s != "" {
		p.session = s
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	plain := strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	for lines.Scan() {
		text, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok && !plain || len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("the server wrote %s: %w", clip(string(text), 100), err)
		}
		if m.ID != nil && *m.ID == id && m.Method == "" {
			return m.reply(result)
		}
	}
	return errors.Join(errors.New("the answer did not come"), lines.Err())
}

func (p *post) close() error {
	p.client.CloseIdleConnections()
	return nil
}
