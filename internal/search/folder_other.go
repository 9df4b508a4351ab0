//go:build !unix

package search

import (
	"errors"
	"io/fs"
	"os"
)

var errNotRegular = errors.New("not a regular file")

// A dirHandle is an open folder. Its entries are opened below the handle, and never through a link.
type dirHandle struct{ root *os.Root }

// openFolder opens a folder by its name.
func openFolder(name string) (*dirHandle, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &dirHandle{root}, nil
}

// openExact is openFolder: links cannot be refused here.
func openExact(name string) (*dirHandle, error) { return openFolder(name) }

// sub opens a subfolder. A link within the root would be followed, so the opened folder is compared
// with the name's own entry.
func (f *dirHandle) sub(name string) (*dirHandle, error) {
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := root.Stat(".")
	if err == nil && (!before.IsDir() || !os.SameFile(before, after)) {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("a link")}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &dirHandle{root}, nil
}

// open opens a regular file in this folder.
func (f *dirHandle) open(name string) (*os.File, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return f.root.Open(name)
}

// exists reports whether there is an entry of that name.
func (f *dirHandle) exists(name string) bool {
	_, err := f.root.Lstat(name)
	return err == nil
}

// reader is a second handle of the folder, to read its entries by.
func (f *dirHandle) reader() (*os.File, error) { return f.root.Open(".") }

func (f *dirHandle) close() { _ = f.root.Close() }

// openRegular opens a regular file by its name, through links if need be.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return os.Open(name)
}
