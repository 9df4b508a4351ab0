//go:build unix

package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// pages are the answers whose bodies scripts have not read to the end.
type pages struct {
	plain, packed *http.Transport
	mu            sync.Mutex
	last          int
	open          map[int]*page
}

type page struct {
	body   io.ReadCloser
	cancel context.CancelFunc
}

func netOps(t *testing.T) map[string]operation {
	t.Helper()
	p := &pages{plain: &http.Transport{DisableCompression: true}, packed: &http.Transport{}, open: map[int]*page{}}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, one := range p.open {
			one.close()
		}
		p.plain.CloseIdleConnections()
		p.packed.CloseIdleConnections()
	})
	return map[string]operation{"net.fetch": p.fetch, "net.body": p.body, "net.close": p.close}
}

func (p *page) close() {
	p.cancel()
	_ = p.body.Close()
}

var (
	errRedirect  = errors.New("redirect")
	errRedirects = errors.New("redirects")
)

type fetchArg struct {
	URL, Method, Redirect string
	Headers               [][2]string
	Body, Decompress      bool
}

func (p *pages) fetch(ctx context.Context, arg script.Data) (script.Data, error) {
	var a fetchArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	// The context ends with this request, the body is read in others.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	var body io.Reader
	if a.Body {
		body = bytes.NewReader(arg.Raw)
	}
	request, err := http.NewRequestWithContext(lasting, a.Method, a.URL, body)
	if err != nil {
		cancel()
		return script.Data{}, err
	}
	request.URL.User = nil
	for _, h := range a.Headers {
		request.Header.Add(h[0], h[1])
	}
	client := &http.Client{Transport: p.plain, CheckRedirect: redirects(a.Redirect)}
	if a.Decompress {
		client.Transport = p.packed
	}
	response, err := client.Do(request)
	if err != nil {
		cancel()
		return script.Data{}, unreachable(err)
	}
	stop()
	head := map[string]any{
		"id": p.keep(&page{body: response.Body, cancel: cancel}), "status": response.StatusCode,
		"statusText": strings.TrimSpace(strings.TrimLeft(response.Status, "0123456789")), "url": response.Request.URL.String(),
		"redirected": response.Request != request, "headers": pairs(response.Header),
	}
	text, err := json.Marshal(head)
	return script.Data{JSON: text}, err
}

func redirects(mode string) func(*http.Request, []*http.Request) error {
	return func(_ *http.Request, via []*http.Request) error {
		switch {
		case mode == "manual":
			return http.ErrUseLastResponse
		case mode == "error":
			return errRedirect
		case len(via) >= 20:
			return errRedirects
		}
		return nil
	}
}

func pairs(header http.Header) [][2]string {
	list := [][2]string{}
	for name, values := range header {
		for _, value := range values {
			list = append(list, [2]string{strings.ToLower(name), value})
		}
	}
	return list
}

// unreachable names why there is no answer.
func unreachable(err error) error {
	code := "ECONNRESET"
	switch _, unknown := errors.AsType[*net.DNSError](err); {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errRedirect):
		code = "UnexpectedRedirect"
	case errors.Is(err, errRedirects):
		code = "TooManyRedirects"
	case errors.Is(err, syscall.ECONNREFUSED):
		code = "ECONNREFUSED"
	case unknown:
		code = "ENOTFOUND"
	}
	return &script.Failure{Name: "TypeError", Message: err.Error(), Code: code}
}

func (p *pages) keep(one *page) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.open[p.last] = one
	return p.last
}

func (p *pages) find(arg script.Data, remove bool) *page {
	var a struct{ ID int }
	if json.Unmarshal(arg.JSON, &a) != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open[a.ID]
	if remove {
		delete(p.open, a.ID)
	}
	return one
}

func (p *pages) body(ctx context.Context, arg script.Data) (script.Data, error) {
	one := p.find(arg, false)
	if one == nil {
		return script.Data{JSON: []byte(`{"done":true}`)}, nil
	}
	defer context.AfterFunc(ctx, one.cancel)()
	chunk := make([]byte, 64<<10)
	n, err := one.body.Read(chunk)
	switch {
	case n > 0:
		return script.Data{JSON: []byte(`{"done":false}`), Raw: chunk[:n]}, nil
	case errors.Is(err, io.EOF):
		p.find(arg, true).close()
		return script.Data{JSON: []byte(`{"done":true}`)}, nil
	case err != nil:
		return script.Data{}, unreachable(err)
	}
	return script.Data{JSON: []byte(`{"done":false}`)}, nil
}

func (p *pages) close(_ context.Context, arg script.Data) (script.Data, error) {
	if one := p.find(arg, true); one != nil {
		one.close()
	}
	return script.Data{}, nil
}
