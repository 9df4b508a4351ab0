package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/tool"
)

//go:embed webfetch.md
var webfetchDoc string

// Default limits of a fetch.
const (
	fetchTimeout    = 30 * time.Second
	fetchMaxTimeout = 120 * time.Second
	fetchBytes      = 5 << 20

	// fetchConversions limits how many pages are converted at a time.
	fetchConversions = 2
)

// Web is how tools use the network.
type Web struct {
	Client              *web.Client   // nil: no network
	Cache               *web.Cache    // nil: none
	Timeout, MaxTimeout time.Duration // of a fetch that does not say, and of any; 30 s and 120 s when 0
	Limit               int64         // bytes of a page; 5 MiB when 0

	Search, Code web.SearchEngine // nil: not configured
	// Exa is the engine that the flag "exa" and the provider "opencode" enable if Search or Code is
	// nil; nil for none.
	Exa web.SearchEngine
}

type webfetchInput struct {
	URL     string   `json:"url" jsonschema:"the address, with http(s)://"`
	Format  string   `json:"format" jsonschema:"the form to return" enum:"text,markdown,html" default:"markdown"`
	Timeout *float64 `json:"timeout,omitempty" jsonschema:"seconds, 120 at the most"`
	Whole   bool     `json:"whole,omitempty" jsonschema:"all of the page, not just its main part"`
}

// webfetch fetches a page, after permission for every address on the way to it.
func webfetch(w Web) tool.Tool {
	spec := tool.Spec{Name: "webfetch", Description: webfetchDoc, ReadOnly: true, OpenWorld: true}
	spec.Offer = func(tool.Audience) (string, bool) {
		if w.Client == nil {
			return "There is no network here.", false
		}
		return webfetchDoc, true
	}
	turns := make(chan struct{}, fetchConversions)
	return tool.New(spec, func(ctx context.Context, c *tool.Call, in webfetchInput) (*tool.Result, error) {
		shown := map[string]any{"format": in.Format}
		if in.Timeout != nil {
			shown["timeout"] = *in.Timeout
		}
		f := &fetch{web: w, call: c, in: in, turns: turns, rules: &web.Judge{By: c, Metadata: shown}}
		return f.run(ctx)
	})
}

// A fetch is a call of webfetch in progress.
type fetch struct {
	web  Web
	call *tool.Call
	in   webfetchInput

	turns   chan struct{} // of those who convert a page, for it takes room
	address web.Address   // of the page
	// What the page says about itself beside its text.
	scripted bool
	refresh  string

	rules   *web.Judge
	refusal error // of a rule, a person, or ours: why a hop is not taken
}

func (f *fetch) run(ctx context.Context) (*tool.Result, error) {
	if f.web.Client == nil {
		return nil, tool.Fail("no-network", "There is no network here. Go on without the page.")
	}
	var err error
	if f.address, err = readAddress(f.in.URL); err != nil {
		return nil, err
	}
	patience, err := f.patience()
	if err != nil {
		return nil, err
	}
	if err := f.askHop(ctx, web.Hop{Address: f.address}); err != nil {
		return nil, err
	}
	clock := newStopwatch(ctx, patience)
	defer clock.stop()
	p, cached, err := f.load(ctx, clock)
	if err != nil {
		return nil, f.fetchError(ctx, patience, err)
	}
	res, err := f.renderPage(clock, p, cached)
	if err != nil && clock.Err() != nil {
		return nil, f.fetchError(ctx, patience, fmt.Errorf("the page has come and was still being converted: %w", clock.Err()))
	}
	return res, err
}

// readAddress parses the URL of a call.
func readAddress(raw string) (web.Address, error) {
	lower := strings.ToLower(raw[:min(len(raw), len("https://"))])
	if !strings.HasPrefix(lower, "http://") && lower != "https://" {
		return web.Address{}, tool.Fail(web.CodeInvalidURL, "URL must start with http:// or https://")
	}
	a, err := web.Read(raw)
	if err != nil {
		return web.Address{}, webFailure(err)
	}
	return a, nil
}

// patience returns the time limit of the fetch.
func (f *fetch) patience() (time.Duration, error) {
	most := cmp.Or(f.web.MaxTimeout, fetchMaxTimeout)
	if f.in.Timeout == nil {
		return min(cmp.Or(f.web.Timeout, fetchTimeout), most), nil
	}
	seconds := *f.in.Timeout
	if seconds <= 0 {
		e := tool.Fail("range", "Invalid timeout value: %v. Timeout must be a positive number of seconds.", seconds)
		e.Kind = tool.InvalidInput
		return 0, e
	}
	return time.Duration(math.Ceil(min(seconds, most.Seconds()) * float64(time.Second))), nil
}

// load returns the page, from the network or from the cache.
func (f *fetch) load(ctx context.Context, clock *stopwatch) (p *web.Page, cached bool, err error) {
	accept := accepts(f.in.Format)
	key := f.address.String() + "\n" + accept
	if f.web.Cache != nil {
		if p, ok := f.web.Cache.Get(f.call.Session, key); ok {
			return p, true, f.askChain(ctx, p)
		}
	}
	p, err = f.web.Client.Get(clock, web.Get{
		Address: f.address, Limit: f.sizeLimit(),
		Header: http.Header{"Accept": {accept}, "Accept-Language": {"en-US,en;q=0.9"}},
		Judge: func(_ context.Context, h web.Hop) error {
			clock.stopTimer() // a person may take as long as they like
			defer clock.resume()
			return f.askHop(ctx, h)
		},
		Progress: func(bytes int64) { f.call.Progress(f.in.URL, map[string]any{"bytes": bytes}) },
	})
	if err == nil && f.web.Cache != nil && p.Cacheable() {
		f.web.Cache.Put(f.call.Session, key, p)
	}
	return p, false, err
}

// askChain asks again for the redirects to a cached page, because rules may have changed.
func (f *fetch) askChain(ctx context.Context, p *web.Page) error {
	for i := range p.Chain {
		next := p.Address
		if i+1 < len(p.Chain) {
			next = p.Chain[i+1].Address
		}
		if err := f.askHop(ctx, web.Hop{Address: next, Via: p.Chain[:i+1]}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fetch) sizeLimit() int64 { return cmp.Or(f.web.Limit, fetchBytes) }

// accepts returns the Accept header of a request.
func accepts(format string) string {
	switch format {
	case "markdown":
		return "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1"
	case "text":
		return "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1"
	}
	return "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1"
}

// askHop asks for a hop: for an address before its name is resolved, and again if it resolves to an
// internal address.
func (f *fetch) askHop(ctx context.Context, h web.Hop) error {
	err := f.rules.Hop(ctx, h)
	if _, ours := errors.AsType[*web.Error](err); ours {
		err = webFailure(err)
	}
	if err != nil && f.refusal == nil {
		f.refusal = err
	}
	return err
}

// way returns a chain of redirects, with an arrow after each.
func way(chain []web.Redirect) string {
	var out strings.Builder
	for _, s := range chain {
		fmt.Fprintf(&out, "%s (%d) -> ", shortened(s.Address.String()), s.Status)
	}
	return out.String()
}

// fetchError is the error for a page that could not be fetched.
func (f *fetch) fetchError(ctx context.Context, patience time.Duration, err error) error {
	if f.refusal != nil {
		return f.refusal
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	known, ok := errors.AsType[*web.Error](err)
	switch {
	case !ok && errors.Is(err, context.DeadlineExceeded):
		return tool.Fail(web.CodeTimeout, "Request timed out: %w after %s. %s", err, seconds(patience), f.longer(patience))
	case ok && known.Code == web.CodeTimeout && errors.Is(err, context.DeadlineExceeded):
		return tool.Fail(web.CodeTimeout, "%w after %s. %s", plainError{err}, seconds(patience), f.longer(patience))
	}
	return webFailure(err)
}

// longer says what to do about a fetch that timed out.
func (f *fetch) longer(patience time.Duration) string {
	most := cmp.Or(f.web.MaxTimeout, fetchMaxTimeout)
	if patience >= most {
		return "That is the longest there is: fetch another page."
	}
	return fmt.Sprintf("Try again with a longer timeout, of %s at the most.", seconds(most))
}

// seconds formats a duration with as many digits as matter.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64) + " s"
}

// webFailure gives a network error its code and its kind.
func webFailure(err error) error {
	known, ok := errors.AsType[*web.Error](err)
	if !ok {
		return tool.Fail(web.CodeConnection, "Unable to fetch the page: %w", plainError{err})
	}
	e := tool.Fail(known.Code, "%w", plainError{err})
	_, malformed := errors.AsType[*web.Error](known.Err)
	if known.Code == web.CodeBlockedAddress || known.Code == web.CodeRedirectRefused && !malformed {
		e.Kind = tool.Denied
	}
	return e
}

// A plainError is an error whose text may contain untrusted input.
type plainError struct{ err error }

func (p plainError) Error() string { return text.Harmless(p.err.Error()) }
func (p plainError) Unwrap() error { return p.err }
