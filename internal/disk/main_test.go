//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly) || disk_simple

package disk

import (
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
