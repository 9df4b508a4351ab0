package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSearxng(t *testing.T) {
	srv := serve(t, says("application/json", `{"query":"q","number_of_results":0,"results":[
		{"url":"https://a.example/1","title":"First &amp; <b>best</b>","content":"Says  a lot.\r\n\r\n\r\nAnd more.  ","engine":"x","score":1.5,"publishedDate":"2026-10-01T08:00:00"},
		{"url":"https://a.example/2","title":"Second","content":null,"publishedDate":null},
		"odd", {"title":7,"url":{}}, {"title":"","url":"https://a.example/3","content":"no title"}
	],"answers":[],"suggestions":["other"],"unresponsive_engines":[["google","CAPTCHA"]]}`))
	e := mustNew(t, provided("searxng", srv.URL+"/sub/"))
	got, err := e.Search(t.Context(), SearchQuery{Text: "a b&c=d #é", Count: 5})
	want := "1. First &amp; <b>best</b>\n   https://a.example/1\n   2026-10-01\n   Says  a lot.\n\n   And more.\n\n" +
		"2. Second\n   https://a.example/2\n\n" +
		"3. (no title)\n   https://a.example/3\n   no title"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	r := srv.only(t)
	if diff := cmp.Diff(map[string][]string{"q": {"a b&c=d #é"}, "format": {"json"}}, r.query); diff != "" || r.method != "GET" || r.path != "/sub/search" {
		t.Errorf("%s %s %s", r.method, r.path, diff)
	}
	if r.header.Get("Authorization") != "" || r.header.Get("Accept") != "application/json" {
		t.Errorf("headers %v", r.header)
	}
	if _, err := e.Search(t.Context(), SearchQuery{Text: "q", Code: true}); err != nil {
		t.Error(err)
	}
	if code := srv.requests()[1]; code.query["categories"] == nil || code.query["categories"][0] != "it" {
		t.Errorf("code is asked for with %v", code.query)
	}
}

func TestSearxngSilent(t *testing.T) {
	for reply, want := range map[string]string{
		`{"results":[]}`: "",
		`{"results":[],"unresponsive_engines":[["google","CAPTCHA"],["bing","timeout"],["x"],[],7]}`: "No search results found. These engines of the server did not answer: google (CAPTCHA), bing (timeout), x.",
		`{}`:             "",
		`{"results":{}}`: "",
	} {
		srv := serve(t, says("application/json", reply))
		got, err := mustNew(t, provided("searxng", srv.URL)).Search(t.Context(), SearchQuery{Text: "q"})
		if got != want || err != nil {
			t.Errorf("%s: %q, %v", reply, got, err)
		}
	}
}

func TestBrave(t *testing.T) {
	srv := serve(t, says("application/json", `{"type":"search","query":{"original":"q"},"web":{"type":"search","results":[
		{"title":"The <strong>Go</strong> language","url":"https://go.dev/?a=1&amp;b=2","description":"It&#x27;s <strong>fast</strong> &amp; has <em class=\"x\">List&lt;T&gt;</em> and Map<K, V>.<br/>New line","page_age":"2026-09-30T12:00:00","age":"September 30, 2026","extra_snippets":["one <b>more</b>",7]},
		{"title":"Two","url":"https://two.example/","description":"d","age":"3 days ago"}
	]}}`))
	e := mustNew(t, provided("brave", srv.URL))
	got, err := e.Search(t.Context(), SearchQuery{Text: "q", Count: 50})
	want := "1. The Go language\n   https://go.dev/?a=1&amp;b=2\n   2026-09-30\n   It's fast & has List<T> and Map<K, V>.\n   New line\n\n   one more\n\n" +
		"2. Two\n   https://two.example/\n   3 days ago\n   d"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	r := srv.only(t)
	query := map[string][]string{"q": {"q"}, "count": {"20"}, "result_filter": {"web"}, "text_decorations": {"false"}}
	if diff := cmp.Diff(query, r.query); diff != "" || r.method != "GET" || r.path != "/res/v1/web/search" {
		t.Errorf("%s %s %s", r.method, r.path, diff)
	}
	if r.header.Get("X-Subscription-Token") != testKey {
		t.Errorf("headers %v", r.header)
	}
	none := serve(t, says("application/json", `{"type":"search"}`))
	if got, err := mustNew(t, provided("brave", none.URL)).Search(t.Context(), SearchQuery{Text: "q"}); got != "" || err != nil {
		t.Errorf("nothing found: %q, %v", got, err)
	}
}

func TestTavily(t *testing.T) {
	srv := serve(t, says("application/json", `{"query":"q","answer":null,"images":[],"results":[
		{"title":"Doc","url":"https://d.example/","content":"func f() {\n\treturn <b>&amp;</b>\n}","score":0.9,"raw_content":null,"published_date":"Wed, 30 Sep 2026 12:00:00 GMT"}
	],"response_time":1.2,"request_id":"x"}`))
	e := mustNew(t, provided("tavily", srv.URL))
	for _, tt := range []struct{ depth, sent string }{{"", "basic"}, {"auto", "basic"}, {"fast", "fast"}, {"deep", "advanced"}} {
		got, err := e.Search(t.Context(), SearchQuery{Text: "a \"b\" <c>", Count: 3, Depth: tt.depth})
		want := "1. Doc\n   https://d.example/\n   Wed, 30 Sep 2026 12:00:00 GMT\n   func f() {\n   \treturn <b>&amp;</b>\n   }"
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
		all := srv.requests()
		r := all[len(all)-1]
		body := fmt.Sprintf(`{"query":"a \"b\" <c>","search_depth":%q,"max_results":3}`, tt.sent)
		if r.body != body || r.method != "POST" || r.path != "/search" {
			t.Errorf("%s %s %s, want %s", r.method, r.path, r.body, body)
		}
		if r.header.Get("Authorization") != "Bearer "+testKey || r.header.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", r.header)
		}
	}
}

func TestUsualAddresses(t *testing.T) {
	for _, provider := range []string{"brave", "tavily"} {
		p, err := SearchOptions{Provider: provider, Key: "k"}.provider()
		if err != nil {
			t.Fatal(err)
		}
		var got string
		switch p := p.(type) {
		case *brave:
			got = p.address
		case *tavily:
			got = p.address
		}
		want := map[string]string{"brave": "https://api.search.brave.com/res/v1/web/search", "tavily": "https://api.tavily.com/search"}[provider]
		if got != want {
			t.Errorf("%s is asked at %s", provider, got)
		}
	}
}

func TestNotJSON(t *testing.T) {
	for _, provider := range []string{"searxng", "brave", "tavily"} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("<!doctype html>\n<p>Sign in\x1b[31m " + strings.Repeat("x", 1000)))
		})
		_, err := mustNew(t, provided(provider, srv.URL)).Search(t.Context(), SearchQuery{Text: "q"})
		want := `Search error: the reply is not the JSON that was asked for; it begins with "<!doctype html> <p>Sign in\\x1b[31m ` + strings.Repeat("x", 68) + `"` +
			"\nDoes websearch.endpoint lead to the right server?"
		e := failure(t, err)
		if diff := cmp.Diff(want, e.Message); diff != "" || e.Code != "reply" {
			t.Error(provider, e.Code, diff)
		}
	}
}

// A reply of very many results costs no more room than it has bytes.
func TestManyResults(t *testing.T) {
	reply := `{"results":[` + strings.Repeat("{},", 600_000) + `{"title":"last"}]}`
	srv := serve(t, says("application/json", reply))
	got, err := mustNew(t, provided("searxng", srv.URL)).Search(t.Context(), SearchQuery{Text: "q"})
	if got != "" || err != nil {
		t.Errorf("Search = %q, %v", got, err)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var all items[struct{ Title word }]
			if err := all.UnmarshalJSON([]byte(reply)[len(`{"results":`):]); err != nil || len(all) != maxHits {
				b.Fatal(len(all), err)
			}
		}
	})
	if per := allocated.AllocedBytesPerOp(); per > 8<<20 {
		t.Errorf("%d bytes are allocated for a reply of %d", per, len(reply))
	}
}
