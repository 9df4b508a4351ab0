package console_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// settle waits until a page of the console has come to rest.
func (b *tab) settle() {
	b.t.Helper()
	b.until("the page is there", `async () => {
		const main = document.querySelector('#main'), look = () => main?.querySelectorAll('*:not(.wf-tick)').length; // time goes on
		const before = look();
		await new Promise(done => setTimeout(done, 150));
		return before > 0 && look() === before && main.innerText.trim() !== '' && ![...main.querySelectorAll('[aria-busy=true]')].some(e => e.checkVisibility()) && !/Loading/.test(main.innerText);
	}`)
}

// axeSource is the program that looks for what shuts people out; empty where
// there is none.
func axeSource(t *testing.T) string {
	t.Helper()
	path := os.Getenv("HELVE_AXE")
	if path == "" {
		return ""
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// axe reports what axe-core finds serious or critical on the page as it is.
func (b *tab) axe(source string) []string {
	b.t.Helper()
	if !eval[bool](b, `() => !!window.axe`) {
		b.must(chromedp.Evaluate[chromedp.Void](source))
	}
	return eval[[]string](b, `async () => {
		const found = await axe.run(document, {resultTypes: ['violations'], preload: false});
		return found.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.map(v => v.impact + ' ' + v.id + ': ' + v.help + '; ' + v.nodes.length + ' times: ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | '));
	}`)
}

// TestBrowsePages looks at every page in both themes: pictures are kept, and
// nothing on it shuts anybody out.
func TestBrowsePages(t *testing.T) {
	s := newScene(t, "")
	source := axeSource(t)
	b := newTab(t, s.host)
	b.enter("#/sessions")
	pages := s.pages()
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			b.visit(pages[name])
			b.settle()
			b.shot(name + "-" + theme)
			if source == "" {
				continue
			}
			for _, finding := range b.axe(source) {
				t.Errorf("%s, %s: %s", name, theme, finding)
			}
		}
	}
	if source == "" {
		t.Skip("HELVE_AXE names no axe.min.js: whether everybody can use the pages was not looked at")
	}
}
