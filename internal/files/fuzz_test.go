package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzResolve takes any name. If nothing was asked, what opens must really
// lie inside.
func FuzzResolve(f *testing.F) {
	for _, name := range []string{
		"a.txt", "", ".", "..", "/", "../out/secret", "dir/../../secret", "gone-chain", "loop/x", "magic/etc/hostname",
		"a\x00", "//x", "sub/../../ws-other/a.txt", "out", "rel", "..foo/a.txt", "dir/up", "back", "\xff", "gone-out/../a.txt",
	} {
		f.Add(name)
	}
	base, files := tree(f)
	ws := filepath.Join(base, "ws")
	f.Fuzz(func(t *testing.T, name string) {
		a := &asker{}
		p, err := files.Resolve(t.Context(), a, ws, name)
		if err != nil {
			return
		}
		if !filepath.IsAbs(p.String()) || filepath.Clean(p.String()) != p.String() {
			t.Errorf("%q became %q", name, p)
		}
		if len(a.asked) > 0 {
			return
		}
		// The system's own answer, where there is one.
		raw := name
		if !filepath.IsAbs(name) {
			raw = ws + "/" + name
		}
		if real, err := filepath.EvalSymlinks(raw); err == nil && real != ws && !strings.HasPrefix(real, ws+"/") {
			t.Errorf("%q leads to %q, and nothing was asked", name, real)
		}
		file, info, err := files.Open(p)
		if err != nil {
			return
		}
		defer file.Close()
		inside := false
		_ = filepath.WalkDir(ws, func(path string, _ os.DirEntry, _ error) error {
			if i, err := os.Lstat(path); err == nil && os.SameFile(i, info) {
				inside = true
			}
			return nil
		})
		if !inside {
			t.Errorf("%q opened a file outside, and nothing was asked", name)
		}
	})
}
