//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly) || disk_simple

package disk

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
