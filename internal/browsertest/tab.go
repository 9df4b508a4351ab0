package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const (
	// Patience is how long something that has to come may take.
	Patience = 20 * time.Second
	lifetime = 3 * time.Minute // of a tab
)

// TabOptions say what a tab is for.
type TabOptions struct {
	// Home says whether an address is one that the page may ask for.
	Home func(address string) bool
	// Silent is a page that says nothing on its console; others say nothing
	// that is wrong.
	Silent bool
	// Excused are patterns of faults that are part of what the test does.
	Excused []string
	// Pictures is what the names of pictures begin with.
	Pictures string
}

// A Tab is a page in a browser context of its own. What it must never do, an
// error on its console, a breach of its policy, a dialog, a request to
// elsewhere, fails the test.
type Tab struct {
	t   *testing.T
	ctx context.Context
	opt TabOptions

	mu      sync.Mutex
	faults  []string
	excused []*regexp.Regexp
	asked   []Request
}

// A Request is one that the page has made of where it may.
type Request struct{ Method, URL string }

// watcher notes breaches of the policy, also those that no console tells of.
const watcher = `window.__breaches = [];
document.addEventListener('securitypolicyviolation', e =>
	window.__breaches.push(e.effectiveDirective + ' ' + e.blockedURI + ' ' + e.sample));`

// Open opens a tab, which is closed with the test.
func (b *Browser) Open(t *testing.T, opt TabOptions) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.Need(t), chromedp.WithNewBrowserContext())
	tab := &Tab{t: t, opt: opt}
	for _, pattern := range opt.Excused {
		tab.excused = append(tab.excused, regexp.MustCompile(pattern))
	}
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		t.Fatal(err)
	}
	limited, stop := context.WithTimeout(ctx, lifetime)
	tab.ctx = limited
	watching := tab.watch()
	t.Cleanup(func() {
		tab.leave()
		stop()
		_ = chromedp.Cancel(ctx)
		cancel()
		watching.Wait()
	})
	tab.Must(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
		return err
	}), chromedp.EmulateViewport(1280, 800))
	tab.Theme("light")
	return tab
}

// Context is what to talk to the tab with.
func (b *Tab) Context() context.Context { return b.ctx }

// watch notes what the tab must not do until it is closed.
func (b *Tab) watch() *sync.WaitGroup {
	var all sync.WaitGroup
	messages := chromedp.Console(b.ctx)
	requests := chromedp.Events(b.ctx, network.RequestWillBeSent)
	dialogs := chromedp.Events(b.ctx, page.JavascriptDialogOpening)
	all.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if b.opt.Silent || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException() || m.Source == "security" {
				b.fault("on the console: %s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line+1)
			}
		}
	})
	all.Go(func() {
		for r, err := range requests {
			if err != nil {
				return
			}
			if !b.opt.Home(r.Request.URL) {
				b.fault("a request to elsewhere: %s", r.Request.URL)
				continue
			}
			b.mu.Lock()
			b.asked = append(b.asked, Request{r.Request.Method, r.Request.URL})
			b.mu.Unlock()
		}
	})
	all.Go(func() {
		for d, err := range dialogs {
			if err != nil {
				return
			}
			b.fault("a dialog: %s", d.Message)
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: false})
		}
	})
	return &all
}

// fault notes something that fails the test, unless it is excused.
func (b *Tab) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, known := range b.excused {
		if known.MatchString(text) {
			return
		}
	}
	b.faults = append(b.faults, text)
}

// Asked is what the page has asked for so far.
func (b *Tab) Asked() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// leave looks at what the tab did, and says how a test that failed ended.
func (b *Tab) leave() {
	b.breaches()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Error(fault)
	}
	if path := b.path("failed"); path != "" {
		_ = os.Remove(path) // of an earlier run
	}
	if b.t.Failed() {
		b.Picture("failed")
		if text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body.innerText`)); err == nil {
			b.t.Logf("the page at the end: %.4000s", text)
		}
	}
}

// breaches notes what the policy of the page that is shown has stopped.
func (b *Tab) breaches() {
	raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]byte](`window.__breaches ?? []`))
	if err != nil {
		return // there is no page
	}
	var list []string
	_ = json.Unmarshal(raw, &list) // it is what the watcher says
	for _, breach := range list {
		b.fault("a breach of the policy: %s", breach)
	}
}

// Picture keeps what is seen, where HELVE_ARTEFACTS names a folder for it,
// under the test's name and a word.
func (b *Tab) Picture(word string) {
	b.t.Helper()
	path := b.path(word)
	if path == "" {
		return
	}
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		b.t.Errorf("keeping a picture: %v", err)
	}
}

// path is the file of a picture, or "" where none are kept.
func (b *Tab) path(word string) string {
	dir := os.Getenv("HELVE_ARTEFACTS")
	if dir == "" {
		return ""
	}
	name := b.opt.Pictures + strings.NewReplacer("/", "-", " ", "-").Replace(b.t.Name())
	if word != "" {
		name += "-" + word
	}
	return filepath.Join(dir, name+".png")
}

// Must does something that can not fail.
func (b *Tab) Must(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Goto goes to an address; what the page before did wrong is noted first.
func (b *Tab) Goto(address string) {
	b.t.Helper()
	b.breaches()
	b.Must(chromedp.Navigate(address))
}

// Theme sets what the person prefers, "light" or "dark".
func (b *Tab) Theme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// Eval calls a function of the page, whose answer is awaited, with values.
func Eval[T any](b *Tab, function string, args ...any) T {
	b.t.Helper()
	value, err := Try[T](b, function, args...)
	if err != nil {
		b.t.Fatalf("%v\nin %s", err, function)
	}
	return value
}

// Try is [Eval] for a function that may fail.
func Try[T any](b *Tab, function string, args ...any) (value T, err error) {
	list := make([]string, len(args))
	for i, arg := range args {
		raw, err := json.Marshal(arg)
		if err != nil {
			return value, err
		}
		list[i] = string(raw)
	}
	call := fmt.Sprintf("Promise.resolve((%s)(%s)).then(v => v === undefined ? null : v)", function, strings.Join(list, ", "))
	raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]byte](call, chromedp.EvalAwaitPromise))
	if err != nil {
		return value, err
	}
	return value, json.Unmarshal(raw, &value)
}

// Until waits until a function of the page says true.
func (b *Tab) Until(what, function string, args ...any) {
	b.t.Helper()
	var last error
	if !Poll(b.ctx, func() bool {
		ok, err := Try[bool](b, function, args...)
		last = err
		return ok && err == nil
	}) {
		b.t.Fatalf("it did not come to this: %s (%v)", what, last)
	}
}

// Poll looks again and again, until what it looks for is there or [Patience]
// ends.
func Poll(ctx context.Context, look func() bool) bool {
	end := time.After(Patience)
	for {
		if look() {
			return true
		}
		select {
		case <-time.After(40 * time.Millisecond):
		case <-end:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
