package web

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxRatio is the compression ratio, beyond the limit, above which a body counts as a decompression
// bomb.
const maxRatio = 100

// maxOverhead is how much longer than what it decodes to a body may be.
const maxOverhead = 1 << 20

var errEndless = errors.New("the encoded body has no end")

// maxStray is how many bytes may follow a body, such as the end of a TLS connection.
const maxStray = 64 << 10

// progressEvery is the interval at which progress of a body is reported.
const progressEvery = 250 * time.Millisecond

// page reads the body of a response.
func (a *response) page(ctx context.Context, limit int64) (*Page, error) {
	resp := a.resp
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, &Error{Code: CodeConnection, Message: fmt.Sprintf("%s changes to another protocol, which was not asked for", a.at.Host())}
	}
	p := &Page{Status: resp.StatusCode, Header: resp.Header, Size: resp.ContentLength}
	p.Type, p.Charset = mediaType(resp.Header.Get("Content-Type"))
	raw := &counted{r: bufio.NewReaderSize(a.watched(resp.Body), 32<<10), most: limit + maxOverhead}
	decoded, err := decoder(resp.Header.Values("Content-Encoding"), raw)
	if err == nil {
		p.Body, err = io.ReadAll(io.LimitReader(decoded, limit+1))
	}
	got := int64(len(p.Body))
	switch {
	case errors.Is(err, errEndless):
		return nil, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("%s has sent %d bytes that say nothing; it is not fetched", a.at.Host(), raw.n)}
	case ctx.Err() != nil: // a body may end as if whole when its connection is closed
		return nil, &Error{Code: CodeTimeout, Err: context.Cause(ctx),
			Message: fmt.Sprintf("Request timed out: %d bytes of the page had come from %s", raw.n, a.at.Host())}
	case got > limit:
		if decoded != io.Reader(raw) && got > maxRatio*raw.n {
			return nil, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the answer from %s inflates from %d bytes to more than %d; it is not fetched", a.at.Host(), raw.n, limit)}
		}
		p.Body, p.Cut = p.Body[:limit], true
		return p, nil
	case err != nil:
		return p.endedBy(err, decoded != nil && decoded != io.Reader(raw))
	}
	if a.mayLie() {
		resp.Body.Close()
		if n := a.way.surplus(ctx, limit); n > maxStray && got+n > limit {
			return nil, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("%s announced %d bytes and sends more than %d; it is not fetched", a.at.Host(), resp.ContentLength, limit)}
		}
	}
	return p, nil
}

// watched returns a body that reports its progress.
func (a *response) watched(body io.Reader) io.Reader {
	if a.progress == nil {
		return body
	}
	return &watched{r: body, tell: a.progress, next: time.Now().Add(progressEvery)}
}

// A watched is a reader that reports its progress.
type watched struct {
	r    io.Reader
	tell func(bytes int64)
	next time.Time
	n    int64
}

// Read reads, and tells if it is time to.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	if now := time.Now(); n > 0 && now.After(w.next) {
		w.next = now.Add(progressEvery)
		w.tell(w.n)
	}
	return n, err
}

// endedBy is the page, or the error that is all there is of it.
func (p *Page) endedBy(err error, encoded bool) (*Page, error) {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || len(p.Body) > 0:
		p.Cut, p.broken = true, true
		return p, nil
	case encoded:
		return nil, undecodable(err)
	}
	return nil, err
}

// mayLie reports whether the response announced its length, and more bytes could follow.
func (a *response) mayLie() bool {
	switch a.resp.StatusCode {
	case http.StatusNoContent, http.StatusNotModified:
		return false
	}
	return a.resp.ProtoMajor == 1 && a.resp.ContentLength >= 0 && a.resp.Request.Method != http.MethodHead
}

// decoder undoes one layer of the encoding that was asked for, or of the one
// that is about as old.
func decoder(announced []string, raw *counted) (io.Reader, error) {
	var layers []string
	for layer := range strings.SplitSeq(strings.ToLower(strings.Join(announced, ",")), ",") {
		if layer = strings.TrimSpace(layer); layer != "" && layer != "identity" {
			layers = append(layers, layer)
		}
	}
	if len(layers) == 0 {
		return raw, nil
	}
	var decoded io.Reader
	var err error
	switch layer := layers[0]; {
	case len(layers) > 1:
		return nil, &Error{Code: CodeUnsupportedEncoding, Message: fmt.Sprintf("the answer is encoded more than once (%s), which is not read; fetch another URL", shortenText(strings.Join(layers, ", ")))}
	case layer == "gzip" || layer == "x-gzip":
		decoded, err = gzip.NewReader(raw)
	case layer == "deflate":
		decoded, err = inflater(raw)
	default:
		return nil, &Error{Code: CodeUnsupportedEncoding, Message: fmt.Sprintf("the answer is encoded as %q, and only gzip was asked for; fetch another URL", shortenText(layer))}
	}
	switch {
	case err == nil:
		return decoded, nil
	case errors.Is(err, io.EOF) && raw.n == 0:
		return raw, nil // no body at all
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrDictionary):
		return nil, undecodable(err)
	}
	return nil, err
}

func undecodable(err error) *Error {
	return &Error{Code: CodeUnsupportedEncoding, Message: fmt.Sprintf("the answer is not in the encoding that it says it is (%v); fetch another URL", err), Err: err}
}

// inflater reads deflate, which some send with the header it should have and
// some without.
func inflater(raw *counted) (io.Reader, error) {
	head, err := raw.r.Peek(2)
	if err != nil && len(head) < 2 {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(raw)
	}
	return flate.NewReader(raw), nil
}

// A counted counts exactly what is read from it: no decoder buffers a reader of single bytes.
type counted struct {
	r       *bufio.Reader
	n, most int64
}

// Read counts.
func (c *counted) Read(p []byte) (int, error) {
	if c.n > c.most {
		return 0, errEndless
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadByte counts too.
func (c *counted) ReadByte() (byte, error) {
	if c.n > c.most {
		return 0, errEndless
	}
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
