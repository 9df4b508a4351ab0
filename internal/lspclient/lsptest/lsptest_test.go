package lsptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) {
	Main()
	leaktest.Main(m)
}

// A client talks to a server that runs as a process.
type client struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said string // the file that the standard error goes to
	id   int
	dir  string
	root string
}

// begin starts a server.
func begin(t *testing.T, flags ...string) *client {
	t.Helper()
	argv := Command(flags...)
	c := &client{t: t, cmd: exec.Command(argv[0], argv[1:]...), dir: t.TempDir()}
	c.root = "file://" + filepath.ToSlash(c.dir)
	if !strings.HasPrefix(c.root, "file:///") {
		c.root = "file:///" + filepath.ToSlash(c.dir)
	}
	c.said = filepath.Join(t.TempDir(), "stderr")
	said, err := os.Create(c.said)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c.cmd.Stderr = said
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
		}
	})
	return c
}

// ready starts a server up to initialized.
func ready(t *testing.T, flags ...string) *client {
	t.Helper()
	c := begin(t, flags...)
	c.ask("initialize", fmt.Sprintf(`{"rootUri":%q,"capabilities":{"general":{"positionEncodings":["utf-8","utf-16"]},"workspace":{"workspaceEdit":{"documentChanges":true}}}}`, c.root))
	c.tell("initialized", `{}`)
	return c
}

// printed returns what the server has written to its standard error.
func (c *client) printed() string {
	data, err := os.ReadFile(c.said)
	if err != nil {
		c.t.Error(err)
	}
	return string(data)
}

func (c *client) send(m map[string]any) {
	c.t.Helper()
	m["jsonrpc"] = "2.0"
	if err := writeMessage(c.in, m); err != nil {
		c.t.Errorf("send: %v", err)
	}
}

func (c *client) tell(method, params string) {
	c.t.Helper()
	c.send(map[string]any{"method": method, "params": json.RawMessage(params)})
}

// begins sends a request and returns its id.
func (c *client) begins(method, params string) string {
	c.t.Helper()
	c.id++
	c.send(map[string]any{"id": c.id, "method": method, "params": json.RawMessage(params)})
	return strconv.Itoa(c.id)
}

// next reads a message, with ROOT in the place of the root.
func (c *client) next() Message {
	c.t.Helper()
	body, err := readMessage(c.out)
	if err != nil {
		c.t.Fatalf("read: %v; %s", err, c.printed())
	}
	var m Message
	if err := json.Unmarshal(bytes.ReplaceAll(body, []byte(c.root), []byte("ROOT")), &m); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// ask sends a request and returns the result or error of the next message.
func (c *client) ask(method, params string) string {
	c.t.Helper()
	id := c.begins(method, params)
	m := c.next()
	if string(m.ID) != id {
		c.t.Fatalf("in place of an answer to %s: %s %s", method, m.Method, m.Params)
	}
	return string(m.Result) + string(m.Error)
}

// at are the parameters for a place in a document.
func (c *client) at(name string, line, character int, more string) string {
	return fmt.Sprintf(`{"textDocument":{"uri":"%s/%s"},"position":{"line":%d,"character":%d}%s}`, c.root, name, line, character, more)
}

func (c *client) open(name, text string) {
	c.t.Helper()
	c.tell("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":"%s/%s","languageId":"foo","version":1,"text":%q}}`, c.root, name, text))
}

// change sends a change; at is a range or "" for the whole text.
func (c *client) change(name string, version int, at, text string) {
	c.t.Helper()
	if at != "" {
		at = `"range":` + at + `,`
	}
	c.tell("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":"%s/%s","version":%d},"contentChanges":[{%s"text":%q}]}`, c.root, name, version, at, text))
}

// published reads the next message, which is of diagnostics, and returns it
// as one line.
func (c *client) published() string {
	c.t.Helper()
	m := c.next()
	if m.Method != publish {
		c.t.Fatalf("in place of diagnostics: %s %s%s", m.Method, m.Params, m.Result)
	}
	var p struct {
		URI     string    `json:"uri"`
		Version *int      `json:"version"`
		List    []finding `json:"diagnostics"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		c.t.Fatal(err)
	}
	text := strings.TrimPrefix(p.URI, "ROOT/")
	if p.Version != nil {
		text += " v" + strconv.Itoa(*p.Version)
	}
	for _, f := range p.List {
		text += fmt.Sprintf(" | %d %s %d:%d-%d:%d %s", f.Severity, f.Source, f.Range.Start.Line, f.Range.Start.Character, f.Range.End.Line, f.Range.End.Character, f.Message)
	}
	return text
}

// ends waits for the end of the server.
func (c *client) ends() int {
	c.t.Helper()
	if _, err := io.Copy(io.Discard, c.out); err != nil && !errors.Is(err, os.ErrClosed) {
		c.t.Error(err)
	}
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestQuestions(t *testing.T) {
	c := ready(t)
	c.open("a.foo", "word\n")
	same(t, "clean", c.published(), "a.foo v1")
	at := c.at("a.foo", 0, 0, "")
	same(t, "hover", c.ask("textDocument/hover", at), `{"contents":{"kind":"markdown","value":"hover at 0:0"}}`)
	first, second := `{"start":{"line":0,"character":0},"end":{"line":0,"character":4}}`, `{"start":{"line":1,"character":0},"end":{"line":1,"character":4}}`
	same(t, "references", c.ask("textDocument/references", at), `[{"uri":"ROOT/a.foo","range":`+first+`},{"uri":"ROOT/a.foo","range":`+second+`}]`)
	same(t, "implementation", c.ask("textDocument/implementation", at), `[]`)
	item := `{"name":"word","kind":12,"uri":"ROOT/a.foo","range":` + first + `,"selectionRange":` + first + `}`
	same(t, "call hierarchy", c.ask("textDocument/prepareCallHierarchy", at), `[`+item+`]`)
	same(t, "callers", c.ask("callHierarchy/incomingCalls", `{"item":`+item+`}`), `[{"from":`+item+`,"fromRanges":[`+first+`]}]`)
	same(t, "called", c.ask("callHierarchy/outgoingCalls", `{"item":`+item+`}`), `[{"to":`+item+`,"fromRanges":[`+first+`]}]`)

	var symbols []struct {
		Name     string
		Kind     int
		Location location
	}
	if err := json.Unmarshal([]byte(c.ask("workspace/symbol", `{"query":""}`)), &symbols); err != nil {
		t.Fatal(err)
	}
	if len(symbols) != 26 || symbols[4].Name != "sym5" || symbols[25].Kind != 10 || symbols[25].Location.URI != "file:///fake/10" {
		t.Errorf("symbols %v", symbols)
	}
	same(t, "unknown", c.ask("textDocument/none", at), `{"code":-32601,"message":"unknown method textDocument/none"}`)
	same(t, "not open", c.ask("textDocument/hover", c.at("b.foo", 0, 0, "")), `{"code":-32602,"message":"not open: ROOT/b.foo"}`)
	same(t, "no pull", c.ask("textDocument/diagnostic", at), `{"code":-32601,"message":"unknown method"}`)
	same(t, "shutdown", c.ask("shutdown", `null`), `null`)
	c.tell("exit", `null`)
	same(t, "exit code", c.ends(), 0)
}

func TestFindings(t *testing.T) {
	c := ready(t)
	c.open("a.foo", "WARN\r\nINFO\nHINT é\n ERROR\nERROR \U0001F600 bad")
	same(t, "severities", c.published(), "a.foo v1 | 2 fake 0:0-0:4 warn found: WARN | 3 fake 1:0-1:4 info found: INFO | 4 fake 2:0-2:6 hint found: HINT é | 1 fake 4:0-4:12 error found: ERROR \U0001F600 bad")
	c.change("a.foo", 2, `{"start":{"line":4,"character":6},"end":{"line":4,"character":8}}`, "x\ny")
	same(t, "a part changed", c.published(), "a.foo v2 | 2 fake 0:0-0:4 warn found: WARN | 3 fake 1:0-1:4 info found: INFO | 4 fake 2:0-2:6 hint found: HINT é | 1 fake 4:0-4:7 error found: ERROR x")
	c.change("a.foo", 3, `{"start":{"line":0,"character":4},"end":{"line":9,"character":9}}`, "")
	same(t, "the rest removed", c.published(), "a.foo v3 | 2 fake 0:0-0:4 warn found: WARN")
	c.change("a.foo", 4, "", "BREAK b.foo\nBREAK c.foo")
	same(t, "fine itself", c.published(), "a.foo v4")
	same(t, "breaks one", c.published(), "b.foo | 1 fake 0:0-0:1 broken by a.foo")
	same(t, "breaks another", c.published(), "c.foo | 1 fake 0:0-0:1 broken by a.foo")
	c.open("b.foo", "ERROR")
	same(t, "broken twice", c.published(), "b.foo v1 | 1 fake 0:0-0:5 error found: ERROR | 1 fake 0:0-0:1 broken by a.foo")
	same(t, "still", c.published(), "c.foo | 1 fake 0:0-0:1 broken by a.foo")
	c.change("a.foo", 5, "", "BREAK b.foo")
	c.published()
	c.published()
	same(t, "healed", c.published(), "c.foo")
	c.tell("textDocument/didClose", c.at("b.foo", 0, 0, ""))
	same(t, "closed", c.published(), "b.foo | 1 fake 0:0-0:1 broken by a.foo")
}

func TestNames(t *testing.T) {
	c := ready(t)
	if err := os.WriteFile(filepath.Join(c.dir, "closed.foo"), []byte("\U0001F600 one none one_\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "a.foo"), []byte("one one one, but it is open"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.open("a.foo", "x one\ndef two")
	c.published()
	c.open("b.foo", "def one and one")
	c.published()
	same(t, "definition", c.ask("textDocument/definition", c.at("a.foo", 0, 3, "")), `{"uri":"ROOT/b.foo","range":{"start":{"line":0,"character":4},"end":{"line":0,"character":7}}}`)
	same(t, "no definition", c.ask("textDocument/definition", c.at("a.foo", 0, 0, "")), `null`)
	same(t, "symbols", c.ask("textDocument/documentSymbol", c.at("a.foo", 0, 0, "")), `[{"kind":12,"name":"two","range":{"start":{"line":1,"character":0},"end":{"line":1,"character":7}},"selectionRange":{"start":{"line":1,"character":4},"end":{"line":1,"character":7}}}]`)
	same(t, "can be renamed", c.ask("textDocument/prepareRename", c.at("a.foo", 0, 5, "")), `{"placeholder":"one","range":{"start":{"line":0,"character":2},"end":{"line":0,"character":5}}}`)
	edit := func(line, from, to int) string {
		return fmt.Sprintf(`{"newText":"uno","range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}}`, line, from, line, to)
	}
	same(t, "rename", c.ask("textDocument/rename", c.at("a.foo", 0, 2, `,"newName":"uno"`)), `{"documentChanges":[`+
		`{"edits":[`+edit(0, 2, 5)+`],"textDocument":{"uri":"ROOT/a.foo","version":1}},`+
		`{"edits":[`+edit(0, 4, 7)+`,`+edit(0, 12, 15)+`],"textDocument":{"uri":"ROOT/b.foo","version":1}},`+
		`{"edits":[`+edit(0, 3, 6)+`],"textDocument":{"uri":"ROOT/closed.foo","version":null}}]}`)
	same(t, "wrong name", c.ask("textDocument/rename", c.at("a.foo", 0, 2, `,"newName":"u no"`)), `{"code":-32602,"message":"not a name: u no"}`)
}

func TestActions(t *testing.T) {
	c := ready(t)
	c.open("a.foo", "fine\nERROR")
	c.published()
	at := `{"textDocument":{"uri":"` + c.root + `/a.foo"},"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}},"context":{"diagnostics":[]%s}}`
	var actions []json.RawMessage
	if err := json.Unmarshal([]byte(c.ask("textDocument/codeAction", fmt.Sprintf(at, ""))), &actions); err != nil || len(actions) != 2 {
		t.Fatalf("%s, %v", actions, err)
	}
	if strings.Contains(string(actions[0]), `"edit"`) {
		t.Errorf("the edit is there already: %s", actions[0])
	}
	same(t, "command", string(actions[1]), `{"arguments":["ROOT/a.foo"],"command":"fake.run","title":"Run something"}`)
	same(t, "other kinds", c.ask("textDocument/codeAction", fmt.Sprintf(at, `,"only":["refactor"]`)), `[]`)
	action := strings.ReplaceAll(string(actions[0]), "ROOT", c.root)
	if got := c.ask("codeAction/resolve", action); !strings.Contains(got, `"edit":{"documentChanges":[{"edits":[{"newText":"","range":{"start":{"line":1,"character":0},"end":{"line":2,"character":0}}}],"textDocument":{"uri":"ROOT/a.foo","version":1}}]}`) {
		t.Error(got)
	}
	id := c.begins("workspace/executeCommand", `{"command":"fake.run","arguments":["`+c.root+`/a.foo"]}`)
	m := c.next()
	same(t, "asks", m.Method, "workspace/applyEdit")
	same(t, "answers", string(c.next().ID), id)
	c.send(map[string]any{"id": m.ID, "result": map[string]any{"applied": false}})
	same(t, "logs", string(c.next().Params), `{"message":"applyEdit: {\"applied\":false}","type":3}`)
}
