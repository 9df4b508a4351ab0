//go:build !unix

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// A file is a regular file that is open for reading.
type file struct{ f *os.File }

// openFile opens a regular file in this folder.
func (f *dirHandle) openFile(name string) (file, stat, error) {
	if _, err := f.stat(name); err != nil {
		return file{}, stat{}, err
	}
	opened, err := f.root.Open(name)
	if err != nil {
		return file{}, stat{}, err
	}
	info, err := opened.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = opened.Close()
		return file{}, stat{}, err
	}
	return file{opened}, statOf(info), nil
}

// read reads the next bytes, none at the end.
func (f file) read(p []byte) (int, error) {
	n, err := f.f.Read(p)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (f file) close() { _ = f.f.Close() }

// stat returns the attributes of a regular file in this folder.
func (f *dirHandle) stat(name string) (stat, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return stat{}, err
	}
	if !info.Mode().IsRegular() {
		return stat{}, errNotRegular
	}
	return statOf(info), nil
}

func statOf(info fs.FileInfo) stat {
	t := info.ModTime()
	return stat{size: info.Size(), time: stamp{t.Unix(), int64(t.Nanosecond())}, links: 1}
}

// openBelow opens a regular file by a name of several parts. There is no such
// call here that follows no link.
func (f *dirHandle) openBelow(string) (file, stat, bool, error) { return file{}, stat{}, false, nil }

// gone reports whether an error means that a file no longer exists or is no longer a regular file:
// then there is nothing to search, and no failure.
func gone(err error) bool {
	return errors.Is(err, errNotRegular) || errors.Is(err, fs.ErrNotExist)
}

// subBelow is openBelow for a folder.
func (f *dirHandle) subBelow(string) (*dirHandle, bool, error) { return nil, false, nil }
