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
		{"https://a.example/x", "https://a.example:*/x", true},
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
		{"http://localhost/", "http://localhost:*", true},
		{"http://localhost.evil.example/", "http://localhost:*", false},
		{"http://google.attacker.example/", "http://google.*/*", false},
		{"http://google.de/", "http://google.*/*", true},
		{"http://s3.a.b.aws.example/", "http://s3.*.aws.example/*", false},
		{"http://s3.a.aws.example/", "http://s3.*.aws.example/*", true},
		{"http://dev.example:82/x", "http://dev.example.:82/*", true},
		{"https://a.example/me/s?x=/README.md", "https://a.example/*/README.md", false},
		{"https://a.example/me/README.md?x", "https://a.example/*/README.md", false},
		{"https://a.example/me/README.md", "https://a.example/*/README.md", true},
		{"https://a.example/me/s?x=/README.md", "https://a.example/*", true},
		{"https://a.example/search?q=go", "https://a.example/search?q=*", true},
		{"https://a.example/other?q=go", "https://a.example/search?q=*", false},
		{"http://[2606:4700::1111]/", "http://[2606:4700:0:0:0:0:0:1111]/*", true},
	} {
		if got := matchAddress(c.address, c.pattern); got != c.want {
			t.Errorf("matchAddress(%q, %q) = %t", c.address, c.pattern, got)
		}
	}
}

// Restrictions are about what is meant: a host alone, without its scheme or
// its path, in any case.
func TestRestrictedAddress(t *testing.T) {
	for _, c := range []struct{ address, patterns string }{
		{"https://evil.example/x?y", "https://evil.example/* https://EVIL.example/* https://evil.example:443/* https://evil.example evil.example evil.example/*" +
			" *evil.example* https://evil.example./* Evil.Example evil.example. evil.example:443 //evil.example/* https://evil.example:* evil.example:*" +
			" *://evil.example:443/* http*://evil.example:443/* https://evil.example/x evil.example/x https://*.example/*"},
		{"http://evil.example:81/admin", "evil.example evil.example:81 evil.example/admin http://evil.example:*"},
		{"http://evil.example/admin", "http://evil.example/%61dmin http://evil.example/admin"},
		{"http://evil.example/a%2Fb/my%20docs/%C3%BC", "http://evil.example/a%2fb/* evil.example/*/my%20docs/* http://evil.example/*/ü"},
		{"http://evil.example//admin/x", "http://evil.example/admin/*"},
		{"http://evil.example/%2Fadmin", "evil.example/admin"},
		{"http://evil.example/x/..%2Fadmin", "evil.example/admin"},
		{"http://evil.example/.%2Fadmin", "http://evil.example/admin"},
		{"http://[2606:4700::1111]/", "http://[2606:4700:0:0:0:0:0:1111]/* [2606:4700::1111]"},
	} {
		for pattern := range strings.FieldsSeq(c.patterns) {
			policy := Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: "*", Action: Allow}, {Permission: "webfetch", Pattern: pattern, Action: Deny}}}
			if d := policy.Judge(Request{Permission: "webfetch", Addresses: true}, c.address); d.Action != Deny {
				t.Errorf("%s does not deny %s", pattern, c.address)
			}
		}
	}
	policy := Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: "*", Action: Allow}, {Permission: "webfetch", Pattern: "http://evil.example/my docs/*", Action: Deny}}}
	if d := policy.Judge(Request{Permission: "webfetch", Addresses: true}, "http://evil.example/my%20docs/x"); d.Action != Deny {
		t.Error("a blank in a rule is no %20")
	}
}

// An inside address is allowed by a rule or an approval that names its host,
// and by nothing wider.
func TestGuardedAddress(t *testing.T) {
	const at = "http://localhost:3000/x"
	req := Request{
		Permission: "webfetch", Patterns: []string{at}, Addresses: true, Always: []string{"http://localhost:3000/*"}, Place: "machine",
		Guards: map[string][]string{at: {"localhost:3000", "localhost:"}},
	}
	all := Rule{Permission: "webfetch", Pattern: "*", Action: Allow}
	for pattern, want := range map[string]Action{
		"*": Ask, "http://*": Ask, "http://localhost:3000/*": Allow, "http://localhost:*": Allow, "http://localhost:3001/*": Ask, "*:3000/*": Ask,
		"http://*/localhost:3000/*": Ask, "http://*:3000/x": Ask, "localhost:3000/*": Allow, "http://*/x": Ask,
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
	if len(pending.Store) != 1 || pending.Store[0].Place != "machine" || pending.Store[0].Pattern != "http://localhost:3000/*" || pending.Store[0].Exact {
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
	elsewhere := req
	elsewhere.Place = "private 10.0.0.5"
	if ds, err = e.Decide(elsewhere, policy); err != nil || ds[0].Action != Ask {
		t.Fatalf("another place after always: %+v, %v", ds, err)
	}
	other := "http://localhost:3001/x"
	ds, err = e.Decide(Request{Permission: "webfetch", Patterns: []string{other}, Addresses: true, Place: "machine", Guards: map[string][]string{other: {"localhost:3001"}}}, policy)
	if err != nil || ds[0].Action != Ask {
		t.Fatalf("another port after always: %+v, %v", ds, err)
	}
}

// Who has allowed everything, and cannot be asked, reaches servers of this
// machine by webfetch as by a command.
func TestUnattendedMachine(t *testing.T) {
	const at = "http://127.0.0.1:3000/x"
	req := Request{
		Permission: "webfetch", Patterns: []string{at}, Addresses: true, Place: "machine",
		Guards: map[string][]string{at: {"127.0.0.1:3000"}},
	}
	here := Source{File: "helve.json", Line: 1}
	everything := Rule{Permission: "*", Pattern: "*", Action: Allow, From: here}
	native := everything
	native.From = Source{File: "default rules"}
	private := req
	private.Place = "private 10.0.0.5"
	for _, c := range []struct {
		name       string
		unattended bool
		req        Request
		rules      Ruleset
		want       Action
	}{
		{"everything is allowed", true, req, Ruleset{native, everything}, Allow},
		{"somebody can answer", false, req, Ruleset{native, everything}, Ask},
		{"only helve's own rules", true, req, Ruleset{native}, Ask},
		{"commands ask", true, req, Ruleset{everything, {Permission: "bash", Pattern: "*", Action: Ask, From: here}}, Ask},
		{"webfetch asks", true, req, Ruleset{everything, {Permission: "webfetch", Pattern: "*", Action: Ask, From: here}}, Ask},
		{"a rule denies it", true, req, Ruleset{everything, {Permission: "webfetch", Pattern: "127.0.0.1", Action: Deny, From: here}}, Deny},
		{"a private network", true, private, Ruleset{everything}, Ask},
	} {
		ds, err := NewEngine(EngineOptions{Unattended: c.unattended}).Decide(c.req, Policy{Rules: c.rules})
		if err != nil || ds[0].Action != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, ds[0].Action, c.want, err)
		}
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

// A rule names a host by its host and by nothing else of it.
func TestNamedByItsHostAlone(t *testing.T) {
	for address, pattern := range map[string]string{
		"http://http:6379/x":                "http://*",
		"https://https:8443/":               "https://*",
		"http://wiki/wiki/Passwords":        "http://*/wiki/*",
		"http://http:6379/y":                "http:*",
		"http://http/":                      "http*",
		"http://http/z":                     "http:/*",
		"http://wiki/":                      "*wiki*",
		"http://localhost:22/localhost:z":   "http://*/localhost:*",
		"http://localhost:22/?localhost:22": "http://*/?localhost:22",
	} {
		_, host, _ := cutAddress(address)
		name, _ := cutPort(host)
		req := Request{Permission: "webfetch", Addresses: true, Guards: map[string][]string{address: {host, name + ":"}}}
		if d := (Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: pattern, Action: Allow}}}).Judge(req, address); d.Action != Ask {
			t.Errorf("%s allows %s", pattern, address)
		}
	}
	for address, pattern := range map[string]string{"http://localhost/x": "http://localhost:80/*", "http://10.0.0.5/": "http://10.0.0.5./*"} {
		_, host, _ := cutAddress(address)
		req := Request{Permission: "webfetch", Addresses: true, Guards: map[string][]string{address: {host, host + ":"}}}
		if d := (Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: pattern, Action: Allow}}}).Judge(req, address); d.Action != Allow {
			t.Errorf("%s does not allow %s", pattern, address)
		}
	}
}

// An approval for a host on the public network does not hold where its name
// leads inside later.
func TestApprovalOfAPlace(t *testing.T) {
	const at = "http://evil.example:6379/x"
	outside := Request{Permission: "webfetch", Patterns: []string{at}, Addresses: true, Always: []string{"http://evil.example:6379/*"}}
	asked := make(chan Request, 1)
	e := NewEngine(EngineOptions{OnAsk: func(r Request) { asked <- r }})
	policy := Policy{Rules: Ruleset{{Permission: "webfetch", Pattern: "*", Action: Ask}}}
	answered := make(chan error)
	go func() { answered <- e.Ask(t.Context(), outside, policy) }()
	if err := e.Reply((<-asked).ID, Reply{Verdict: ReplyAlways}); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	inside := outside
	inside.Place, inside.Guards = "private 10.0.0.5", map[string][]string{at: {"evil.example:6379"}}
	if ds, err := e.Decide(inside, policy); err != nil || ds[0].Action != Ask {
		t.Errorf("inside: %+v, %v", ds, err)
	}
	if ds, err := e.Decide(outside, policy); err != nil || ds[0].Action != Allow {
		t.Errorf("outside: %+v, %v", ds, err)
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
