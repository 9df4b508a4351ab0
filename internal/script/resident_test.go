package script

import (
	"fmt"
	"os"
	"testing"
)

// residentBytes is what the process holds of the machine's memory; 0 where that cannot be asked.
func residentBytes(t *testing.T) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * uint64(os.Getpagesize())
}
