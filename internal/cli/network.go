package cli

import (
	"time"

	"helve"
	"helve/internal/config"
	"helve/internal/web"
	"helve/permission"
)

// network says how tools reach the web, and where they search it.
func (a *app) network(s *setup) helve.Web {
	w := s.cfg.Web
	out := helve.Web{
		UserAgent: w.UserAgent, Proxy: w.Proxy, Limit: w.MaxBytes, NoCache: w.Cache != nil && !*w.Cache,
		Timeout: milliseconds(w.TimeoutMS), MaxTimeout: milliseconds(w.MaxTimeoutMS),
		Search: finder(w.Search), Code: finder(w.Code), ExaKey: a.Getenv("EXA_API_KEY"),
	}
	if out.UserAgent == "" {
		out.UserAgent = "helve/" + version()
	}
	return out
}

func finder(f config.Finder) helve.Finder {
	return helve.Finder{Provider: f.Provider, Endpoint: f.Endpoint, Key: f.Key, Command: f.Command, Timeout: milliseconds(f.TimeoutMS)}
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// searches reports whether the environment switches the search tools on, as
// the reference reads it.
func (a *app) searches() bool {
	for _, name := range []string{"HELVE_ENABLE_EXA", "OPENCODE_ENABLE_EXA", "OPENCODE_EXPERIMENTAL", "OPENCODE_EXPERIMENTAL_EXA"} {
		if a.truth(name) {
			return true
		}
	}
	return false
}

// address decides about a URL as a fetch would, without looking its host up.
func address(req permission.Request, decide func(permission.Request) (permission.Decision, error)) (permission.Decision, string, error) {
	at, err := web.Read(req.Patterns[0])
	if err != nil {
		return permission.Decision{}, "", usagef("%w", err)
	}
	url, place := at.String(), at.Place()
	if place.Never() {
		return permission.Decision{Action: permission.Deny}, "it is " + place.Says(), nil
	}
	req.Patterns, req.Addresses = []string{url}, true
	if aliases := at.Aliases(); len(aliases) > 0 {
		req.Spellings = map[string][]string{url: aliases}
	}
	inside := req
	inside.Guards = map[string][]string{url: at.Words()}
	if place.Inside() {
		req = inside
	}
	d, err := decide(req)
	if err != nil {
		return d, "", err
	}
	there, err := decide(inside)
	note := ""
	if place == web.Unknown && d.Action == permission.Allow && there.Action != permission.Allow {
		note = "should the name turn out to lead to this machine or a private network, a rule has to name the host"
	}
	return d, note, err
}
