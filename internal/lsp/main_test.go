package lsp

import (
	"testing"

	"go.uber.org/goleak"

	"helve/internal/lsp/lsptest"
)

// The test binary is its own language server.
func TestMain(m *testing.M) {
	lsptest.Main()
	goleak.VerifyTestMain(m)
}
