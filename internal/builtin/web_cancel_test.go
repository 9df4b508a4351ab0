package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/builtin"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A hungUp is a connection that tells when our side ends it.
type hungUp struct {
	net.Conn
	told func()
}

func (h hungUp) Close() error {
	h.told()
	return h.Conn.Close()
}

// A call that is given up ends with the reason, in whatever it is doing. That
// nothing is left behind is seen by TestMain, and by the servers, which wait
// for their visitors to go.
func TestFetchCancelled(t *testing.T) {
	errEnough := errors.New("enough")
	stall := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for stage, prepare := range map[string]func(t *testing.T, now func()) (*wire, web.Options){
		"resolve": func(t *testing.T, now func()) (*wire, web.Options) {
			w := newWire(t, stall)
			return w, web.Options{Resolver: stuck{now}, Dial: w.dial}
		},
		"connect": func(t *testing.T, now func()) (*wire, web.Options) {
			w := newWire(t, stall)
			return w, web.Options{Resolver: w, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				now()
				<-ctx.Done()
				return nil, ctx.Err()
			}}
		},
		"headers": func(t *testing.T, now func()) (*wire, web.Options) {
			w := newWire(t, func(_ http.ResponseWriter, r *http.Request) { now(); <-r.Context().Done() })
			return w, web.Options{Resolver: w, Dial: w.dial}
		},
		"body": func(t *testing.T, now func()) (*wire, web.Options) {
			w := newWire(t, func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, "the beginning")
				_ = http.NewResponseController(w).Flush()
				now()
				<-r.Context().Done()
			})
			return w, web.Options{Resolver: w, Dial: w.dial}
		},
		"conversion": func(t *testing.T, now func()) (*wire, web.Options) {
			w := newWire(t, page("text/html", strings.Repeat("<p>some <b>words</b> of a page", 150_000)))
			return w, web.Options{Resolver: w, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := w.dial(ctx, network, addr)
				return hungUp{conn, now}, err // which is when it has come
			}}
		},
	} {
		t.Run(stage, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			_, opt := prepare(t, func() { cancel(errEnough) })
			d := newDesk(t, permission.Allow)
			for _, one := range webTools(builtin.Web{Client: web.New(opt)}) {
				if _, err := d.rt.Register(one); err != nil {
					t.Fatal(err)
				}
			}
			res, err := d.rt.Call(ctx, tool.Call{Tool: "webfetch", Input: asInput(t, map[string]any{"url": "http://a.example/"})})
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Canceled || !errors.Is(err, errEnough) {
				t.Errorf("got %v %v", res, err)
			}
		})
	}
}

// A stuck resolver never answers.
type stuck struct{ asked func() }

func (s stuck) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	s.asked()
	<-ctx.Done()
	return nil, ctx.Err()
}
