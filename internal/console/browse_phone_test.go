package console_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowsePhone shows every page on a phone: nothing is wider than it, what
// is to be touched can be hit, and a decision can be made by thumb.
func TestBrowsePhone(t *testing.T) {
	s := newScene(t, "")
	b := newTab(t, s.host)
	b.must(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.enter("#/sessions")
	pages := s.pages()
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		b.visit(pages[name])
		b.settle()
		b.shot(name)
		if wide := eval[int](b, `() => Math.max(document.documentElement.scrollWidth, document.querySelector('#main').scrollWidth) - innerWidth`); wide > 0 {
			t.Errorf("%s is wider than the phone by %d: %s", name, wide, eval[string](b, widest))
		}
		for _, small := range eval[[]string](b, tooSmall) {
			t.Errorf("%s: too small to touch: %s", name, small)
		}
	}
	b.must(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.visit("#/requests")
	b.settle()
	b.see(s.command)
	before, _ := s.waiting()
	b.answer(func() { b.tap("button", "Allow once.*") })
	if !poll(t.Context(), func() bool { now, _ := s.waiting(); return now == before-1 }) {
		t.Error("the touch did not decide anything")
	}
}

// widest names what sticks out to the right.
const widest = `() => [...document.querySelectorAll('#main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, .diff-body, .vlist'))
	.slice(0, 4).map(e => e.outerHTML.slice(0, 120)).join(' | ')`

// tooSmall names buttons and fields that are lower than a finger. A link in a
// text has its line's height, and who can touch the line's neighbours need not
// hit it.
const tooSmall = `() => [...document.querySelectorAll('button, select, input, textarea, [role=tab], nav a')].filter(e => {
	const r = (e.closest('label') ?? e).getBoundingClientRect(), own = e.getBoundingClientRect();
	return e.checkVisibility() && own.width > 1 && Math.max(r.height, own.height) < 39.5;
}).slice(0, 5).map(e => Math.round(e.getBoundingClientRect().height) + ' px: ' + e.outerHTML.slice(0, 140))`

// TestBrowseInView asks for leave to write a long file, on screens of several
// sizes: the buttons are in view without scrolling, whatever the text is.
func TestBrowseInView(t *testing.T) {
	h := newHost(t, changing).start()
	h.model.Script("long", calls("write", map[string]any{"filePath": "long.go", "content": strings.Repeat("var x = 1 // one of many\n", 400)}), says("ok"))
	session := h.prompt("Write a long file")
	b := newTab(t, h)
	b.enter("#/requests")
	for _, size := range [][2]int64{{1280, 800}, {1024, 640}, {390, 844}, {360, 640}} {
		b.must(chromedp.EmulateViewport(size[0], size[1]))
		for _, hash := range []string{"#/requests", "#/sessions/" + session} {
			b.visit(hash)
			b.settle()
			b.calm()
			if !eval[bool](b, `() => {
				const e = [...document.querySelectorAll('[data-reply=once]')].find(e => e.checkVisibility()), r = e.getBoundingClientRect();
				return r.top >= 0 && r.bottom <= innerHeight && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2) === e;
			}`) {
				t.Errorf("at %v the buttons of %s are out of view", size, hash)
			}
		}
	}
}
