package lsp

import (
	"testing"

	"helve/internal/leaktest"
	"helve/internal/lsp/lsptest"
)

// The test binary is its own language server.
func TestMain(m *testing.M) {
	lsptest.Main()
	leaktest.Main(m)
}
