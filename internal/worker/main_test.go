package worker

import (
	"os"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/run"
)

// TestMain lets the program of the tests be the helper of commands.
func TestMain(m *testing.M) {
	if code, ok := run.Helper(os.Args[1:]); ok {
		os.Exit(code)
	}
	leaktest.Main(m)
}
