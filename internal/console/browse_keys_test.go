package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until what has the focus fits a function of the page. What
// has it on the way must be seen to have it.
func (b *tab) tabTo(what, function string) {
	b.t.Helper()
	for range 60 {
		if eval[bool](b, `() => (`+function+`)(document.activeElement)`) {
			return
		}
		b.key(kb.Tab)
		if unseen := eval[string](b, unmarked); unseen != "" {
			b.t.Errorf("it can not be seen that this has the focus: %s", unseen)
		}
	}
	b.t.Fatalf("Tab does not lead to %s", what)
}

// unmarked is what has the focus without a mark of it.
const unmarked = `() => {
	const at = document.activeElement;
	if (!at || at === document.body) return '';
	const s = getComputedStyle(at);
	const marked = s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== 'none';
	const around = at.parentElement && getComputedStyle(at.parentElement);
	return marked || around?.outlineStyle !== 'none' || around?.boxShadow !== 'none' ? '' : at.outerHTML.slice(0, 200);
}`

// TestBrowseKeys does without a mouse: goes to a session, moves through its
// calls, opens one, and decides.
func TestBrowseKeys(t *testing.T) {
	h := newHost(t, removing).start()
	h.write("hello.txt", "hello from the file\n")
	h.model.Script("look", calls("read", map[string]any{"filePath": "hello.txt"}), calls("glob", map[string]any{"pattern": "*.txt"}),
		calls("bash", map[string]any{"command": "rm -f hello.txt"}), says("It is gone."))
	session := h.prompt("Please look")
	b := newTab(t, h)
	b.enter("#/sessions")
	b.see("Please look")
	b.tabTo("the sessions", `e => e.getAttribute('aria-label') === 'Sessions' && e.getAttribute('role') === 'tree'`)
	b.key(kb.Home)
	b.key("\r")
	b.until("the session is open", `s => location.hash === '#/sessions/' + s`, session)
	b.the("heading", "Please look")
	b.key("]")
	b.until("the calls are shown", `() => location.hash.endsWith('/calls')`)
	b.see("waits for you") // the agent has made all the calls that it will make
	b.tabTo("the calls", `e => e.getAttribute('aria-label') === 'Calls' && e.getAttribute('role') === 'listbox'`)
	b.key(kb.Home)
	b.until("the first call is marked", `() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent.includes('read')`)
	b.key("j")
	b.until("the second call is marked", `() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent.includes('glob')`)
	b.key("k")
	b.key("\r")
	b.see("hello from the file")
	b.shot("call")
	b.key(kb.Escape)
	b.until("the call is closed", `() => !document.querySelector('.call-panel')`) // by the page, which then closes no dialog any more

	b.key("?")
	b.the("dialog", "Keyboard")
	b.shot("help")
	b.key(kb.Escape)
	b.none("dialog", "Keyboard")

	b.key("gr")
	b.until("the requests are shown", `() => location.hash === '#/requests'`)
	b.see("rm -f hello.txt")
	b.tabTo("the card", `e => e.matches('[data-request]')`)
	b.answer(func() { b.key("o") })
	if !poll(t.Context(), func() bool { return h.read("hello.txt") == "" }) {
		t.Error("the key o did not allow it")
	}

	rejected, call := h.begin("bash", map[string]any{"command": "rm -rf everything"})
	b.see("rm -rf everything")
	b.tabTo("the card", `e => e.matches('[data-request]:not(.settled)')`)
	b.answer(func() { b.key("r") })
	b.until("the field for words has the focus", `() => document.activeElement.localName === 'textarea'`)
	b.insert("Not today, says o, a and r")
	b.answer(func() { b.key("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)) })
	if state, output := h.settled(rejected, call); state != "error" || !strings.Contains(output, "Not today, says o, a and r") {
		t.Errorf("the call ended as %s: %s", state, output)
	}
	for keys, place := range map[string]string{"gs": "#/sessions", "gt": "#/tools", "gu": "#/rules", "gc": "#/changes", "gx": "#/status"} {
		b.key(keys)
		b.until(keys+" goes to "+place, `p => location.hash === p`, place)
	}
}
