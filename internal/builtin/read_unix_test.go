//go:build unix

package builtin_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadSpecialFiles(t *testing.T) {
	dir, read := readTool(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the name of a socket has to be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"fifo", "link", "socket", "/dev/zero", "/dev/null"} {
		_, err := read(map[string]any{"filePath": name})
		if codeOf(err) != "not-a-regular-file" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, code := range map[string]string{
		"a\x00b": "invalid-path", strings.Repeat("a/", 100_000): "name-too-long", strings.Repeat("n", 300): "name-too-long",
		"": "", "fifo/x": "not-found", "no/such": "not-found",
	} {
		_, err := read(map[string]any{"filePath": name})
		if codeOf(err) != code {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}
