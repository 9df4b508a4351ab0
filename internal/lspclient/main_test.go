package lspclient

import (
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
	"github.com/helve-dev/helve/internal/lspclient/lsptest"
)

// The test binary is its own language server.
func TestMain(m *testing.M) {
	lsptest.Main()
	leaktest.Main(m)
}
