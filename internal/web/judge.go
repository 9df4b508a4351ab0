package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/helve-dev/helve/permission"
)

// An Asker decides requests: by the rules, or by asking a person.
type Asker interface {
	permission.Asker
	// Allowed decides without asking anybody.
	Allowed(req permission.Request) bool
}

// A Judge checks the hops of one fetch against the rules, each before anything of it is looked up,
// and once more if its name resolves to a local address. The permission is "webfetch"; for a local
// address a rule must name the host. All fetches for a model use it, so that one rule applies to
// all of them.
type Judge struct {
	By Asker
	// Metadata is shown to a person beside the address.
	Metadata map[string]any

	settled map[string]bool // what was asked about
	inside  []bool          // by hop: it leads to this machine or a private network
}

// Hop checks a hop; it is the Judge of a [Get]. A hop that no rule allows is an *[Error]; other
// errors are those of the permission request.
func (j *Judge) Hop(ctx context.Context, h Hop) error {
	place := cmp.Or(h.Place, h.Address.Place())
	if place.Never() {
		return &Error{Code: CodeBlockedAddress,
			Message: fmt.Sprintf("%s is not fetched: it is %s, where no rule leads. Fetch another page.", shownAddress(h.Address), place.Says())}
	}
	from := len(h.Via) > 0 && len(j.inside) > 0 && j.inside[min(len(h.Via), len(j.inside))-1]
	for len(j.inside) <= len(h.Via) {
		j.inside = append(j.inside, false)
	}
	j.inside[len(h.Via)] = place.Inside()

	req := j.request(h, place)
	key := fmt.Sprint(place.Inside(), " ", req.Patterns[0])
	if j.settled[key] {
		return nil
	}
	if from && place.Inside() && h.Via[len(h.Via)-1].Address.Origin() != h.Address.Origin() && !j.By.Allowed(req) {
		return &Error{Code: CodeRedirectRefused,
			Message: fmt.Sprintf("%s redirects to %s, another server that is %s. If that is meant, fetch it by its own address.",
				shownAddress(h.Via[len(h.Via)-1].Address), shownAddress(h.Address), place.Says())}
	}
	if err := j.By.Ask(ctx, req); err != nil {
		if len(h.Via) == 0 {
			return err
		}
		var way strings.Builder
		for _, s := range h.Via {
			fmt.Fprintf(&way, "%s (%d) -> ", shownAddress(s.Address), s.Status)
		}
		return &wayward{err: err, way: way.String() + shownAddress(h.Address)}
	}
	if j.settled == nil {
		j.settled = map[string]bool{}
	}
	j.settled[key] = true
	return nil
}

// request returns the permission request for a hop.
func (j *Judge) request(h Hop, place Place) permission.Request {
	url := h.Address.String()
	req := permission.Request{
		Permission: "webfetch", Patterns: []string{url}, Always: []string{h.Address.Origin() + "/*"}, Addresses: true,
		Metadata: map[string]any{"url": url},
	}
	maps.Copy(req.Metadata, j.Metadata)
	if len(h.Via) > 0 {
		req.Metadata["redirectedFrom"] = h.Via[len(h.Via)-1].Address.String()
	}
	if aliases := h.Address.Aliases(); len(aliases) > 0 {
		req.Spellings = map[string][]string{url: aliases}
	}
	if place.Inside() {
		req.Guards = map[string][]string{url: h.Address.Words()}
		req.Metadata["place"] = place.Says()
		req.Place = string(place)
		if len(h.IPs) > 0 && h.Address.Place() == Unknown { // a name may lead elsewhere tomorrow
			led := addresses(h.IPs)
			req.Metadata["address"], req.Place = led, req.Place+" "+led
		}
	}
	return req
}

// addresses lists the addresses of a name, sorted.
func addresses(ips []netip.Addr) string {
	sorted := slices.SortedFunc(slices.Values(ips), netip.Addr.Compare)
	var out []string
	for _, ip := range slices.Compact(sorted) {
		out = append(out, ip.String())
	}
	return strings.Join(out, ", ")
}

// A wayward error is one that a redirect has led to.
type wayward struct {
	err error
	way string
}

func (w *wayward) Error() string {
	return w.err.Error() + "\n\nIt was asked for by a redirect: " + w.way
}
func (w *wayward) Unwrap() error { return w.err }

// shownAddress is an address in a sentence.
func shownAddress(a Address) string { return shorten(a.String(), 300) }
