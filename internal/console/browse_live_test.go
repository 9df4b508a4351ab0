package console_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// broken fits what a browser says about a server that is not there.
const broken = `ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|ERR_NETWORK_IO|network error`

// TestBrowseReconnect kills the server under an open page and starts it again:
// the page says that it is cut off, comes back by itself, and misses nothing.
func TestBrowseReconnect(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h, broken)
	b.enter("#/sessions")
	b.see("Live")
	h.call("POST", "/v1/sessions", map[string]any{"title": "Before the end"}, nil)
	b.see("Before the end")
	eval[any](b, `() => { window.__same = true }`)
	h.kill()
	b.until("the page says that it is cut off", `() => /Connecting|Not connected/.test(document.querySelector('nav').innerText)`)
	b.shot("lost")
	h.start()
	h.call("POST", "/v1/sessions", map[string]any{"title": "In between"}, nil)
	b.see("Live")
	b.see("In between")
	h.call("POST", "/v1/sessions", map[string]any{"title": "After it came back"}, nil)
	b.see("After it came back")
	b.see("Before the end")
	if !eval[bool](b, `() => window.__same === true`) {
		t.Error("the page was loaded anew")
	}
	b.shot("live")
}

// TestBrowseUntitled has sessions without a title: each is known by its first
// call, whether that was made before the page was opened or since.
func TestBrowseUntitled(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	h.call("POST", "/v1/calls", map[string]any{"tool": "bash", "input": map[string]any{"command": "true", "description": "the one before"}, "session": "ses_before"}, nil)
	b := newTab(t, h)
	b.enter("#/sessions")
	b.see("Live")
	b.see("bash the one before")
	h.call("POST", "/v1/calls", map[string]any{"tool": "bash", "input": map[string]any{"command": "true", "description": "the one since"}, "session": "ses_since"}, nil)
	b.see("bash the one since")
}

// TestBrowseOutput watches what a command prints while it runs.
func TestBrowseOutput(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	session, call := h.begin("bash", map[string]any{"command": `echo first line
until [ -e go ]; do sleep 0.05; done
for i in 1 2 3 4 5; do echo grown $i; sleep 0.1; done
until [ -e end ]; do sleep 0.05; done
echo last line`})
	b.enter("#/sessions/" + session + "/calls/" + call)
	b.see("first line")
	if strings.Contains(eval[string](b, shownOutput), "grown") {
		t.Error("what is not printed yet is shown")
	}
	h.write("go", "")
	b.see("grown 3")
	b.see("grown 5")
	b.shot("running")
	if text := eval[string](b, shownOutput); strings.Contains(text, "last line") {
		t.Errorf("the command has not ended, and the page says: %s", text)
	}
	h.write("end", "")
	b.until("the last line is shown", `() => document.querySelector('#main .out')?.innerText.includes('last line')`)
	if state, _ := h.settled(session, call); state != "completed" {
		t.Errorf("the call is %s", state)
	}
	b.see("completed")
	b.shot("ended")
}

// shownOutput is what the page shows of what a command printed.
const shownOutput = `() => document.querySelector('#main .out')?.innerText ?? ''`

// TestBrowseElsewhere has two tabs open: what is answered in one is told in the
// other.
func TestBrowseElsewhere(t *testing.T) {
	h := newHost(t, removing).start()
	one, other := newTab(t, h), newTab(t, h)
	one.enter("#/requests")
	other.enter("#/requests")
	h.begin("bash", map[string]any{"command": "rm -rf build"})
	other.see("rm -rf build")
	one.decide("Allow once.*")
	other.see("Answered elsewhere, allowed once")
	other.none("button", "Allow once.*")
	other.shot("")
}

// TestBrowseNewToken starts the server again with another token: the tab says
// what to do, and asks no more.
func TestBrowseNewToken(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h, broken, "401")
	b.enter("#/sessions")
	b.see("Live")
	h.stop()
	if err := os.Remove(filepath.Join(h.home, "data", "serve-token")); err != nil {
		t.Fatal(err)
	}
	h.token = ""
	h.start()
	b.see("Get a new link")
	if eval[string](b, keptToken) != "" {
		t.Error("the old token is kept")
	}
	b.must(chromedp.Navigate(h.newLink()))
	b.see("Live")
}

// TestBrowseFlood watches a command that prints far more than anybody can read:
// the page stays small, and goes on to answer.
func TestBrowseFlood(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	b := newTab(t, h)
	session, call := h.begin("bash", map[string]any{"command": "seq 1 400000; until [ -e end ]; do sleep 0.05; done; echo the end"})
	b.enter("#/sessions/" + session + "/calls/" + call)
	b.see("400000")
	if n := eval[int](b, `() => document.querySelectorAll('*').length`); n > 5000 {
		t.Errorf("the page has %d elements", n)
	}
	if n := eval[int](b, `() => document.querySelector('#main').textContent.length`); n > 2<<20 {
		t.Errorf("the page holds %d characters", n)
	}
	h.write("end", "")
	b.see("completed")
	b.press("tab", "Conversation.*")
	b.press("tab", "Calls.*")
	b.shot("")
}
