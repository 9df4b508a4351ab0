package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What somebody who writes a request, a file or a tool could try against the
// person who looks at it.

// dressed is a bare page with the console's looks, on which cards can be put:
// window.sent keeps what they send, and every request is answered with 204.
func dressed(t *testing.T) *tab {
	t.Helper()
	b := bare(t)
	eval[any](b, `async () => {
		for (const name of ['app', 'shapes', 'pages', 'session']) {
			const link = document.createElement('link');
			Object.assign(link, { rel: 'stylesheet', href: '/console/' + name + '.css' });
			const loaded = new Promise(done => link.addEventListener('load', done));
			document.head.append(link);
			await loaded;
		}
		document.querySelector('main').className = 'main';
		window.sent = [];
		window.fetch = async (url, init) => { window.sent.push([init.method, url, init.body ? JSON.parse(init.body) : null]); return new Response(null, { status: 204 }); };
		window.cards = await import('/console/request.js');
		window.show = (req, make = window.cards.permissionCard) => {
			const card = make({ id: 'per_1', sessionID: 'ses_1', permission: 'bash', patterns: [], metadata: {}, ...req }, {});
			document.querySelector('main').replaceChildren(card);
		};
	}`)
	return b
}

// TestBrowseAttackAlways offers rules: what is kept is what was shown, rule by
// rule, and where there are too many none is kept.
func TestBrowseAttackAlways(t *testing.T) {
	b := dressed(t)
	offer := `n => show({ asked: [{ pattern: 'rm a0' }], patterns: ['rm a0'], store: Array.from({ length: n }, (_, i) => ({ permission: 'bash', pattern: 'rm a' + i, exact: false })) })`
	eval[any](b, offer, 64)
	b.decide("Always.*")
	b.decide("Allow from now on")
	told(t, eval[[]string](b, `() => {
		const [[method, url, body]] = window.sent.filter(s => s[0] === 'POST'), wrong = [];
		if (!url.endsWith('/permissions/per_1') || body.reply !== 'always') wrong.push(url + ' ' + body.reply);
		if (JSON.stringify(body.store?.map(r => r.pattern)) !== JSON.stringify(Array.from({ length: 64 }, (_, i) => 'rm a' + i))) wrong.push('kept: ' + JSON.stringify(body.store));
		return wrong;
	}`))
	eval[any](b, offer, 65)
	b.see("too many to keep at once")
	if !eval[bool](b, `() => document.querySelector('[data-reply=always]').disabled`) {
		t.Error("more rules than can be shown and kept are offered")
	}
}

// TestBrowseAttackMany asks for more things than are shown at once, the worst
// of them last: it stands first, and all can be looked at.
func TestBrowseAttackMany(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `() => {
		const asked = Array.from({ length: 450 }, (_, i) => ({ pattern: 'ls ' + i }));
		asked[449] = { pattern: 'rm -rf /', guarded: true, opaque: 'it is a riddle' };
		show({ asked, patterns: asked.map(d => d.pattern), metadata: Object.fromEntries(Array.from({ length: 130 }, (_, i) => ['key' + String(i).padStart(3, '0'), 'value ' + i])) });
		const wrong = [], items = () => [...document.querySelectorAll('.asked > ul > li')], more = document.querySelector('.asked > button');
		if (!items()[0].textContent.includes('rm -rf /')) wrong.push('the strictest does not stand first: ' + items()[0].textContent);
		for (let i = 0; i < 2; i++) more.click();
		if (items().length !== 450 || !more.hidden) wrong.push(items().length + ' of 450 are shown');
		if (!document.body.textContent.includes('value 129')) wrong.push('a detail is left out and nothing says so');
		return wrong;
	}`))
}

// TestBrowseAttackFiles has a patch of more files than are shown at once: all
// are counted, and the last can be looked at.
func TestBrowseAttackFiles(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `async () => {
		const { diffs } = await import('/console/pieces.js'), wrong = [];
		const files = Array.from({ length: 262 }, (_, i) => ({ relativePath: 'f' + i + '.txt', diff: '--- f' + i + '.txt\n+++ f' + i + '.txt\n@@ -1 +1 @@\n-a\n+b\n' }));
		const el = diffs({ files });
		document.querySelector('main').replaceChildren(el);
		const bar = el.querySelector('.diff-bar').textContent;
		if (!bar.includes('262 files') || !bar.includes('+262')) wrong.push('the sum is ' + bar);
		el.querySelector(':scope > button.more').click();
		if (![...el.querySelectorAll('.diff-name')].some(n => n.textContent === 'f261.txt')) wrong.push('the last file can not be seen');
		return wrong;
	}`))
}

// TestBrowseAttackCut shows a difference that was cut: that is said first, and
// no count is.
func TestBrowseAttackCut(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `async () => {
		const { renderDiff } = await import('/console/diff.js'), wrong = [];
		const el = renderDiff('--- a.txt\n+++ a.txt\n@@ -1 +1,400000 @@\n-a\n+b\n+c\n... (the difference is cut: it is 4000000 bytes)\n');
		document.querySelector('main').replaceChildren(el);
		if (el.querySelector('.diff-counts')) wrong.push('it counts ' + el.querySelector('.diff-counts').textContent);
		const text = el.innerText;
		if (!text.includes('cut') || text.indexOf('cut: it is 4000000 bytes') > el.textContent.indexOf('+c') && el.querySelector('.diff-note').nextElementSibling === null) wrong.push('it is not said first: ' + text);
		if (!el.querySelector('details').innerText.match(/cut[\s\S]*Only the beginning is shown/)) wrong.push('not said: ' + text);
		return wrong;
	}`))
}

// TestBrowseAttackRightToLeft has letters that are written from right to left
// in a command: they do not change the order of what stands beside them.
func TestBrowseAttackRightToLeft(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `() => {
		const wrong = [], command = 'rm -rf \u05d0 && \u05d1 1 keep', order = (node, what) => {
			const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), range = document.createRange();
			let last = -Infinity, top = -Infinity;
			for (let n; (n = walk.nextNode());) for (let i = 0; i < n.length; i++) {
				range.setStart(n, i); range.setEnd(n, i + 1);
				const r = range.getBoundingClientRect();
				if (r.width === 0) continue;
				if (r.top > top + 5) { top = r.top; last = -Infinity; }
				if (r.left < last - 0.5) { wrong.push(what + ': letter ' + i + ' of ' + JSON.stringify(n.data) + ' stands before the one before it'); return; }
				last = r.left;
			}
		};
		show({ asked: [{ pattern: command }], patterns: [command], metadata: { command, diff: '--- a\n+++ a\n@@ -1 +1 @@\n-x\n+if \u05d0 == \u05d1 1 + 2\n' } });
		order(document.querySelector('.asked li .visible'), 'what is asked');
		order(document.querySelector('.req-text .visible'), 'the command');
		order(document.querySelector('.diff-table tr.add td.text'), 'the difference');
		if (!document.querySelector('.req-head').innerText.includes('right-to-left letters')) wrong.push('no badge says so');
		return wrong;
	}`))
}

// TestBrowseAttackWords gives words that every object knows where a table is
// looked up by them.
func TestBrowseAttackWords(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `async () => {
		const wrong = [], pieces = await import('/console/pieces.js'), { renderResult } = await import('/console/result.js'), { renderDiff } = await import('/console/diff.js'), { actionBadge } = await import('/console/bits.js');
		for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
			const made = { todos: pieces.todoList([{ content: 'x', status: word }]), found: pieces.diagnostics({ a: [{ severity: word, message: 'm' }] }), diff: renderDiff('+a', { name: 'x', status: word }), action: actionBadge(word),
				result: renderResult({ state: word, result: { metadata: { [word]: 1, todos: [{ content: 'x', status: word }] } } }) };
			for (const [name, el] of Object.entries(made)) {
				if (/native code|\[object|could not be shown/.test(el.textContent + el.innerHTML)) wrong.push(name + ' with ' + word + ': ' + el.innerHTML.slice(0, 300));
			}
		}
		return wrong;
	}`))
}

// TestBrowseAttackQuestions asks more questions, with more options, than are
// shown at once: each gets its answer all the same.
func TestBrowseAttackQuestions(t *testing.T) {
	b := dressed(t)
	eval[any](b, `() => show({ questions: Array.from({ length: 60 }, (_, i) => ({ header: 'H' + i, question: 'Q' + i, options: Array.from({ length: i === 0 ? 120 : 2 }, (_, k) => ({ label: 'o' + k })) })) }, window.cards.questionCard)`)
	b.the("button", "Send the answers")
	told(t, eval[[]string](b, `() => {
		const wrong = [], more = () => [...document.querySelectorAll('button.more')].filter(b => !b.hidden);
		if (more().length !== 2) wrong.push('more is offered ' + more().length + ' times');
		for (const button of more()) button.click();
		if (document.querySelectorAll('.question').length !== 60) wrong.push(document.querySelectorAll('.question').length + ' questions are shown');
		[...document.querySelectorAll('.question')][0].querySelectorAll('.choice input')[119].click();
		[...document.querySelectorAll('.question')][59].querySelector('.choice input').click();
		return wrong;
	}`))
	b.decide("Send the answers")
	told(t, eval[[]string](b, `() => {
		const body = window.sent.find(s => s[0] === 'POST')?.[2], wrong = [];
		if (body?.answers?.length !== 60 || body.answers[0][0] !== 'o119' || body.answers[59][0] !== 'o0' || body.answers[1].length !== 0) wrong.push('sent: ' + JSON.stringify(body));
		return wrong;
	}`))
}

// TestBrowseAttackForm has a schema and an agent whose names hide something:
// it is shown, once.
func TestBrowseAttackForm(t *testing.T) {
	b := dressed(t)
	told(t, eval[[]string](b, `async () => {
		const { schemaForm } = await import('/console/form.js'), wrong = [], evil = 'a\u202eb';
		const form = schemaForm({ type: 'object', required: ['v', 'e', 'd'], properties: {
			v: { oneOf: [{ type: 'object', title: evil, properties: { x: { type: 'string' } } }, { type: 'object', title: 'other', properties: { y: { type: 'number' } } }] },
			e: { enum: [evil, 'c'] }, d: { type: 'string', examples: [evil] } } });
		document.querySelector('main').replaceChildren(form.el);
		const all = form.el.textContent + [...form.el.querySelectorAll('[placeholder]')].map(e => e.placeholder).join();
		if (all.includes('\u202e')) wrong.push('raw: ' + all);
		if (all.includes('\\\\u{202e}')) wrong.push('twice: ' + all);
		if (!all.includes('such as a\\u{202e}b')) wrong.push('the hint: ' + all);
		return wrong;
	}`))
}

// TestBrowseAttackPaths goes to addresses that are no places, or that would
// lead to another one.
func TestBrowseAttackPaths(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	b.enter("#/sessions")
	for _, name := range []string{"constructor", "toString", "__proto__", "nowhere"} {
		b.visit("#/" + name)
		b.see("There is no such page")
		b.visit("#/rules")
		b.the("heading", "Rules")
	}
	b.visit("#/sessions/..")
	b.see("There is no such session")
	b.visit("#/sessions/%2e%2e/calls/..")
	b.see("There is no such")
	if n := b.sent("GET", "/v1/messages") + b.sent("GET", "/v1/todos"); n != 0 {
		t.Error("a name has led elsewhere")
	}
}

// TestBrowseAttackDialogs goes away while a dialog is open, and loses the token
// then: no dialog stays over what comes.
func TestBrowseAttackDialogs(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	b.enter("#/rules")
	b.the("heading", "Rules")
	open := `() => { document.querySelector('.help-button').click(); return !!document.querySelector('dialog[open]'); }`
	for _, leave := range []string{`() => history.back()`, `async () => (await import('/console/api.js')).auth.lose()`} {
		b.until("the help is open", open)
		eval[any](b, leave)
		b.until("the help is closed", `() => !document.querySelector('dialog')`)
		if strings.Contains(leave, "back") {
			b.until("the sessions are shown", `() => location.hash === '#/sessions'`)
		}
	}
	b.see("helve open")
}

// TestBrowseAttackHeld holds the keys that run a tool: it runs once.
func TestBrowseAttackHeld(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	h.write("hello.txt", "hello\n")
	b := newTab(t, h)
	b.enter("#/tools/read")
	b.fill("textbox", "filePath", "hello.txt")
	eval[any](b, `async () => {
		const at = document.activeElement, press = repeat => at.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, repeat, bubbles: true, cancelable: true }));
		press(false);
		for (let i = 0; i < 20; i++) { press(true); await new Promise(done => setTimeout(done, 50)); }
	}`)
	b.see("Completed")
	if n := b.sent("POST", "/v1/calls"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

// TestBrowseAttackNarrow has a title that is long, on a page that is narrow,
// and a description that scrolls: keys reach it, and the page stays in place.
func TestBrowseAttackNarrow(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	h.write("a.txt", "x")
	var made struct{ ID string }
	h.call("POST", "/v1/sessions", map[string]any{"title": strings.Repeat("A long title ", 12)}, &made)
	b := newTab(t, h)
	b.must(chromedp.EmulateViewport(320, 640))
	b.enter("#/changes?session=" + made.ID)
	b.see("No change fits")
	if wide := eval[int](b, `() => Math.max(document.documentElement.scrollWidth, document.querySelector('#main').scrollWidth)`); wide > 320 {
		t.Errorf("the page is %d px wide", wide)
	}
	b.visit("#/tools/bash")
	b.until("keys can scroll what is said about the tool", `() => { const e = document.querySelector('.tool-about'); return e && e.scrollHeight > e.clientHeight + 1 && e.tabIndex === 0; }`)
	b.visit("#/status")
	b.see("only a browser on this machine can open the link")
}

// TestBrowseAttackUndo changes something more while an undo is looked at: what
// was not shown is not taken back; and what could not be is not called undone.
func TestBrowseAttackUndo(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	session := h.run("", "write", map[string]any{"filePath": "a.txt", "content": "a"})
	h.run(session, "write", map[string]any{"filePath": "b.txt", "content": "b"})
	b := newTab(t, h)
	b.enter("#/changes")
	b.press("button", "Undo all newer …")
	b.see("Nothing has been done yet. 1 change set, 1 file.")
	h.run(session, "write", map[string]any{"filePath": "c.txt", "content": "c"})
	b.press("button", "Undo")
	b.the("dialog", "Please confirm")
	b.pressLast("button", "Undo")
	b.the("heading", "Undone")
	if h.read("a.txt") != "a" || h.read("b.txt") != "" || h.read("c.txt") != "c" {
		t.Errorf("the files hold %q, %q, %q", h.read("a.txt"), h.read("b.txt"), h.read("c.txt"))
	}

	b.visit("#/changes?file=c.txt")
	b.the("heading", "write")
	b.press("button", "Undo …")
	b.see("Nothing has been done yet. 1 change set, 1 file.")
	h.write("c.txt", "somebody's own")
	b.press("button", "Undo")
	b.the("dialog", "Please confirm")
	b.pressLast("button", "Undo")
	b.the("heading", "Nothing was undone")
	if h.read("c.txt") != "somebody's own" {
		t.Errorf("the file holds %q", h.read("c.txt"))
	}
}
