package run

import (
	"os"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
)

// TestMain lets the program of the tests be the helper of commands.
func TestMain(m *testing.M) {
	if code, ok := Helper(os.Args[1:]); ok {
		os.Exit(code)
	}
	leaktest.Main(m)
}
