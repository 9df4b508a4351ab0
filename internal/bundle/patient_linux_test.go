package bundle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
)

// The files of the kernel say that they are regular, and reading some of them
// waits for ever: such a file fails alone.
func TestFilesOfTheKernelAreNotRead(t *testing.T) {
	o := folder(t)
	if err := os.Symlink("/proc/self/status", filepath.Join(o.Root, "tools/k.ts")); err != nil {
		t.Fatal(err)
	}
	o.Files = append(o.Files, "tools/k.ts")
	r := build(t, o)
	if f := r.Files[3]; f.Loads() || !strings.Contains(f.Problems[0].Text, "one of the kernel's") {
		t.Error(f)
	}
	if !r.Files[0].Loads() {
		t.Error(r.Files[0])
	}
	if err := os.Symlink("/proc/self/status", filepath.Join(o.Root, "package.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Build(context.Background(), o); err == nil || !strings.Contains(err.Error(), "one of the kernel's") {
		t.Error(err)
	}
}
