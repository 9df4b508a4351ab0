package mcpserve

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/internal/text"
)

const (
	progressPace = 100 * time.Millisecond // between two reports
	progressBeat = 15 * time.Second       // a report that says only that it goes on
	maxProgress  = 4 << 10                // bytes of new output in one report
)

// A reporter reports the progress of one call to its client: each report contains what is new since
// the one before. It never blocks the call.
type reporter struct {
	send   func(s progressReport) error
	end    context.CancelFunc
	silent bool // nothing is sent when nothing is new
	done   chan struct{}
	wake   chan struct{} // holds one when there is something new

	mu    sync.Mutex
	title string
	count counter
	fresh []string             // ids of calls with something new, in order
	calls map[string]*printing // the call itself is ""
}

// A printing is what a call has printed, as far as it is shown.
type printing struct {
	now, told string
	fresh     bool
	whole     bool // each text stands for itself, and does not go on from the one before
}

// A progressReport is one report.
type progressReport struct {
	n, total float64 // total is 0 where it is not known
	message  string
}

// A counter finds the numbers of reports, which have to grow. Those that the
// call itself gives are taken as they are; where it gives none, reports are
// counted.
type counter struct {
	last      float64 // that was sent
	noted     bool    // the call has said something
	counts    bool    // the call gives numbers
	fresh     bool    // and there is a new one
	at, total float64
}

// addReport takes the numbers of a report, if it has any.
func (c *counter) addReport(metadata map[string]any) {
	c.noted = true
	at, ok := toFloat(metadata["progress"])
	if !ok {
		return
	}
	c.fresh = c.fresh || !c.counts || at != c.at
	c.counts, c.at = true, at
	if total, ok := toFloat(metadata["total"]); ok && total > 0 {
		c.total = total
	}
}

// next returns the number of the next report; false if there is none left.
func (c *counter) next() (n float64, ok bool) {
	switch {
	case c.counts && c.at > c.last:
		n = c.at
	case c.counts: // it says that it goes on, and not that it is further
		n = math.Nextafter(c.last, math.Inf(1))
	case !c.noted: // small, because its own numbers may be small
		n = c.last + 1e-6
	default:
		n = math.Floor(c.last) + 1
	}
	if !(n > c.last) || math.IsInf(n, 0) {
		return 0, false
	}
	c.last, c.fresh = n, false
	return n, true
}

func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

// totalKey is the total of a report in its context.
type totalKey struct{}

// sendTotal puts the total into a report that has one.
func sendTotal(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if total, ok := ctx.Value(totalKey{}).(float64); ok {
			if p, ok := req.GetParams().(*mcp.ProgressNotificationParams); ok && p != nil {
				p.Total = total
			}
		}
		return next(ctx, method, req)
	}
}

// newReporter starts the reports of a call. With beats there is one also when
// nothing has happened for long.
func newReporter(ctx context.Context, beats bool, send func(ctx context.Context, n float64, message string) error) *reporter {
	ctx, end := context.WithCancel(ctx)
	r := &reporter{
		end: end, done: make(chan struct{}), wake: make(chan struct{}, 1), calls: map[string]*printing{},
		send: func(s progressReport) error {
			if s.total > 0 {
				return send(context.WithValue(ctx, totalKey{}, s.total), s.n, s.message)
			}
			return send(ctx, s.n, s.message)
		}, silent: !beats,
	}
	go r.run(ctx)
	return r
}

// report takes a report of the runtime; inner is the id of a call that the call
// has made.
func (r *reporter) report(inner string, p event.CallProgress) {
	output, _ := p.Metadata["output"].(string)
	r.mu.Lock()
	if inner == "" {
		r.title = p.Title
		r.count.addReport(p.Metadata)
	}
	c := r.calls[inner]
	if c == nil {
		c = &printing{}
		r.calls[inner] = c
	}
	_, c.whole = toFloat(p.Metadata["progress"])
	c.now = output
	if !c.fresh {
		c.fresh = true
		r.fresh = append(r.fresh, inner)
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// stop ends the reports. None is sent after it returns.
func (r *reporter) stop() {
	if r == nil {
		return
	}
	r.end()
	<-r.done
}

func (r *reporter) run(ctx context.Context) {
	defer close(r.done)
	beat := time.NewTimer(progressBeat)
	defer beat.Stop()
	for first := true; ; {
		told := first
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			told = true
			beat.Reset(progressBeat)
		case <-r.wake:
		}
		next, news := r.step(told)
		if ctx.Err() != nil {
			return
		}
		if !news {
			continue
		}
		if r.send(next) != nil {
			return // the client does not listen
		}
		first = false
		beat.Reset(progressBeat)
		pause := time.NewTimer(progressPace)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// step returns the next report, and whether there is one. With told there is one even if nothing is
// new.
func (r *reporter) step(told bool) (next progressReport, ok bool) {
	// What is new in all calls, shortened.
	r.mu.Lock()
	var b strings.Builder
	for _, id := range r.fresh {
		c := r.calls[id]
		if c.whole && c.now != c.told {
			b.WriteString(c.now)
		} else {
			b.WriteString(news(c.told, c.now))
		}
		c.told, c.fresh = c.now, false
	}
	r.fresh = r.fresh[:0]
	r.mu.Unlock()
	next.message = tail(text.Visible(b.String()), maxProgress)
	r.mu.Lock()
	defer r.mu.Unlock()
	if next.message == "" && (r.silent || !told && !r.count.fresh) {
		return next, false
	}
	if next.message == "" {
		next.message, _ = text.Cut(text.VisibleLine(r.title), 200)
	}
	next.total = r.count.total
	next.n, ok = r.count.next()
	return next, ok
}

// tail returns the end of s, with a note about what is missing.
func tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := len(s) - most + 48 // for the word
	for cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut++
	}
	return fmt.Sprintf("(%d bytes are left out here)\n%s", cut, s[cut:])
}

// window is what an output begins with of which only the end is shown.
const window = "...\n\n"

// news returns what is shown now and was not before. What is shown is either all of an output, or a
// window that moves along with its end.
func news(before, now string) string {
	before, now = strings.TrimPrefix(before, window), strings.TrimPrefix(now, window)
	if rest, ok := strings.CutPrefix(now, before); ok {
		return rest
	}
	return now[overlap(before, now):]
}

// overlap is how many bytes the end of a and the beginning of b share.
func overlap(a, b string) int {
	if len(a) > len(b) {
		a = a[len(a)-len(b):]
	}
	borders := make([]int, len(b))
	for i, k := 1, 0; i < len(b); i++ {
		for k > 0 && b[i] != b[k] {
			k = borders[k-1]
		}
		if b[i] == b[k] {
			k++
		}
		borders[i] = k
	}
	k := 0
	for i := range len(a) {
		for k > 0 && (k == len(b) || a[i] != b[k]) {
			k = borders[k-1]
		}
		if a[i] == b[k] {
			k++
		}
	}
	return k
}
