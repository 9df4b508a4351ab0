package scripthost

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// The limits of the output of scripts.
const (
	longestLine    = 16 << 10 // bytes of a line of the log
	linesAtOnce    = 500
	linesASecond   = 200
	reportsAtOnce  = 50
	reportsASecond = 50

	longestReport = 256 << 10 // bytes of how a tool gets on
	longestAsk    = 1 << 20   // bytes of a question
	mostPatterns  = 1000

	longestQuery  = 4 << 20  // bytes of what is asked of the runtime
	longestAnswer = 16 << 20 // bytes of what it answers
)

// toolOps are the requests of tools and plugins: progress, permissions, and requests to the
// runtime.
func (w *Host) toolOps() map[string]operation {
	log := &logger{tell: w.opt.Tell, flow: flow{burst: linesAtOnce, rate: linesASecond}}
	reports := &flow{burst: reportsAtOnce, rate: reportsASecond}
	w.onClose(log.end)
	return map[string]operation{
		"proc.exit":     op(exit),
		"module.source": moduleSource,
		"log":           op(log.line),
		"meta":          op(reports.meta),
		"ask":           op(askQuestion),
		"client":        op(w.client),
	}
}

func moduleSource(_ context.Context, arg script.Data) (script.Data, error) {
	var a struct{ Name string }
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, fmt.Errorf("a request of a script can not be read: %w", err)
	}
	source, ok := script.Source(a.Name)
	if !ok {
		return script.Data{}, &script.Failure{Message: "no such module: " + a.Name, Code: "ENOENT"}
	}
	return script.Data{Raw: []byte(source)}, nil
}

// A flow lets through so many at once, and so many a second.
type flow struct {
	burst, rate float64

	mu   sync.Mutex
	left float64
	last time.Time // zero before the first
}

// passes reports whether one more gets through.
func (f *flow) passes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.last.IsZero() {
		f.left = f.burst
	} else {
		f.left = min(f.burst, f.left+now.Sub(f.last).Seconds()*f.rate)
	}
	f.last = now
	if f.left < 1 {
		return false
	}
	f.left--
	return true
}

// A logger reports what scripts print, as far as the receiver keeps up.
type logger struct {
	tell func(tool, level, text string)
	flow flow

	mu   sync.Mutex
	lost int // lines dropped since the last one that was delivered
}

func (l *logger) line(_ context.Context, by *work, a struct{ Level, Text string }) (any, error) {
	if l.tell == nil {
		return nil, nil
	}
	if !l.flow.passes() {
		l.mu.Lock()
		l.lost++
		l.mu.Unlock()
		return nil, nil
	}
	l.confess(by.name)
	switch a.Level {
	case "debug", "info", "warn", "error":
	default:
		a.Level = "info"
	}
	if short, cut := text.Cut(a.Text, longestLine); cut {
		a.Text = fmt.Sprintf("%s… (%d bytes more)", short, len(a.Text)-len(short))
	}
	l.tell(by.name, a.Level, a.Text)
	return nil, nil
}

// confess reports how many lines were dropped.
func (l *logger) confess(tool string) {
	l.mu.Lock()
	lost := l.lost
	l.lost = 0
	l.mu.Unlock()
	if lost > 0 {
		l.tell(tool, "warn", fmt.Sprintf("There were too many lines at a time: %d were left out here.", lost))
	}
}

func (l *logger) end() error {
	if l.tell != nil {
		l.confess("")
	}
	return nil
}

// meta passes on the progress of a tool. Updates that are too fast to be seen are dropped: the
// result has the final state.
func (f *flow) meta(_ context.Context, by *work, a struct{ Title, Metadata json.RawMessage }) (any, error) {
	if len(a.Title)+len(a.Metadata) > longestReport {
		return nil, &script.Failure{Name: "RangeError", Message: fmt.Sprintf("metadata of %d bytes is too much, %d are the most: put it into the output", len(a.Title)+len(a.Metadata), longestReport)}
	}
	if !f.passes() {
		return nil, nil
	}
	var title string
	var metadata map[string]any
	_ = json.Unmarshal(a.Title, &title)       // anything else is no title
	_ = json.Unmarshal(a.Metadata, &metadata) // nor metadata
	by.call.Progress(title, metadata)
	return nil, nil
}

// A question is a permission request of a tool, whose parts may have any type.
type question struct {
	Permission, Patterns, Always, Metadata json.RawMessage
}

// askQuestion makes a permission request of the tool's own. An answer grants nothing by itself:
// what the tool does then is checked as always.
func askQuestion(ctx context.Context, by *work, a question) (any, error) {
	if n := len(a.Patterns) + len(a.Always) + len(a.Metadata); n > longestAsk {
		return nil, &script.Failure{Name: "RangeError", Message: fmt.Sprintf("a question of %d bytes is too long, %d are the most: ask about less at a time", n, longestAsk)}
	}
	req := permission.Request{Permission: by.name, Patterns: []string{"*"}}
	var name string
	if json.Unmarshal(a.Permission, &name) == nil && name != "" {
		req.Permission = name
	}
	if list, ok := stringList(a.Patterns); ok {
		req.Patterns = list
	}
	req.Always, _ = stringList(a.Always)
	if len(req.Patterns) > mostPatterns || len(req.Always) > mostPatterns {
		return nil, &script.Failure{Name: "RangeError", Message: fmt.Sprintf("a question about more than %d things can not be answered: ask about less at a time", mostPatterns)}
	}
	_ = json.Unmarshal(a.Metadata, &req.Metadata) // anything else counts as none
	if req.Permission != by.name {
		// "Always" would apply to other tools too, so it is limited to what the person sees.
		req.Always = slices.DeleteFunc(req.Always, func(s string) bool { return !slices.Contains(req.Patterns, s) })
	}
	return nil, by.Ask(ctx, req)
}

// stringList reads a list of strings, or a single one.
func stringList(raw json.RawMessage) (list []string, ok bool) {
	var one string
	if json.Unmarshal(raw, &one) == nil && !isNull(raw) {
		return []string{one}, true
	}
	var all []any
	if json.Unmarshal(raw, &all) != nil || isNull(raw) {
		return nil, false
	}
	list = []string{}
	for _, v := range all {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case nil:
		default:
			list = append(list, fmt.Sprint(v))
		}
	}
	return list, true
}

func isNull(raw json.RawMessage) bool {
	return strings.TrimSpace(string(raw)) == "null" || len(raw) == 0
}

// client makes a request to the runtime. A plugin always gets a response: its client does not
// throw.
func (w *Host) client(ctx context.Context, by *work, a struct {
	Method string
	Args   json.RawMessage
}) (any, error) {
	if w.opt.Client == nil {
		return noAnswer("UnknownError", shorten(a.Method)+" is not known here: nothing answers what plugins ask"), nil
	}
	if len(a.Args) > longestQuery {
		return noAnswer("BadRequest", fmt.Sprintf("%d bytes are too much to ask with, %d are the most", len(a.Args), longestQuery)), nil
	}
	got, err := w.opt.Client(ctx, by.call, a.Method, a.Args)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return noAnswer("UnknownError", err.Error()), nil
	case len(got) > longestAnswer:
		return noAnswer("UnknownError", fmt.Sprintf("the answer of %s has %d bytes, and %d are the most: ask for less at a time", shorten(a.Method), len(got), longestAnswer)), nil
	case len(got) == 0:
		return nil, nil
	}
	return got, nil
}

// noAnswer is an error in the form of the client's.
func noAnswer(name, message string) map[string]any {
	return map[string]any{"error": map[string]any{"name": name, "message": message, "data": map[string]string{"message": message}}}
}

// shorten shortens what a script chose the length of.
func shorten(s string) string {
	if short, cut := text.Cut(s, 200); cut {
		return short + "…"
	}
	return s
}
