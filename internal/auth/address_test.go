package auth

import "testing"

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		addr, canonical, bare, rootless string
		safe                            bool
	}{
		{"https://Example.com/MCP?k=1#f", "https://example.com/MCP?k=1", "https://Example.com/MCP", "https://Example.com/MCP?k=1#f", true},
		{"HTTPS://u:p@10.0.0.1/", "https://u:p@10.0.0.1/", "https://10.0.0.1/", "HTTPS://u:p@10.0.0.1", true},
		{"http://127.0.0.1:80/x", "http://127.0.0.1:80/x", "http://127.0.0.1:80/x", "http://127.0.0.1:80/x", true},
		{"http://LOCALHOST", "http://localhost", "http://LOCALHOST", "http://LOCALHOST", true},
		{"http://[::1]:1/", "http://[::1]:1/", "http://[::1]:1/", "http://[::1]:1", true},
		{"http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]", true},
		{"http://192.168.1.1/", "http://192.168.1.1/", "http://192.168.1.1/", "http://192.168.1.1", false},
		{"http://127.0.0.1.example.com/a", "http://127.0.0.1.example.com/a", "http://127.0.0.1.example.com/a", "http://127.0.0.1.example.com/a", false},
		{"ftp://127.0.0.1/", "ftp://127.0.0.1/", "ftp://127.0.0.1/", "ftp://127.0.0.1", false},
		{"https:///x", "https:///x", "https:///x", "https:///x", false},
		{"%zz", "%zz", "", "%zz", false},
	} {
		if got := canonical(tt.addr); got != tt.canonical {
			t.Errorf("canonical(%q) = %q, want %q", tt.addr, got, tt.canonical)
		}
		if got := withoutSecrets(tt.addr); got != tt.bare {
			t.Errorf("bare(%q) = %q, want %q", tt.addr, got, tt.bare)
		}
		if got := rootless(tt.addr); got != tt.rootless {
			t.Errorf("rootless(%q) = %q, want %q", tt.addr, got, tt.rootless)
		}
		if err := safe(tt.addr); (err == nil) != tt.safe {
			t.Errorf("safe(%q) = %v", tt.addr, err)
		}
	}
}
