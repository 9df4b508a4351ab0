package console_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Rules under which a command that removes something waits for a person; and
// under which every change of a file does so too.
const (
	removing = `{"*": "allow", "bash": {"*": "allow", "rm *": "ask"}}`
	changing = `{"*": "allow", "bash": {"*": "allow", "rm *": "ask"}, "edit": "ask"}`
)

// waiting are the requests that wait, as the server knows them.
func (h *host) waiting() (permissions, questions int) {
	h.t.Helper()
	var all struct {
		Permissions []any
		Questions   []any
	}
	h.call("GET", "/v1/requests", nil, &all)
	return len(all.Permissions), len(all.Questions)
}

// settled waits until a call has ended and returns its state and output.
func (h *host) settled(session, call string) (state, output string) {
	h.t.Helper()
	var record struct {
		State  string
		Result struct{ Output string }
		Error  struct{ Message string }
	}
	if !poll(h.t.Context(), func() bool {
		h.call("GET", "/v1/sessions/"+session+"/calls/"+call, nil, &record)
		return record.State != "running" && record.State != "pending"
	}) {
		h.t.Fatalf("the call %s goes on and on", call)
	}
	return record.State, record.Result.Output + record.Error.Message
}

// card is the text of the first thing on the page that asks for a decision.
const card = `() => document.querySelector('#main [data-request]')?.innerText ?? ''`

// TestBrowseAllowOnce lets a command run once: what decides is shown first,
// then the whole, and no second click does a second thing.
func TestBrowseAllowOnce(t *testing.T) {
	h := newHost(t, removing).start()
	h.write("build/old.o", "x")
	b := newTab(t, h)
	b.enter("#/requests")
	b.see("Nothing waits")
	command := "echo start && rm -rf build && echo finish > done.txt"
	session, call := h.begin("bash", map[string]any{"command": command, "description": "Clean up"})
	b.see(command)
	b.see("tool bash")
	b.until("the headings stand below each other", `() => {
		const levels = [...document.querySelectorAll('#main :is(h1, h2, h3, h4, h5)')].filter(e => e.checkVisibility()).map(e => Number(e.localName[1]));
		return levels.length > 2 && levels[0] === 1 && levels.every((n, i) => i === 0 || n <= levels[i - 1] + 1);
	}`)
	b.until("the title tells of it", `() => document.title.startsWith('(1) ')`)
	text := eval[string](b, card)
	if first := strings.Index(text, "rm -rf build"); first < 0 || first > strings.Index(text, command) {
		t.Errorf("what decides does not stand first: %s", text)
	}
	b.shot("asked")
	b.answer(func() {
		x, y := b.middle("button", "Allow once.*")
		b.must(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y))
	})
	if state, output := h.settled(session, call); state != "completed" || !strings.Contains(output, "start") {
		t.Errorf("the call ended as %s: %s", state, output)
	}
	if h.read("done.txt") != "finish\n" || h.read("build/old.o") != "" {
		t.Error("the command did not do what it was allowed to")
	}
	b.none("button", "Allow once.*")
	if n := b.sent("POST", "/v1/permissions/"); n != 1 {
		t.Errorf("one decision was sent %d times", n)
	}
	b.shot("done")

	session, call = h.begin("bash", map[string]any{"command": "rm -f done.txt"})
	b.see("rm -f done.txt")
	b.decide("Allow once.*")
	if state, _ := h.settled(session, call); state != "completed" || h.read("done.txt") != "" {
		t.Errorf("the second call ended as %s", state)
	}
}

// calm waits until the cards have stood still for long enough to take an
// answer: one that has just moved takes none.
func (b *tab) calm() {
	b.t.Helper()
	b.until("the cards stand still", `async () => {
		const look = () => JSON.stringify([...document.querySelectorAll('[data-request]')].map(c => { const r = c.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }));
		const before = look();
		await new Promise(done => setTimeout(done, 600));
		return before === look();
	}`)
}

// answer answers a card when it takes an answer, and again where the page says
// that it came too early, as it may on a slow machine.
func (b *tab) answer(press func()) {
	b.t.Helper()
	for range 5 {
		b.calm()
		press()
		if !eval[bool](b, `() => document.body.innerText.includes('The page has just moved')`) {
			return
		}
	}
}

// decide presses a button of a card.
func (b *tab) decide(name string) {
	b.t.Helper()
	b.the("button", name)
	b.answer(func() { b.press("button", name) })
}

// TestBrowseHasty presses on and on where the next card comes up: only what was
// looked at is allowed.
func TestBrowseHasty(t *testing.T) {
	h := newHost(t, changing).start()
	b := newTab(t, h)
	b.enter("#/requests")
	h.begin("bash", map[string]any{"command": "rm -rf build"})
	h.begin("bash", map[string]any{"command": "rm -rf out"})
	b.see("rm -rf build")
	b.see("rm -rf out")
	b.calm()
	b.shot("two")
	x, y := b.middle("button", "Allow once.*")
	for range 4 {
		b.must(chromedp.MouseClickXY(x, y), chromedp.MouseClickXY(x, y))
		if found, err := b.find("button", "Allow once.*"); err == nil && len(found) > 0 {
			if atX, atY, err := b.point(found[0]); err == nil {
				x, y = atX, atY
			}
		}
	}
	b.see("One waits for an answer")
	if n := b.sent("POST", "/v1/permissions/"); n != 1 {
		t.Errorf("%d requests were answered in a hurry", n)
	}
	b.decide("Allow once.*")
	b.see("Nothing waits")
}

// approvals are the rules that were kept.
func (h *host) approvals() (all []struct {
	Permission, Pattern, Scope string
	Exact                      bool
}) {
	h.t.Helper()
	var rules struct{ Approvals json.RawMessage }
	h.call("GET", "/v1/rules", nil, &rules)
	if err := json.Unmarshal(rules.Approvals, &all); err != nil {
		h.t.Fatal(err)
	}
	return all
}

// TestBrowseAllowEdit lets a file be changed after the change was read, on the
// page of the session.
func TestBrowseAllowEdit(t *testing.T) {
	h := newHost(t, changing).start()
	h.write("greet.go", sceneBefore)
	h.model.Script("polite", calls("read", map[string]any{"filePath": "greet.go"}),
		calls("edit", map[string]any{"filePath": "greet.go", "oldString": `"Hello "`, "newString": `"Good day, "`}), says("It is polite now."))
	b := newTab(t, h)
	b.enter("#/sessions")
	b.fill("textbox", "Prompt for a new session", "Make it polite")
	b.press("button", "Send")
	b.until("the change is shown", `() => [...document.querySelectorAll('#main [data-request] tr.add')].some(r => r.textContent.includes('Good day, '))
		&& [...document.querySelectorAll('#main [data-request] tr.del')].some(r => r.textContent.includes('Hello '))`)
	b.shot("asked")
	if h.read("greet.go") != sceneBefore {
		t.Fatal("the file was changed before it was allowed")
	}
	b.decide("Allow once.*")
	b.see("It is polite now.")
	if got := h.read("greet.go"); !strings.Contains(got, "Good day, ") {
		t.Errorf("the file holds %s", got)
	}
	b.shot("done")
}

// TestBrowseAlways keeps a rule that the person has made narrower: what it
// covers is not asked about again, and what it does not cover is.
func TestBrowseAlways(t *testing.T) {
	h := newHost(t, removing).start()
	b := newTab(t, h)
	b.enter("#/requests")
	session, call := h.begin("bash", map[string]any{"command": "rm -f build/a.o"})
	b.decide("Always.*")
	b.shot("offer")
	b.fill("textbox", ".*(pattern|rule).*", "rm -f build/*")
	b.press("radio", ".*project.*")
	b.shot("edited")
	b.decide("Allow from now on")
	if state, output := h.settled(session, call); state != "completed" {
		t.Errorf("the call ended as %s: %s", state, output)
	}
	kept := h.approvals()
	if len(kept) != 1 || kept[0].Permission != "bash" || kept[0].Pattern != "rm -f build/*" || kept[0].Exact || kept[0].Scope != "project" {
		t.Errorf("kept is %+v", kept)
	}
	h.run("", "bash", map[string]any{"command": "rm -f build/b.o"})
	h.begin("bash", map[string]any{"command": "rm -f other/b.o"})
	b.see("rm -f other/b.o")
	b.visit("#/rules")
	b.see("rm -f build/*")
	b.shot("rules")
}

// TestBrowseReject refuses with words, which the model gets.
func TestBrowseReject(t *testing.T) {
	h := newHost(t, removing).start()
	h.model.Script("clean", calls("bash", map[string]any{"command": "rm -rf build"}), says("Then I leave it."))
	b := newTab(t, h)
	session := h.prompt("Please clean up")
	b.enter("#/sessions/" + session)
	b.decide("Reject.*")
	b.fill("textbox", "What should be done instead.*", "Run make clean, it keeps the cache")
	b.shot("")
	b.decide("Reject")
	if !poll(t.Context(), func() bool {
		for _, r := range h.model.Requests() {
			for _, result := range r.Results() {
				if strings.Contains(result.Text, "Run make clean, it keeps the cache") {
					return true
				}
			}
		}
		return false
	}) {
		t.Error("the model was not told")
	}
	b.see("Then I leave it.")
}
