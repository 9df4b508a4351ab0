package cli

import (
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
)

// decideAddress decides about a URL as a fetch would, without looking up its host. The note says
// what could still change the decision; it may be "".
func decideAddress(at web.Address, req permission.Request, decide func(permission.Request) (permission.Decision, error)) (d permission.Decision, note string, err error) {
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
	if d, err = decide(req); err != nil {
		return d, "", err
	}
	there, err := decide(inside)
	if place == web.Unknown && d.Action == permission.Allow && there.Action != permission.Allow {
		note = "should the name turn out to lead to this machine or a private network, a rule has to name the host"
	}
	return d, note, err
}
