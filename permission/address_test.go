package permission

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatchAddress(t *testing.T) {
	for _, c := range []struct {
		address, pattern string
		want             bool
	}{
		{"https://a.example/x", "*", true},
		{"https://a.example/x", "**", true},
		{"https://a.example/x", "", false},
		{"https://a.example/x", "https://*", true},
		{"http://a.example/x", "https://*", false},
		{"http://a.example/x", "http*://a.example/*", true},
		{"https://a.example/", "https://a.example", true},
		{"https://a.example/x", "https://a.example", false},
		{"https://a.example/x", "https://a.example/*", true},
		{"https://a.example/x", "HTTPS://A.Example:443/*", true},
		{"https://a.example/x", "https://a.example./*", true},
		{"https://a.example/x", "a.example/*", true},
		{"https://a.example/x", "a.example*", true},
		{"https://a.example/x", "https://a.example*", true},
		{"https://a.example.evil.example/", "https://a.example*", false},
		{"https://a.exampleevil/", "https://a.example*", false},
		{"https://a.example:8443/", "https://a.example*", false},
		{"https://a.example:8443/", "https://a.example/*", false},
		{"https://a.example:8443/", "https://a.example:*", true},
		{"https://a.example:8443/x", "https://a.example:*/x", true},
		{"https://a.example/x", "https://a.example:*/x", false},
		{"https://www.a.example/x", "https://*.a.example/*", true},
		{"https://x.y.a.example/x", "https://*.a.example/*", true},
		{"https://a.example/x", "https://*.a.example/*", false},
		{"https://evil.example/x.a.example/y", "https://*.a.example/*", false},
		{"https://evil.example/?u=.a.example/y", "https://*.a.example/*", false},
		{"https://evil.example/a.example/", "*a.example/*", false},
		{"https://www.a.example/", "*a.example/*", true},
		{"https://api2.a.example/", "https://api*.a.example/*", true},
		{"https://api2.b.a.example/", "https://api*.a.example/*", false},
		{"https://api2.a.example/", "https://api?.a.example/*", true},
		{"https://api.x.a.example/", "https://api?x.a.example/*", false},
		{"http://[::1]:3000/", "http://[::1]:3000/*", true},
		{"http://[::1]:3001/", "http://[::1]:3000/*", false},
		{"http://[::1]:3001/", "http://[::1]:*/*", true},
		{"http://localhost:3000/", "http://localhost:*", true},
		{"http://localhost/", "http://localhost:*", false},
	} {
		if got := matchAddress(c.address, c.pattern); got != c.want {
			t.Errorf("matchAddress(%q, %q) = %t", c.address, c.pattern, got)
		}
	}
}

// Restrictions are about what is meant: a host alone, without its scheme or
// its path, in any case.
func TestRestrictedAddress(t *testing.T) {
	for _, pattern := range []string{
		"https://evil.example/*", "https://EVIL.example/*", "https://evil.example:443/*", "https://evil.example",
		"evil.example", "evil.example/*", "*evil.example*", "https://evil.example./*",
	} {
		policy := Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: "*", Action: Allow}, {Permission: "webfetch", Pattern: pattern, Action: Deny}}}
		d := policy.Judge(Request{Permission: "webfetch", Addresses: true}, "https://evil.example/x?y")
		if d.Action != Deny {
			t.Errorf("%s does not deny", pattern)
		}
	}
}

// An inside address is allowed by a rule or an approval that names its host,
// and by nothing wider.
func TestGuardedAddress(t *testing.T) {
	const at = "http://localhost:3000/x"
	req := Request{
		Permission: "webfetch", Patterns: []string{at}, Addresses: true, Always: []string{"http://localhost:3000/*"},
		Guards: map[string][]string{at: {"localhost:3000", "localhost:"}},
	}
	all := Rule{Permission: "webfetch", Pattern: "*", Action: Allow}
	for pattern, want := range map[string]Action{
		"*": Ask, "http://*": Ask, "http://localhost:3000/*": Allow, "http://localhost:*": Allow, "http://localhost:3001/*": Ask, "*:3000/*": Ask,
	} {
		policy := Policy{Rules: Ruleset{all, {Permission: "webfetch", Pattern: pattern, Action: Allow}}}
		if d := policy.Judge(req, at); d.Action != want {
			t.Errorf("%s: %s, want %s", pattern, d.Action, want)
		}
	}
	asked := make(chan Request, 1)
	e := NewEngine(EngineOptions{OnAsk: func(r Request) { asked <- r }})
	policy := Policy{Rules: Ruleset{all}}
	answered := make(chan error)
	go func() { answered <- e.Ask(t.Context(), req, policy) }()
	pending := <-asked
	if len(pending.Store) != 1 || pending.Store[0].Pattern != "http://localhost:3000/*" || pending.Store[0].Exact {
		t.Fatalf("always would keep %+v", pending.Store)
	}
	if err := e.Reply(pending.ID, Reply{Verdict: ReplyAlways}); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	ds, err := e.Decide(req, policy)
	if err != nil || ds[0].Action != Allow {
		t.Fatalf("after always: %+v, %v", ds, err)
	}
	other := "http://localhost:3001/x"
	ds, err = e.Decide(Request{Permission: "webfetch", Patterns: []string{other}, Addresses: true, Guards: map[string][]string{other: {"localhost:3001"}}}, policy)
	if err != nil || ds[0].Action != Ask {
		t.Fatalf("another port after always: %+v, %v", ds, err)
	}
}

func TestUnattendedAddress(t *testing.T) {
	const at = "http://10.0.0.5/x?y"
	e := NewEngine(EngineOptions{Unattended: true})
	err := e.Ask(t.Context(), Request{Permission: "webfetch", Patterns: []string{at}, Addresses: true, Guards: map[string][]string{at: {"10.0.0.5"}}},
		Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: "*", Action: Allow}}})
	for _, want := range []string{"private network", `{"permission": {"webfetch": {"http://10.0.0.5/*": "allow"}}}`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

// Whatever stands in the path and the query of an address, a rule about one
// host does not allow another.
func TestAllowStaysOnItsHost(t *testing.T) {
	label := rapid.StringMatching(`[a-z0-9]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		own := label.Draw(t, "own") + "." + label.Draw(t, "top")
		other := label.Draw(t, "a") + "." + label.Draw(t, "b") + rapid.SampledFrom([]string{"", ":8080"}).Draw(t, "port")
		tail := rapid.SampledFrom([]string{"", own + "/", "https://" + own + "/x", "?u=." + own + "/", "x." + own + "/y"}).Draw(t, "tail")
		pattern := rapid.SampledFrom([]string{"https://" + own + "/*", "https://" + own + "*", own + "/*", "https://*." + own + "/*", "https://*" + own + "*"}).Draw(t, "pattern")
		if other == own || strings.HasSuffix(other, "."+own) || strings.HasSuffix(other, own) {
			return
		}
		if address := "https://" + other + "/" + tail; matchAddress(address, pattern) {
			t.Fatalf("%s allows %s", pattern, address)
		}
	})
}

func FuzzMatchAddress(f *testing.F) {
	f.Add("https://a.example/x", "https://*.a.example/*")
	f.Add("http://[::1]:3000/", "http://[::1]:*")
	f.Fuzz(func(t *testing.T, address, pattern string) {
		matchAddress(address, pattern)
		if !matchAddress(address, "*") {
			t.Fatal("a star is everything")
		}
	})
}
