package bundle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file that is refused for its own size takes nothing from the others.
func TestOneFileTooLargeIsAlone(t *testing.T) {
	root := t.TempDir()
	for name, size := range map[string]int64{"a.ts": 1 << 40, "b.ts": 0, "c.ts": 0} {
		path := filepath.Join(root, "tool", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("export const x = 1\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		if size > 0 {
			if err := os.Truncate(path, size); err != nil {
				t.Skip("no sparse files here:", err)
			}
		}
	}
	r, err := Build(context.Background(), Options{Root: root, Files: []string{"tool/a.ts", "tool/b.ts", "tool/c.ts"}})
	if err != nil || r.Files[0].Loads() || !r.Files[1].Loads() || !r.Files[2].Loads() {
		t.Error(err, r)
	}
}
