//go:build !linux

package search

import (
	"context"
	"errors"
	"io"
)

// A lister reads folders.
type lister struct {
	repo bool // the last folder has an entry .git or .jj
}

// list reads the entries of a folder that are files or folders, unsorted.
func (l *lister) list(ctx context.Context, dir *folder) (list []entry, err error) {
	l.repo = false
	f, err := dir.reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := f.ReadDir(1024)
		for _, d := range some {
			name := d.Name()
			if name == ".git" || name == ".jj" {
				l.repo = true
			}
			switch {
			case d.Type().IsRegular():
				list = append(list, entry{name, entryFile})
			case d.IsDir():
				list = append(list, entry{name, entryDir})
			}
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
