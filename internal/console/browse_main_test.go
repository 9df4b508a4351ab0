package console_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/helve-dev/helve/internal/browsertest"
	"github.com/helve-dev/helve/tooltest"
)

// A stage is what the tests in a browser share: one browser, and helve, built
// once. Both come when the first test wants them.
type stage struct {
	dir     string // of this run alone
	program func() (string, error)
	browser *browsertest.Browser
	turns   chan struct{} // as many tests as there are places run at once
}

var shared = newStage()

func newStage() *stage {
	s := &stage{turns: make(chan struct{}, 2), browser: browsertest.New("127.0.0.1")}
	s.program = sync.OnceValues(s.build)
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
		shared.dir, shared.browser.Dir = dir, dir
		code := m.Run()
		shared.browser.End()
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

// browse begins a test in the browser. It skips where there is none, and waits
// for its turn, because tabs share the processors of the machine.
func browse(t *testing.T) {
	t.Helper()
	t.Parallel()
	shared.turns <- struct{}{}
	t.Cleanup(func() { <-shared.turns })
	shared.browser.Need(t)
}
