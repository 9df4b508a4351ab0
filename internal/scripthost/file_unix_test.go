//go:build unix

package scripthost

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestHoldsItsFile(t *testing.T) {
	dir := sqliteFolder(t)
	own, other := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	var all [2]unix.Stat_t
	for i, name := range []string{own, other} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := unix.Stat(name, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, own, DBOptions{})
	if !d.Holds(uint64(all[0].Dev), uint64(all[0].Ino)) || d.Holds(uint64(all[1].Dev), uint64(all[1].Ino)) {
		t.Error("a file is taken for another")
	}
	link := filepath.Join(dir, "c.db")
	if err := os.Symlink(other, link); err != nil {
		t.Skip(err)
	}
	if d, err := OpenDB(link, DBOptions{}); err == nil {
		d.Close()
		t.Error("a link was followed")
	}
}
