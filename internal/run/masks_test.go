package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMasks(t *testing.T) {
	root := t.TempDir()
	put := func(name string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a/.env")
	put("a/b/ok.txt")
	put(".git/x.env")
	if err := os.Symlink("a/.env", filepath.Join(root, "link.env")); err != nil {
		t.Fatal(err)
	}
	s := Sieve{
		Passes: func(names ...string) bool { return !strings.HasSuffix(names[0], ".env") },
		Names:  func(file string) []string { return []string{file} },
	}
	var m Masks
	check := func(want ...string) {
		t.Helper()
		for i := range want {
			want[i] = filepath.Join(root, want[i])
		}
		got, err := m.Find(t.Context(), root, s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	check("a/.env")
	put("a/b/new.env") // noticed at once
	check("a/.env", "a/b/new.env")
	if err := os.RemoveAll(filepath.Join(root, "a/b")); err != nil {
		t.Fatal(err)
	}
	check("a/.env")
	if got, err := m.Find(t.Context(), root, Sieve{}); err != nil || got != nil {
		t.Errorf("where all may be read: %v, %v", got, err)
	}
}
