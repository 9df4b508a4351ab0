//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A kind is what stands at a place on the way to a file.
type kind int

const (
	folder      kind = iota
	link             // its target follows in the trace
	leaf             // a file of any other kind
	missing          // nothing; the way ends here
	placeholder      // nothing, kept so; the way ends here
)

// A pathSpot is one place on the way to a file, with no link before it.
type pathSpot struct {
	path string
	kind kind
}

// mostLinks is how many links are followed on one way, as the kernel does.
const mostLinks = 40

// trace goes the way to path as the kernel would, and returns each place it
// comes by, the last one being where the way ends: the file itself, or the
// first name that does not exist, or a placeholder for it, or a file where a
// folder was expected.
func trace(path string) ([]pathSpot, error) {
	var spots []pathSpot
	at, todo, links := "/", strings.Split(path, "/"), 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return append(spots, pathSpot{next, missing}), nil
		case err != nil:
			return spots, err
		case isPlaceholder(next, info):
			return append(spots, pathSpot{next, placeholder}), nil
		case info.Mode()&os.ModeSymlink != 0:
			if links++; links > mostLinks {
				return spots, &os.PathError{Op: "following links", Path: path, Err: syscall.ELOOP}
			}
			target, err := os.Readlink(next)
			if errors.Is(err, os.ErrNotExist) { // just removed
				return append(spots, pathSpot{next, missing}), nil
			}
			if err != nil {
				return spots, err
			}
			spots = append(spots, pathSpot{next, link})
			if filepath.IsAbs(target) {
				at = "/"
			}
			todo = append(strings.Split(target, "/"), todo...)
		case info.IsDir():
			spots = append(spots, pathSpot{next, folder})
			at = next
		default:
			return append(spots, pathSpot{next, leaf}), nil
		}
	}
	return spots, nil
}
