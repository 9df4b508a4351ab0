//go:build unix

package files_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/helve-dev/helve/internal/disk"
)

// TestSpecialFilesNeverBlock would hang if opening one waited.
func TestSpecialFilesNeverBlock(t *testing.T) {
	base, files := tree(t)
	ws := filepath.Join(base, "ws")
	if err := syscall.Mkfifo(filepath.Join(ws, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", filepath.Join(ws, "to-fifo")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(ws) // the name of a socket has to be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, name := range []string{"fifo", "to-fifo", "socket", "/dev/zero", "/dev/null", "/dev/tty", "sub", "/"} {
		p, err := files.Resolve(t.Context(), &asker{}, ws, name)
		if err != nil {
			t.Fatal(err)
		}
		f, _, err := files.Open(p)
		if err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
		if name != "socket" && name != "/dev/tty" && !errors.Is(err, disk.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	base, files := tree(t)
	for name, want := range map[string]error{
		"missing":                fs.ErrNotExist,
		"no/such/folder":         fs.ErrNotExist,
		"a.txt/x":                syscall.ENOTDIR,
		"loop":                   syscall.ELOOP,
		strings.Repeat("n", 300): syscall.ENAMETOOLONG,
	} {
		p, err := files.Resolve(t.Context(), &asker{}, filepath.Join(base, "ws"), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := files.Open(p); !errors.Is(err, want) {
			t.Errorf("%.20s: got %v, want %v", name, err, want)
		}
	}
}

// A folder that may be entered and not listed can be read from.
func TestOpenNeedsNoRightToList(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may list everything")
	}
	base, files := tree(t)
	ws := filepath.Join(base, "ws")
	if err := os.Chmod(filepath.Join(ws, "sub"), 0o100); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(ws, "sub"), 0o700)
	p, err := files.Resolve(t.Context(), &asker{}, ws, "sub/b.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(files, p); got != "ws/sub/b.txt" {
		t.Errorf("got %q", got)
	}
}
