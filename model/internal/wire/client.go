// Package wire is what the HTTP clients of models share: sending a request, reading the events of
// the answer, and turning every failure into an error that says what can be done about it.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/helve-dev/helve/model"
)

const (
	maxEvent     = 8 << 20  // bytes of one event, or of an answer in one piece
	maxErrorBody = 64 << 10 // bytes read of an answer that is an error
	maxBlank     = 64 << 10 // bytes of white space before an answer
	maxRedirects = 5
)

var errIdle = errors.New("no byte came for too long")

// Options configure how a provider is reached.
type Options struct {
	Endpoint string      // the whole URL of the POST
	Header   http.Header // sent with each request
	Secrets  []string    // removed from errors
	// HTTP sends the requests. When it is nil, a client is made that waits for an answer no longer
	// than Idle and takes its proxy from the environment.
	HTTP *http.Client
	Idle time.Duration // how long no byte may come; 5 minutes when 0
	Name string        // the provider's, for messages
}

// A Client sends requests to one endpoint. It is safe for concurrent use.
type Client struct {
	endpoint *url.URL
	header   http.Header
	secrets  scrubber
	http     *http.Client
	idle     time.Duration
	name     string
}

// An Event is one event of a stream. Data is valid only until the next one. An answer that is a
// single JSON text instead of a stream is one event named "json".
type Event struct {
	Name string // empty if the server sent none
	Data []byte

	watch *idleTimer
}

// Classify returns the error for a response that is not 2xx. If it returns nil, the status decides;
// fields that it leaves empty are filled in, including the kind and the message.
type Classify func(status int, header http.Header, body []byte) *model.Error

// New returns a client. It fails if the endpoint is not a valid URL.
func New(o Options) (*Client, error) {
	c := &Client{header: o.Header.Clone(), idle: o.Idle, name: o.Name, secrets: newScrubber(o.Secrets)}
	if c.name == "" {
		c.name = "the provider"
	}
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the base URL of %s is not a URL that begins with http:// or https:// and names a host: correct it", c.name)
	case u.User != nil:
		return nil, fmt.Errorf("the base URL of %s holds a user name or password: take it out and give the key on its own", c.name)
	}
	u.Fragment = ""
	c.endpoint = u
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set("Content-Type", "application/json")
	for key, value := range map[string]string{"Accept": "text/event-stream", "User-Agent": "helve"} {
		if c.header.Get(key) == "" {
			c.header.Set(key, value)
		}
	}
	if c.idle <= 0 {
		c.idle = 5 * time.Minute
	}
	client := http.Client{Transport: transport()}
	if o.HTTP != nil {
		client = *o.HTTP
	}
	client.CheckRedirect = sameOrigin
	c.http = &client
	return c, nil
}

// transport limits what should take only moments. Idle, not the transport, limits how long a model
// may think.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 4,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // a compressed stream arrives in bursts

		MaxResponseHeaderBytes: 1 << 20,
	}
}

// sameOrigin follows a redirect only where the key may be sent and the request stays the same.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || req.Method != first.Method || req.URL.User != nil ||
		req.URL.Scheme != first.URL.Scheme || !strings.EqualFold(req.URL.Host, first.URL.Host) {
		return http.ErrUseLastResponse
	}
	return nil
}

// Post sends body as JSON and yields the events of the answer. Any error is a [*model.Error], or
// the cause of ctx's end, and ends the stream.
func (c *Client) Post(ctx context.Context, body any, classify Classify) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := context.Cause(ctx); err != nil {
			yield(Event{}, err)
			return
		}
		text, err := marshal(body)
		if err != nil {
			yield(Event{}, &model.Error{Kind: model.Invalid, Message: c.Scrub("the request can not be written as JSON: " + err.Error()), Err: err})
			return
		}
		inner, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		watch := &idleTimer{idle: c.idle, timer: time.AfterFunc(c.idle, func() { cancel(errIdle) })}
		watch.happened()
		defer watch.timer.Stop()
		resp, err := c.send(inner, text, watch)
		if err != nil {
			yield(Event{}, c.requestError(ctx, inner, c.unreachable(err), watch))
			return
		}
		defer resp.Body.Close()
		in := &watched{r: resp.Body, watch: watch}
		if resp.StatusCode/100 != 2 {
			yield(Event{}, c.requestError(ctx, inner, c.statusError(resp, in, classify), watch))
			return
		}
		for event, err := range readEvents(resp.Header, in) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(Event{}, c.requestError(ctx, inner, c.broken(resp, err), watch))
				return
			}
			watch.happened()
			event.watch = watch
			if !yield(event, nil) {
				return
			}
		}
		// An aborted body may look like one that has ended.
		if err := context.Cause(inner); err != nil {
			yield(Event{}, c.requestError(ctx, inner, c.broken(resp, err), watch))
		}
	}
}

func marshal(body any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(body)
	return bytes.TrimSpace(b.Bytes()), err
}

func (c *Client) send(ctx context.Context, text []byte, watch *idleTimer) (*http.Response, error) {
	body := func() (io.ReadCloser, error) {
		return io.NopCloser(&sent{r: bytes.NewReader(text), watch: watch}), nil
	}
	first, _ := body()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), first)
	if err != nil {
		return nil, err
	}
	req.Header, req.GetBody, req.ContentLength = c.header.Clone(), body, int64(len(text))
	return c.http.Do(req)
}

// readEvents yields the events of a successful response, whatever its form.
func readEvents(header http.Header, body io.Reader) iter.Seq2[Event, error] {
	if packed(header) {
		return func(yield func(Event, error) bool) { yield(Event{}, errPacked) }
	}
	if strings.Contains(strings.ToLower(header.Get("Content-Type")), "event-stream") {
		return ReadEvents(body, maxEvent)
	}
	return func(yield func(Event, error) bool) {
		in := bufio.NewReader(body)
		first, err := skipSpace(in)
		switch {
		case err != nil && err != io.EOF:
			yield(Event{}, err)
		case first == '{' || first == '[':
			text, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
			if err == nil && len(text) > maxEvent {
				err = errTooLong
			}
			yield(Event{Name: "json", Data: text}, err)
		case first == '<':
			yield(Event{}, errWebPage)
		default:
			ReadEvents(in, maxEvent)(yield)
		}
	}
}

// packed reports whether a body is compressed although that was not requested.
func packed(header http.Header) bool {
	coding := strings.TrimSpace(header.Get("Content-Encoding"))
	return coding != "" && !strings.EqualFold(coding, "identity")
}

// skipSpace skips white space and returns the next byte without consuming it.
func skipSpace(in *bufio.Reader) (byte, error) {
	for range maxBlank {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, in.UnreadByte()
		}
	}
	return 0, errBlank
}
