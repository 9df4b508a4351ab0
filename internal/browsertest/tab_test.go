package browsertest

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bad is a page that does all that pages must not do.
const bad = `<!doctype html><html lang=en><title>bad</title><link rel=icon href=/icon>
<p style="color: red">This breaks the policy.</p>
<script>
console.log('a word');
console.error('an error');
fetch('http://127.0.0.1:1/elsewhere').catch(() => {});
setTimeout(() => { alert('a dialog'); document.title = 'done' });
</script>`

// What a page does wrong is noticed, unless it is excused.
func TestFaults(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; connect-src *; script-src 'unsafe-inline'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/bad" {
			_, _ = w.Write([]byte(bad))
		}
	}))
	t.Cleanup(server.Close)
	browser := New("127.0.0.1")
	browser.Dir = t.TempDir()
	t.Cleanup(browser.End)
	home := func(address string) bool { return strings.HasPrefix(address, server.URL+"/") }
	everything := []string{"console: log: a word", "console: error: an error", "request to elsewhere: http://127.0.0.1:1/", "a dialog: a dialog", "breach of the policy: style-src"}
	for name, c := range map[string]struct {
		opt  TabOptions
		want []string
	}{
		"silent":  {TabOptions{Silent: true}, everything},
		"other":   {TabOptions{}, everything[1:]},
		"excused": {TabOptions{Excused: []string{"a dialog", "^on the console", "elsewhere"}}, everything[4:]},
	} {
		t.Run(name, func(t *testing.T) {
			c.opt.Home = home
			b := browser.Open(t, c.opt)
			b.Goto(server.URL + "/bad")
			b.Until("the page has done it all", `() => document.title === 'done'`)
			b.breaches()
			var seen []string
			all := Poll(b.ctx, func() bool {
				b.mu.Lock()
				defer b.mu.Unlock()
				seen = slices.Clone(b.faults)
				return !slices.ContainsFunc(c.want, func(want string) bool { return !holds(seen, want) })
			})
			if !all {
				t.Errorf("noticed was %q, not all of %q", seen, c.want)
			}
			for _, other := range everything {
				if !slices.Contains(c.want, other) && holds(seen, other) {
					t.Errorf("noticed was %q, and that is no fault here", other)
				}
			}
			if asked := b.Asked(); !slices.Contains(asked, Request{"GET", server.URL + "/bad"}) {
				t.Errorf("asked for was %q", asked)
			}
			if n := Eval[int](b, `async (a, b) => a + b`, 2, 3); n != 5 {
				t.Errorf("2 and 3 are %d", n)
			}
			if _, err := Try[int](b, `() => { throw new Error('no') }`); err == nil {
				t.Error("what throws has not failed")
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.faults, b.excused = nil, []*regexp.Regexp{regexp.MustCompile("")} // the test itself has done nothing wrong
		})
	}
}

func holds(list []string, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, text) })
}
