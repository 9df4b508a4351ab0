package console_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/helve-dev/helve/internal/browsertest"
)

// patience is how long something that has to come may take.
const patience = browsertest.Patience

// A tab shows the console of a server.
type tab struct {
	*browsertest.Tab
	t    *testing.T
	ctx  context.Context
	host *host
}

// newTab opens a tab for a server. Messages that fit one of the patterns are
// part of what the test does.
func newTab(t *testing.T, h *host, excused ...string) *tab {
	t.Helper()
	home := h.origin()
	b := shared.browser.Open(t, browsertest.TabOptions{Excused: excused, Home: func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && (u.Scheme == "data" || u.Scheme+"://"+u.Host == home)
	}})
	return &tab{Tab: b, t: t, ctx: b.Context(), host: h}
}

// sent counts the requests of the page by method and the beginning of the path.
func (b *tab) sent(method, path string) (n int) {
	for _, r := range b.Asked() {
		if u, err := url.Parse(r.URL); err == nil && r.Method == method && strings.HasPrefix(u.Path, path) {
			n++
		}
	}
	return n
}

// must does something that can not fail.
func (b *tab) must(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.Must(steps...)
}

// eval calls a function of the page, whose answer is awaited, with values.
func eval[T any](b *tab, function string, args ...any) T {
	b.t.Helper()
	return browsertest.Eval[T](b.Tab, function, args...)
}

// until waits until a function of the page says true.
func (b *tab) until(what, function string, args ...any) {
	b.t.Helper()
	b.Until(what, function, args...)
}

// poll looks again and again, until what it looks for is there or patience
// ends.
func poll(ctx context.Context, look func() bool) bool { return browsertest.Poll(ctx, look) }

// text is what can be read on the page.
func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, `() => document.body.innerText`)
}

// see waits until a text can be read on the page.
func (b *tab) see(text string) {
	b.t.Helper()
	b.until("the page says "+text, `s => document.body.innerText.includes(s)`, text)
}

// visit goes to a page of the console by its hash.
func (b *tab) visit(hash string) {
	b.t.Helper()
	eval[any](b, `h => { location.hash = h }`, hash)
}

// enter opens the console by a one-time link, and then a page of it.
func (b *tab) enter(hash string) {
	b.t.Helper()
	b.must(chromedp.Navigate(b.host.newLink()))
	b.until("the console has a token", `() => location.hash === '#/sessions' && sessionStorage.length > 0`)
	if hash != "#/sessions" {
		b.visit(hash)
	}
}

// theme sets what the person prefers, "light" or "dark".
func (b *tab) theme(name string) {
	b.t.Helper()
	b.Theme(name)
}

// shot keeps a picture of what is seen, under the test's name and a word.
func (b *tab) shot(word string) {
	b.t.Helper()
	b.Picture(word)
}
