package search

import (
	"bytes"
	"context"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// A lister reads folders. It belongs to one goroutine and keeps its memory for
// the next folder.
type lister struct {
	marks marks // of the last folder
	buf   []byte
	names []byte
	sizes []uint16
	kinds []entryKind
}

// Where the parts of a record of getdents64 are.
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// list reads the entries of a folder that are files or folders, unsorted.
func (l *lister) list(ctx context.Context, dir *dirHandle) ([]dirEntry, error) {
	if l.buf == nil {
		l.buf = make([]byte, 64<<10)
	}
	l.marks = marks{}
	l.names, l.sizes, l.kinds = l.names[:0], l.sizes[:0], l.kinds[:0]
	for { // to the very end: a signal can cut a read short
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := unix.Getdents(dir.fd, l.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		l.take(dir, l.buf[:n])
	}
	names := string(l.names)
	list := make([]dirEntry, len(l.sizes))
	for i, size := range l.sizes {
		list[i] = dirEntry{name: names[:size], kind: l.kinds[i]}
		names = names[size:]
	}
	if cap(l.names) > 1<<20 { // one large folder is no reason to keep so much
		l.names, l.sizes, l.kinds = nil, nil, nil
	}
	return list, nil
}

// take reads the records of a buffer.
func (l *lister) take(dir *dirHandle, buf []byte) {
	for len(buf) >= direntName {
		size := int(binary.NativeEndian.Uint16(buf[direntLen:]))
		if size < direntName || size > len(buf) {
			return
		}
		record := buf[:size]
		buf = buf[size:]
		name, _, _ := bytes.Cut(record[direntName:], []byte{0})
		if string(name) == "." || string(name) == ".." {
			continue
		}
		kind := entryOther
		switch record[direntType] {
		case unix.DT_REG:
			kind = entryFile
		case unix.DT_DIR:
			kind = entryDir
		case unix.DT_UNKNOWN:
			kind = entryKindOf(dir, string(name))
		}
		if name[0] == '.' {
			l.marks.noteEntry(name, kind)
		}
		if kind == entryOther {
			continue
		}
		l.names = append(l.names, name...)
		l.sizes = append(l.sizes, uint16(len(name)))
		l.kinds = append(l.kinds, kind)
	}
}

// entryKindOf looks up the kind of an entry, if the listing does not contain it.
func entryKindOf(dir *dirHandle, name string) entryKind {
	var st unix.Stat_t
	if unix.Fstatat(dir.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return entryOther
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return entryFile
	case unix.S_IFDIR:
		return entryDir
	}
	return entryOther
}
