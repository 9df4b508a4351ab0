package console_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"helve/tooltest"
)

// A stage is what the tests in a browser share: one browser, and helve, built
// once. Both come when the first test wants them.
type stage struct {
	dir     string // of this run alone
	program func() (string, error)
	browser func() (context.Context, error)
	end     func()
	turns   chan struct{} // as many tests as there are places run at once
}

var shared = newStage()

var errNoBrowser = errors.New("there is no chromium (package chromium): the console can not be looked at in a browser")

func newStage() *stage {
	s := &stage{turns: make(chan struct{}, 2), end: func() {}}
	s.program = sync.OnceValues(s.build)
	s.browser = sync.OnceValues(s.launch)
	return s
}

// TestMain ends the browser after the tests, and then looks for what they left
// behind.
func TestMain(m *testing.M) {
	beSceneServer()
	os.Exit(tooltest.Leaks(func() int {
		dir, err := os.MkdirTemp("", "helve-console-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		shared.dir = dir
		code := m.Run()
		shared.end()
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "the folder of the tests can not be removed:", err)
		}
		return code
	}))
}

// build makes helve, with the race detector where the tests have it.
func (s *stage) build() (string, error) {
	bin := filepath.Join(s.dir, "helve")
	args := []string{"build", "-o", bin}
	if raced() {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "../../cmd/helve")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building helve: %w\n%s", err, out)
	}
	return bin, nil
}

// raced tells whether this program was built with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// launch starts the browser, without a network but the loopback's and with a
// home of its own.
func (s *stage) launch() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoBrowser
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(s.dir, "profile")), chromedp.WindowSize(1280, 800),
		chromedp.NoInheritEnv, chromedp.Env("HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Flag("lang", "en-GB"),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-gpu", true),
		chromedp.NoSandbox, // which containers do not allow; what is shown is our own
	)
	allocator, drop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	s.end = func() {
		closing, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		_ = chromedp.Cancel(closing)
		cancel()
		drop()
		chromedp.FromContext(ctx).Allocator.Wait()
	}
	if err := chromedp.Do(ctx); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return ctx, nil
}

// browse begins a test in the browser. It skips where there is none, and waits
// for its turn, because tabs share the processors of the machine.
func browse(t *testing.T) context.Context {
	t.Helper()
	t.Parallel()
	shared.turns <- struct{}{}
	t.Cleanup(func() { <-shared.turns })
	ctx, err := shared.browser()
	if errors.Is(err, errNoBrowser) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// artefacts is where pictures are kept: with the test, unless HELVE_ARTEFACTS
// names a folder.
func artefacts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HELVE_ARTEFACTS")
	if dir == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
