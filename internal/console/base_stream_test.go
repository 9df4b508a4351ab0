package console_test

import "testing"

// fakeServer is a script that answers the page's own requests: what
// window.answer(method and path) gives as JSON, 404 where it gives nothing, and
// streams of events into which send() puts frames.
const fakeServer = `() => {
	const streams = [], asked = [];
	window.streams = streams;
	window.asked = asked;
	window.fetch = async (url, init) => {
		asked.push(init.method ? init.method + ' ' + url : url + ' ' + (init.headers['Last-Event-ID'] ?? ''));
		if (url.startsWith('/v1/events')) return new Response(new ReadableStream({ start: c => streams.push(c) }));
		const found = window.answer?.(url);
		return new Response(JSON.stringify(found ?? { title: 'Not found' }), { status: found ? 200 : 404 });
	};
	window.send = text => streams.at(-1).enqueue(new TextEncoder().encode(text));
	window.event = (seq, type, properties = {}) => send('id: i-' + seq + '\nevent: ' + type + '\ndata: ' + JSON.stringify({ seq, type, properties }) + '\n\n');
	window.hello = (seq, resumed) => send('event: hello\ndata: ' + JSON.stringify({ instance: 'i', seq, resumed }) + '\n\n');
	window.eventually = async (what, is) => {
		for (const end = performance.now() + 20000; performance.now() < end; await new Promise(r => setTimeout(r, 20))) if (is()) return [];
		return [what];
	};
}`

// What a stream has lost on its way is loaded anew; what was lost before it
// began comes with what is loaded then.
func TestBrowseMissed(t *testing.T) {
	b := bare(t)
	eval[any](b, fakeServer)
	told(t, eval[[]string](b, `async () => {
		const { events } = await import('/console/events.js');
		const seen = [], wrong = [];
		events.on(e => seen.push(e.type));
		const began = events.start();
		wrong.push(...await eventually('no stream was asked for', () => streams.length === 1));
		hello(5, false);
		await began;
		event(4, 'old'); event(5, 'events.missed', { count: 3 });
		event(6, 'first'); event(9, 'events.missed', { count: 2 }); event(10, 'second');
		wrong.push(...await eventually('what was missed on the way is not loaded anew: ' + seen, () => seen.join(' ') === 'first reload second'));
		streams[0].close();
		wrong.push(...await eventually('the stream is not taken up: ' + asked, () => streams.length === 2 && asked.at(-1).endsWith(' i-10')));
		hello(10, true);
		event(12, 'events.missed'); event(13, 'third');
		wrong.push(...await eventually('after a pause: ' + seen, () => seen.join(' ') === 'first reload second reload third'));
		streams[1].close();
		wrong.push(...await eventually('the stream is not taken up again', () => streams.length === 3));
		hello(20, false);
		event(20, 'events.missed'); event(21, 'fourth');
		wrong.push(...await eventually('after a restart: ' + seen, () => seen.join(' ') === 'first reload second reload third reload fourth'));
		if (wrong.length) wrong.push('in the end: ' + seen);
		return wrong;
	}`))
}

// Sessions come in pages; none that was loaded goes when all are loaded anew;
// and one that could not be fetched at first is asked for again.
func TestBrowseState(t *testing.T) {
	b := bare(t)
	eval[any](b, fakeServer)
	told(t, eval[[]string](b, `async () => {
		const made = id => ({ id, title: id, time: { created: 1, updated: 1 }, status: { type: 'idle' } });
		let known = false;
		window.answer = url => {
			const at = new URL(url, location.origin);
			if (at.pathname === '/v1') return { directory: '/x', worktree: '/x' };
			if (at.pathname === '/v1/requests') return { permissions: [], questions: [] };
			if (at.pathname === '/v1/sessions') return at.searchParams.get('before') === 'b1' ? { sessions: [made('old')], more: false } : { sessions: [made('new')], more: true, next: 'b1' };
			if (at.pathname === '/v1/sessions/late' && known) return made('late');
		};
		const { state } = await import('/console/state.js'), { events } = await import('/console/events.js');
		const wrong = [], ids = () => [...state.sessions.keys()].join(' ');
		const expect = (what, want) => ids() === want || wrong.push(what + ': ' + ids());
		const began = events.start();
		wrong.push(...await eventually('no stream was asked for', () => streams.length === 1));
		hello(1, false);
		await began;
		// Small pages are filled up to what a page is to have.
		await state.load();
		expect('at first', 'new old');
		state.sessions = new Map([['new', made('new')]]);
		state.next = 'b1';
		await state.older();
		expect('older', 'new old');
		if (state.next) wrong.push('there is more after the last page');
		await state.older();
		let seq = 1;
		event(++seq, 'session.status', { sessionID: 'late', status: { type: 'busy' } });
		const count = () => asked.filter(a => a === 'GET /v1/sessions/late').length;
		wrong.push(...await eventually('a session that nobody knows is not asked for', () => count() === 1));
		known = true;
		const again = setInterval(() => event(++seq, 'session.status', { sessionID: 'late', status: { type: 'busy' } }), 100);
		wrong.push(...await eventually('it is not asked for again', () => state.sessions.has('late')));
		clearInterval(again);
		if (count() > 2) wrong.push('it was asked for ' + count() + ' times');
		return wrong;
	}`))
}

// A link for another device leads to the address by which this page was
// reached, whatever the server calls itself.
func TestBrowseLink(t *testing.T) {
	b := bare(t)
	eval[any](b, fakeServer)
	told(t, eval[[]string](b, `async () => {
		window.answer = url => ({ '/v1/links': { url: 'http://0.0.0.0:9/console/#open=abc', expires: Date.now() + 60000 }, '/v1/jobs': { jobs: [] }, '/v1/mcp': { servers: [] }, '/v1/lsp': {},
			'/v1/agents': { agents: [] }, '/v1/models': { models: [] } })[url];
		const { page } = await import('/console/status.js'), main = document.querySelector('main');
		const end = page.mount(main, { query: {} }, { toast() {} });
		[...main.querySelectorAll('button')].find(e => /one-time/.test(e.textContent)).click();
		const wrong = await eventually('there is no link', () => main.querySelector('.link-box'));
		const value = main.querySelector('.link-box')?.value;
		if (value !== location.origin + location.pathname + '#open=abc') wrong.push('the link is ' + value);
		end();
		return wrong;
	}`))
}

// Small functions that pages share.
func TestBrowseSmall(t *testing.T) {
	b := bare(t)
	told(t, eval[[]string](b, `async () => {
		const wrong = [], same = (what, got, want) => got === want || wrong.push(what + ': ' + JSON.stringify(got) + ', not ' + JSON.stringify(want));
		const { within } = await import('/console/paths.js');
		for (const [path, folder, want] of [
			['/a/b/c.go', '/a/b', 'c.go'], ['/a/b', '/a/b', ''], ['/a/b', '/a/b/', ''], ['/a/bc', '/a/b', null], ['/a/b/c', '/', null], ['/a', '', null], ['', '/a', null], ['/A/b', '/a', null],
			['C:\\Users\\ann\\x\\y.go', 'C:\\Users\\ann', 'x\\y.go'], ['c:/Users/ann/y.go', 'C:\\Users\\ann\\', 'y.go'], ['C:\\Users\\anna', 'C:\\Users\\ann', null],
			['D:\\x', 'C:\\', null], ['C:\\x', 'C:\\', 'x'], ['\\\\host\\share\\x', '\\\\host\\share', 'x'],
		]) same(path + ' within ' + folder, within(path, folder), want);
		const { asCurl } = await import('/console/command.js');
		const curl = file => asCurl({ tool: 'x', input: {} }, 'http://h', file).split('\n')[1];
		same('the usual file', curl(), '  -H "Authorization: Bearer $(cat ~/.local/share/helve/serve-token)" \\');
		same('a file', curl('/data/serve-token'), '  -H "Authorization: Bearer $(cat /data/serve-token)" \\');
		same('a strange file', curl("/it's $(x) \"/t"), '  -H "Authorization: Bearer $(cat \'/it\'\\\'\'s $(x) "/t\')" \\');
		const { briefInput } = await import('/console/talk.js');
		for (const [want, input] of [['src/a.go', { content: 'one line of text', filePath: 'src/a.go' }], ['main.go', { content: 'package main\n', filePath: 'main.go' }], ['greet', { pattern: 'greet', text: 'x'.repeat(400) }],
			['rm -rf build/x', { command: 'rm -rf build/x' }], ['https://a.b/c', { format: 'text', url: 'https://a.b/c' }], ['', { n: 1 }], ['', null], ['', 'text'], ['', { content: 'a\nb' }]]) same('brief ' + JSON.stringify(input), briefInput(input), want);
		return wrong;
	}`))
}
