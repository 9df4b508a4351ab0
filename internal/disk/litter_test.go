//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// What can not be removed when it is done with goes with a later Commit.
func TestLitter(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	stuck, gone := filepath.Join(dir, ".helve-stuck.tmp"), filepath.Join(dir, ".helve-gone.tmp")
	if err := os.MkdirAll(filepath.Join(stuck, "below"), 0o755); err != nil { // in place of a file on a read-only disk
		t.Fatal(err)
	}
	var litter Litter
	at := &openFolder{name: dir, fd: fd}
	tx := &transaction{opt: Options{Litter: &litter}, items: []*item{
		{dir: at, temp: filepath.Base(stuck), staged: true}, {dir: at, temp: filepath.Base(gone), staged: true}, {dir: at, temp: "not-staged"},
	}}
	tx.removeOld()
	if !slices.Equal(litter.names, []string{stuck}) {
		t.Fatalf("remembered are %q", litter.names)
	}
	write := func(text string) {
		t.Helper()
		was, state, err := Read(filepath.Join(dir, "a"), 0)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		change := Change{Name: filepath.Join(dir, "a"), Data: []byte(text), Was: state, WasData: was}
		if err := Commit(context.Background(), []Change{change}, Options{Litter: &litter}); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	if len(litter.names) != 1 {
		t.Errorf("what is still stuck was forgotten: %q", litter.names)
	}
	if err := os.RemoveAll(filepath.Join(stuck, "below")); err != nil {
		t.Fatal(err)
	}
	write("two")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || len(litter.names) != 0 {
		t.Errorf("there are %v, remembered %q, %v", left, litter.names, err)
	}
}
