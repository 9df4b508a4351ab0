package console_test

import (
	"strings"
	"testing"
)

// TestBrowseJob watches a command in the background, and stops it.
func TestBrowseJob(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	h.run("", "bash", map[string]any{"command": "echo it serves; until [ -e go ]; do sleep 0.05; done; echo it grows; sleep 300", "background": true})
	b := newTab(t, h)
	b.enter("#/status")
	b.see("it serves")
	h.write("go", "")
	b.see("it grows\n")
	b.press("button", "Stop")
	b.the("dialog", "Please confirm")
	b.pressLast("button", "Stop")
	b.see("ended by")
	b.shot("")
	var all struct{ Jobs []struct{ State string } }
	h.call("GET", "/v1/jobs", nil, &all)
	if len(all.Jobs) != 1 || all.Jobs[0].State != "ended" {
		t.Errorf("the jobs are %+v", all.Jobs)
	}
}

// TestBrowseServers takes an MCP server off and on again: its tools go and
// come.
func TestBrowseServers(t *testing.T) {
	s := newScene(t, "")
	b := newTab(t, s.host)
	b.enter("#/tools")
	b.the("link", "weather_forecast.*")
	b.visit("#/status")
	b.press("button", "Disconnect")
	b.the("button", "Connect")
	b.visit("#/tools")
	b.see("todowrite")
	b.none("link", "weather_forecast.*")
	b.visit("#/status")
	b.press("button", "Connect")
	b.the("button", "Disconnect")
	b.visit("#/tools")
	b.the("link", "weather_forecast.*")
}

// TestBrowseRules asks what would happen, and takes an approval back.
func TestBrowseRules(t *testing.T) {
	h := newHost(t, removing).start()
	b := newTab(t, h)
	b.enter("#/rules")
	b.until("what is asked about most is filled in", `() => document.querySelector('#main .explain-form input').value === 'bash'`)
	b.fill("textbox", "Command, file.*", "git status && rm -rf build")
	b.key("\r")
	b.see("Asked about")
	b.see("rm -rf build")
	b.until("the rule that decides is marked", `() => [...document.querySelectorAll('#main tr.deciding')].some(r => r.textContent.includes('rm *'))`)
	b.shot("asked")
	_, call := h.begin("bash", map[string]any{"command": "rm -rf build"})
	var waiting struct{ Permissions []struct{ ID string } }
	if !poll(t.Context(), func() bool {
		h.call("GET", "/v1/requests", nil, &waiting)
		return len(waiting.Permissions) == 1
	}) {
		t.Fatalf("the call %s does not ask", call)
	}
	h.call("POST", "/v1/permissions/"+waiting.Permissions[0].ID, map[string]any{"reply": "always", "scope": "user"}, nil)
	b.press("button", "Revoke bash.*")
	if found, err := b.find("dialog", ".*"); err == nil && len(found) > 0 {
		b.pressLast("button", "Revoke|Go on|Yes.*")
	}
	b.see("Nothing is approved")
	if kept := h.approvals(); len(kept) != 0 {
		t.Errorf("kept is %+v", kept)
	}
}

// TestBrowseTalk prompts an agent, sees its words come, and stops it.
func TestBrowseTalk(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	slow := says(strings.Repeat("word by word ", 400))
	slow.Chunk, slow.Pace = 13, 20
	h.model.Script("Tell me", says("Short and **strong**."))
	h.model.Script("Go on and on", slow)
	b := newTab(t, h)
	b.enter("#/sessions")
	b.fill("textbox", "Prompt for a new session", "Tell me something")
	b.key("\r")
	b.see("Short and strong.")
	if !eval[bool](b, `() => [...document.querySelectorAll('#main strong')].some(e => e.textContent === 'strong')`) {
		t.Error("the answer is not shown as it was meant")
	}
	b.see("idle")
	b.visit("#/sessions")
	b.fill("textbox", "Prompt for a new session", "Go on and on")
	b.press("button", "Send")
	b.see("word by word word by word")
	b.shot("working")
	b.press("button", "Stop")
	b.the("button", "Send")
	b.see("idle")
	b.shot("stopped")
	if n := eval[int](b, `() => (document.body.innerText.match(/word by word/g) ?? []).length`); n == 0 || n >= 400 {
		t.Errorf("the words were said %d times", n)
	}
}
