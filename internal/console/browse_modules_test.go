package console_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/helve-dev/helve/internal/console"
	"github.com/helve-dev/helve/internal/diff"
	"github.com/helve-dev/helve/internal/text"
)

// bare opens an empty page from which the modules of the console can be
// imported.
func bare(t *testing.T) *tab {
	t.Helper()
	browse(t)
	mux := http.NewServeMux()
	mux.Handle("GET /console/", console.Handler())
	mux.HandleFunc("GET /bare", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", console.Policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><html lang=en><title>modules</title><link rel=icon href=data:,><main></main>"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := newTab(t, &host{t: t, addr: strings.TrimPrefix(server.URL, "http://")})
	b.must(chromedp.Navigate(server.URL + "/bare"))
	return b
}

// TestBrowseVisible holds visible.js to what the runtime's own function does:
// over the cases of the file, and over random texts.
func TestBrowseVisible(t *testing.T) {
	b := bare(t)
	raw, err := os.ReadFile("testdata/visible.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var cases []shown
	for line := range strings.Lines(string(raw)) {
		var c shown
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	for range 3000 {
		s := randomText()
		cases = append(cases, shown{Text: s, Many: text.Visible(s), Line: text.VisibleLine(s), Hidden: text.HasHidden(s)})
	}
	wrong := eval[[]string](b, `async cases => {
		const v = await import('/console/visible.js');
		const wrong = [];
		for (const c of cases) {
			const node = document.createElement('p');
			node.append(v.visibleNode(c.text));
			const got = [v.visible(c.text), v.visibleLine(c.text), v.hasHidden(c.text), node.textContent];
			if (JSON.stringify(got) !== JSON.stringify([c.many, c.line, c.hidden, c.many])) {
				wrong.push(JSON.stringify(c) + ' became ' + JSON.stringify(got));
			}
		}
		return wrong.slice(0, 10);
	}`, cases)
	for _, line := range wrong {
		t.Error(line)
	}
}

// randomText joins pieces that have tripped somebody.
func randomText() string {
	pieces := []string{"a", "B9", " ", "\t", "\n", "\r\n", "\\", "\\x1b", "\\u{", "<12 spaces>", "<", ">", "&", "\"", "'", "`", "```\n", "*", "**", "_", "[x](", "](javascript:alert(1))", "http://a.b/",
		"<img src=x onerror=alert(1)>", "<script>", "</script>", "<!--", "-->", "/*", "*/", "//", "#", "# ", "- ", "1. ", "| a |\n|---|\n", "> ", "{", "}", "(", ")", "$", "${", "%", "@@ -1,2 +1,2 @@\n", "--- a\n", "+++ b\n", "+", "-",
		"\\ No newline at end of file\n", "\x00", "\x1b[31m", "\x7f", "\u0085", "\u00a0", "\u00ad", "\u200b", "\u200d", "\u202e", "\u2028", "\u2066", "\ufeff", "\ufffd", "é", "日本", "😀", "a\u0301", "\U000e0041", "\U0010ffff", "             "}
	var b strings.Builder
	for range rand.IntN(24) {
		b.WriteString(pieces[rand.IntN(len(pieces))])
	}
	return b.String()
}

// TestBrowseModulesRandom gives the modules that take text apart texts of all
// kinds: they must neither throw, nor lose a character, nor make an element
// that they should not.
func TestBrowseModulesRandom(t *testing.T) {
	b := bare(t)
	texts := make([]string, 1500)
	for i := range texts {
		texts[i] = randomText()
	}
	texts = append(texts, strings.Repeat("[", 20000), strings.Repeat("*", 20000), strings.Repeat("> ", 5000), strings.Repeat("`", 10001),
		strings.Repeat("(", 30000)+strings.Repeat(")", 30000), strings.Repeat("a_", 20000), strings.Repeat("<", 20000), strings.Repeat("\\", 30001),
		strings.Repeat("/*", 20000), strings.Repeat("| a ", 5000)+"\n"+strings.Repeat("|---", 5000), strings.Repeat("- ", 3000), strings.Repeat("\"", 20001), strings.Repeat(" ", 50000)+"x")
	wrong := eval[[]string](b, `async texts => {
		const md = await import('/console/markdown.js'), colour = await import('/console/colour.js'), diff = await import('/console/diff.js'), difftext = await import('/console/difftext.js');
		const wrong = [], names = ['a.go', 'b.js', 'c.py', 'd.html', 'e.css', 'f.json', 'g.yaml', 'h.sh', 'i.rs', 'j.c', 'k.md', 'l.sql', 'm', 'Makefile', 'n.rb', 'o.java', 'p.ts', 'q.tsx', 'r.toml', 's.xml', 't.php'];
		const bad = root => [...root.querySelectorAll('*')].filter(e => /^(script|img|iframe|object|embed|form|style|link|base|meta)$/i.test(e.localName)
			|| [...e.attributes].some(a => /^on/i.test(a.name) || a.name === 'style' && /url|expression/i.test(a.value) || /^(href|src|action|formaction)$/i.test(a.name) && !/^(https?:|mailto:|#)/i.test(a.value)));
		const put = node => { const box = document.createElement('div'); box.append(node); return box; };
		let i = 0;
		const attempt = (what, text, f) => {
			const began = performance.now();
			try {
				const found = f();
				if (found) wrong.push(what + ': ' + found + ': ' + JSON.stringify(text).slice(0, 300));
			} catch (e) { wrong.push(what + ': ' + e + ' ' + (e.stack || '').split('\n').slice(1, 3).join(' ') + ': ' + JSON.stringify(text).slice(0, 300)); }
			const took = performance.now() - began;
			if (took > 2000) wrong.push(what + ' took ' + Math.round(took) + ' ms: ' + JSON.stringify(text).slice(0, 80));
		};
		for (const text of texts) {
			const name = names[i++ % names.length];
			attempt('markdown', text, () => bad(put(md.markdown(text))).map(e => e.outerHTML.slice(0, 200))[0]);
			attempt('colour ' + name, text, () => {
				const language = colour.languageOf(name);
				let at = 0;
				for (const [from, to] of colour.colour(text, language).spans) {
					if (from < at || to <= from || to > text.length) return 'spans that overlap';
					at = to;
				}
				return bad(put(colour.codeBlock(text, language)))[0]?.outerHTML;
			});
			attempt('diff', text, () => bad(put(diff.renderDiff(text)))[0]?.outerHTML);
			attempt('change', text, () => bad(put(diff.renderChange(texts[(i * 7) % texts.length], text, name)))[0]?.outerHTML);
		}
		return wrong.slice(0, 15);
	}`, texts)
	for _, line := range wrong {
		t.Error(line)
	}
}

// TestBrowseDiffs has diff.js read what the runtime writes, and checks that
// both sides come out of it whole.
func TestBrowseDiffs(t *testing.T) {
	b := bare(t)
	type pair struct {
		Old  string `json:"old"`
		New  string `json:"new"`
		Diff string `json:"diff"`
	}
	var pairs []pair
	for range 300 {
		before := make([]string, rand.IntN(30))
		for i := range before {
			before[i] = []string{"a", "b", "", "  c", "-d", "+e", "@@ f @@", "--- g", "+++ h", "\\ i", "é", "<b>"}[rand.IntN(12)] + "\n"
		}
		after := append([]string(nil), before...)
		for range rand.IntN(4) {
			at := rand.IntN(len(after) + 1)
			after = append(after[:at:at], append([]string{"new\n"}, after[at:]...)...)
		}
		for range min(rand.IntN(4), len(after)) {
			at := rand.IntN(len(after))
			after = append(after[:at:at], after[at+1:]...)
		}
		p := pair{Old: strings.Join(before, ""), New: strings.Join(after, "")}
		if rand.IntN(4) == 0 {
			p.New = strings.TrimSuffix(p.New, "\n")
		}
		p.Diff = diff.Unified("x.go", p.Old, p.New)
		pairs = append(pairs, p)
	}
	wrong := eval[[]string](b, `async pairs => {
		const {parseDiff, compare} = await import('/console/difftext.js');
		const lines = s => s === '' ? [] : s.replace(/\n$/, '').split('\n');
		const wrong = [];
		const check = (p, files, from) => {
			if (p.old === p.new) return;
			const old = lines(p.old), now = [];
			let at = 0;
			for (const hunk of files[0]?.hunks ?? []) {
				for (const l of hunk.lines) {
					if (l.kind !== '+') {
						while (at < l.old - 1) now.push(old[at++]);
						if (old[at++] !== l.text) return wrong.push(from + ': not the old line ' + l.old + ': ' + JSON.stringify(p));
					}
					if (l.kind !== '-') {
						now.push(l.text);
						if (now.length !== l.now) return wrong.push(from + ': line ' + now.length + ' has the number ' + l.now + ': ' + JSON.stringify(p));
					} 
				}
			}
			while (at < old.length) now.push(old[at++]);
			if (JSON.stringify(now) !== JSON.stringify(lines(p.new))) wrong.push(from + ': ' + JSON.stringify(now) + ' from ' + JSON.stringify(p));
		};
		for (const p of pairs) {
			check(p, parseDiff(p.diff), 'parsed');
			const own = compare(p.old, p.new, 'x.go');
			check(p, Array.isArray(own) ? own : [own], 'compared');
		}
		return wrong.slice(0, 5);
	}`, pairs)
	for _, line := range wrong {
		t.Error(line)
	}
}

// TestBrowseLinks holds markdown.js to the links that it may make.
func TestBrowseLinks(t *testing.T) {
	b := bare(t)
	for target, good := range map[string]bool{
		"https://example.com/a?b=c": true, "http://example.com": true, "mailto:ann@example.com": true,
		"javascript:alert(1)": false, "JaVaScRiPt:alert(1)": false, " javascript:alert(1)": false, "java\tscript:alert(1)": false, "java&#115;cript:alert(1)": false,
		"data:text/html,<script>alert(1)</script>": false, "vbscript:x": false, "file:///etc/passwd": false, "//example.com/x": false, "/v1/calls": false,
		"blob:null/x": false, "\u0001javascript:alert(1)": false, "view-source:a.b": false, "https:example.com": true,
	} {
		made := eval[struct {
			Links []string `json:"links"`
			Text  string   `json:"text"`
		}](b, `async target => {
			const {markdown} = await import('/console/markdown.js');
			const box = document.createElement('div');
			box.append(markdown('see [the words](' + target + ') and <' + target + '>'));
			return {links: [...box.querySelectorAll('a')].map(a => a.href + ' ' + a.rel), text: box.textContent};
		}`, target)
		if good != (len(made.Links) > 0) {
			t.Errorf("of %q come the links %q", target, made.Links)
		}
		for _, link := range made.Links {
			if !strings.Contains(link, "noopener") || strings.HasPrefix(link, b.host.origin()) {
				t.Errorf("of %q comes the link %s", target, link)
			}
		}
		if !strings.Contains(made.Text, "the words") || !strings.Contains(made.Text, strings.Trim(target, "\u0001 ")[4:]) {
			t.Errorf("of %q can be read %q", target, made.Text)
		}
	}
}

// TestBrowseSteps shows what a subagent did: a command that failed is not green.
func TestBrowseSteps(t *testing.T) {
	got := eval[string](bare(t), `async () => {
		const { steps } = await import('/console/pieces.js');
		const done = (state) => ({ tool: 'bash', state: { status: 'completed', ...state } });
		return [...steps([done({}), done({ failed: true }), { tool: 'read', state: { status: 'error' } }]).querySelectorAll('.dot')].map(e => e.dataset.state).join(' ');
	}`)
	if got != "completed error error" {
		t.Errorf("the dots are %q", got)
	}
}
