package lsptest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNoVersion(t *testing.T) {
	c := ready(t, "--no-version")
	c.open("a.foo", "WARN")
	same(t, "published", c.published(), "a.foo | 2 fake 0:0-0:4 warn found: WARN")
}

func TestUTF8(t *testing.T) {
	c := ready(t, "--utf8")
	c.open("a.foo", "ERROR é\n\U0001F600 word")
	same(t, "published", c.published(), "a.foo v1 | 1 fake 0:0-0:8 error found: ERROR é")
	same(t, "word", c.ask("textDocument/prepareRename", c.at("a.foo", 1, 5, "")), `{"placeholder":"word","range":{"start":{"line":1,"character":5},"end":{"line":1,"character":9}}}`)
}

// A server may do what it does not claim to.
func TestNoCapabilities(t *testing.T) {
	c := begin(t, "--no-capabilities", "--utf8")
	said := c.ask("initialize", fmt.Sprintf(`{"rootUri":%q,"capabilities":{"general":{"positionEncodings":["utf-8"]}}}`, c.root))
	same(t, "initialize", said, `{"capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)
	c.tell("initialized", `{}`)
	c.open("a.foo", "VAGUE é")
	same(t, "published", c.published(), "a.foo v1 | 0 fake 0:0-0:7 vague found: VAGUE é")
	same(t, "hover", c.ask("textDocument/hover", c.at("a.foo", 0, 0, "")), `{"contents":{"kind":"markdown","value":"hover at 0:0"}}`)
}

func TestNear(t *testing.T) {
	c := ready(t, "--near", "1")
	for _, name := range []string{"a.foo", "b.foo"} {
		c.open(name, "word")
		c.published()
	}
	for i, want := range []bool{false, true} {
		got := c.ask("textDocument/rename", c.at("a.foo", 0, 0, `,"newName":"x"`))
		if !strings.Contains(got, "a.foo") || strings.Contains(got, "b.foo") != want {
			t.Errorf("rename %d: %s", i, got)
		}
	}
}

func TestLateSymbols(t *testing.T) {
	c := ready(t, "--late-symbols", "--delay", "textDocument/publishDiagnostics=100")
	c.open("a.foo", "fine")
	same(t, "symbols", c.ask("workspace/symbol", `{"query":""}`), "null")
	c.published()
	same(t, "symbols", strings.Contains(c.ask("workspace/symbol", `{"query":""}`), "sym5"), true)
}

func TestPull(t *testing.T) {
	for _, flag := range []string{"--pull", "--register-pull"} {
		c := ready(t, flag)
		if flag == "--register-pull" {
			m := c.next()
			same(t, "registers", m.Method+string(m.Params), `client/registerCapability{"registrations":[{"id":"pull","method":"textDocument/diagnostic","registerOptions":{"identifier":"fake","interFileDependencies":true,"workspaceDiagnostics":false}}]}`)
			c.send(map[string]any{"id": m.ID, "result": nil})
			same(t, "is told", c.next().Method, "window/logMessage")
		}
		c.open("a.foo", "WARN\nBREAK b.foo") // nothing is published
		got := c.ask("textDocument/diagnostic", c.at("a.foo", 0, 0, ""))
		if !strings.Contains(got, "warn found: WARN") || !strings.Contains(got, `"ROOT/b.foo":{"items":[{`) || !strings.Contains(got, `"kind":"full"`) {
			t.Error(got)
		}
		ids := regexp.MustCompile(`"resultId":"(\w+)"`).FindAllStringSubmatch(got, -1)
		same(t, "unchanged", strings.Contains(c.ask("textDocument/diagnostic", c.at("a.foo", 0, 0, `,"previousResultId":"`+ids[len(ids)-1][1]+`"`)), `"kind":"unchanged"`), true)
		c.change("a.foo", 2, "", "fine")
		got = c.ask("textDocument/diagnostic", c.at("a.foo", 0, 0, ""))
		if !strings.Contains(got, `"ROOT/b.foo":{"items":[],`) {
			t.Errorf("not healed: %s", got)
		}
	}
}

// The server ends when the client breaks the protocol.
func TestStrict(t *testing.T) {
	for name, do := range map[string]func(*client){
		"opened twice":   func(c *client) { c.open("a.foo", ""); c.open("a.foo", "") },
		"not opened":     func(c *client) { c.change("a.foo", 2, "", "") },
		"old version":    func(c *client) { c.open("a.foo", ""); c.change("a.foo", 1, "", "") },
		"closed twice":   func(c *client) { c.tell("textDocument/didClose", c.at("a.foo", 0, 0, "")) },
		"part of a text": func(c *client) { c.open("a.foo", ""); c.change("a.foo", 2, `{}`, "") },
		"no question":    func(c *client) { c.send(map[string]any{"id": 77, "result": 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			c := ready(t, "--full-sync")
			do(c)
			same(t, "exit code", c.ends(), broken)
		})
	}
}

func TestTimes(t *testing.T) {
	c := ready(t, "--delay", "textDocument/hover=60000", "--delay", "textDocument/definition=50", "--never", "textDocument/rename", "--stale", "50")
	c.open("a.foo", "ERROR 1")
	c.published()
	hover := c.begins("textDocument/hover", c.at("a.foo", 0, 0, ""))
	c.begins("textDocument/rename", c.at("a.foo", 0, 0, ""))
	definition := c.begins("textDocument/definition", c.at("a.foo", 0, 0, ""))
	references := c.begins("textDocument/references", c.at("a.foo", 0, 0, ""))
	same(t, "first", string(c.next().ID), references)
	same(t, "then", string(c.next().ID), definition)
	c.tell("$/cancelRequest", `{"id":`+hover+`}`)
	m := c.next()
	same(t, "cancelled", string(m.ID)+string(m.Error), hover+`{"code":-32800,"message":"cancelled"}`)
	c.change("a.foo", 2, "", "ERROR 2")
	same(t, "stale", c.published(), "a.foo v1 | 1 fake 0:0-0:7 error found: ERROR 1")
	same(t, "true", c.published(), "a.foo v2 | 1 fake 0:0-0:7 error found: ERROR 2")
}

// A deaf server would have answered the second request first.
func TestDeaf(t *testing.T) {
	c := ready(t, "--delay", "textDocument/hover=200", "--deaf", "textDocument/hover")
	c.open("a.foo", "word")
	c.published()
	hover := c.begins("textDocument/hover", c.at("a.foo", 0, 0, ""))
	c.begins("textDocument/references", c.at("a.foo", 0, 0, ""))
	same(t, "first", string(c.next().ID), hover)
}

func TestDie(t *testing.T) {
	for _, c := range []struct {
		flag string
		code int
		do   func(c *client)
	}{
		{"start=7", 7, func(*client) {}},
		{"after-initialize", 1, func(c *client) { c.ask("initialize", `{}`) }},
		{"textDocument/didOpen=9", 9, func(c *client) {
			c.ask("initialize", `{}`)
			c.open("a.foo", "")
		}},
	} {
		client := begin(t, "--die", c.flag)
		c.do(client)
		same(t, "exit code of "+c.flag, client.ends(), c.code)
		when, _, _ := strings.Cut(c.flag, "=")
		same(t, "last words", client.printed(), word+": fatal at "+when+"\n")
	}
	mark := filepath.Join(t.TempDir(), "mark")
	for _, code := range []int{7, 1} { // the second one ends because nothing comes any more
		c := begin(t, "--die", "start=7", "--once", mark)
		c.in.Close()
		same(t, "exit code", c.ends(), code)
	}
}

func TestNeverExit(t *testing.T) {
	c := ready(t, "--never", "exit")
	c.tell("exit", `null`)
	same(t, "goes on", c.ask("shutdown", `null`), `null`)
}

func TestGarbageAndStray(t *testing.T) {
	c := begin(t, "--stray", "--garbage", "shutdown")
	c.begins("initialize", `{}`)
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	same(t, "printed", line, "stray line 1\n")
	same(t, "then", string(c.next().ID), "1")
	c.begins("shutdown", `null`)
	broken := make([]byte, len("Content-Length: twelve"))
	if _, err := io.ReadFull(c.out, broken); err != nil || string(broken) != "Content-Length: twelve" {
		t.Errorf("%q, %v", broken, err)
	}
}

func TestFlood(t *testing.T) {
	c := ready(t, "--flood", "3")
	c.open("a.foo", "")
	same(t, "itself", c.published(), "a.foo v1")
	for i := range 3 {
		same(t, "other", c.published(), fmt.Sprintf("flood/%d.foo | 1 fake 0:0-0:1 flood %d", i, i))
	}
}

func TestConfigWatchAndLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c := ready(t, "--config", "a,b.c", "--watch", "**/*.foo", "--log", log)
	m := c.next()
	same(t, "watch", m.Method+string(m.Params), `client/registerCapability{"registrations":[{"id":"watch","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.foo"}]}}]}`)
	m = c.next()
	same(t, "asks", m.Method+string(m.Params), `workspace/configuration{"items":[{"section":"a"},{"section":"b.c"}]}`)
	c.send(map[string]any{"id": m.ID, "result": []int{1, 2}})
	same(t, "logs", string(c.next().Params), `{"message":"configuration: [1,2]","type":3}`)
	got, err := Received(log)
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for _, m := range got {
		methods = append(methods, m.Method+string(m.Result))
	}
	same(t, "received", methods, []string{"initialize", "initialized", "[1,2]"})
	none, err := Received(log + "none")
	if err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func TestChildAndGrow(t *testing.T) {
	c := ready(t, "--child", "--grow", "8")
	c.open("a.foo", "")
	c.published()
	c.tell("exit", `null`)
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 1 {
		t.Error(err)
	}
	var pid int
	if _, err := fmt.Sscanf(c.printed(), "child %d", &pid); err != nil {
		t.Fatalf("no child: %q", c.printed())
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(); err != nil {
		t.Errorf("the child has ended with its parent: %v", err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, flags := range [][]string{{"--none"}, {"more"}, {"--delay", "x"}, {"--stale", "y"}, {"--die", "start=x"}} {
		if _, err := parseFlags(flags); err == nil {
			t.Errorf("%q is taken", flags)
		}
	}
}
