//go:build !linux

package search

import (
	"context"
	"errors"
	"io"
)

// A lister reads folders.
type lister struct {
	marks marks // of the last folder
}

// list reads the entries of a folder that are files or folders, unsorted.
func (l *lister) list(ctx context.Context, dir *dirHandle) (list []dirEntry, err error) {
	l.marks = marks{}
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
			e := dirEntry{name: d.Name()}
			switch {
			case d.Type().IsRegular():
				e.kind = entryFile
			case d.IsDir():
				e.kind = entryDir
			}
			l.marks.noteEntry([]byte(e.name), e.kind)
			if e.kind != entryOther {
				list = append(list, e)
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
