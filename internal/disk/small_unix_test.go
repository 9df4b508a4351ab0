//go:build unix

package disk

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe is neither waited for when it is there, nor when it takes the place
// of a file while that is being opened.
func TestReadSmallPipe(t *testing.T) {
	t.Parallel()
	dir := folderOf(t)
	name := filepath.Join(dir, "name")
	ok(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	_, err := ReadSmall(filepath.Join(dir, "pipe"), 5)
	is(t, err, ErrNotRegular)

	put(t, filepath.Join(dir, "file"), "12345", 0o600)
	ok(t, unix.Link(filepath.Join(dir, "file"), name))
	done := make(chan error, 1)
	go func() {
		var err error
		for range 2000 {
			for _, from := range []string{"pipe", "file"} { // each under a name more, to be moved over the other
				err = errors.Join(err, unix.Link(filepath.Join(dir, from), name+"-next"), unix.Rename(name+"-next", name))
			}
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			ok(t, err)
			return
		default:
		}
		if got, err := ReadSmall(name, 5); !errors.Is(err, ErrNotRegular) && (err != nil || string(got) != "12345") {
			t.Fatalf("read %q, %v", got, err)
		}
	}
}
