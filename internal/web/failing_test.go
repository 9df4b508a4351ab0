package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func overHTTP() []string { return []string{"exa", "searxng", "brave", "tavily"} }

func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		provider string
		key      string
		status   int
		header   string // Retry-After
		kind     string
		body     string
		code     string
		want     string
	}{
		{"exa", "", 500, "", "text/plain", "it broke\x1b", "status", "Search error (500): it broke\\x1b"},
		{"exa", "", 502, "", "text/plain", " \n", "status", "Search error (502): Bad Gateway"},
		{"exa", "", 503, "", "text/html; charset=utf-8", "<html><style>p{}</style><script>var x = '<p>'</script><h1>Sorry</h1>\n<p>We&#39;re  down</p></html>", "status", "Search error (503): Sorry We're down"},
		{"exa", "", 429, "30", "application/json", `{"error":{"code":-32000}}`, "rate-limit",
			"Search error (429): {\"error\":{\"code\":-32000}}\nToo many searches. Try again after 30 seconds. A key in websearch.key may allow more."},
		{"exa", testKey, 429, "Wed, 21 Oct 2026 07:28:00 GMT", "text/plain", "slow down", "rate-limit",
			"Search error (429): slow down\nToo many searches. Try again after 2026-10-21 07:28:00 UTC."},
		{"brave", testKey, 429, "soon", "text/plain", "slow down", "rate-limit", "Search error (429): slow down\nToo many searches."},
		{"exa", "", 401, "", "text/plain", "who?", "key", "Search error (401): who?\nThe server may want a key: set websearch.key in the config."},
		{"tavily", testKey, 401, "", "application/json", `{"detail":{"error":"Unauthorized"}}`, "key",
			"Search error (401): {\"detail\":{\"error\":\"Unauthorized\"}}\nThe server does not accept the key: see websearch.key in the config."},
		{"brave", testKey, 403, "", "text/plain", "no", "key", "Search error (403): no\nThe server does not accept the key: see websearch.key in the config."},
		{"searxng", "", 403, "", "text/html", "<title>403 Forbidden</title>", "status",
			"Search error (403): 403 Forbidden\nMost likely the JSON format is off in that server's settings.yml: search.formats has to list json."},
		{"exa", "", 404, "", "text/plain", strings.Repeat("é", 2000), "status", "Search error (404): " + strings.Repeat("é", 1000) + "…"},
		{"tavily", testKey, 302, "", "text/plain", "elsewhere", "status", "Search error (302): elsewhere"},
	} {
		for _, lead := range []string{"Search", "Code search"} {
			srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.header != "" {
					w.Header()["Retry-After"] = []string{tt.header}
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			o := provided(tt.provider, srv.URL)
			o.Key = tt.key
			_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q", Code: lead != "Search"})
			e := failure(t, err)
			want := lead + strings.TrimPrefix(tt.want, "Search")
			if diff := cmp.Diff(want, e.Message); diff != "" || e.Code != tt.code || e.Status != tt.status {
				t.Errorf("%s %d: code %s, status %d, %s", tt.provider, tt.status, e.Code, e.Status, diff)
			}
		}
	}
}

// One deadline covers all: a server that says nothing, and one that never
// ends what it says.
func TestTimeout(t *testing.T) {
	for _, provider := range overHTTP() {
		for _, begins := range []bool{false, true} {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if begins {
					io.WriteString(w, "data: {")
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			o := provided(provider, srv.URL)
			o.Timeout = 30 * time.Millisecond
			o.Section = "codesearch"
			const more = " request timed out after 0.03 seconds; codesearch.timeout_ms in the config allows more"
			for code, want := range map[bool]string{false: "Search" + more, true: "Code search" + more} {
				_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q", Code: code})
				if e := failure(t, err); e.Message != want || e.Code != "timeout" {
					t.Errorf("%s: %s %q, want %q", provider, e.Code, e.Message, want)
				}
			}
		}
	}
}

// What a search may take when nobody says.
func TestUsualTimeout(t *testing.T) {
	for code, want := range map[bool]time.Duration{false: 25 * time.Second, true: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := mustNew(t, SearchOptions{Provider: "command", Command: []string{"x"}, Run: func(ctx context.Context, _ []string, _ []byte) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
			begun := time.Now()
			_, err := e.Search(t.Context(), SearchQuery{Text: "q", Code: code})
			if took := time.Since(begun); took != want || failure(t, err).Code != "timeout" {
				t.Errorf("code %t: %v after %v", code, err, took)
			}
		})
	}
}

// An engine is for many at once.
func TestManyAtOnce(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"results":[{"title":%q}]}`, r.URL.Query().Get("q"))
	})
	e := mustNew(t, provided("searxng", srv.URL))
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			q := fmt.Sprintf("query %d", i)
			if got, err := e.Search(t.Context(), SearchQuery{Text: q}); got != "1. "+q || err != nil {
				t.Errorf("%s: %q, %v", q, got, err)
			}
		})
	}
	wait.Wait()
}

// The caller's own deadline is worded the same way.
func TestCallersDeadline(t *testing.T) {
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	e := mustNew(t, provided("exa", srv.URL))
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	for range 2 { // during the search, and before it
		_, err := e.Search(ctx, SearchQuery{Text: "q"})
		if f := failure(t, err); f.Message != "Search request timed out" || f.Code != "timeout" {
			t.Errorf("%s %s", f.Code, f.Message)
		}
	}
}

func TestLookupCancel(t *testing.T) {
	reason := errors.New("the user pressed escape")
	for _, provider := range overHTTP() {
		ctx, cancel := context.WithCancelCause(t.Context())
		srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel(reason)
			<-r.Context().Done()
		})
		e := mustNew(t, provided(provider, srv.URL))
		for range 2 { // during the search, and before it
			if _, err := e.Search(ctx, SearchQuery{Text: "q"}); err != reason {
				t.Errorf("%s: %v", provider, err)
			}
		}
		if n := len(srv.requests()); n != 1 {
			t.Errorf("%s: %d requests came", provider, n)
		}
	}
}

func TestEmptyQuery(t *testing.T) {
	srv := serve(t, says("text/plain", ""))
	_, err := mustNew(t, provided("exa", srv.URL)).Search(t.Context(), SearchQuery{Text: " \n"})
	if e := failure(t, err); e.Message != "Search error: the query is empty" || len(srv.requests()) != 0 {
		t.Errorf("%s, %d requests", e.Message, len(srv.requests()))
	}
}

func TestNobodyThere(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	for _, provider := range overHTTP() {
		o := provided(provider, srv.URL)
		o.Section = "codesearch"
		_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q", Code: true})
		e := failure(t, err)
		hint := fmt.Sprintf("\ncodesearch.endpoint is %s: is the server running?", srv.URL)
		if e.Code != "connection" || !strings.HasPrefix(e.Message, "Code search error: ") || !strings.HasSuffix(e.Message, hint) {
			t.Errorf("%s: %s %q", provider, e.Code, e.Message)
		}
		keyless(t, e.Message)
	}
}

// A search goes to no other server than the one that was named, wherever it is
// sent on to; on that one it may be.
func TestRedirect(t *testing.T) {
	other := serve(t, says("application/json", `{"results":[]}`))
	for _, provider := range overHTTP() {
		for _, key := range []string{"", testKey} {
			if key == "" && (provider == "brave" || provider == "tavily") {
				continue
			}
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL+"/"+url.QueryEscape(key), http.StatusFound)
			})
			o := provided(provider, srv.URL)
			o.Key = key
			_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"})
			e := failure(t, err)
			keyless(t, e.Message)
			switch provider {
			case "exa", "tavily": // a POST follows nothing
				if e.Status != http.StatusFound {
					t.Errorf("%s: %+v", provider, e)
				}
			default:
				if e.Code != "redirect-refused" || !strings.Contains(e.Message, "set websearch.endpoint to it") {
					t.Errorf("%s: %+v", provider, e)
				}
			}
		}
	}
	if n := len(other.requests()); n != 0 {
		t.Errorf("%d requests came to the other server", n)
	}
	moved := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/search" {
			http.Redirect(w, r, "/v2/search?"+r.URL.RawQuery, http.StatusMovedPermanently)
			return
		}
		io.WriteString(w, `{"results":[{"title":"found"}]}`)
	})
	got, err := mustNew(t, provided("searxng", moved.URL)).Search(t.Context(), SearchQuery{Text: "q"})
	if got != "1. found" || err != nil || len(moved.requests()) != 2 {
		t.Errorf("Search = %q, %v", got, err)
	}
}

// The key shows nowhere, not even where the server sends it back.
func TestKeyIsHidden(t *testing.T) {
	forms := []string{
		testKey, url.QueryEscape(testKey), url.PathEscape(testKey), "https://x.example/?exaApiKey=" + url.QueryEscape(testKey),
		"sk-5ecret\u200b+/\"&<0815", "sk-5ecret+/&quot;&amp;&lt;0815", "sk-5ecret&#43;&#x2F;&QUOT;&amp&lt;0815",
		strings.ToLower(url.QueryEscape(testKey)), `sk-5ecret+\/\"&\u003c0815`, `sk-5ecret\u002B\x2f\"&%3c0815`,
	}
	q := func(s string) string { return strings.Trim(fmt.Sprintf("%q", s), `"`) } // as JSON writes it
	reply := func(provider, s string) string {
		item := fmt.Sprintf(`{"title":"%[1]s","url":"%[1]s","content":"a %[1]s b","description":"<b>%[1]s</b>","publishedDate":"%[1]s","published_date":"%[1]s","page_age":"%[1]s","extra_snippets":["%[1]s"],"snippet":"%[1]s"}`, s)
		switch provider {
		case "exa":
			return fmt.Sprintf(`{"result":{"content":[{"text":"%s"}]}}`, s)
		case "brave":
			return `{"web":{"results":[` + item + `]}}`
		}
		return `{"results":[` + item + `]}`
	}
	for _, provider := range overHTTP() {
		for _, form := range forms {
			for _, status := range []int{200, 401, 429, 500} {
				body := reply(provider, q(form))
				if status != 200 {
					body = "you sent " + form
				}
				srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(status)
					io.WriteString(w, body)
				})
				o := provided(provider, srv.URL)
				o.Key = testKey
				got, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"})
				if err != nil {
					got = failure(t, err).Message
				}
				if (status == 200) != (err == nil) || !strings.Contains(got, "[redacted]") {
					t.Errorf("%s %d: %q, %v", provider, status, got, err)
				}
				keyless(t, got)
			}
		}
	}
}

// A bound does not leave the beginning of a key behind.
func TestKeyAtTheBound(t *testing.T) {
	const said = `12345678901234567890 sk-5ecret+/\"&<0815 and so on`
	list := serve(t, says("application/json", `{"results":[{"title":"t","content":"`+said+`"}]}`))
	answer := serve(t, says("application/json", `{"result":{"content":[{"text":"`+said+`"}]}}`))
	for most := 1; most < 60; most++ {
		for provider, srv := range map[string]*recorder{"tavily": list, "exa": answer} {
			o := provided(provider, srv.URL)
			o.Key = testKey
			got, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q", MaxChars: most})
			if err != nil || strings.Contains(got, "sk-") {
				t.Errorf("%s, %d: %q, %v", provider, most, got, err)
			}
		}
	}
	// Much of a title may be nothing that is shown.
	for n := 6000; n < 6400; n++ {
		hits := []hit{{title: strings.Repeat("\u200b", n) + "sk-5ecret and " + strings.Repeat("x", 1000)}}
		got := render(hits, SearchQuery{Count: 1}, func(s string) string { return strings.ReplaceAll(s, "sk-5ecret", "[redacted]") })
		if strings.Contains(got, "sk") {
			t.Fatalf("after %d marks: %q", n, got)
		}
	}
}

// A key in the endpoint is as secret as one in its own place, also where an
// error names only a part of the address.
func TestKeyInEndpoint(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	for _, long := range []int{0, 100, 130, 140, 150, 160, 170} {
		at := srv.URL + "/" + strings.Repeat("a", long) + "?api_key=" + url.QueryEscape(testKey) + "&x=1"
		_, err := mustNew(t, SearchOptions{Provider: "searxng", Endpoint: at}).Search(t.Context(), SearchQuery{Text: "q"})
		got := failure(t, err).Message
		keyless(t, got)
		if strings.Contains(got, "sk-") {
			t.Errorf("%q shows a part of the key", got)
		}
	}
	echo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, r.URL.String())
	})
	_, err := mustNew(t, SearchOptions{Provider: "searxng", Endpoint: echo.URL + "?api_key=" + url.QueryEscape(testKey)}).Search(t.Context(), SearchQuery{Text: "q"})
	keyless(t, failure(t, err).Message)
}
