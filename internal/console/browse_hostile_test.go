package console_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// attack is what texts of others end with in a hostile scene. A file can have
// all of it in its name.
const attack = `"><img src=x onerror=window.__pwned=1><svg onload=window.__pwned=2>` +
	"[x](javascript:window.__pwned=3)<a href='javascript:window.__pwned=4'>\u202egpj.\u200b\u2066"

// TestBrowseHostile shows every page of a project all of whose texts are an
// attack: nothing of them runs, and all of them can be read.
func TestBrowseHostile(t *testing.T) {
	s := newScene(t, attack)
	b := newTab(t, s.host)
	b.enter("#/sessions")
	pages := s.pages()
	decisive := []string{"sessions", "requests", "changes"}
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		b.visit(pages[name])
		b.settle()
		b.unharmed(name)
		if text := b.text(); !slices.Contains([]string{"tool", "subagents"}, name) && !strings.Contains(text, "<img src=x onerror=") {
			t.Errorf("%s does not show what was written: %.2000s", name, text)
		} else if slices.Contains(decisive, name) && strings.ContainsAny(text, "\u202e\u200b\u2066") {
			t.Errorf("%s shows characters that hide: %+q", name, text)
		}
		b.shot(name)
	}
	for _, call := range s.calls() {
		b.visit("#/sessions/" + s.session + "/calls/" + call)
		b.settle()
		eval[any](b, unfold)
		b.unharmed("call " + call)
	}
	b.visit("#/requests")
	b.see(`\u{202e}`)
	if title := eval[string](b, `() => document.title`); strings.ContainsAny(title, "\u202e\u200b") {
		t.Errorf("the title holds what hides: %+q", title)
	}
	b.visit("#/sessions/" + s.session)
	b.see("I will look around first.")
	eval[any](b, unfold)
	b.settle()
	b.unharmed("session")
	if links := eval[[]string](b, `() => [...document.querySelectorAll('#main a')].filter(a => !a.hash).map(a => a.href + ' ' + a.rel)`); len(links) != 1 || links[0] != "https://example.com/ noopener noreferrer" {
		t.Errorf("the links of the conversation are %q", links)
	}
	b.visit("#/tools/weather_forecast")
	b.press("button", "Run")
	b.see("Completed")
	b.see("Rain.")
	b.unharmed("a result of another program")
}

// unfold opens all that is folded.
const unfold = `() => { for (const d of document.querySelectorAll('#main details')) d.open = true }`

// calls are the ids of the agent's calls.
func (s *scene) calls() (ids []string) {
	var found struct{ Calls []struct{ ID string } }
	s.call("GET", "/v1/sessions/"+s.session+"/calls", nil, &found)
	for _, c := range found.Calls {
		ids = append(ids, c.ID)
	}
	return ids
}

// unharmed says that nothing on the page came from a text: no element with a
// handler, no script but ours, no link that is not one.
func (b *tab) unharmed(page string) {
	b.t.Helper()
	for _, wrong := range eval[[]string](b, `() => {
		const wrong = [];
		if (window.__pwned !== undefined) wrong.push('a text has run: ' + window.__pwned);
		for (const e of document.querySelectorAll('*')) {
			for (const a of e.attributes) {
				if (/^on/i.test(a.name)) wrong.push('a handler: ' + e.outerHTML.slice(0, 200));
				if (/^(href|src|action|formaction|xlink:href)$/i.test(a.name) && /^\s*(javascript|data:text|vbscript|blob)/i.test(a.value)) wrong.push('an address: ' + a.value);
			}
			if (/^(iframe|object|embed|base|form)$/.test(e.localName) && e.localName !== 'form') wrong.push('an element: ' + e.localName);
			if (e.localName === 'script' && new URL(e.src).origin !== location.origin) wrong.push('a script: ' + e.src);
			if (e.localName === 'img' && !/^(data:image\/|\/)/.test(e.getAttribute('src') ?? '')) wrong.push('an image: ' + e.src);
			if (e.localName === 'a' && e.target === '_blank' && !/noopener/.test(e.rel)) wrong.push('a link that lends this page: ' + e.href);
		}
		return wrong;
	}`) {
		b.t.Errorf("%s: %s", page, wrong)
	}
}

// TestBrowseHeaders asks for what the console consists of and looks at how it
// is sent.
func TestBrowseHeaders(t *testing.T) {
	h := newHost(t, `{"*": "allow"}`).start()
	for _, path := range []string{"/console/", "/console/app.js", "/console/app.css", "/console/no-such-file"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.origin()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if want := http.StatusOK; res.StatusCode != want && path != "/console/no-such-file" {
			t.Errorf("%s is answered with %d", path, res.StatusCode)
		}
		policy := res.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy does not say %s: %s", path, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is loose: %s", path, policy)
		}
		if got := res.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options is %q", path, got)
		}
		if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
	}
}
