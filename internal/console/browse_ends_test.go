package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// dots are the states that the dots of calls show, in the order of the page.
const dots = `() => [...document.querySelectorAll('#main :is(.tool-part, .list, .calls) .dot')].filter(e => e.checkVisibility()).map(e => e.dataset.state).join(' ')`

// TestBrowseEnds shows how calls ended: a command that ended with another code
// than 0, and one that was stopped, are told alike in the conversation and among
// the calls. A turn that was stopped within a call can be gone on with.
func TestBrowseEnds(t *testing.T) {
	h := newHost(t, `{"*": "allow", "bash": {"rm *": "deny"}}`).start()
	h.model.Script("Try it", calls("bash", map[string]any{"command": "true", "description": "works"}),
		calls("bash", map[string]any{"command": "exit 3", "description": "does not"}),
		calls("bash", map[string]any{"command": "kill -9 $$", "description": "is killed"}),
		calls("bash", map[string]any{"command": "rm x", "description": "is denied"}),
		says("| what | how many | is |\n|:--|--:|:-:|\n| a | 1 | x |\n"))
	h.model.Script("Go on and on", calls("bash", map[string]any{"command": "sleep 1000", "description": "sleeps"}), says("It went on."))
	b := newTab(t, h)
	session := h.prompt("Try it")
	b.enter("#/sessions/" + session)
	b.see("how many")
	b.see("idle")
	sides := `() => [...document.querySelectorAll('#main td')].map(e => getComputedStyle(e).textAlign).join(' ')`
	if got := eval[string](b, sides); !strings.HasSuffix(got, "right center") {
		t.Errorf("the columns stand %q", got)
	}
	b.none("button", "Resume")
	if got := eval[string](b, dots); got != "completed error error error" {
		t.Errorf("the conversation shows %q", got)
	}
	b.see("bash rm x is denied by the rule bash rm * = deny")
	b.until("the person reads no text for models", `() => !document.querySelector('#main').textContent.includes('The user has specified')`)
	b.shot("exit")
	for _, when := range []string{"while it was looked at", "loaded anew"} {
		b.visit("#/sessions/" + session + "/calls")
		b.until("the calls show the same, "+when, `() => (`+dots+`)() === 'completed error error error'`)
		b.must(chromedp.Reload())
	}
	b.shot("calls")

	session = h.prompt("Go on and on")
	b.visit("#/sessions/" + session)
	b.see("sleep") // the command, or its description where the page saw it begin
	b.press("button", "Stop")
	b.the("button", "Resume")
	if got := eval[string](b, dots); got != "error" {
		t.Errorf("the conversation shows %q", got)
	}
	b.shot("stopped")
	b.visit("#/sessions/" + session + "/calls")
	b.until("the calls show the same", `() => (`+dots+`)() === 'error'`)
	b.visit("#/sessions/" + session)
	b.press("button", "Resume")
	b.see("It went on.")
}

// TestBrowseShutdown ends the server during a call, gently and at once: the next
// one shows a call that did not work, and a turn that can be gone on with.
func TestBrowseShutdown(t *testing.T) {
	for name, end := range map[string]func(*host){"stopped": (*host).stop, "killed": (*host).kill} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, `{"*": "allow"}`).start()
			h.model.Script("Go on and on", calls("bash", map[string]any{"command": "sleep 1000", "description": "sleeps"}), says("It went on."))
			b := newTab(t, h, broken)
			session := h.prompt("Go on and on")
			b.enter("#/sessions/" + session)
			b.see("sleep")
			end(h)
			h.start()
			b.must(chromedp.Reload())
			b.the("button", "Resume")
			b.until("the conversation shows it", `() => (`+dots+`)() === 'error'`)
			b.shot("talk")
			b.visit("#/sessions/" + session + "/calls")
			want := map[string]string{"stopped": "error", "killed": "interrupted"}[name]
			b.until("the calls show it", `() => (`+dots+`)() === '`+want+`'`)
			b.visit("#/sessions/" + session)
			b.press("button", "Resume")
			b.see("It went on.")
		})
	}
}

// TestBrowseNoSession opens a session that there is not: nothing can be said to it.
func TestBrowseNoSession(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h, "404")
	b.enter("#/sessions/ses_none")
	b.see("There is no such session")
	b.until("there is nobody to talk to", `() => !document.querySelector('#main :is(textarea, [role=tablist])')`)
	b.shot("")
}

// TestBrowseCardInSight has a long request in a session, in windows of many
// heights: its card is whole, and its buttons are in sight, also while the rules are open.
func TestBrowseCardInSight(t *testing.T) {
	h := newHost(t, removing).start()
	session, _ := h.begin("bash", map[string]any{"command": "rm -rf " + strings.Repeat("build/with/a/long/name ", 40), "description": "Clean up"})
	b := newTab(t, h)
	b.enter("#/sessions/" + session)
	inSight := `() => {
		const place = document.querySelector('.ses-cards').getBoundingClientRect();
		const card = document.querySelector('.ses-cards .request').getBoundingClientRect();
		return card.bottom <= place.bottom && [...document.querySelectorAll('.req-actions button')].every(e => {
			const r = e.getBoundingClientRect();
			return r.height > 0 && r.bottom <= Math.min(innerHeight, place.bottom) && e.contains(document.elementFromPoint(r.x + r.width / 2, r.bottom - 2));
		});
	}`
	for _, height := range []int64{1000, 720, 600, 500} {
		b.must(chromedp.EmulateViewport(1100, height))
		b.the("button", "Allow once.*")
		b.until("the buttons are in sight", inSight)
		b.shot("")
	}
	b.decide("Always.*")
	b.until("the buttons are in sight, with the rules", inSight)
	b.shot("always")
}
