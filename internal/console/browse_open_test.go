package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// keptToken is the token that a tab keeps.
const keptToken = `() => sessionStorage.getItem('helve.token') ?? ''`

// TestBrowseOpen goes in by the link that the server prints: once.
func TestBrowseOpen(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	b.must(chromedp.Navigate(h.link))
	b.until("the tab has a token", `() => sessionStorage.getItem('helve.token') && location.hash === '#/sessions'`)
	b.the("heading", "Sessions")
	b.see("Live")
	_, code, _ := strings.Cut(h.link, "#open=")
	if where := eval[string](b, `() => location.href + ' ' + JSON.stringify(history.state) + JSON.stringify({...localStorage})`); strings.Contains(where, code) {
		t.Errorf("the code is still there: %s", where)
	}
	h.token = eval[string](b, keptToken)
	if strings.Contains(eval[string](b, `() => JSON.stringify({...localStorage}) + document.cookie`), h.token) {
		t.Error("the token is kept where other tabs and later days find it")
	}
	b.must(chromedp.Reload())
	b.the("heading", "Sessions")
	b.shot("")

	again := newTab(t, h, "403")
	again.must(chromedp.Navigate(h.link))
	again.see("helve open")
	again.see("used before")
	if eval[string](again, keptToken) != "" {
		t.Error("a link that was used gives a token")
	}
	again.shot("again")
	if status := h.send("POST", "/v1/open", map[string]any{"code": code}, nil); status != http.StatusForbidden {
		t.Errorf("a code that was used is answered with %d", status)
	}
}

// TestBrowseClosed opens the console without a token, and with one that the
// server does not know.
func TestBrowseClosed(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h, "401")
	b.must(chromedp.Navigate(h.origin() + "/console/#/tools"))
	b.see("helve open")
	b.none("navigation", ".*")
	b.shot("")
	eval[any](b, `() => sessionStorage.setItem('helve.token', 'of-another-server')`)
	b.must(chromedp.Reload())
	b.see("Get a new link")
	if eval[string](b, keptToken) != "" {
		t.Error("a token that is good for nothing is kept")
	}

	c := newTab(t, h)
	c.must(chromedp.Navigate(h.origin() + "/"))
	c.see("helve open")
	c.must(chromedp.Navigate(strings.TrimSpace(h.helve("open", "--print"))))
	c.see("Live")
	c.the("heading", "Sessions")
}
