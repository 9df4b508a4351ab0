package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A webDesk is a desk with a network.
type webDesk struct {
	*desk
	wire *wire

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

// newWebDesk makes one on which a handler answers for every site.
func newWebDesk(t *testing.T, action permission.Action, answer http.HandlerFunc, change ...func(*helve.Options)) *webDesk {
	t.Helper()
	d := &webDesk{desk: newDesk(t, action, change...)}
	d.wire = newWire(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d.mu.Lock()
		d.requests, d.bodies = append(d.requests, r), append(d.bodies, string(body))
		d.mu.Unlock()
		answer(w, r)
	})
	exa, err := web.NewSearchEngine(web.SearchOptions{Provider: "exa", Endpoint: "http://search.example", Client: d.wire.client(nil)})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range webTools(builtin.Web{Client: d.wire.client(nil), Search: exa, Code: exa}) {
		if _, err := d.rt.Register(one); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *webDesk) fetch(url, format string) (*tool.Result, error) {
	d.t.Helper()
	return d.call("webfetch", map[string]any{"url": url, "format": format})
}

// shows checks what a page looks like in a format.
func (d *webDesk) shows(format, want string) *tool.Result {
	d.t.Helper()
	res, err := d.fetch("http://a.example/", format)
	if err != nil {
		d.t.Fatal(err)
	}
	if res.Output != want {
		d.t.Errorf("as %s it is %q, want %q", format, res.Output, want)
	}
	return res
}

// TestCasesWebfetch are WB01 to WB12.
func TestCasesWebfetch(t *testing.T) {
	t.Run("WB01", func(t *testing.T) {
		d := newWebDesk(t, permission.Allow, page("IMAGE/PNG; charset=binary", pixels(t, 2, 2)))
		res := d.shows("markdown", "Image fetched successfully")
		if len(res.Attachments) != 1 || res.Attachments[0].Mime != "image/png" || !strings.HasPrefix(res.Attachments[0].URL, "data:image/png;base64,") {
			t.Errorf("attached are %v", res.Attachments)
		}
	})
	t.Run("WB02", func(t *testing.T) {
		d := newWebDesk(t, permission.Allow, page("image/svg+xml", "<svg><title>x</title></svg>"))
		if res := d.shows("html", "<svg><title>x</title></svg>"); len(res.Attachments) > 0 {
			t.Errorf("attached are %v", res.Attachments)
		}
	})
	t.Run("WB03", func(t *testing.T) {
		newWebDesk(t, permission.Allow, page("text/plain", "as it is\n")).shows("text", "as it is\n")
	})
	t.Run("WB04", func(t *testing.T) {
		html := "<html><head><style>p {}</style><script>x()</script></head><body>Hello <b>world</b></body></html>"
		newWebDesk(t, permission.Allow, page("text/html", html)).shows("text", "Hello world")
	})
	t.Run("WB05", func(t *testing.T) {
		html := "<h1>Hello</h1><script>bad()</script><p>world <strong>wide</strong></p><style>.bad {}</style>"
		d := newWebDesk(t, permission.Allow, page("text/html", html))
		d.shows("markdown", "# Hello\n\nworld **wide**")
		d.shows("text", "Hello\nworld wide") // blocks are apart, which the reference glues together
	})
	t.Run("WB06", func(t *testing.T) {
		answer := func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "http://b.example/there", http.StatusFound)
				return
			}
			page("text/plain", "there")(w, r)
		}
		newWebDesk(t, permission.Allow, answer).shows("text", "there\n\n(Redirected to http://b.example/there)")
		d := newWebDesk(t, permission.Ask, answer)
		d.shows("text", "there\n\n(Redirected to http://b.example/there)")
		asked := d.asked("webfetch")
		if len(asked) != 2 || at(t, asked[1], "patterns", 0) != "http://b.example/there" || at(t, asked[1], "metadata", "redirectedFrom") != "http://a.example/" {
			t.Errorf("asked was %s", encoded(asked))
		}
	})
	t.Run("WB07", func(t *testing.T) {
		d := newWebDesk(t, permission.Ask, page("text/plain", "mine"))
		res, err := d.fetch("http://localhost:8080/", "text")
		if err != nil || res.Output != "mine" || len(d.asked("webfetch")) != 1 {
			t.Errorf("%v %v, asked was %v", res, err, d.asked("webfetch"))
		}
	})
	t.Run("WB08", func(t *testing.T) {
		d := newWebDesk(t, permission.Ask, page("text/plain", "x"))
		_, err := d.fetch("file:///etc/passwd", "text")
		wantFail(t, err, "invalid-url", "URL must start with http:// or https://")
		if len(d.asked("webfetch"))+len(d.wire.looked)+len(d.requests) > 0 {
			t.Errorf("asked was %v, looked up %v", d.asked("webfetch"), d.wire.looked)
		}
	})
	t.Run("WB09", func(t *testing.T) { // ours is cut, and says so
		d := newWebDesk(t, permission.Allow, page("text/plain", strings.Repeat("line of text\n", 6<<20/13)))
		res, err := d.fetch("http://a.example/", "text")
		if err != nil || res.Metadata["cut"] != true || !strings.HasPrefix(res.Output, "(The page is too large: this is what is in its first 5242880 bytes)\n\nline") {
			t.Errorf("%v %v", res, err)
		}
	})
	t.Run("WB10", func(t *testing.T) {
		d := newWebDesk(t, permission.Allow, func(w http.ResponseWriter, r *http.Request) {
			if r.UserAgent() != plainAgent {
				w.Header().Set("Cf-Mitigated", "challenge")
				w.WriteHeader(http.StatusForbidden)
				return
			}
			page("text/plain", "passed")(w, r)
		})
		d.shows("text", "passed")
		if len(d.requests) != 2 || !strings.HasPrefix(d.requests[0].UserAgent(), "Mozilla/5.0") {
			t.Errorf("%d requests", len(d.requests))
		}
	})
	t.Run("WB11", func(t *testing.T) {
		d := newWebDesk(t, permission.Allow, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		_, err := d.call("webfetch", map[string]any{"url": "http://a.example/", "timeout": 0.1})
		wantFail(t, err, "timeout", "Request timed out")
	})
	t.Run("WB12", func(t *testing.T) { // ours is shown
		html := strings.Repeat("<div>", 10_000) + "deep" + strings.Repeat("</div>", 10_000)
		d := newWebDesk(t, permission.Allow, page("text/html", html))
		d.shows("markdown", "deep")
		d.shows("text", "deep")
	})
}

// TestCasesWebsearch are WB13 to WB17.
func TestCasesWebsearch(t *testing.T) {
	const reply = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"found it"}]}}`
	for id, body := range map[string]string{
		"WB13 plain": reply,
		"WB13 SSE":   "event: message\ndata: " + reply + "\n\n",
		"WB13 done":  "data: [DONE]\n\ndata: " + reply + "\n\ndata: [DONE]\n\n",
	} {
		t.Run(id, func(t *testing.T) {
			d := newWebDesk(t, permission.Allow, page("text/event-stream", body))
			for _, name := range []string{"websearch", "codesearch"} {
				if res := d.search(name, map[string]any{"query": "x"}); res.Output != "found it" {
					t.Errorf("%s gives %q", name, res.Output)
				}
			}
		})
	}
	t.Run("WB14", func(t *testing.T) {
		d := newWebDesk(t, permission.Ask, page("application/json", reply))
		d.search("websearch", map[string]any{"query": "q", "type": "deep", "numResults": 3, "livecrawl": "preferred", "contextMaxCharacters": 900})
		d.search("websearch", map[string]any{"query": "q", "numResults": 0})
		d.search("codesearch", map[string]any{"query": "q"})
		want := []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search_exa","arguments":{"query":"q","type":"deep","numResults":3,"livecrawl":"preferred","contextMaxCharacters":900}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search_exa","arguments":{"query":"q","type":"auto","numResults":8,"livecrawl":"fallback"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_code_context_exa","arguments":{"query":"q","tokensNum":5000}}}`,
		}
		for i, body := range d.bodies {
			d.bodies[i] = strings.TrimSpace(body)
		}
		if !slices.Equal(d.bodies, want) {
			t.Errorf("sent was\n%s", strings.Join(d.bodies, "\n"))
		}
		var asked []string
		for _, name := range []string{"websearch", "codesearch"} {
			for _, a := range d.asked(name) {
				asked = append(asked, encoded(a))
			}
		}
		told := []string{
			`{"always":["*"],"metadata":{"contextMaxCharacters":900,"engine":"exa at http://search.example","livecrawl":"preferred","numResults":3,"query":"q","type":"deep"},"patterns":["q"],"permission":"websearch"}`,
			`{"always":["*"],"metadata":{"engine":"exa at http://search.example","numResults":0,"query":"q"},"patterns":["q"],"permission":"websearch"}`,
			`{"always":["*"],"metadata":{"engine":"exa at http://search.example","query":"q","tokensNum":5000},"patterns":["q"],"permission":"codesearch"}`,
		}
		if !slices.Equal(asked, told) {
			t.Errorf("asked was\n%s", strings.Join(asked, "\n"))
		}
	})
	t.Run("WB15", func(t *testing.T) {
		d := newWebDesk(t, permission.Allow, page("text/event-stream", ""))
		if res := d.search("websearch", map[string]any{"query": "x"}); res.Output != "No search results found. Please try a different query." {
			t.Errorf("got %q", res.Output)
		}
	})
	t.Run("WB16", func(t *testing.T) {
		d := newWebDesk(t, permission.Allow, func(w http.ResponseWriter, _ *http.Request) {
			line := "data: " + strings.Repeat("x", 1<<16) + "\n"
			for { // until nobody reads it
				if _, err := fmt.Fprint(w, line); err != nil {
					return
				}
			}
		})
		grown := heapGrowth(true, func() { _, _ = d.call("websearch", map[string]any{"query": "x"}) })
		if grown > 64<<20 {
			t.Errorf("a reply without an end takes %d bytes of memory", grown)
		}
	})
	t.Run("WB17", func(t *testing.T) {
		exa, err := web.NewSearchEngine(web.SearchOptions{Provider: "exa"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			room  builtin.Web
			who   tool.Audience
			shown string
		}{
			{builtin.Web{Exa: exa}, tool.Audience{Provider: "openai"}, ""},
			{builtin.Web{Exa: exa}, tool.Audience{Provider: "opencode"}, "websearch codesearch"},
			{builtin.Web{Exa: exa}, tool.Audience{Provider: "openai", Flags: map[string]bool{"exa": true}}, "websearch codesearch"},
			{builtin.Web{}, tool.Audience{Provider: "opencode", Flags: map[string]bool{"exa": true}}, ""},
			{builtin.Web{Search: exa}, tool.Audience{}, "websearch"},
			{builtin.Web{Code: exa, Exa: exa}, tool.Audience{}, "codesearch"},
		} {
			var shown []string
			for _, one := range webTools(c.room)[1:] {
				if said, ok := one.Spec().Offer(c.who); ok {
					shown = append(shown, one.Spec().Name)
				} else if !strings.Contains(said, one.Spec().Name+".provider") {
					t.Errorf("who misses %s is told %q", one.Spec().Name, said)
				}
			}
			if got := strings.Join(shown, " "); got != c.shown {
				t.Errorf("%+v is shown %q, want %q", c.who, got, c.shown)
			}
		}
	})
}

// What a program learns about a page.
func TestFetchedData(t *testing.T) {
	d := newWebDesk(t, permission.Allow, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/c" {
			http.Redirect(w, r, map[string]string{"/": "/b", "/b": "http://c.example/c"}[r.URL.Path], http.StatusFound)
			return
		}
		page("text/plain; charset=utf-8", "here")(w, r)
	})
	res, err := d.fetch("http://A.example", "text")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(res.Data)
	want := `{"url":"http://a.example/","finalUrl":"http://c.example/c","status":200,"contentType":"text/plain; charset=utf-8","bytes":4,` +
		`"redirects":["http://a.example/","http://a.example/b"],"cached":false,"partial":false}`
	if err != nil || string(got) != want {
		t.Errorf("got %s %v", got, err)
	}
}

// What a person takes to answer is not time of the fetch.
func TestFetchWaitsForPeople(t *testing.T) {
	d := newWebDesk(t, permission.Allow, page("text/plain", "the intranet"))
	d.wire.names["intranet.example"] = [][]string{{"10.1.2.3"}}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() {
		for e := range d.rt.Events(ctx, 0) {
			if asked, ok := e.Properties.(event.PermissionAsked); ok {
				time.Sleep(400 * time.Millisecond) // longer than the fetch may take
				_ = d.rt.Requests().Reply(asked.Request.ID, permission.Reply{Verdict: permission.ReplyOnce})
			}
		}
	}()
	res, err := d.call("webfetch", map[string]any{"url": "http://intranet.example/", "timeout": 0.3})
	if err != nil || res.Output != "the intranet" {
		t.Errorf("%v, %v", res, err)
	}
}

// What a page is shown as in its source acts on nothing either.
func TestFetchedSourceIsHarmless(t *testing.T) {
	d := newWebDesk(t, permission.Allow, page("text/html", "<p>a\x1b[2Jb"))
	d.shows("html", "<p>a␛[2Jb")
}

// A name that was approved while it led outside is asked about when it leads
// inside.
func TestFetchAfterRebinding(t *testing.T) {
	d := newWebDesk(t, permission.Allow, page("text/plain", "x"), func(o *helve.Options) {
		o.Agents = agent.Specs(agent.SpecOptions{User: permission.Ruleset{{Permission: "webfetch", Pattern: "*", Action: permission.Ask}}})
	})
	d.wire.names["evil.example"] = [][]string{{publicIP}, {"127.0.0.1"}}
	var asked []string
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	replied := make(chan struct{})
	go func() {
		defer close(replied)
		for e := range d.rt.Events(ctx, 0) {
			ask, ok := e.Properties.(event.PermissionAsked)
			if !ok {
				continue
			}
			reply := permission.Reply{Verdict: permission.ReplyAlways}
			asked = append(asked, fmt.Sprint(ask.Request.Metadata["place"], " ", ask.Request.Metadata["address"]))
			if len(asked) > 1 {
				reply.Verdict = permission.ReplyReject
			}
			_ = d.rt.Requests().Reply(ask.Request.ID, reply)
		}
	}()
	if _, err := d.fetch("http://evil.example/a", "text"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.fetch("http://evil.example/b", "text"); !errors.Is(err, permission.ErrRejected) {
		t.Errorf("got %v", err)
	}
	cancel()
	<-replied
	if want := []string{"<nil> <nil>", "this machine 127.0.0.1"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
