// Package browsertest shows pages to tests in a real browser, Chromium without
// a window, and fails those whose pages do what a page of ours must not do.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A Browser is started when the first test wants it, and serves all of a
// package. It has a home of its own and sees nothing of the network but what
// it was made for.
type Browser struct {
	// Dir is a folder of this run alone, for the browser's files. It has to be
	// there before the browser is started, and removed after [Browser.End].
	Dir string

	hosts string
	start func() (context.Context, error)
	end   func()
}

// errNone says that there is nothing to test with.
var errNone = errors.New("there is no chromium (package chromium): the pages can not be looked at in a browser")

// New makes a browser that knows the addresses of these hosts, and no others.
func New(hosts ...string) *Browser {
	b := &Browser{hosts: "MAP * ~NOTFOUND", end: func() {}}
	for _, host := range hosts {
		b.hosts += ", EXCLUDE " + host
	}
	b.start = sync.OnceValues(b.launch)
	return b
}

// launch starts the browser.
func (b *Browser) launch() (context.Context, error) {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		return nil, errNone
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(program), chromedp.UserDataDir(filepath.Join(b.Dir, "profile")), chromedp.WindowSize(1280, 800),
		chromedp.NoInheritEnv, chromedp.Env("HOME="+b.Dir, "XDG_CONFIG_HOME="+b.Dir, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8"),
		chromedp.Flag("host-resolver-rules", b.hosts), chromedp.Flag("lang", "en-GB"),
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

// Need starts the browser if it was not yet. It skips the test where there is
// none.
func (b *Browser) Need(t *testing.T) context.Context {
	t.Helper()
	ctx, err := b.start()
	if errors.Is(err, errNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// End ends the browser, after the last test.
func (b *Browser) End() { b.end() }
