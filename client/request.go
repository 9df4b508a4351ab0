package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A request is what is about to be sent.
type request struct {
	method string
	path   string // escaped
	query  url.Values
	body   any // nil: none
	err    error
}

// newRequest makes a request to a path, whose names in braces are filled in.
func newRequest(method, path string, names ...string) request {
	r := request{method: method}
	for _, name := range names {
		before, rest, _ := strings.Cut(path, "{")
		what, after, _ := strings.Cut(rest, "}")
		if name == "" || name == "." || name == ".." {
			r.err = fmt.Errorf("client: %s %s{%s}%s: %q is not the id of a %s", method, before, what, after, name, what)
		}
		r.path += before + url.PathEscape(name)
		path = after
	}
	r.path += path
	return r
}

// withQuery adds a query.
func (r request) withQuery(query url.Values) request {
	r.query = query
	return r
}

// sending adds a body, which becomes JSON.
func (r request) sending(body any) request {
	r.body = body
	return r
}

// setValue adds a parameter unless it is the zero value, which asks for the
// default.
func setValue[T string | int64 | float64 | bool](v url.Values, name string, value T) {
	var zero T
	if value != zero {
		v.Set(name, fmt.Sprint(value))
	}
}

// setList adds a parameter that is a list with commas.
func setList(v url.Values, name string, values []string) {
	if len(values) > 0 {
		v.Set(name, strings.Join(values, ","))
	}
}

// fetch sends a request and reads the answer's JSON.
func fetch[T any](ctx context.Context, c *Client, r request) (T, error) {
	var into T
	text, err := c.exchange(ctx, r)
	if err != nil {
		return into, err
	}
	if err := json.Unmarshal(text, &into); err != nil {
		var none T
		return none, fmt.Errorf("%w (the answer to %s %s: %v)", errForeign, r.method, r.path, err)
	}
	return into, nil
}

// send sends a request whose answer says no more than that it was done.
func send(ctx context.Context, c *Client, r request) error {
	_, err := c.exchange(ctx, r)
	return err
}

// exchange sends a request, again where that is harmless, and returns the
// answer's body.
func (c *Client) exchange(ctx context.Context, r request) (text []byte, err error) {
	once := func() error {
		res, err := c.open(ctx, r, nil)
		if err != nil {
			return err
		}
		if text, err = c.read(res); err != nil {
			return fmt.Errorf("client: %s %s: %w", r.method, r.path, err)
		}
		return nil
	}
	if r.method == http.MethodGet {
		err = c.retry(ctx, once)
	} else {
		err = once()
	}
	return text, err
}

// retry does what can be done twice until the server could be reached, a few
// times at the most.
func (c *Client) retry(ctx context.Context, do func() error) error {
	pause := c.pause
	for try := 1; ; try++ {
		err := do()
		var unreached *url.Error
		if err == nil || try >= c.tries || ctx.Err() != nil || !errors.As(err, &unreached) {
			return err
		}
		if err := wait(ctx, pause); err != nil {
			return err
		}
		pause *= 2
	}
}

// open sends a request and returns an answer that says all is well; any other
// is an error. The caller closes its body.
func (c *Client) open(ctx context.Context, r request, header http.Header) (*http.Response, error) {
	if r.err != nil {
		return nil, r.err
	}
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("client: %s %s: the body can not become JSON: %w", r.method, r.path, err)
		}
		body = bytes.NewReader(text)
	}
	target := c.base.String() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.method != http.MethodGet {
		// Also without a body: the server takes nothing else from anybody.
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("client: is a server running there? %w", err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, problemOf(res)
	}
	return res, nil
}

// read takes the body of an answer, up to a bound.
func (c *Client) read(res *http.Response) ([]byte, error) {
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > c.maxBody {
		return nil, fmt.Errorf("the answer is longer than %d bytes: ask for less at once, or raise the bound by WithMaxBody", c.maxBody)
	}
	return text, nil
}

// wait lets time pass.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// retryAfter is how long a server asks us to wait.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 || n > 3600 {
		return 0
	}
	return time.Duration(n) * time.Second
}
