package web

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// names answers for every name.
type names func() ([]netip.Addr, error)

func (n names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return n() }

// A provider's usual server is on the internet; one that the user names may be
// anywhere.
func TestUsualServerIsOutside(t *testing.T) {
	srv := serve(t, says("application/json", `{"results":[]}`))
	var dialled atomic.Int32
	client := func(ip string) *Client {
		return New(Options{
			UserAgent: "helve",
			Resolver:  names(func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr(ip)}, nil }),
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				dialled.Add(1)
				return new(net.Dialer).DialContext(ctx, network, srv.Listener.Addr().String())
			},
		})
	}
	for _, provider := range []string{"exa", "brave", "tavily"} {
		for ip, place := range map[string]string{"127.0.0.1": "this machine", "10.1.2.3": "in a private network"} {
			o := provided(provider, "")
			o.Client = client(ip)
			_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"})
			e := failure(t, err)
			if e.Code != "blocked-address" || !strings.Contains(e.Message, "leads to an address that is "+place) || !strings.Contains(e.Message, "websearch.endpoint") {
				t.Errorf("%s at %s: %s %q", provider, ip, e.Code, e.Message)
			}
		}
		if n := dialled.Load(); n != 0 {
			t.Fatalf("%s: %d connections", provider, n)
		}
	}
	o := provided("brave", "http://search.example")
	o.Client = client("10.1.2.3")
	if _, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"}); err != nil || dialled.Load() != 1 {
		t.Errorf("a server that the user names: %v, %d connections", err, dialled.Load())
	}
}

// A name that nobody has to spell is not called misspelled.
func TestNoNameService(t *testing.T) {
	client := New(Options{UserAgent: "helve", Resolver: names(func() ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}
	})})
	for endpoint, want := range map[string]string{
		"":                     "Search error: mcp.exa.ai can not be looked up: the network or its name service can not be reached",
		"http://serch.example": "there is no host serch.example; check its spelling",
	} {
		o := provided("exa", endpoint)
		o.Client = client
		_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"})
		if e := failure(t, err); e.Code != "unknown-host" || !strings.Contains(e.Message, want) {
			t.Errorf("%q: %s %q", endpoint, e.Code, e.Message)
		}
	}
}

// A name service that is slow is not helped by more time for the search.
func TestSlowNameService(t *testing.T) {
	o := provided("exa", "")
	o.Client = New(Options{UserAgent: "helve", Resolver: names(func() ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true}
	})})
	_, err := mustNew(t, o).Search(t.Context(), SearchQuery{Text: "q"})
	want := "Search request timed out: looking up the host mcp.exa.ai took too long; try again"
	if e := failure(t, err); e.Code != "timeout" || e.Message != want {
		t.Errorf("%s %q", e.Code, e.Message)
	}
}

func TestWhere(t *testing.T) {
	for _, tt := range []struct {
		o    SearchOptions
		want string
	}{
		{SearchOptions{Provider: "exa"}, "exa (mcp.exa.ai)"},
		{SearchOptions{Provider: "exa", Endpoint: "https://EXA.example:443/x?key=k"}, "exa at https://exa.example"},
		{SearchOptions{Provider: "searxng", Endpoint: "http://localhost:8888/"}, "searxng at http://localhost:8888"},
		{SearchOptions{Provider: "brave", Key: "k3y"}, "brave (api.search.brave.com)"},
		{SearchOptions{Provider: "tavily", Key: "k3y"}, "tavily (api.tavily.com)"},
		{SearchOptions{Provider: "command", Command: []string{"my-search", "--key", "k3y"}, Run: running}, "command my-search"},
		{SearchOptions{Provider: "command", Command: []string{"a\x1b/k3y"}, Key: "k3y", Run: running}, `command a\x1b/[redacted]`},
	} {
		if diff := cmp.Diff(tt.want, mustNew(t, tt.o).Where()); diff != "" {
			t.Error(diff)
		}
	}
}

// However a key is written, a character at a time, it does not show; and what
// is no key stays.
func TestHide(t *testing.T) {
	for _, tt := range []struct{ key, said, want string }{
		{"k+/=", "a k+/= b", "a [redacted] b"},
		{"k+/=", "k%2b%2F%3d", "[redacted]"},
		{"k+/=", "%6B%2B%2f%3D.", "[redacted]."},
		{"k+/=", `k+\/\u003D k\u002b/\x3d`, "[redacted] [redacted]"},
		{"k+/=", "k&#43;&#x2F;&#0061; k&plus;&sol;&equals;", "[redacted] [redacted]"},
		{"k+/=", "k&#43;&#x2F;&#62; k%2b k", "k&#43;&#x2F;&#62; k%2b k"},
		{"a&b<c", "a&amp;b&lt;c a&ampb&ltc a&b<c", "[redacted] [redacted] [redacted]"},
		{"%25x", "%25x %2525x %x", "[redacted] [redacted] %x"},
		{`\\\`, `1\\\2\\\\\\3\\`, `1[redacted]2[redacted]3\\`},
		{"é 😀", "%C3%A9+%f0%9f%98%80 \\u00e9 \\ud83d\\ude00 &eacute; &#128512;", "[redacted] [redacted] [redacted]"},
		{"k", "%", "%"},
		{"k", `\u00`, `\u00`},
	} {
		o := SearchOptions{Endpoint: "https://x.example?token=" + escapeAll(tt.key)}
		if diff := cmp.Diff(tt.want, o.secret().hide(tt.said)); diff != "" {
			t.Errorf("%s in %s: %s", tt.key, tt.said, diff)
		}
	}
	if got := (secret{}).hide("a"); got != "a" {
		t.Errorf("no secret: %q", got)
	}
}

func TestHideNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringMatching(`[a-j%&\\+#;0-4]*`).Draw(t, "before")
		after := rapid.StringMatching(`[a-j%&\\+#;0-4]*`).Draw(t, "after")
		k := SearchOptions{Key: "XYZ"}.secret()
		if got := k.hide(before + after); got != before+after {
			t.Fatalf("%q became %q", before+after, got)
		}
		if got := k.hide(before + "X%59&#90;" + after); got != before+"[redacted]"+after {
			t.Fatalf("%q and %q: %q", before, after, got)
		}
	})
}

// escapeAll writes every byte as addresses can.
func escapeAll(s string) string {
	const digits = "0123456789abcdef"
	var out strings.Builder
	for i := range len(s) {
		out.WriteString("%" + digits[s[i]>>4:s[i]>>4+1] + digits[s[i]&15:s[i]&15+1])
	}
	return out.String()
}
