package site_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// found are the hits that are shown: where each leads, and its text.
const found = `() => [...document.querySelectorAll('#_hits a')].map(a => [a.getAttribute('href'), a.innerText])`

// search types words into the field and waits for what comes of it.
func (b *tab) search(words string) [][]string {
	b.t.Helper()
	b.slash()
	b.Until("the field has the focus", `() => document.activeElement.id === '_q'`)
	b.Must(chromedp.KeyEvent(words))
	b.Until("the words were searched", `w => document.getElementById('_q').value === w && /place|Nothing/.test(document.getElementById('_said').textContent)`, words)
	return eval[[][]string](b, found)
}

// slash presses the key that leads to the field, as one event: a page that
// takes the key keeps its letter from being typed.
func (b *tab) slash() {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		params := input.DispatchKeyEventParams{Type: kind, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191}
		if kind == input.DispatchKeyEventTypeKeyDown {
			params.Text = "/"
		}
		if _, err := chromedp.Call(b.Context(), input.DispatchKeyEvent, params); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestBrowseSearch finds a word from a page deep in the site, without a mouse,
// and follows what was found to its place.
func TestBrowseSearch(t *testing.T) {
	b := newTab(t)
	b.open("docs/decisions/0001-module-path.html")
	b.Until("the search is there", `() => document.querySelector('.search').checkVisibility()`)
	if n := b.loaded("search-index.js"); n != 0 {
		t.Errorf("the index was loaded %d times before anybody searched", n)
	}
	hits := b.search("landlock")
	if len(hits) == 0 {
		t.Fatal("nothing was found")
	}
	for _, hit := range hits {
		if !strings.HasPrefix(hit[0], "../../") || !strings.Contains(hit[0], ".html#") {
			t.Errorf("a hit leads to %s", hit[0])
		}
	}
	if marks := eval[int](b, `() => document.querySelectorAll('#_hits mark').length`); marks < len(hits) {
		t.Errorf("%d words are marked in %d hits", marks, len(hits))
	}
	b.Picture("hits")
	if n := b.loaded("search-index.js"); n != 1 {
		t.Errorf("the index was loaded %d times", n)
	}
	// The second one, by the keyboard.
	at := eval[string](b, `() => new URL(document.querySelectorAll('#_hits a')[Math.min(1, document.querySelectorAll('#_hits a').length - 1)].href).href`)
	if len(hits) > 1 {
		b.Must(chromedp.KeyEvent(kb.ArrowDown))
	}
	b.Must(chromedp.KeyEvent("\r"))
	b.Until("the place is shown", `at => location.href === at && document.readyState === 'complete'`, at)
	b.Until("the place is in view", `() => {
		const r = document.getElementById(decodeURIComponent(location.hash.slice(1))).getBoundingClientRect();
		return r.top >= document.querySelector('.bar').getBoundingClientRect().bottom && r.bottom <= innerHeight;
	}`)
	b.Picture("place")
}

// TestBrowseRank holds what a search shows first.
func TestBrowseRank(t *testing.T) {
	b := newTab(t)
	for _, c := range []struct{ words, first string }{
		{"permissions", "docs/permissions.html#permissions"},
		{"helve undo", "docs/commands.html#helve-undo"},
		{"lsp che", "docs/commands.html#helve-lsp-check"}, // the beginning of a word
		{"the WALL", "docs/bash.html#the-wall"},           // upper and lower case
		{"HELVE_DATA_DIR approvals", "docs/config.html"},  // in different cells of a table
	} {
		b.open("index.html")
		hits := b.search(c.words)
		if len(hits) == 0 || !strings.HasPrefix(hits[0][0], c.first) {
			t.Errorf("%q finds first %.5q, want %s", c.words, hits, c.first)
		}
	}
	b.open("index.html")
	if hits := b.search("landlock xyzzyplugh"); len(hits) == 0 {
		t.Error("a word that is nowhere hides the other")
	}
	b.Until("it is said", `() => document.getElementById('_said').textContent.includes('none with all of the words')`)
	b.open("index.html")
	if hits := b.search("xyzzyplugh"); len(hits) != 0 {
		t.Errorf("what is nowhere was found: %q", hits)
	}
}

// TestBrowseSearchText shows that what is typed is only ever text.
func TestBrowseSearchText(t *testing.T) {
	b := newTab(t)
	b.open("index.html")
	b.search(`<img src=x onerror=alert(1)>`)
	b.Must(chromedp.KeyEvent(kb.Escape))
	b.Until("the hits are gone", `() => document.querySelector('.found').hidden`)
	b.Must(chromedp.KeyEvent(kb.Escape))
	b.Until("the field is empty", `() => document.getElementById('_q').value === ''`)
	if n := eval[int](b, `() => document.querySelectorAll('.found img').length`); n != 0 {
		t.Error("what was typed has become markup")
	}
}

// TestBrowseThemes looks at pages in both themes: the colours change, and
// nothing shuts anybody out.
func TestBrowseThemes(t *testing.T) {
	source := ""
	if file := os.Getenv("HELVE_AXE"); file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source = string(raw)
	}
	b := newTab(t)
	ground := map[string]string{}
	for _, theme := range []string{"light", "dark"} {
		b.Theme(theme)
		for _, place := range []string{"index.html", "docs/config.html", "docs/custom-tools.html", "docs/decisions/index.html"} {
			b.open(place)
			ground[theme] = eval[string](b, `() => getComputedStyle(document.body).backgroundColor`)
			b.Picture(theme + "-" + strings.ReplaceAll(place, "/", "-"))
			if source == "" {
				continue
			}
			b.Must(chromedp.Evaluate[chromedp.Void](source))
			for _, finding := range eval[[]string](b, `async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations
				.filter(v => v.impact === 'serious' || v.impact === 'critical')
				.map(v => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | '))`) {
				t.Errorf("%s, %s: %s", place, theme, finding)
			}
		}
	}
	if ground["light"] != "rgb(251, 251, 250)" || ground["dark"] != "rgb(19, 21, 24)" {
		t.Errorf("the grounds are %v", ground)
	}
	if source == "" {
		t.Skip("HELVE_AXE names no axe.min.js: whether everybody can use the pages was not looked at")
	}
}

// TestBrowsePhone shows every page on a phone: nothing is wider than it.
func TestBrowsePhone(t *testing.T) {
	b := newTab(t)
	b.Must(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	for place := range leaves(t, built(t)) {
		b.open(place)
		if wide := eval[int](b, `() => document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			t.Errorf("%s is wider than the phone by %d: %s", place, wide, eval[string](b, `() => [...document.querySelectorAll('main *')]
				.filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, .wide')).slice(0, 3).map(e => e.outerHTML.slice(0, 160)).join(' | ')`))
		}
	}
	b.open("docs/bash.html")
	b.Picture("page")
	eval[any](b, `() => document.querySelector('.to-menu').click()`)
	b.Until("the list of pages is in view", `() => {
		const r = document.querySelector('#_pages a').getBoundingClientRect();
		return r.top > 0 && r.bottom < innerHeight;
	}`)
	b.Picture("menu")
}

// TestBrowseWithoutScript reads a page where scripts are off: all but the
// search is there, and nothing says that there is one.
func TestBrowseWithoutScript(t *testing.T) {
	b := newTab(t)
	if _, err := chromedp.Call(b.Context(), emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open("docs/permissions.html")
	got := eval[map[string]bool](b, `() => ({
		search: document.querySelector('.search').checkVisibility(),
		menu: document.querySelector('#_pages a').checkVisibility(),
		text: document.querySelector('main h2').checkVisibility(),
		toc: document.querySelector('.toc a').checkVisibility(),
	})`)
	if got["search"] || !got["menu"] || !got["text"] || !got["toc"] {
		t.Errorf("what can be seen: %v", got)
	}
}
