package helve_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/tool"
)

// silence is a name service that never answers.
type silence struct{}

func (silence) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// What an error names in the config is what counts: also for the search that
// only a flag switches on, and for code where the web's engine is used.
func TestFinderSettings(t *testing.T) {
	for name, web := range map[string]helve.Web{
		"flag":  {Search: helve.Finder{Timeout: 20 * time.Millisecond}},
		"given": {Search: helve.Finder{Provider: "exa", Timeout: 20 * time.Millisecond}},
	} {
		web.Resolver = silence{}
		rt := open(t, helve.Options{Flags: map[string]bool{"exa": true}, Web: web})
		for _, search := range []string{"websearch", "codesearch"} {
			_, err := rt.Call(t.Context(), tool.Call{Tool: search, Input: []byte(`{"query":"x"}`)})
			if e := kindOf(t, err); e.Code != "timeout" || !strings.HasSuffix(e.Error(), "request timed out after 0.02 seconds; websearch.timeout_ms in the config allows more") {
				t.Errorf("%s, %s: %s %v", name, search, e.Code, e)
			}
		}
	}
}
