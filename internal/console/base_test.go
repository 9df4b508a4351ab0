package console_test

import (
	"encoding/json"
	"testing"
)

// Pieces of the console that everything else stands on, each tried alone.

// told is what a script of a test found wrong.
func told(t *testing.T, wrong []string) {
	t.Helper()
	for _, line := range wrong {
		t.Error(line)
	}
}

// A stream of events is read alike wherever the network cuts it.
func TestBrowseStream(t *testing.T) {
	b := bare(t)
	told(t, eval[[]string](b, `async () => {
		const { parser } = await import('/console/events.js');
		const stream = ': ping\n\nevent: hello\ndata: {"seq":1}\n\nid: a-2\nevent: call.started\ndata: {"x":"ü\\n"}\r\n\r\ndata: one\ndata:two\n\nid: a-3\n\ndata\n\nretry: 5\nevent: x\n';
		const want = JSON.stringify([{id: '', event: 'hello', data: '{"seq":1}'}, {id: 'a-2', event: 'call.started', data: '{"x":"ü\\n"}'},
			{id: '', event: 'message', data: 'one\ntwo'}, {id: '', event: 'message', data: ''}]);
		const wrong = [];
		for (let size = 1; size <= stream.length; size++) {
			const got = [], feed = parser(m => got.push(m));
			for (let i = 0; i < stream.length; i += size) feed(stream.slice(i, i + size));
			if (JSON.stringify(got) !== want) wrong.push('in pieces of ' + size + ': ' + JSON.stringify(got));
		}
		return wrong.slice(0, 3);
	}`))
}

// Elements hold text as text, and take no address or handler that is one.
func TestBrowseElements(t *testing.T) {
	b := bare(t)
	told(t, eval[[]string](b, `async () => {
		const { h, put, svg } = await import('/console/dom.js');
		const wrong = [], say = (what, is) => is || wrong.push(what);
		const el = h('p', { class: ['a', null, 'b'], 'data-x': 1, 'aria-hidden': false, title: null }, '<b>x</b>', [1, null, false, ['y']], h('i'));
		say('text: ' + el.outerHTML, el.outerHTML === '<p class="a b" data-x="1" aria-hidden="false">&lt;b&gt;x&lt;/b&gt;1y<i></i></p>');
		for (const href of ['javascript:alert(1)', ' javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'data:text/html,x', 'vbscript:x', '//evil.example', '/v1', 'file:///x', '\u0001https://x'])
			say('href ' + href, !h('a', { href }).hasAttribute('href'));
		for (const href of ['https://a.b', 'http://a.b', 'mailto:a@b.c', '#/x']) say('href ' + href, h('a', { href }).getAttribute('href') === href);
		say('handler as text', !h('p', { onclick: 'alert(1)' }).hasAttribute('onclick'));
		say('srcdoc', !h('iframe', { srcdoc: '<b>' }).hasAttribute('srcdoc'));
		say('select', h('select', { value: 'b' }, h('option', null, 'a'), h('option', null, 'b')).value === 'b');
		say('style', h('p', { style: { backgroundColor: 'red', '--x': '1' } }).style.getPropertyValue('--x') === '1');
		say('svg', svg('path', { d: 'M0 0' }).namespaceURI.endsWith('svg'));
		say('put', put(h('p', null, 'old'), 'new', h('b')).innerText === 'new');
		return wrong;
	}`))
}

// Times, sizes and sums are short and do not jump at their borders.
func TestBrowseFormat(t *testing.T) {
	b := bare(t)
	cases := map[string][][2]any{
		"duration": {{0, "0 ms"}, {999.4, "999 ms"}, {1000, "1.0 s"}, {9949, "9.9 s"}, {9951, "10 s"}, {59400, "59 s"}, {59600, "1 m 00 s"}, {3599400, "59 m 59 s"}, {3600000, "1 h 00 m"}, {-5, "0 ms"}, {nil, ""}},
		"bytes":    {{0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1048500, "1.0 MiB"}, {5 << 20, "5.0 MiB"}, {300 << 20, "300 MiB"}, {nil, ""}},
		"count":    {{0, "0"}, {999, "999"}, {1000, "1.0k"}, {9960, "10k"}, {999600, "1.0M"}, {12000000, "12M"}},
		"cost":     {{0, ""}, {0.004, "$0.0040"}, {0.42, "$0.42"}, {123.4, "$123"}},
	}
	raw, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	told(t, eval[[]string](b, `async raw => {
		const f = await import('/console/format.js'), wrong = [];
		for (const [name, list] of Object.entries(JSON.parse(raw)))
			for (const [value, want] of list) if (f[name](value) !== want) wrong.push(name + ' ' + value + ': ' + f[name](value) + ', not ' + want);
		return wrong;
	}`, string(raw)))
}

// A list of many draws few rows, keeps what is in sight where it is when
// others come before it, and follows its end.
func TestBrowseList(t *testing.T) {
	b := bare(t)
	told(t, eval[[]string](b, `async () => {
		const { virtualList } = await import('/console/list.js');
		const wrong = [], say = (what, is) => is || wrong.push(what), frame = () => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
		const opened = [];
		const list = virtualList({ label: 'Many', height: () => 20, follow: true, key: x => x.id, make: () => document.createElement('div'),
			fill: (el, x) => { el.textContent = x.id }, open: x => opened.push(x.id) });
		Object.assign(list.el.style, { height: '400px', overflowY: 'auto', position: 'relative' });
		document.querySelector('main').append(list.el);
		const of = (from, to) => Array.from({ length: to - from }, (_, i) => ({ id: 'i' + (from + i) }));
		const rows = () => [...list.el.querySelectorAll('.vrow')].filter(r => !r.hidden);
		list.set(of(5000, 10000)); await frame();
		say('the end is not in sight', rows().some(r => r.textContent === 'i9999'));
		say('too many rows: ' + rows().length, rows().length < 60);
		list.el.scrollTop = 2000; list.el.dispatchEvent(new Event('scroll')); await frame();
		const first = () => list.sight().items[list.sight().from].id;
		const before = first();
		list.set(of(0, 10000)); await frame();
		say('what was in sight moved: ' + before + ' to ' + first(), first() === before);
		say('no end was followed', list.sight().to < 9000);
		list.set(of(0, 10001)); await frame();
		say('the list went to its end', first() === before);
		list.select('i42'); await frame();
		say('no row is marked', rows().some(r => r.textContent === 'i42' && r.getAttribute('aria-selected') === 'true'));
		say('the marked row has no name', document.getElementById(list.el.getAttribute('aria-activedescendant'))?.textContent === 'i42');
		const key = k => list.el.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));
		key('j'); key('j'); key('k'); key('Enter'); key('End'); key('Enter'); key('Home'); key('Enter');
		say('opened ' + opened, opened.join() === 'i43,i10000,i0');
		list.set([]); await frame();
		say('rows of nothing', rows().length === 0);
		list.destroy();
		return wrong;
	}`))
}

// Things stand below their parents, also when these come later, are missing,
// or go round in a ring.
func TestBrowseTree(t *testing.T) {
	b := bare(t)
	told(t, eval[[]string](b, `async () => {
		const { arrange, unfold } = await import('/console/tree.js');
		const wrong = [];
		const shape = (pairs, isOpen = () => true) => unfold(arrange(pairs.map(([id, parent]) => ({ id, parent })), x => x.parent), isOpen).map(r => '-'.repeat(r.level) + r.thing.id).join(' ');
		for (const [want, pairs, isOpen] of [
			['-a --b ---c -d', [['a'], ['c', 'b'], ['b', 'a'], ['d']]],
			['-a', [['a'], ['b', 'a']], () => false],
			['-a', [['a', 'gone']]],
			['-a -b', [['a', 'b'], ['b', 'a']]],
			['-a', [['a', 'a']]],
			['-a -b --c', [['a', 'b'], ['b', 'a'], ['c', 'b']]],
			['', []],
		]) if (shape(pairs, isOpen) !== want) wrong.push(JSON.stringify(pairs) + ': ' + shape(pairs, isOpen) + ', not ' + want);
		return wrong;
	}`))
}

// A scale of time is marked at round times, whatever it spans.
func TestBrowseTicks(t *testing.T) {
	b := bare(t)
	told(t, eval[[]string](b, `async () => {
		const { ticks } = await import('/console/waterfall.js');
		const wrong = [];
		for (const span of [1, 20, 999, 60000, 86400000, 4e10]) for (const from of [0, 1794826161392]) {
			const { step, times } = ticks(from, from + span, 6);
			if (times.length > 7 || times.some(t => t < from || t > from + span || t % step)) wrong.push(span + ' from ' + from + ': ' + step + ' ' + times);
		}
		return wrong;
	}`))
}
