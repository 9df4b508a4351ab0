// Package leaktest fails a test program that leaves goroutines behind.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, and exits. It is called from TestMain.
func Main(m *testing.M) {
	os.Exit(Run(m))
}

// Run runs the tests of a package and returns their exit code, or 1 when
// goroutines are left.
func Run(m *testing.M) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := Find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		return 1
	}
	return 0
}

// Find returns an error that names the goroutines that are left after ten
// seconds. goleak alone waits less than half a second, and net/http keeps a
// connection for that long after it has closed its own half.
func Find() error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := goleak.Find()
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
