package cli

import (
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/config"
)

// network returns how tools reach the web, and where they search it.
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

// longest is more time than anybody means who writes a number into the config,
// and little enough that more can be added to it.
const longest = 30 * 365 * 24 * time.Hour

func milliseconds(n int) time.Duration { return lasting(n, time.Millisecond) }

// lasting converts a number of the config to a duration. It is bounded before the multiplication,
// which could overflow.
func lasting(n int, unit time.Duration) time.Duration {
	return time.Duration(min(int64(n), int64(longest/unit))) * unit
}

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
