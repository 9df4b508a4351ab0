package wire

import (
	"testing"

	"helve/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
