package mcpserve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"helve"
	"helve/internal/text"
)

const (
	progressPace = 100 * time.Millisecond // between two reports
	progressBeat = 15 * time.Second       // a report that says only that it goes on
	maxProgress  = 4 << 10                // bytes of new output in one report
)

// A reporter tells the client of one call how it is getting on: each report
// holds what is new since the one before. It never holds up the call.
type reporter struct {
	send   func(n float64, message string) error
	end    context.CancelFunc
	silent bool // nothing is sent when nothing is new
	done   chan struct{}
	wake   chan struct{} // holds one when there is something new

	mu    sync.Mutex
	title string
	fresh []string             // ids of calls with something new, in order
	calls map[string]*printing // the call itself is ""
}

// A printing is what a call has printed, as far as it is shown.
type printing struct {
	now, told string
	fresh     bool
}

// newReporter starts the reports of a call. With beats there is one also when
// nothing has happened for long.
func newReporter(ctx context.Context, beats bool, send func(ctx context.Context, n float64, message string) error) *reporter {
	ctx, end := context.WithCancel(ctx)
	r := &reporter{
		end: end, done: make(chan struct{}), wake: make(chan struct{}, 1), calls: map[string]*printing{},
		send: func(n float64, message string) error { return send(ctx, n, message) }, silent: !beats,
	}
	go r.run(ctx)
	return r
}

// note takes a report of the runtime; inner is the id of a call that the call
// has made.
func (r *reporter) note(inner string, p helve.CallProgress) {
	output, _ := p.Metadata["output"].(string)
	r.mu.Lock()
	if inner == "" {
		r.title = p.Title
	}
	c := r.calls[inner]
	if c == nil {
		c = &printing{}
		r.calls[inner] = c
	}
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
	for n := 1; ; {
		told := false
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			told = true
		case <-r.wake:
		}
		message := r.message()
		if ctx.Err() != nil {
			return
		}
		if message == "" && (r.silent || n > 1 && !told) {
			if told {
				beat.Reset(progressBeat)
			}
			continue
		}
		if message == "" {
			message = r.heading()
		}
		if r.send(float64(n), message) != nil {
			return // the client does not listen
		}
		n++
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

func (r *reporter) heading() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	said, _ := text.Cut(text.VisibleLine(r.title), 200)
	return said
}

// message is what is new in all calls, and short enough.
func (r *reporter) message() string {
	r.mu.Lock()
	var b strings.Builder
	for _, id := range r.fresh {
		c := r.calls[id]
		b.WriteString(news(c.told, c.now))
		c.told, c.fresh = c.now, false
	}
	r.fresh = r.fresh[:0]
	r.mu.Unlock()
	return tail(text.Visible(b.String()), maxProgress)
}

// tail is the end of s, with a word about what is missing.
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

// news is what now shows that before did not. What is shown is either all of
// an output, or a window that moves along with its end.
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
