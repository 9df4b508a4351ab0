package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxFetchRedirects is how many redirects a [Client.Open] follows, as browsers
// do.
const maxFetchRedirects = 20

// A Request is a Get whose response is read as it arrives, like a browser's fetch. It may set any
// header except those that control the framing of the message; Authorization and Cookie do not
// follow a redirect to another origin.
type Request struct {
	Get
	// Redirect is what becomes of one: "manual" gives it back, "error" makes it
	// one, and anything else follows, up to 20 of them.
	Redirect string
	// Packed leaves the body as it was sent.
	Packed bool
}

// A Stream is a response whose body has not been read yet. It must be closed, which may be done
// while another goroutine reads.
type Stream struct {
	Address Address     // the last
	Chain   []Redirect  // the redirects that led there
	Status  int         // of the answer
	Text    string      // what the server calls the status
	Header  http.Header // as it was sent

	answer *response
	end    context.CancelFunc
	limit  int64
	packed bool
	closed sync.Once

	body io.Reader // nil before the first read
	n    int64
}

// Open makes a request and returns its response as soon as its header has arrived. ctx bounds the
// time until then; the body continues until it is closed. At most Limit bytes of it are read, after
// decompression. Errors are those of [Client.Get].
func (c *Client) Open(ctx context.Context, r Request) (*Stream, error) {
	if c.wrong != nil {
		return nil, c.wrong
	}
	if r.Address.scheme == "" {
		return nil, invalid("there is none")
	}
	if r.Limit <= 0 {
		r.Limit = defaultLimit
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	f := &fetch{c: c, g: r.Get, agent: c.opts.UserAgent, header: fetchHeader(r), seen: map[string]bool{}, public: true}
	if own, ok := f.header["User-Agent"]; ok {
		f.agent = strings.Join(own, ", ")
	}
	for at := r.Address; ; {
		s, next, err := f.open(lasting, at, r.Redirect)
		if err == nil && s != nil && !stop() { // the time was over in this moment
			s.answer.close()
			err = ctx.Err()
		}
		if err != nil {
			stop()
			end()
			return nil, f.explain(ctx, at, err)
		}
		if s != nil {
			s.end, s.limit, s.packed = end, r.Limit, r.Packed
			return s, nil
		}
		at = next
	}
}

// fetchHeader returns a copy of the allowed headers, with the supported encodings. Without
// decompression, the caller chooses the encodings.
func fetchHeader(r Request) http.Header {
	own := headerOf(r.Header)
	for name, values := range r.Header {
		switch name = http.CanonicalHeaderKey(name); name {
		case "User-Agent":
			own[name] = append([]string(nil), values...)
		case "Accept-Encoding":
			if r.Packed || len(values) == 1 && strings.EqualFold(strings.TrimSpace(values[0]), "identity") {
				own[name] = append([]string(nil), values...)
			}
		}
	}
	return own
}

// open makes the request of one hop. It returns its response, or its redirect target.
func (f *fetch) open(ctx context.Context, at Address, mode string) (*Stream, Address, error) {
	way, err := f.resolveRoute(ctx, at)
	if err != nil {
		return nil, Address{}, err
	}
	f.from, f.via = way.place, way.proxy
	got, err := f.send(ctx, at, way)
	if err != nil {
		return nil, Address{}, err
	}
	status := got.resp.StatusCode
	location := got.resp.Header.Get("Location")
	switch {
	case status == http.StatusSwitchingProtocols:
		got.close()
		return nil, Address{}, &Error{Code: CodeConnection, Message: fmt.Sprintf("%s changes to another protocol, which was not asked for", at.Host())}
	case location == "" || !redirects(status) || mode == "manual":
		_, said, _ := strings.Cut(got.resp.Status, " ")
		return &Stream{Address: at, Chain: f.chain, Status: status, Text: said, Header: got.resp.Header, answer: got}, Address{}, nil
	}
	got.close()
	if mode == "error" {
		return nil, Address{}, &Error{Code: CodeUnexpectedRedirect, Message: fmt.Sprintf("%s redirects to %q, and no redirect is wanted", shortenText(at.String()), shortenText(location))}
	}
	to, err := f.followRedirect(at, location, status)
	return nil, to, err
}

// followRedirect makes the request that a redirect asks for.
func (f *fetch) followRedirect(at Address, location string, status int) (Address, error) {
	to, err := f.readRedirect(at, location, status)
	if err != nil {
		return to, err
	}
	if len(f.chain) > maxFetchRedirects {
		return to, &Error{Code: CodeTooManyRedirects, Message: fmt.Sprintf("more than %d redirects, the last to %s", maxFetchRedirects, shortenText(to.String()))}
	}
	if err := downgraded(at, to); err != nil {
		return to, err
	}
	post := f.g.Method == http.MethodPost && (status == http.StatusMovedPermanently || status == http.StatusFound)
	other := f.g.Method != http.MethodGet && f.g.Method != http.MethodHead && status == http.StatusSeeOther
	if post || other {
		f.g.Method, f.g.Body = http.MethodGet, nil
		for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Location", "Content-Type"} {
			f.header.Del(name)
		}
	}
	if at.Origin() != to.Origin() {
		f.header.Del("Authorization")
		f.header.Del("Cookie")
	}
	return to, nil
}

// Read reads of the body what has come, unpacked unless it was asked for
// packed. An error but io.EOF is an *[Error].
func (s *Stream) Read(p []byte) (int, error) {
	if s.body == nil {
		body, err := s.unpacked()
		if err != nil {
			return 0, s.broken(err)
		}
		s.body = body
	}
	if s.n > s.limit {
		return 0, s.tooLarge()
	}
	n, err := s.body.Read(p[:min(int64(len(p)), s.limit-s.n+1)])
	s.n += int64(n)
	switch {
	case s.n > s.limit:
		return max(n-1, 0), s.tooLarge()
	case errors.Is(err, io.EOF):
		return n, io.EOF
	case err != nil:
		return n, s.broken(err)
	}
	return n, nil
}

func (s *Stream) unpacked() (io.Reader, error) {
	body := s.answer.resp.Body
	if s.packed {
		return body, nil
	}
	raw := &counted{r: bufio.NewReaderSize(body, 32<<10), most: s.limit + maxOverhead}
	return decoder(s.Header.Values("Content-Encoding"), raw)
}

func (s *Stream) tooLarge() error {
	return &Error{Code: CodeTooLarge, Chain: s.Chain, Message: fmt.Sprintf("the answer from %s is larger than %d bytes, which is the most that is read", s.Address.Host(), s.limit)}
}

func (s *Stream) broken(err error) error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	if errors.Is(err, errEndless) {
		return s.tooLarge()
	}
	return &Error{Code: CodeConnection, Chain: s.Chain, Err: err, Message: fmt.Sprintf("the answer from %s did not come to its end: %s", s.Address.Host(), shortenText(err.Error()))}
}

// Close ends the connection. Twice is fine.
func (s *Stream) Close() error {
	s.closed.Do(func() {
		s.end()
		s.answer.way.close() // before the body, which may wait for who reads it
		s.answer.close()
	})
	return nil
}
