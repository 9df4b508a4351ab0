package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/internal/modeltest"
)

// A scene is a project in the midst of work, with something on every page of
// the console. All texts that somebody else could have written pass through
// its words, so that the same scene can be a hostile one.
type scene struct {
	*host
	words   func(string) string
	file    string // that an agent works on
	session string // of the agent, which waits for leave to change a file
	command string // that waits in another session
	title   string // of an empty session
}

// sceneServer is the first argument of a test binary that is to be the MCP
// server of a scene; the second is what its texts end with.
const sceneServer = "scene-mcp-server"

// beSceneServer returns at once, unless the program was started as the MCP
// server of a scene.
func beSceneServer() {
	if len(os.Args) < 3 || os.Args[1] != sceneServer {
		return
	}
	tail := os.Args[2]
	s := mcp.NewServer(&mcp.Implementation{Name: "weather" + tail, Title: "Weather" + tail, Version: "1" + tail}, nil)
	s.AddTool(&mcp.Tool{
		Name: "forecast", Title: "Forecast" + tail, Description: "What the weather will be." + tail,
		InputSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","description":%[1]q,"properties":{
			"town":{"type":"string","title":%[1]q,"description":%[1]q,"default":%[1]q},
			"unit":{"enum":["C",%[1]q]}}}`, "Where"+tail)),
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Rain." + tail}}}, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err, tail)
		os.Exit(1)
	}
	os.Exit(0)
}

const sceneBefore = `package main

import "fmt"

// greet says hello.
func greet(name string) {
	fmt.Println("Hello " + name)
}

func main() { greet("world") }
`

const sceneAfter = `package main

import "fmt"

// greet says hello to somebody.
func greet(name string) {
	fmt.Printf("Good day, %s!\n", name)
}

func main() { greet("world") }
`

// newScene starts a server and lets an agent work until it has to ask.
func newScene(t *testing.T, tail string) *scene {
	t.Helper()
	return setScene(newHost(t, "{}"), tail)
}

func setScene(h *host, tail string) *scene {
	t := h.t
	t.Helper()
	s := &scene{host: h, words: func(s string) string { return s + tail }}
	s.file = s.words("main") + ".go"
	s.command = "rm -rf build && echo " + quoted(s.words("clean"))
	s.title = s.words("Look at the tests")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.config(s.json(map[string]any{
		"permission": map[string]any{"*": "allow", "bash": map[string]any{"*": "allow", "rm *": "ask", s.words("curl ") + "*": "deny"}, "edit": map[string]any{"*": "allow", "*main*": "ask"}},
		"agent":      map[string]any{"reviewer": map[string]any{"mode": "subagent", "description": s.words("Reads what was written."), "prompt": s.words("You review.")}},
		"mcp":        map[string]any{"weather": map[string]any{"type": "local", "command": []string{self, sceneServer, tail}}},
	}))
	s.write(s.file, sceneBefore)
	s.write("notes/"+s.words("todo")+".txt", "Nothing yet.\n"+s.words("One more line."))
	banner := s.words("All is well.") + "\n"
	if tail != "" {
		banner += "\x1b[31mred\x1b[0m \x1b]8;;javascript:window.__pwned=5\x07a link\x1b]8;;\x07 \x1b]0;title\x07\x1b[2J\x00\x9b31m\r\n"
	}
	s.write("banner.txt", banner)
	s.model.Script("Make greet", s.replies()...)
	s.start()
	s.others()
	s.session = s.prompt(s.words("Make greet more polite"))
	if !poll(t.Context(), func() bool {
		permissions, questions := s.waiting()
		return permissions == 2 && questions == 1
	}) {
		t.Fatalf("the scene is not set: %s", s.said)
	}
	return s
}

// json is an object without its braces.
func (s *scene) json(fields map[string]any) string {
	raw, err := json.Marshal(fields)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(raw), "{"), "}")
}

// replies are what the model says: it looks around, plans, runs a program, and
// then wants to change a file.
func (s *scene) replies() []modeltest.Reply {
	look := calls("glob", map[string]any{"pattern": "**/*"})
	look.Text = s.words("I will **look around** first. See [the page](javascript:alert(1)) or [the other](https://example.com/" + "), `code`, and:\n\n```go\nfunc main() {}\n```\n\n- one\n- two\n")
	look.Reasoning = s.words("The person wants a small change.")
	look.Calls = append(look.Calls, calls("read", map[string]any{"filePath": s.file}).Calls...)
	look.Calls = append(look.Calls, calls("grep", map[string]any{"pattern": "greet"}).Calls...)
	return []modeltest.Reply{
		look,
		calls("todowrite", map[string]any{"todos": []map[string]any{
			{"id": "1", "content": s.words("Read the code"), "status": "completed", "priority": "high"},
			{"id": "2", "content": s.words("Change greet"), "status": "in_progress", "priority": "high"},
			{"id": "3", "content": s.words("Run it"), "status": "pending", "priority": "low"},
		}}),
		calls("bash", map[string]any{"command": "sleep 0.6; cat banner.txt", "description": s.words("Check the code")}),
		calls("read", map[string]any{"filePath": s.words("missing") + ".go"}),
		calls("weather_forecast", map[string]any{"town": s.words("Ulm")}),
		calls("bash", map[string]any{"command": "sleep 0.9; cat banner.txt", "description": s.words("Run the tests")}),
		calls("write", map[string]any{"filePath": s.file, "content": strings.Replace(sceneAfter, "to somebody.", s.words("to somebody."), 1)}),
		says("Done."),
	}
}

// others is what goes on beside the agent: an empty session, a change, a job, a
// command and a question that wait.
func (s *scene) others() {
	notes := "notes/" + s.words("todo") + ".txt"
	session := s.run("", "read", map[string]any{"filePath": notes})
	s.run(session, "edit", map[string]any{"filePath": notes, "oldString": "Nothing yet.", "newString": s.words("Nearly done.")})
	s.call("POST", "/v1/sessions", map[string]any{"title": s.title}, nil)
	s.begin("bash", map[string]any{"command": "cat banner.txt; sleep 300", "description": s.words("A server"), "background": true})
	s.begin("bash", map[string]any{"command": s.command, "description": s.words("Clean up")})
	s.begin("question", map[string]any{"questions": []map[string]any{{
		"header": s.words("Style"), "question": s.words("Which greeting do you like?"), "options": []map[string]any{
			{"label": s.words("Hello"), "description": s.words("As before")}, {"label": s.words("Good day"), "description": s.words("More formal")}},
	}}})
}

// quoted is a text as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// pages are where the console can be, with what is there to be waited for.
func (s *scene) pages() map[string]string {
	return map[string]string{
		"sessions": "#/sessions", "session": "#/sessions/" + s.session, "requests": "#/requests", "tools": "#/tools", "tool": "#/tools/todowrite",
		"mcp-tool": "#/tools/weather_forecast", "rules": "#/rules", "changes": "#/changes", "status": "#/status", "todos": "#/sessions/" + s.session + "/todos", "subagents": "#/sessions/" + s.session + "/agents",
		"call": "#/sessions/" + s.session + "/calls/" + s.lastCall("bash"),
	}
}

// lastCall is the newest call of a tool in the agent's session.
func (s *scene) lastCall(tool string) string {
	var found struct{ Calls []struct{ ID string } }
	s.call("GET", "/v1/sessions/"+s.session+"/calls?tool="+tool, nil, &found)
	if len(found.Calls) == 0 {
		s.t.Fatalf("the agent made no call of %s", tool)
	}
	return found.Calls[0].ID
}
