package console_test

import (
	"strings"
	"testing"
)

// TestBrowseQuestion answers questions by picking, and in words of one's own,
// and dismisses one.
func TestBrowseQuestion(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	b.enter("#/requests")
	ask := func(text string, multiple bool) (session, call string) {
		return h.begin("question", map[string]any{"questions": []map[string]any{
			{"header": "Colour", "question": text, "multiple": multiple, "options": []map[string]any{
				{"label": "Red", "description": "Like a rose"}, {"label": "Blue", "description": "Like the sea"}, {"label": "Green", "description": "Like a leaf"}}},
		}})
	}
	session, call := ask("Which one?", false)
	b.see("Which one?")
	b.see("Like the sea")
	b.shot("asked")
	b.decide("Send the answer")
	b.see("Pick an answer")
	b.press("radio", "Blue.*")
	b.decide("Send the answer")
	if state, output := h.settled(session, call); state != "completed" || !strings.Contains(output, `"Which one?"="Blue"`) {
		t.Errorf("the call ended as %s: %s", state, output)
	}

	session, call = ask("Which ones?", true)
	b.see("Which ones?")
	b.press("checkbox", "Red.*")
	b.press("checkbox", "Green.*")
	b.fill("textbox", "Your own words", "a little <b>yellow</b>")
	b.shot("own")
	b.decide("Send the answer")
	if state, output := h.settled(session, call); state != "completed" || !strings.Contains(output, `"Which ones?"="Red, Green, a little <b>yellow</b>"`) {
		t.Errorf("the call ended as %s: %s", state, output)
	}

	session, call = ask("Any at all?", false)
	b.see("Any at all?")
	b.decide("Dismiss")
	if state, output := h.settled(session, call); state != "error" {
		t.Errorf("the call ended as %s: %s", state, output)
	}
	b.see("Nothing waits")
}
