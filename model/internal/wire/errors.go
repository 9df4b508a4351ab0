package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/helve-dev/helve/model"
)

var (
	errWebPage = errors.New("it is a web page")
	errBlank   = errors.New("it is white space")
	errPacked  = errors.New("it is compressed")
)

// requestError returns what a failure is for the caller: the end of ctx, an idle timeout, or e.
func (c *Client) requestError(ctx, inner context.Context, e *model.Error, w *idleTimer) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if errors.Is(context.Cause(inner), errIdle) {
		silence := fmt.Sprintf("has sent nothing for %v", c.idle)
		if w.left <= 0 {
			silence = fmt.Sprintf("has sent nothing of an answer for %v, only signs of life", max(maxQuiet, w.idle))
		}
		e = &model.Error{Kind: model.Broken, Status: e.Status, RequestID: e.RequestID, Err: errIdle,
			Message: fmt.Sprintf("%s %s: send the request again, or allow more time", c.name, silence)}
	}
	c.Clean(e)
	return e
}

// Lost reports whether the connection ended the stream, rather than ctx. A reader that already has
// everything it needs may ignore that.
func Lost(ctx context.Context, err error) bool {
	_, ok := errors.AsType[*model.Error](err)
	return ok && ctx.Err() == nil
}

// unreachable returns the error for a request without a response.
func (c *Client) unreachable(err error) *model.Error {
	// The wrapper of net/http contains the whole URL, including the query.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	host, local := c.endpoint.Host, loopback(c.endpoint.Hostname())
	hint := "check the network, and the proxy if there is one"
	dns, isDNS := errors.AsType[*net.DNSError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	_, isCert := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		hint = "should the base URL begin with http://?"
	case isCert:
		hint = "its certificate is not trusted here; is there a proxy in between?"
	case local && isOp && op.Op == "dial":
		hint = "is it running?"
	case local:
		hint = "see what it says itself"
	case isDNS && dns.IsNotFound:
		hint = "is the host's name right, and is there a network?"
	}
	return &model.Error{Kind: model.Network, Err: err, Message: fmt.Sprintf("%s can not be reached at %s (%v): %s", c.name, host, err, hint)}
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// broken returns the error for a response that failed after it had begun.
func (c *Client) broken(resp *http.Response, err error) *model.Error {
	e := &model.Error{Kind: model.Broken, Status: resp.StatusCode, RequestID: requestID(resp.Header), Err: err}
	switch {
	case errors.Is(err, errWebPage):
		e.Kind = model.Invalid
		e.Message = fmt.Sprintf("%s answered with a web page: check the base URL", c.name)
	case errors.Is(err, errBlank):
		e.Kind = model.Invalid
		e.Message = fmt.Sprintf("%s answered with nothing but white space: check the base URL", c.name)
	case errors.Is(err, errPacked):
		e.Kind = model.Invalid
		e.Message = fmt.Sprintf("%s has sent a compressed answer (%s), which was not asked for: turn compression off there, or in the proxy in between",
			c.name, c.Brief(resp.Header.Get("Content-Encoding")))
	case errors.Is(err, errTooLong):
		e.Kind = model.Invalid
		e.Message = fmt.Sprintf("%s has sent a piece of more than %d MiB, which is not read: ask for less", c.name, maxEvent>>20)
	default:
		e.Message = fmt.Sprintf("the connection to %s broke off in the middle of the answer (%v): send the request again", c.name, err)
	}
	return e
}

// statusError returns the error for a response that is not 2xx.
func (c *Client) statusError(resp *http.Response, body io.Reader, classify Classify) *model.Error {
	// What was read before a failure is better than nothing.
	raw, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	if packed(resp.Header) {
		raw = nil // nothing that a person could read
	}
	// Scrub first: part of a secret that was cut could not be found later.
	text := []byte(c.Scrub(string(raw)))
	var e *model.Error
	if classify != nil {
		e = classify(resp.StatusCode, resp.Header, text)
	}
	if e == nil {
		e = &model.Error{}
	}
	said := spoken(resp.Header, text)
	if e.Kind == "" {
		e.Kind = errorKind(resp.StatusCode, said.all)
	}
	if e.Status == 0 {
		e.Status = resp.StatusCode
	}
	if e.RequestID == "" {
		e.RequestID = requestID(resp.Header)
	}
	if wait, ok := retryAfter(resp.Header, time.Now()); e.RetryAfter == 0 && ok {
		e.RetryAfter = wait
	} else if e.RetryAfter == 0 && e.Kind == model.RateLimit {
		e.RetryAfter = reset(resp.Header, time.Now())
	}
	if e.Message == "" {
		e.Message = c.sentence(resp, e.Kind, said)
	}
	return e
}

func requestID(h http.Header) string {
	for _, key := range []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Cf-Ray"} {
		if id := h.Get(key); id != "" {
			return id
		}
	}
	return ""
}
