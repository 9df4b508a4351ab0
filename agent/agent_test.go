package agent_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/modeltest"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/model/openai"
	"github.com/helve-dev/helve/permission"
)

// folder makes a folder with notes and a runtime in it that asks before it
// edits.
func folder(dir string) (*helve.Runtime, error) {
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("teh cat\n"), 0o600); err != nil {
		return nil, err
	}
	rules, err := permission.ParseConfig([]byte(`{"edit": "ask"}`), permission.ConfigOptions{})
	if err != nil {
		return nil, err
	}
	return helve.Open(helve.Options{Dir: dir, Worktree: dir, Rules: rules})
}

// scripted is a model that plays a script.
func scripted(server *modeltest.Server) (model.Model, error) {
	server.Script("Mend",
		modeltest.Reply{Text: "I look first.", Calls: []modeltest.Call{{Name: "read", Args: `{"filePath":"notes.txt"}`}}},
		modeltest.Reply{Calls: []modeltest.Call{{Name: "edit", Args: `{"filePath":"notes.txt","oldString":"teh","newString":"the"}`}}},
		modeltest.Reply{Text: "It says 'the cat' now."})
	return openai.Connect(openai.Options{BaseURL: server.URL(), Key: "none"}, "m")
}

// Let an agent work on a prompt: show what it says and does, and answer what it
// asks. With a key the model would be anthropic.New(key, "claude-sonnet-4-5").
func ExampleAgent_Run() {
	server, err := modeltest.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	m, err := scripted(server)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	rt, err := folder(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()

	a := agent.New(rt, agent.Options{Model: m})
	for e, err := range a.Run(context.Background(), "Mend the typo in notes.txt.") {
		if err != nil {
			log.Fatal(err)
		}
		switch e := e.(type) {
		case agent.Text:
			fmt.Print(e.Delta)
		case event.CallFinished:
			fmt.Println("\n -", e.Tool, e.Result.Title)
		case event.PermissionAsked:
			fmt.Println(" ? may it", e.Permission, filepath.Base(e.Patterns[0]))
			if err := rt.Requests().Reply(e.ID, permission.Reply{Verdict: permission.ReplyOnce}); err != nil {
				log.Fatal(err)
			}
		case *agent.Turn:
			fmt.Println("\n=", e.End)
		}
	}
	// Output:
	// I look first.
	//  - read notes.txt
	//  ? may it edit notes.txt
	//
	//  - edit notes.txt
	// It says 'the cat' now.
	// = done
}

// A second prompt goes on with the conversation of the first one.
func TestConversation(t *testing.T) {
	server := modeltest.Start(t)
	m, err := scripted(server)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	a := agent.New(rt, agent.Options{Model: m})
	run := func(prompt string) (words string, turn *agent.Turn) {
		t.Helper()
		for e, err := range a.Run(t.Context(), prompt) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case agent.Text:
				words += e.Delta
			case *agent.Turn:
				turn = e
			}
		}
		return words, turn
	}
	if a.Session() != "" {
		t.Errorf("a new conversation is called %q before it begins", a.Session())
	}
	words, first := run("Hello.")
	if words != "done" || first == nil || first.End != agent.EndDone || first.Session != a.Session() {
		t.Errorf("the first turn said %q and was %+v in %s", words, first, a.Session())
	}
	words, second := run("Once more.")
	if words != "done" || second.Session != first.Session {
		t.Errorf("the second turn said %q, in session %s after %s", words, second.Session, first.Session)
	}
	if last := server.Requests()[1]; !strings.Contains(fmt.Sprint(last), "Hello.") {
		t.Errorf("the second request does not hold the first prompt: %v", last)
	}
}

// Whoever leaves the loop cancels the turn, and it can be resumed.
func TestLeave(t *testing.T) {
	server := modeltest.Start(t)
	m, err := scripted(server)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	a := agent.New(rt, agent.Options{Model: m})
	for e, err := range a.Run(t.Context(), "Mend the typo.") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.(event.PermissionAsked); ok {
			break
		}
	}
	if n := len(rt.Requests().Pending()); n != 0 {
		t.Errorf("%d requests still wait", n)
	}
	if a.Session() == "" {
		t.Fatal("the conversation was forgotten")
	}
	var turn *agent.Turn
	for e, err := range a.Resume(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case event.PermissionAsked:
			if err := rt.Requests().Reply(e.ID, permission.Reply{Verdict: permission.ReplyOnce}); err != nil {
				t.Fatal(err)
			}
		case *agent.Turn:
			turn = e
		}
	}
	if turn == nil || turn.End != agent.EndDone {
		t.Errorf("resumed: %+v", turn)
	}
}

// A model that can not answer is a turn, and then an error.
func TestModelFails(t *testing.T) {
	server := modeltest.Start(t)
	server.Script("Go.", modeltest.Reply{Fault: &modeltest.Fault{Status: 401}})
	m, err := openai.Connect(openai.Options{BaseURL: server.URL(), Key: "none"}, "m")
	if err != nil {
		t.Fatal(err)
	}
	rt, err := folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	var seen []string
	for e, err := range agent.New(rt, agent.Options{Model: m}).Run(t.Context(), "Go.") {
		if turn, ok := e.(*agent.Turn); ok {
			seen = append(seen, string(turn.End))
		}
		if err != nil {
			seen = append(seen, err.Error())
		}
	}
	if len(seen) != 2 || seen[0] != string(agent.EndFailed) || !strings.HasPrefix(seen[1], "the model could not answer: ") {
		t.Errorf("%q", seen)
	}
}

// What can not begin is an error and no turn.
func TestNothingToDo(t *testing.T) {
	rt, err := folder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, a := range []*agent.Agent{agent.New(rt, agent.Options{}), agent.New(rt, agent.Options{Session: "ses_none"})} {
		n := 0
		for e, err := range a.Run(t.Context(), "Go.") {
			if n++; e != nil || err == nil {
				t.Errorf("%v, %v", e, err)
			}
		}
		if n != 1 {
			t.Errorf("%d events", n)
		}
	}
}
