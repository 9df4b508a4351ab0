package console_test

import (
	"fmt"
	"strings"
	"testing"
)

// changed is a host whose agent has changed a file of a few lines.
func changed(t *testing.T) (h *host, session string) {
	t.Helper()
	h = newHost(t, `{"*": "allow"}`).start()
	h.write("greet.go", sceneBefore)
	session = h.run("", "read", map[string]any{"filePath": "greet.go"})
	h.run(session, "edit", map[string]any{"filePath": "greet.go", "oldString": sceneBefore, "newString": sceneAfter})
	return h, session
}

// TestBrowseUndo takes a change back: what will happen is shown first, and the
// file is then as it was; and the undo can be undone.
func TestBrowseUndo(t *testing.T) {
	h, _ := changed(t)
	b := newTab(t, h)
	b.enter("#/changes")
	b.see("greet.go")
	b.press("button", "Undo …")
	b.see("Nothing has been done yet")
	b.see("greet says hello to somebody.")
	b.shot("preview")
	if h.read("greet.go") != sceneAfter {
		t.Fatal("the preview has changed the file")
	}
	b.press("button", "Undo")
	b.the("dialog", "Please confirm")
	b.shot("confirm")
	b.pressLast("button", "Undo")
	b.see("Undone")
	if got := h.read("greet.go"); got != sceneBefore {
		t.Errorf("the file holds %q", got)
	}
	b.press("button", "Undo the undo …")
	b.see("Nothing has been done yet")
	b.press("button", "Undo")
	b.the("dialog", "Please confirm")
	b.pressLast("button", "Undo")
	if !poll(t.Context(), func() bool { return h.read("greet.go") == sceneAfter }) {
		t.Errorf("the file holds %q", h.read("greet.go"))
	}
}

// TestBrowseUndoConflict wants to take a change back after somebody else has
// changed the file: it is said, and the file is left alone.
func TestBrowseUndoConflict(t *testing.T) {
	h, _ := changed(t)
	own := strings.ReplaceAll(sceneAfter, "Good day", "Servus")
	h.write("greet.go", own)
	b := newTab(t, h)
	b.enter("#/changes")
	b.press("button", "Undo …")
	b.see("can not be put back")
	b.see("conflict")
	b.shot("")
	b.until("the undo can not be done", `() => [...document.querySelectorAll('#main button')].find(b => b.textContent === 'Undo')?.disabled`)
	if h.read("greet.go") != own {
		t.Error("the file was changed")
	}
}

// TestBrowseDiff reads a change inline and side by side, with the numbers of
// its lines and the colours of its language.
func TestBrowseDiff(t *testing.T) {
	h, session := changed(t)
	b := newTab(t, h)
	b.enter("#/sessions/" + session + "/calls/" + h.newest("edit").ID)
	b.until("the diff is there", `() => document.querySelectorAll('#main .diff-body tr').length > 8`)
	rows := `() => [...document.querySelectorAll('#main .diff-body tr')].map(r => [...r.cells].map(c => c.textContent).join('|'))`
	checkDiff(t, eval[[]string](b, rows), "7||−|	fmt.Println(\"Hello \" + name)", "|7|+|	fmt.Printf(\"Good day, %s!\\n\", name)")
	if n := eval[int](b, `() => new Set([...document.querySelectorAll('#main .diff-body td.text span')].map(s => s.className).filter(Boolean)).size`); n < 4 {
		t.Errorf("there are only %d colours", n)
	}
	b.shot("inline")
	b.press("button", "Side by side|Split")
	b.until("both sides are shown", `() => [...document.querySelectorAll('#main .diff-body tr')].some(r => r.cells.length === 6)`)
	checkDiff(t, eval[[]string](b, rows), "7|−|	fmt.Println(\"Hello \" + name)|7|+|	fmt.Printf(\"Good day, %s!\\n\", name)")
	b.shot("split")
	b.press("button", "Inline|Unified")
	b.until("one side is shown", `() => [...document.querySelectorAll('#main .diff-body tr')].some(r => r.cells.length === 4)`)
}

func checkDiff(t *testing.T, rows []string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !strings.Contains(fmt.Sprintf("\n%s\n", strings.Join(rows, "\n")), "\n"+line+"\n") {
			t.Errorf("there is no row %q in\n%s", line, strings.Join(rows, "\n"))
		}
	}
}

// TestBrowseChangesOf names a file as it is called from the folder that the
// server works in: the server knows which one that is.
func TestBrowseChangesOf(t *testing.T) {
	h, _ := changed(t)
	b := newTab(t, h)
	b.enter("#/changes")
	b.see("greet.go")
	b.fill("searchbox", "File or folder", "other.go")
	b.key("\r")
	b.see("No change fits this filter")
	b.fill("searchbox", "File or folder", "greet.go")
	b.key("\r")
	b.until("the change is found", `() => location.hash === '#/changes?file=greet.go' && !!document.querySelector('#main .change')`)
}
