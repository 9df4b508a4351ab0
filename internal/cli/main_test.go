package cli_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helve-dev/helve/internal/cli"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
	"github.com/helve-dev/helve/internal/process"
	"github.com/helve-dev/helve/tooltest"
)

var update = flag.Bool("update", false, "write golden files anew")

// leakChecked runs the tests and then looks for what they left behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int { return tooltest.Leaks(l.m.Run) }

// TestMain lets the test binary double as the command, when it is called by
// the name helve, as a language server, and as the helper of commands.
func TestMain(m *testing.M) {
	if code, ok := process.HelperMain(os.Args[1:]); ok {
		os.Exit(code)
	}
	lsptest.Main()
	testscript.Main(leakChecked{m}, map[string]func(){"helve": helve})
}

func helve() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	os.Exit(cli.Main(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir,
	}))
}

func TestScripts(t *testing.T) {
	client, err := filepath.Abs("../../examples/jsonl/client.py")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("HELVE_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(home, ".local", "share"))
			env.Setenv("CLIENT", client)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every command takes a second under the race detector
			return os.MkdirAll(home, 0o700)
		},
	})
}

// command makes the test binary callable as helve, for tests that need a
// process.
func command(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "helve")
	if err := os.Symlink(self, name); err != nil {
		t.Skipf("the test binary can not be linked to: %v", err)
	}
	return name
}
