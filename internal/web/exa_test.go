package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exaFound = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Title: Go\nURL: https://go.dev"}]}}`

// TestExaRequest is WB14, and its like for code.
func TestExaRequest(t *testing.T) {
	for _, tt := range []struct {
		name string
		q    SearchQuery
		body string
	}{
		{"defaults", SearchQuery{Text: "go <generics> & \"more\" é"},
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search_exa","arguments":{"query":"go <generics> & \"more\" é","type":"auto","numResults":8,"livecrawl":"fallback"}}}`},
		{"all", SearchQuery{Text: "q", Count: 3, Livecrawl: "preferred", Depth: "deep", MaxChars: 4000},
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_search_exa","arguments":{"query":"q","type":"deep","numResults":3,"livecrawl":"preferred","contextMaxCharacters":4000}}}`},
		{"code", SearchQuery{Text: "q", Code: true, Count: 3},
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_code_context_exa","arguments":{"query":"q","tokensNum":5000}}}`},
		{"code of a size", SearchQuery{Text: "q", Code: true, Tokens: 1000},
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_code_context_exa","arguments":{"query":"q","tokensNum":1000}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, says("application/json", exaFound))
			got, err := mustNew(t, provided("exa", srv.URL)).Search(t.Context(), tt.q)
			if err != nil || got != "Title: Go\nURL: https://go.dev" {
				t.Fatalf("Search = %q, %v", got, err)
			}
			r := srv.only(t)
			if diff := cmp.Diff(tt.body, r.body); diff != "" {
				t.Error(diff)
			}
			if r.method != "POST" || r.path != "/mcp" || r.query["exaApiKey"] != nil {
				t.Errorf("%s %s?%v", r.method, r.path, r.query)
			}
			if a, c := r.header.Get("Accept"), r.header.Get("Content-Type"); a != "application/json, text/event-stream" || c != "application/json" {
				t.Errorf("Accept: %s, Content-Type: %s", a, c)
			}
		})
	}
}

func TestExaAddress(t *testing.T) {
	srv := serve(t, says("application/json", exaFound))
	for _, tt := range []struct {
		endpoint, key, path string
		code                bool
		query               map[string][]string
	}{
		{"", "", "/mcp", false, map[string][]string{}},
		{"/", testKey, "/mcp", false, map[string][]string{"exaApiKey": {testKey}}},
		{"/mcp/", "", "/mcp/", true, map[string][]string{"tools": {"get_code_context_exa"}}},
		{"/a/b?tools=x&y=1#f", "", "/a/b/mcp", true, map[string][]string{"tools": {"x"}, "y": {"1"}}},
	} {
		o := provided("exa", srv.URL+tt.endpoint)
		o.Key = tt.key
		if _, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q", Code: tt.code}); err != nil {
			t.Errorf("%s: %v", tt.endpoint, err)
		}
		all := srv.requests()
		last := all[len(all)-1]
		if diff := cmp.Diff(tt.query, last.query); diff != "" || last.path != tt.path {
			t.Errorf("%s: path %s, query %s", tt.endpoint, last.path, diff)
		}
	}
}

func TestExaUsualAddress(t *testing.T) {
	p, err := SearchOptions{Provider: "exa"}.provider()
	if err != nil {
		t.Fatal(err)
	}
	if s := p.(*exa).site; s.address != "https://mcp.exa.ai/mcp" || s.origin != "https://mcp.exa.ai" {
		t.Errorf("exa is asked at %s of %s", s.address, s.origin)
	}
}

// replyCases are replies as they come, and what is read from them. The cases
// of WB13 and WB15 are among them.
func replyCases() map[string][2]string {
	const event = "event: message\ndata: " + exaFound + "\n\n"
	const found = "Title: Go\nURL: https://go.dev"
	return map[string][2]string{
		"plain JSON":        {exaFound, found},
		"JSON with a BOM":   {"\ufeff \n" + exaFound + "\n", found},
		"a batch":           {`[{"jsonrpc":"2.0","method":"x"},` + exaFound + `]`, found},
		"event stream":      {event, found},
		"no last line":      {strings.TrimSpace(event), found},
		"CRLF":              {strings.ReplaceAll(event, "\n", "\r\n"), found},
		"CR":                {strings.ReplaceAll(event, "\n", "\r"), found},
		"no space":          {"data:" + exaFound + "\n\n", found},
		"done before":       {"data: [DONE]\n\n" + event, found},
		"done after":        {event + "data: [DONE]\n\n", found},
		"done in one event": {"data: [DONE]\ndata: " + exaFound + "\ndata: [DONE]\n", found},
		"not JSON before":   {": ping\n\ndata: ping\n\ndata: {\"jsonrpc\n\n" + event, found},
		"several lines":     {"data: " + strings.ReplaceAll(exaFound, `,"result"`, ",\ndata: \"result\"") + "\n\n", found},
		"notifications":     {"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\ndata: 7\n\ndata: null\n\n" + event, found},
		"first with text":   {`{"result":{"content":[{"type":"image","data":"x"},{"text":7},{"text":" "},{"text":"a"},{"text":"b"}]}}`, "a"},
		"empty":             {"", ""},
		"blank":             {" \n\n", ""},
		"no content":        {`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, ""},
		"no text":           {`{"result":{"content":[{"type":"text","text":""}]}}`, ""},
		"only done":         {"data: [DONE]\n\n", ""},
		"only pings":        {": ping\n\n: ping\n\n", ""},
		"control characters": {`{"result":{"content":[{"text":"a\u001b[31m\u0000\r\nb\u202e\u200b\u00a0c\td` + "          " + `e \\x1b"}]}}`,
			"a\\x1b[31m\\x00\nb\\u{202e} c\td          e \\x1b"},
		"error":           {`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad arguments"}}`, "!server bad arguments (code -32602)"},
		"odd error":       {`{"error":"went wrong"}`, `!server "went wrong"`},
		"odd code":        {`{"error":{"code":"E1","message":"no"}}`, "!server no"},
		"no error":        {`{"error":null,"result":{"isError":"no","content":[7,{"text":"a"}]}}`, "a"},
		"nameless error":  {`{"error":{}}`, "!server the server reports an error and does not say which"},
		"error in events": {"data: {\"error\":{\"code\":-1,\"message\":\"no\"}}\n\n" + event, "!server no (code -1)"},
		"failed tool":     {`{"result":{"isError":true,"content":[{"type":"text","text":"MCP error -32602: Tool x not found"}]}}`, "!server MCP error -32602: Tool x not found"},
		"failed silently": {`{"result":{"isError":true,"content":[]}}`, "!server the server reports an error and does not say which"},
		"not JSON":        {`{"result":`, "!reply the reply is not the JSON that was asked for"},
		"a page":          {"<html><p>Sign in</p></html>", "!reply the reply is neither JSON nor a stream of events: <html><p>Sign in</p></html>"},
	}
}

func TestExaReplies(t *testing.T) {
	for name, tt := range replyCases() {
		for _, code := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %t", name, code), func(t *testing.T) {
				srv := serve(t, says("text/event-stream", tt[0]))
				got, err := mustNew(t, provided("exa", srv.URL)).Search(t.Context(), SearchQuery{Text: "q", Code: code})
				kind, said, failed := strings.Cut(strings.TrimPrefix(tt[1], "!"), " ")
				if !strings.HasPrefix(tt[1], "!") {
					if err != nil || got != tt[1] {
						t.Errorf("Search = %q, %v, want %q", got, err, tt[1])
					}
					return
				}
				lead := "Search error: "
				if code {
					lead = "Code search error: "
				}
				if e := failure(t, err); !failed || e.Code != kind || e.Message != lead+said || got != "" {
					t.Errorf("Search = %q, %s %q, want %s", got, e.Code, e.Message, tt[1])
				}
			})
		}
	}
}

// Where a server has no tool for code, no other search is made instead.
func TestExaCodeWithoutTool(t *testing.T) {
	const missing = `MCP error -32602: Tool get_code_context_exa not found`
	for name, reply := range map[string]string{
		"result": `{"result":{"isError":true,"content":[{"type":"text","text":"` + missing + `"}]}}`,
		"error":  `{"error":{"code":-32602,"message":"Unknown tool: get_code_context_exa"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, says("application/json", reply))
			got, err := mustNew(t, provided("exa", srv.URL)).Search(t.Context(), SearchQuery{Text: "q", Code: true, Tokens: 100})
			const want = "Code search error: Exa offers no code search any more\nSet codesearch.provider in the config to another: searxng, brave, tavily or command."
			if e := failure(t, err); got != "" || e.Code != "server" || e.Message != want {
				t.Errorf("Search = %q, %s %q", got, e.Code, e.Message)
			}
			if r := srv.only(t); !strings.Contains(r.body, "get_code_context_exa") {
				t.Errorf("sent was %s", r.body)
			}
		})
	}
}

// A server is held to the size it was asked for.
func TestExaBounded(t *testing.T) {
	srv := serve(t, says("application/json", `{"result":{"content":[{"text":"`+strings.Repeat("word ", 400)+`"}]}}`))
	e := mustNew(t, provided("exa", srv.URL))
	got, err := e.Search(t.Context(), SearchQuery{Text: "q", MaxChars: 10})
	if want := "word word\n\n(Bounded to 10 characters. The end is left out.)"; err != nil || got != want {
		t.Errorf("Search = %q, %v", got, err)
	}
	if got, err := e.Search(t.Context(), SearchQuery{Text: "q"}); err != nil || len(got) != 2000 {
		t.Errorf("Search without a bound = %d bytes, %v", len(got), err)
	}
}

// TestCapped is WB16: a reply without an end is not read without an end.
func TestCapped(t *testing.T) {
	chunk := strings.Repeat("x", 64<<10)
	for _, tt := range []struct{ name, provider, head, want string }{
		{"JSON", "exa", `{"result":{"content":[{"text":"`, "!"},
		{"stream", "exa", "data: {\"result\":{\"content\":[{\"text\":\"", "!"},
		{"stream with an answer", "exa", "data: " + exaFound + "\n\ndata: ", "Title: Go\nURL: https://go.dev"},
		{"searxng", "searxng", `{"results":[{"title":"`, "!"},
		{"brave", "brave", `{"web":{"results":[{"title":"`, "!"},
		{"tavily", "tavily", `{"results":[{"title":"`, "!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ended := make(chan int, 1)
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				n, err := io.WriteString(w, tt.head)
				for err == nil && n < 1<<30 {
					var m int
					m, err = io.WriteString(w, chunk)
					n += m
				}
				ended <- n
			})
			got, err := mustNew(t, provided(tt.provider, srv.URL)).Search(t.Context(), SearchQuery{Text: "q"})
			if tt.want != "!" {
				if err != nil || got != tt.want {
					t.Errorf("Search = %q, %v", got, err)
				}
			} else if e := failure(t, err); e.Code != "reply" || !strings.Contains(e.Message, "Search error: the reply was cut off: it is longer than 2 MiB") {
				t.Errorf("%s %s", e.Code, e.Message)
			}
			if n := <-ended; n > 64<<20 {
				t.Errorf("the server could send %d bytes", n)
			}
		})
	}
}
