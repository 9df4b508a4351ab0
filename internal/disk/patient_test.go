package disk

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// What does not come back is left behind after the limit.
func TestInTime(t *testing.T) {
	const patience = 3 * time.Second
	synctest.Test(t, func(t *testing.T) {
		never := make(chan int)
		defer close(never)
		began := time.Now()
		if got, ok := InTime(patience, func() int { return <-never }); ok || got != 0 || time.Since(began) != patience {
			t.Error(got, ok, time.Since(began))
		}
		if got, ok := InTime(patience, func() int { return 7 }); !ok || got != 7 {
			t.Error(got, ok)
		}
	})
}

func TestOfKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has such files")
	}
	for path, want := range map[string]bool{"/proc/self/status": true, "/sys/kernel": true, t.TempDir(): false, "/proc-not/there": false} {
		if OfKernel(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
