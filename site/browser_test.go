package site_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

// patience is how long something that has to come may take.
const patience = 20 * time.Second

var errNoBrowser = errors.New("there is no chromium (package chromium): the site can not be looked at in a browser")

// A browser is started when the first test wants it.
type browser struct {
	stage *stage
	start func() (context.Context, error)
	end   func()
}

func newBrowser(s *stage) *browser {
	b := &browser{stage: s, end: func() {}}
	b.start = sync.OnceValues(b.launch)
	return b
}

// launch starts the browser, without a network and with a home of its own.
func (b *browser) launch() (context.Context, error) {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		return nil, errNoBrowser
	}
	dir := b.stage.dir
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.WindowSize(1280, 800),
		chromedp.NoInheritEnv, chromedp.Env("HOME="+dir, "XDG_CONFIG_HOME="+dir, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("lang", "en-GB"),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-gpu", true),
		chromedp.NoSandbox, // which containers do not allow; what is shown is our own
	)
	allocator, drop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b.end = func() {
		closing, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		_ = chromedp.Cancel(closing)
		cancel()
		drop()
		chromedp.FromContext(ctx).Allocator.Wait()
	}
	if err := chromedp.Do(ctx); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return ctx, nil
}

// A tab shows the site from the disk. An error on its console, a breach of its
// policy and a request for something that is no file of the site fail the test.
type tab struct {
	t   *testing.T
	ctx context.Context
	top string // the address of the site's folder

	mu     sync.Mutex
	faults []string
	asked  []string // the files
}

// watcher notes breaches of the policy, also those that no console tells of.
const watcher = `window.__breaches = [];
document.addEventListener('securitypolicyviolation', e =>
	window.__breaches.push(e.effectiveDirective + ' ' + e.blockedURI + ' ' + e.sample));`

func newTab(t *testing.T) *tab {
	t.Helper()
	dir := built(t)
	running, err := shared.show.start()
	if errors.Is(err, errNoBrowser) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(running, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		t.Fatal(err)
	}
	limited, stop := context.WithTimeout(ctx, 3*time.Minute)
	b := &tab{t: t, ctx: limited, top: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/") + "/"}).String()}
	watching := b.watch()
	t.Cleanup(func() {
		b.leave()
		stop()
		_ = chromedp.Cancel(ctx)
		cancel()
		watching.Wait()
	})
	b.must(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
		return err
	}), chromedp.EmulateViewport(1280, 800))
	b.theme("light")
	return b
}

// watch notes what the tab must not do until it is closed.
func (b *tab) watch() *sync.WaitGroup {
	var all sync.WaitGroup
	messages := chromedp.Console(b.ctx)
	requests := chromedp.Events(b.ctx, network.RequestWillBeSent)
	all.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.fault("on the console: %s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line+1)
		}
	})
	all.Go(func() {
		for r, err := range requests {
			if err != nil {
				return
			}
			if !strings.HasPrefix(r.Request.URL, b.top) {
				b.fault("a request to elsewhere: %s", r.Request.URL)
			}
			b.mu.Lock()
			b.asked = append(b.asked, strings.TrimPrefix(r.Request.URL, b.top))
			b.mu.Unlock()
		}
	})
	return &all
}

func (b *tab) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// loaded counts how often a file was asked for.
func (b *tab) loaded(file string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.asked {
		if name == file {
			n++
		}
	}
	return n
}

// leave looks at what the tab did, and says how a test that failed ended.
func (b *tab) leave() {
	b.breaches()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Error(fault)
	}
	if b.t.Failed() {
		b.picture("failed")
		if text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + '\n' + document.body.innerText`)); err == nil {
			b.t.Logf("the page at the end: %.600s", text)
		}
	}
}

// breaches notes what the policy of the page that is shown has stopped.
func (b *tab) breaches() {
	if raw, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]byte](`window.__breaches ?? []`)); err == nil {
		var list []string
		_ = json.Unmarshal(raw, &list)
		for _, breach := range list {
			b.fault("a breach of the policy: %s", breach)
		}
	}
}

// picture keeps what is seen, where HELVE_ARTEFACTS names a folder for it.
func (b *tab) picture(word string) {
	dir := os.Getenv("HELVE_ARTEFACTS")
	if dir == "" {
		return
	}
	raw, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "site-"+b.t.Name()+"-"+word+".png"), raw, 0o644))
	}
	if err != nil {
		b.t.Log(err)
	}
}

func (b *tab) must(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to a page of the site.
func (b *tab) open(place string) {
	b.t.Helper()
	b.breaches()
	b.must(chromedp.Navigate(b.top + place))
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
	for end := time.Now().Add(patience); ; {
		ok, err := try[bool](b, function, args...)
		if ok && err == nil {
			return
		}
		last = err
		if time.Now().After(end) || b.ctx.Err() != nil {
			b.t.Fatalf("it did not come to this: %s (%v)", what, last)
		}
		time.Sleep(40 * time.Millisecond)
	}
}
