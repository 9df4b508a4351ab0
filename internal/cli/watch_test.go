package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestProgressLine(t *testing.T) {
	var out strings.Builder
	w := &watcher{out: &out}
	w.progress(time.Second) // nothing is known yet
	w.wipe()
	w.title = "Building\x1b[31m"
	w.progress(2 * time.Second)
	w.wipe()
	w.wipe()
	if diff := cmp.Diff("\r\x1b[KBuilding\\x1b[31m (2s)\r\x1b[K", out.String()); diff != "" {
		t.Error(diff)
	}
}
