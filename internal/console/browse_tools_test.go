package console_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// newest is the newest call of a tool over all sessions, as it was recorded.
func (h *host) newest(tool string) (record struct{ ID, Session, State, Input string }) {
	h.t.Helper()
	var found struct {
		Calls []struct{ ID, Session string }
	}
	if !poll(h.t.Context(), func() bool {
		h.call("GET", "/v1/calls?limit=1&tool="+tool, nil, &found)
		return len(found.Calls) > 0
	}) {
		h.t.Fatalf("there is no call of %s", tool)
	}
	c := found.Calls[0]
	h.settled(c.Session, c.ID)
	h.call("GET", "/v1/sessions/"+c.Session+"/calls/"+c.ID, nil, &record)
	return record
}

// TestBrowseTool calls a tool from its form: with a field missing, filled in,
// and as JSON.
func TestBrowseTool(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	h.write("hello.txt", "hello from the file\n")
	b := newTab(t, h)
	b.enter("#/tools")
	b.fill("searchbox", "Filter tools", "read")
	b.press("link", "read .*")
	b.the("heading", "read")
	b.press("button", "Run")
	b.see("Fill this in")
	b.until("the field that is missing has the focus, and says what is wrong", `() => {
		const at = document.activeElement;
		return at.getAttribute('aria-invalid') === 'true' && document.getElementById(at.getAttribute('aria-describedby').split(' ').at(-1))?.textContent.includes('Fill this in');
	}`)
	if n := b.sent("POST", "/v1/calls"); n != 0 {
		t.Errorf("a form that is not filled in was sent %d times", n)
	}
	b.shot("missing")
	b.fill("textbox", "filePath", "hello.txt")
	b.press("button", "Run")
	b.see("hello from the file")
	b.see("Completed")
	b.shot("")
	if got := h.newest("read"); got.State != "completed" || !strings.Contains(got.Input, "hello.txt") {
		t.Errorf("the call was recorded as %+v", got)
	}
	b.press("button", "JSON")
	b.fill("textbox", "The arguments as JSON", `{"filePath": "hello.txt", "limit": "many"}`)
	b.press("button", "Run")
	b.see("limit")
	b.fill("textbox", "The arguments as JSON", `{"filePath": "no-such-file.txt"}`)
	b.press("button", "Run")
	b.see("Failed")
	b.see("no-such-file.txt")
}

// TestBrowseNestedForm fills in a list of objects.
func TestBrowseNestedForm(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	b.enter("#/tools/todowrite")
	b.the("heading", "todowrite")
	b.press("button", "Add an entry")
	for name, text := range map[string]string{"content": "Write the tests", "status": "pending", "priority": "high", "id": "1"} {
		b.fill("textbox", name, text)
	}
	b.press("button", "Add an entry")
	b.press("button", "Run")
	b.see("Fill this in")
	b.press("button", "Remove entry 2")
	b.press("button", "Run")
	b.see("Completed")
	b.see("Write the tests")
	b.shot("")
	var got struct{ Todos []map[string]any }
	if err := json.Unmarshal([]byte(h.newest("todowrite").Input), &got); err != nil || len(got.Todos) != 1 || got.Todos[0]["content"] != "Write the tests" {
		t.Errorf("what was sent is %+v (%v)", got, err)
	}
}
