package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowseAttackSight presses on a card whose text is out of view, or has
// something lying over it: that is no answer until it has been seen.
func TestBrowseAttackSight(t *testing.T) {
	b := dressed(t)
	b.must(chromedp.EmulateViewport(320, 180))
	eval[any](b, `() => {
		show({ asked: [{ pattern: 'rm -rf important' }], patterns: ['rm -rf important'], metadata: { command: 'rm -rf important\n'.repeat(20) }, store: [] });
		const space = document.createElement('div');
		space.style.height = '500px';
		document.querySelector('main').prepend(space);
		document.querySelector('.req-foot').scrollIntoView({ block: 'end' });
	}`)
	pressed := `async () => {
		await new Promise(done => setTimeout(done, 900));
		document.querySelector('[data-reply=once]').click();
		await new Promise(done => setTimeout(done, 100));
		return window.sent.filter(s => s[0] === 'POST').length + ' ' + document.querySelector('.req-status')?.textContent;
	}`
	if got := eval[string](b, pressed); !strings.HasPrefix(got, "0 What is asked for was not in view") {
		t.Errorf("a press below what is asked did this: %s", got)
	}
	eval[any](b, `() => {
		document.querySelector('.asked li').scrollIntoView({ block: 'center' });
		const cover = document.createElement('p');
		cover.id = 'cover';
		Object.assign(cover.style, { position: 'fixed', inset: '0', background: 'white', zIndex: 9 });
		document.body.append(cover);
	}`)
	if got := eval[string](b, pressed); !strings.HasPrefix(got, "0 What is asked for was not in view") {
		t.Errorf("a press while something lies over it did this: %s", got)
	}
	eval[any](b, `() => document.getElementById('cover').remove()`)
	b.until("it takes an answer", `() => document.querySelector('[data-reply=once]').getAttribute('aria-disabled') === 'false'`)
	eval[any](b, `() => document.querySelector('.req-foot').scrollIntoView({ block: 'end' })`)
	if got := eval[string](b, pressed); !strings.HasPrefix(got, "1 ") {
		t.Errorf("a press after it was seen did this: %s", got)
	}
}

// TestBrowseAttackLate has a card whose session is told of later: its title is
// then shown.
func TestBrowseAttackLate(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `async () => {
		const { state } = await import('/console/state.js'), wrong = [], who = () => document.querySelector('.req-who').textContent;
		show({ asked: [{ pattern: 'x' }], patterns: ['x'] });
		if (!who().includes('ses_1')) wrong.push('before: ' + who());
		state.keep({ id: 'ses_1', title: 'Clean the house', agent: 'build', time: { created: 1, updated: 1 } });
		if (!who().includes('agent build · Clean the house')) wrong.push('after: ' + who());
		return wrong;
	}`))
}

// TestBrowseAttackExpire lets the time run out while somebody writes why not:
// that is what the card says, and what was written stays in sight.
func TestBrowseAttackExpire(t *testing.T) {
	b := dressed(t)
	eval[any](b, `async () => {
		const { events } = await import('/console/events.js'), other = window.fetch;
		const stream = new ReadableStream({ start: c => { window.push = s => c.enqueue(new TextEncoder().encode(s)); } });
		window.fetch = (url, init) => String(url).includes('/events') ? Promise.resolve(new Response(stream, { headers: { 'Content-Type': 'text/event-stream' } })) : other(url, init);
		events.start();
		window.push('event: hello\ndata: {"instance":"a","seq":0,"resumed":true}\n\n');
		show({ asked: [{ pattern: 'rm x' }], patterns: ['rm x'], expires: Date.now() });
	}`)
	b.decide("Reject…")
	b.insert("Keep it")
	eval[any](b, `() => window.push('id: a-1\nevent: permission.replied\ndata: ' + JSON.stringify({ seq: 1, type: 'permission.replied', properties: { sessionID: 'ses_1', requestID: 'per_1', reply: 'reject' } }) + '\n\n')`)
	b.see("Time ran out: bash rm x")
	if got := eval[string](b, `() => document.querySelector('.settled textarea')?.value ?? ''`); got != "Keep it" {
		t.Errorf("what was written is %q", got)
	}
}

// TestBrowseAttackRetry has no answer to the list of what waits: it is asked for
// again. And what a failure says is said once.
func TestBrowseAttackRetry(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `async () => {
		const { explain, Problem } = await import('/console/api.js');
		const said = explain(new Problem({ detail: 'It does not fit: body.answers: too many.', issues: [{ path: ['body', 'answers'], message: 'too many' }] }));
		return said.split('too many').length === 2 ? [] : [said];
	}`))
	eval[any](b, `async () => {
		const { events } = await import('/console/events.js'), other = window.fetch;
		const stream = new ReadableStream({ start: c => { window.push = s => c.enqueue(new TextEncoder().encode(s)); } });
		window.failed = 0;
		window.failing = true;
		window.fetch = async (url, init) => {
			if (String(url).includes('/events')) return new Response(stream, { headers: { 'Content-Type': 'text/event-stream' } });
			if (!String(url).endsWith('/requests')) return other(url, init);
			if (!window.failing) return new Response(JSON.stringify({ permissions: [{ id: 'per_1', expires: 123 }], questions: [] }));
			window.failed++;
			return new Response('{}', { status: 503 });
		};
		window.state = (await import('/console/state.js')).state;
		events.start();
		window.push('event: hello\ndata: {"instance":"a","seq":0,"resumed":true}\n\n');
		await new Promise(done => setTimeout(done, 300));
		window.failed = 0;
		window.push('id: a-1\nevent: permission.asked\ndata: ' + JSON.stringify({ seq: 1, type: 'permission.asked', properties: { id: 'per_1', sessionID: 'ses_1' } }) + '\n\n');
	}`)
	b.until("it was asked for in vain", `() => window.failed > 0`)
	eval[any](b, `() => { window.failing = false }`)
	b.until("it was asked for again", `() => window.state.permissions[0]?.expires === 123`)
}

// again begins another call in a session.
func (h *host) again(session, command string) {
	h.t.Helper()
	h.call("POST", "/v1/calls", map[string]any{"tool": "bash", "input": map[string]any{"command": command}, "session": session, "wait": false}, nil)
}

// answer replies to the request that waits for a command.
func (h *host) answer(command string, reply map[string]any) {
	h.t.Helper()
	var all struct {
		Permissions []struct {
			ID       string
			Patterns []string
		}
	}
	h.call("GET", "/v1/requests", nil, &all)
	for _, p := range all.Permissions {
		if strings.Join(p.Patterns, "\n") == command {
			h.call("POST", "/v1/permissions/"+p.ID, reply, nil)
			return
		}
	}
	h.t.Fatalf("nothing waits for %s: %+v", command, all)
}

// TestBrowseAttackVanish answers a request elsewhere while somebody writes why
// not: what is written next goes to nobody. The session holds calls alone, and
// its tabs work.
func TestBrowseAttackVanish(t *testing.T) {
	h := newHost(t, removing).start()
	session, call := h.begin("bash", map[string]any{"command": "rm -f one"})
	b := newTab(t, h)
	b.enter("#/sessions/" + session)
	b.until("the calls are shown, and the address says so", `() => location.hash.endsWith('/calls') && !document.querySelector('#pane-calls').hidden`)
	b.press("tab", "Conversation.*")
	b.until("the conversation is shown", `() => !document.querySelector('#pane-talk').hidden`)
	for _, name := range []string{"Todos", "Calls", "Conversation"} {
		b.press("tab", name+".*")
		b.the("button", "Allow once")
	}
	b.decide("Reject…")
	b.insert("Not this one, take i")
	h.answer("rm -f one", map[string]any{"reply": "once"})
	h.settled(session, call)
	b.see("Answered elsewhere, allowed once")
	b.key("i and more")
	told(t, eval[[]string](b, `() => {
		const at = document.activeElement, wrong = [];
		if (!at.closest('[data-request].settled') || at.value !== 'Not this one, take i') wrong.push('the focus is on ' + at.outerHTML.slice(0, 200) + ': ' + at.value);
		if (document.querySelector('.prompt-text').value) wrong.push('the prompt holds ' + document.querySelector('.prompt-text').value);
		return wrong;
	}`))
	b.press("tab", "Calls.*")
	b.until("the card is gone when it is left", `() => !document.querySelector('[data-request]')`)
}

// TestBrowseAttackAlong rejects one of two: it is said before, and the other
// says why it ended.
func TestBrowseAttackAlong(t *testing.T) {
	h := newHost(t, removing).start()
	session, _ := h.begin("bash", map[string]any{"command": "rm -f one"})
	h.again(session, "rm -f two")
	b := newTab(t, h)
	b.enter("#/requests")
	b.see("rm -f one")
	b.see("rm -f two")
	b.decide("Reject…")
	b.see("Also rejects the other request that waits in this session.")
	h.answer("rm -f two", map[string]any{"reply": "reject"})
	b.see("Rejected with another of this session: bash rm -f one")
	b.see("Answered elsewhere, rejected: bash rm -f two")
}

// TestBrowseAttackKeys goes through requests by keys alone: after an answer the
// next one has the focus, and none of its buttons.
func TestBrowseAttackKeys(t *testing.T) {
	h := newHost(t, removing).start()
	h.write("one", "1")
	session, call := h.begin("bash", map[string]any{"command": "rm -f one"})
	h.again(session, "rm -f two")
	h.again(session, "rm -f three")
	b := newTab(t, h)
	b.enter("#/requests")
	for _, command := range []string{"one", "two", "three"} {
		b.see("rm -f " + command)
	}
	b.calm()
	at := `() => [...document.querySelectorAll('[data-request]')].indexOf(document.activeElement)`
	order := eval[[]string](b, `() => [...document.querySelectorAll('[data-request]')].map(c => c.querySelector('.asked .pattern').textContent)`)
	for _, step := range []struct {
		key  string
		want int
	}{{"j", 0}, {"j", 1}, {"j", 2}, {"j", 2}, {"k", 1}, {"k", 0}} {
		b.key(step.key)
		if got := eval[int](b, at); got != step.want {
			t.Errorf("after %s card %d has the focus, not %d", step.key, got, step.want)
		}
	}
	b.answer(func() { b.key("o") })
	b.until("the heading of the next card has the focus", `s => { const e = document.activeElement; return e.localName === 'h3' && e.closest('[data-request]:not(.settled)')?.textContent.includes(s); }`, order[1])
	if order[0] == "rm -f one" {
		h.settled(session, call)
		if h.read("one") != "" {
			t.Error("the key o did not allow it")
		}
	}
	b.key("?")
	b.see("on a card in focus")
}

// TestBrowseAttackLow answers where there is hardly any room: who has brought
// what is asked into view can go on to the buttons.
func TestBrowseAttackLow(t *testing.T) {
	h := newHost(t, removing).start()
	session, call := h.begin("bash", map[string]any{"command": "rm -f one && echo a tail that goes on and on and on"})
	b := newTab(t, h)
	b.must(chromedp.EmulateViewport(320, 180))
	b.enter("#/sessions/" + session)
	b.the("button", "Allow once")
	b.until("it takes an answer when it has been seen", `() => {
		document.querySelector('.asked li').scrollIntoView({ block: 'center' });
		return document.querySelector('[data-reply=once]').getAttribute('aria-disabled') === 'false';
	}`)
	b.decide("Allow once")
	if state, output := h.settled(session, call); state != "completed" {
		t.Errorf("the call ended as %s: %s", state, output)
	}
}
