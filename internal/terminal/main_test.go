package terminal_test

import (
	"testing"

	"github.com/helve-dev/helve/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
