package signin

import (
	"net/http"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		addr, canonical, bare, rootless string
		safe, private                   bool
	}{
		{"https://Example.com/MCP?k=1#f", "https://example.com/MCP?k=1", "https://Example.com/MCP", "https://Example.com/MCP?k=1#f", true, false},
		{"HTTPS://u:p@10.0.0.1/", "https://u:p@10.0.0.1/", "https://10.0.0.1/", "HTTPS://u:p@10.0.0.1", true, true},
		{"http://127.0.0.1:80/x", "http://127.0.0.1:80/x", "http://127.0.0.1:80/x", "http://127.0.0.1:80/x", true, false},
		{"http://LOCALHOST", "http://localhost", "http://LOCALHOST", "http://LOCALHOST", true, false},
		{"http://[::1]:1/", "http://[::1]:1/", "http://[::1]:1/", "http://[::1]:1", true, false},
		{"http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]", true, false},
		{"http://192.168.1.1/", "http://192.168.1.1/", "http://192.168.1.1/", "http://192.168.1.1", false, true},
		{"http://127.0.0.1.example.com/a", "http://127.0.0.1.example.com/a", "http://127.0.0.1.example.com/a", "http://127.0.0.1.example.com/a", false, false},
		{"ftp://127.0.0.1/", "ftp://127.0.0.1/", "ftp://127.0.0.1/", "ftp://127.0.0.1", false, false},
		{"https:///x", "https:///x", "https:///x", "https:///x", false, false},
		{"%zz", "%zz", "", "%zz", false, false},
	} {
		if got := canonical(tt.addr); got != tt.canonical {
			t.Errorf("canonical(%q) = %q, want %q", tt.addr, got, tt.canonical)
		}
		if got := bare(tt.addr); got != tt.bare {
			t.Errorf("bare(%q) = %q, want %q", tt.addr, got, tt.bare)
		}
		if got := rootless(tt.addr); got != tt.rootless {
			t.Errorf("rootless(%q) = %q, want %q", tt.addr, got, tt.rootless)
		}
		if err := safe(tt.addr); (err == nil) != tt.safe {
			t.Errorf("safe(%q) = %v", tt.addr, err)
		}
		if tt.addr == "http://127.0.0.1.example.com/a" {
			continue // would ask the name service
		}
		if got := private(t.Context(), tt.addr); got != tt.private {
			t.Errorf("private(%q) = %t", tt.addr, got)
		}
	}
}

// The guard against private addresses is the library's, which leaves a
// transport with a dialer of its own alone.
func TestOutward(t *testing.T) {
	dials := func(c *http.Client) bool {
		tr, ok := c.Transport.(*http.Transport)
		return ok && tr.DialContext != nil
	}
	own := &http.Client{Transport: &http.Transport{}}
	for _, c := range []*http.Client{nil, {}, own} {
		if dials(outward(t.Context(), c, "https://8.8.8.8/mcp")) {
			t.Errorf("%v: a public server is let into private networks", c)
		}
		if !dials(outward(t.Context(), c, "https://10.1.2.3/mcp")) {
			t.Errorf("%v: a private server can not be signed in to", c)
		}
	}
	if dials(own) {
		t.Error("the caller's client was changed")
	}
}
