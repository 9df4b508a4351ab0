package scripthost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
)

// What scripts may have of the network at a time.
const (
	mostBodies  = 64
	longestBody = 64 << 20
	bodyChunk   = 64 << 10
	// A body that has not been read for this long may be closed to make space for another.
	bodyDull = 30 * time.Second
	bodyIdle = 5 * time.Minute
)

// networkOps are what scripts ask of the network. Every address is put to the
// rules for webfetch.
func (w *Host) networkOps() map[string]operation {
	n := &network{client: w.opt.Web, limit: longestBody, open: map[int]*body{}, slots: make(chan struct{}, mostBodies)}
	w.net = n
	w.onClose(n.end)
	return map[string]operation{"net.fetch": n.fetch, "net.body": n.body, "net.close": n.close}
}

// Over closes what the work under a context (see [For]) has left open of the network. It must be
// called at the end of work that sets up nothing for later.
func (w *Host) Over(ctx context.Context) {
	if by, err := worker(ctx); err == nil {
		w.net.closeBodies(func(b *body) bool { return b.by == by })
	}
}

// A network is what scripts have open of it.
type network struct {
	client *web.Client
	limit  int64
	slots  chan struct{} // one for each that is open or about to be

	mu   sync.Mutex
	last int
	open map[int]*body
	over bool
}

// A body is the unread rest of a response.
type body struct {
	*web.Stream
	by   *work
	mu   sync.Mutex // one reads at a time
	idle *time.Timer
	used time.Time // guarded by the network's
}

// A fetching is the argument of net.fetch.
type fetching struct {
	URL, Method, Redirect string
	Headers               [][2]string
	Body, Decompress      bool
}

func (n *network) fetch(ctx context.Context, arg script.Data) (script.Data, error) {
	var a fetching
	by, err := read(ctx, arg, &a)
	if err != nil {
		return script.Data{}, err
	}
	if n.client == nil {
		return script.Data{}, typeError("There is no network here. Go on without it.")
	}
	request, err := a.request(arg.Raw)
	if err != nil {
		return script.Data{}, failure(err)
	}
	request.Limit = n.limit
	judge := &web.Judge{By: by}
	if request.Method != http.MethodGet {
		judge.Metadata = map[string]any{"method": request.Method}
	}
	request.Judge = judge.Hop
	if err := judge.Hop(ctx, web.Hop{Address: request.Address}); err != nil {
		return script.Data{}, failure(unreached(ctx, err))
	}
	if err := n.waitForRoom(ctx); err != nil {
		return script.Data{}, err
	}
	stream, err := n.client.Open(ctx, request)
	if err != nil {
		<-n.slots
		return script.Data{}, failure(unreached(ctx, err))
	}
	id, err := n.addBody(stream, by)
	if err != nil {
		return script.Data{}, err
	}
	return encodeAnswer(map[string]any{
		"id": id, "status": stream.Status, "statusText": stream.Text, "headers": pairs(stream.Header),
		"url": stream.Address.String(), "redirected": len(stream.Chain) > 0,
	})
}

// request converts the arguments of a fetch.
func (a fetching) request(raw []byte) (web.Request, error) {
	at, err := web.Read(uncredentialed(a.URL))
	if err != nil {
		return web.Request{}, typeError(text.VisibleLine(err.Error()))
	}
	r := web.Request{Get: web.Get{Address: at, Method: cmp.Or(a.Method, http.MethodGet), Header: http.Header{}}, Redirect: a.Redirect, Packed: !a.Decompress}
	switch strings.ToUpper(r.Method) {
	case "CONNECT", "TRACE", "TRACK":
		return web.Request{}, typeError("The method " + strings.ToUpper(r.Method) + " is not sent. Use another.")
	}
	if a.Body {
		r.Body = raw
	}
	for _, h := range a.Headers {
		switch name := http.CanonicalHeaderKey(h[0]); name {
		case "Connection", "Keep-Alive", "Content-Length": // ours to say, as in a browser
		case "Host":
			if !strings.EqualFold(h[1], at.Host()) {
				return web.Request{}, typeError(fmt.Sprintf("The header Host can not name another host than the URL, which is %s. Leave it out.", at.Host()))
			}
		case "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Proxy-Authorization", "Proxy-Connection", "Proxy-Authenticate", "Expect":
			return web.Request{}, typeError("The header " + name + " is not sent for scripts. Leave it out.")
		default:
			r.Header.Add(name, h[1])
		}
	}
	return r, nil
}

// uncredentialed is a URL without the user and password, which are in the
// headers.
func uncredentialed(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	end := strings.IndexAny(rest, `/?#\`)
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	return scheme + "://" + rest[at+1:]
}

// waitForRoom waits until one more body can be opened. Unread bodies are closed to make space.
func (n *network) waitForRoom(ctx context.Context) error {
	for {
		select {
		case n.slots <- struct{}{}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		wait := n.dullest()
		if wait <= 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case n.slots <- struct{}{}:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// dullest closes the body that has been unread for longest, if that was long enough, and otherwise
// returns how long that will take.
func (n *network) dullest() time.Duration {
	n.mu.Lock()
	found, at := 0, time.Now()
	for id, b := range n.open {
		if b.used.Before(at) {
			found, at = id, b.used
		}
	}
	n.mu.Unlock()
	if found == 0 {
		return time.Second // all are about to be opened
	}
	wait := bodyDull - time.Since(at)
	if wait <= 0 {
		n.remove(found)
	}
	return wait
}

// addBody gives a body its number.
func (n *network) addBody(s *web.Stream, by *work) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over {
		_ = s.Close()
		<-n.slots
		return 0, errClosed()
	}
	n.last++
	id := n.last
	b := &body{Stream: s, by: by, used: time.Now()}
	b.idle = time.AfterFunc(bodyIdle, func() { n.remove(id) })
	n.open[id] = b
	return id, nil
}

// remove closes a body. Twice is fine.
func (n *network) remove(id int) {
	n.mu.Lock()
	b := n.open[id]
	delete(n.open, id)
	n.mu.Unlock()
	if b != nil {
		b.idle.Stop()
		_ = b.Close()
		<-n.slots
	}
}

// closeBodies closes those bodies that some are.
func (n *network) closeBodies(these func(*body) bool) {
	n.mu.Lock()
	var ids []int
	for id, b := range n.open {
		if these(b) {
			ids = append(ids, id)
		}
	}
	n.mu.Unlock()
	for _, id := range ids {
		n.remove(id)
	}
}

// end closes everything.
func (n *network) end() error {
	n.mu.Lock()
	n.over = true
	n.mu.Unlock()
	n.closeBodies(func(*body) bool { return true })
	return nil
}

func (n *network) body(ctx context.Context, arg script.Data) (script.Data, error) {
	var a struct{ ID int }
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	b := n.findBody(a.ID)
	if b == nil {
		return script.Data{}, errClosed()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { n.remove(a.ID) })
	chunk := make([]byte, bodyChunk)
	var got int
	var err error
	for got == 0 && err == nil {
		got, err = b.Read(chunk)
	}
	stop()
	n.findBody(a.ID)
	switch {
	case got > 0: // an error comes again
		return script.Data{JSON: []byte(`{"done":false}`), Raw: slices.Clip(chunk[:got])}, nil
	case errors.Is(err, io.EOF):
		n.remove(a.ID)
		return script.Data{JSON: []byte(`{"done":true}`)}, nil
	}
	n.remove(a.ID)
	return script.Data{}, failure(unreached(ctx, err))
}

// findBody finds a body, and notes that it is read.
func (n *network) findBody(id int) *body {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.open[id]
	if b != nil {
		b.used = time.Now()
		b.idle.Reset(bodyIdle)
	}
	return b
}

func (n *network) close(ctx context.Context, arg script.Data) (script.Data, error) {
	var a struct{ ID int }
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	n.remove(a.ID)
	return script.Data{}, nil
}

// pairs returns a header as scripts get it, in sorted order.
func pairs(header http.Header) [][2]string {
	list := [][2]string{}
	for name, values := range header {
		for _, value := range values {
			list = append(list, [2]string{strings.ToLower(name), strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	slices.SortStableFunc(list, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	return list
}

func typeError(message string) error { return &script.Failure{Name: "TypeError", Message: message} }

func errClosed() error {
	return &script.Failure{Name: "TypeError", Message: "The connection of this answer was closed: it was not read from for too long, or its call has ended.", Code: "ERR_STREAM_PREMATURE_CLOSE"}
}

// unreached converts the error of a failed fetch to the codes that scripts know.
func unreached(ctx context.Context, err error) error {
	if _, no := errors.AsType[*Refusal](err); no {
		return &Refusal{Err: err} // with the way that led there
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	known, ok := errors.AsType[*web.Error](err)
	if !ok {
		return typeError(text.VisibleLine(err.Error()))
	}
	fail := &script.Failure{Name: "TypeError", Message: text.VisibleLine(known.Error())}
	switch known.Code {
	case web.CodeUnknownHost:
		fail.Code = "ENOTFOUND"
	case web.CodeTooManyRedirects:
		fail.Code = "TooManyRedirects"
	case web.CodeUnexpectedRedirect:
		fail.Code = "UnexpectedRedirect"
	case web.CodeTimeout:
		fail.Name, fail.Code = "TimeoutError", "ETIMEDOUT"
	case web.CodeConnection:
		fail.Code = broken(known.Err)
	}
	return fail
}

// broken names the cause of a failed connection; "" if it has no name.
func broken(err error) string {
	const windowsRefused, windowsReset = syscall.Errno(10061), syscall.Errno(10054)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, windowsRefused):
		return "ECONNREFUSED"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, windowsReset), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "ECONNRESET"
	}
	return ""
}
