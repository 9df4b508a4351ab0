package auth

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv("HELVE_SIGNIN_TEST_CHILD"); addr != "" {
		os.Exit(child(addr, os.Getenv("HELVE_SIGNIN_TEST_FILE")))
	}
	leaktest.Main(m)
}

// storeAt returns a store in a folder that does not exist yet, with the clock
// of a.
func storeAt(t testing.TB, a *authority) *SignIns {
	t.Helper()
	s := OpenSignIns(filepath.Join(t.TempDir(), "own", "signin.json"))
	if a != nil {
		s.now = a.now
	}
	return s
}

// beside returns another store on the same file.
func beside(s *SignIns) *SignIns {
	other := OpenSignIns(s.path)
	other.now = s.now
	return other
}
