//go:build unix

package bundle_test

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/helve-dev/helve/internal/bundle"
)

// A pipe in place of a file must not keep the build waiting for a writer.
func TestPipesAreNotRead(t *testing.T) {
	o := folder(t)
	if err := syscall.Mkfifo(filepath.Join(o.Root, "tools/pipe.ts"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Files = append(o.Files, "tools/pipe.ts")
	r := build(t, o)
	if f := r.Files[3]; f.Loads() || !strings.Contains(f.Problems[0].Text, "not a regular file") {
		t.Error(f)
	}
	if !r.Files[0].Loads() {
		t.Error(r.Files[0])
	}
	if err := syscall.Mkfifo(filepath.Join(o.Root, "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r.Inputs.Fresh(o) {
		t.Error("fresh although there are new settings")
	}
	if _, err := bundle.Build(context.Background(), o); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// Settings may name others to extend; a device there would never end.
func TestDevicesAreNotExtended(t *testing.T) {
	for _, base := range []string{`"/dev/zero"`, `["./base.json", "../../../../../../../../../../dev/zero"]`} {
		o := folder(t)
		write(t, filepath.Join(o.Root, "tools/tsconfig.json"), []byte(`{ "extends": `+base+` }`))
		if _, err := bundle.Build(context.Background(), o); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
