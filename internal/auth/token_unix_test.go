//go:build unix

package auth

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTokenModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d", "token")
	if _, err := Token(path); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700 | fs.ModeDir} {
		info, err := os.Lstat(p)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// A place that others could read or have made is refused and left alone.
func TestTokenPlaces(t *testing.T) {
	write := func(path string, mode fs.FileMode) error {
		if err := os.WriteFile(path, []byte(goodToken+"\n"), mode); err != nil {
			return err
		}
		return os.Chmod(path, mode)
	}
	for name, c := range map[string]struct {
		make func(dir, path string) error
		want string // in the error
	}{
		"read by the world": {func(_, p string) error { return write(p, 0o604) }, "open to others"},
		"read by the group": {func(_, p string) error { return write(p, 0o640) }, "open to others"},
		"written by others": {func(_, p string) error { return write(p, 0o602) }, "open to others"},
		"link": {func(d, p string) error {
			if err := write(filepath.Join(d, "real"), 0o600); err != nil {
				return err
			}
			return os.Symlink("real", p)
		}, "is a link"},
		"link to nowhere":   {func(_, p string) error { return os.Symlink("nowhere", p) }, "is a link"},
		"folder":            {func(_, p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		"pipe":              {func(_, p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"open folder":       {func(d, _ string) error { return os.Chmod(d, 0o755) }, "open to others"},
		"folder for adding": {func(d, _ string) error { return os.Chmod(d, 0o730) }, "open to others"},
		"folder is a link": {func(d, _ string) error {
			if err := os.Rename(d, d+"2"); err != nil {
				return err
			}
			return os.Symlink(d+"2", d)
		}, "is a link"},
		"folder is a file": {func(d, _ string) error {
			if err := os.Remove(d); err != nil {
				return err
			}
			return os.WriteFile(d, nil, 0o600)
		}, "not a directory"},
	} {
		dir := private(t)
		path := filepath.Join(dir, "token")
		if err := c.make(dir, path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		token, err := Token(path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, token, err)
		}
		after, _ := os.Lstat(path)
		if (before == nil) != (after == nil) || before != nil && before.Mode() != after.Mode() {
			t.Errorf("%s: %v became %v", name, before, after)
		}
	}
}

func TestTokenOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := private(t)
	path := filepath.Join(dir, "token")
	if _, err := Token(path); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, dir} {
		if err := os.Chown(p, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := Token(path); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("%s given away: %v", p, err)
		}
		if err := os.Chown(p, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}
