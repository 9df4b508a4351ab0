package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience is how long something that has to come may take.
const patience = 20 * time.Second

// A tab is a page in a browser context of its own. What it must never do, an
// error on its console, a breach of its policy, a dialog, a request to
// elsewhere, fails the test.
type tab struct {
	t    *testing.T
	ctx  context.Context
	host *host

	mu      sync.Mutex
	faults  []string
	excused []*regexp.Regexp
	asked   []string // method and path of each request
}

// watcher notes breaches of the policy, also those that no console tells of.
const watcher = `window.__breaches = [];
document.addEventListener('securitypolicyviolation', e =>
	window.__breaches.push(e.effectiveDirective + ' ' + e.blockedURI + ' ' + e.sample));`

// newTab opens a tab for a server. Messages that fit one of the patterns are
// part of what the test does.
func newTab(t *testing.T, h *host, excused ...string) *tab {
	t.Helper()
	browser, err := shared.browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, host: h}
	for _, pattern := range excused {
		b.excused = append(b.excused, regexp.MustCompile(pattern))
	}
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		t.Fatal(err)
	}
	limited, stop := context.WithTimeout(ctx, 2*time.Minute)
	b.ctx = limited
	watching := b.watch()
	t.Cleanup(func() {
		b.leave()
		stop()
		_ = chromedp.Cancel(ctx)
		cancel()
		watching.Wait()
	})
	b.must(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
		return err
	}), chromedp.EmulateViewport(1280, 800))
	b.theme("light")
	return b
}

// watch notes what the tab must not do until the tab is closed.
func (b *tab) watch() *sync.WaitGroup {
	var all sync.WaitGroup
	messages := chromedp.Console(b.ctx)
	requests := chromedp.Events(b.ctx, network.RequestWillBeSent)
	dialogs := chromedp.Events(b.ctx, page.JavascriptDialogOpening)
	home := b.host.origin()
	all.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException() || m.Source == "security" {
				b.fault("on the console: %s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line+1)
			}
		}
	})
	all.Go(func() {
		for r, err := range requests {
			if err != nil {
				return
			}
			if u, err := url.Parse(r.Request.URL); err != nil || u.Scheme != "data" && u.Scheme+"://"+u.Host != home {
				b.fault("a request to elsewhere: %s", r.Request.URL)
			} else {
				b.note(r.Request.Method + " " + u.Path)
			}
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

func (b *tab) fault(format string, args ...any) {
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

func (b *tab) note(request string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, request)
}

// sent counts the requests of the page by method and the beginning of the path.
func (b *tab) sent(method, path string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, request := range b.asked {
		if strings.HasPrefix(request, method+" "+path) {
			n++
		}
	}
	return n
}

// leave looks at what the tab did, and keeps a picture of a test that failed.
func (b *tab) leave() {
	var breaches []string
	if raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]byte](`window.__breaches ?? []`)); err == nil {
		_ = json.Unmarshal(raw, &breaches)
	}
	for _, breach := range breaches {
		b.fault("a breach of the policy: %s", breach)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Error(fault)
	}
	_ = os.Remove(b.picture("failed"))
	if b.t.Failed() {
		_ = b.keep("failed")
		if text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.hash + '\n' + document.body.innerText`)); err == nil {
			b.t.Logf("the page at the end: %.4000s", text)
		}
	}
}

// must does something that can not fail.
func (b *tab) must(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval calls a function of the page, whose answer is awaited, with values.
func eval[T any](b *tab, function string, args ...any) T {
	b.t.Helper()
	value, err := try[T](b, function, args...)
	if err != nil {
		b.t.Fatalf("%v\nin %s", err, function)
	}
	return value
}

func try[T any](b *tab, function string, args ...any) (value T, err error) {
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

// until waits until a function of the page says true.
func (b *tab) until(what, function string, args ...any) {
	b.t.Helper()
	var last error
	if !poll(b.ctx, func() bool {
		ok, err := try[bool](b, function, args...)
		last = err
		return ok && err == nil
	}) {
		b.t.Fatalf("it did not come to this: %s (%v)", what, last)
	}
}

// poll looks again and again, until what it looks for is there or patience
// ends.
func poll(ctx context.Context, look func() bool) bool {
	end := time.After(patience)
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

// text is what can be read on the page.
func (b *tab) text() string {
	b.t.Helper()
	return eval[string](b, `() => document.body.innerText`)
}

// see waits until a text can be read on the page.
func (b *tab) see(text string) {
	b.t.Helper()
	b.until("the page says "+text, `s => document.body.innerText.includes(s)`, text)
}

// visit goes to a page of the console by its hash.
func (b *tab) visit(hash string) {
	b.t.Helper()
	eval[any](b, `h => { location.hash = h }`, hash)
}

// enter opens the console by a one-time link, and then a page of it.
func (b *tab) enter(hash string) {
	b.t.Helper()
	b.must(chromedp.Navigate(b.host.newLink()))
	b.until("the console has a token", `() => location.hash === '#/sessions' && sessionStorage.length > 0`)
	if hash != "#/sessions" {
		b.visit(hash)
	}
}

// theme sets what the person prefers, "light" or "dark".
func (b *tab) theme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// shot keeps a picture of what is seen, under the test's name and a word.
func (b *tab) shot(word string) {
	b.t.Helper()
	if err := b.keep(word); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) keep(word string) error {
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(b.picture(word), raw, 0o644)
}

// picture is the file of a picture.
func (b *tab) picture(word string) string {
	name := strings.NewReplacer("/", "-", " ", "-").Replace(b.t.Name())
	if word != "" {
		name += "-" + word
	}
	return filepath.Join(artefacts(b.t), name+".png")
}
