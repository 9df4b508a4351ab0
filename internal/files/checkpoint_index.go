package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
)

// An indexEntry is a file that git tracks, as its index has it.
type indexEntry struct {
	name         string // from the top of the worktree, with slashes
	object       []byte // the id of the contents
	mode         uint32 // git's
	size         uint32
	ctime, mtime [2]uint32 // seconds and nanoseconds
	ino          uint32
	stage        int
}

// git's modes of what it tracks.
const (
	gitTypeMask  = 0o170000
	gitFile      = 0o100000
	gitLink      = 0o120000
	gitSubmodule = 0o160000
)

var errBadIndex = errors.New("the index of git can not be read")

// errSplitIndex says that entries are in another file.
var errSplitIndex = fmt.Errorf("%w: it is split", errBadIndex)

const (
	indexHeader = 12
	indexFixed  = 40 // what an entry holds before the id
	maxIndex    = 1 << 29
)

// An index is git's list of tracked files. We parse it ourselves, because running git would run
// programs that a repository's settings name. Its contents are untrusted.
type index struct {
	data     []byte
	version  uint32
	count    int
	hashSize int
	end      int // of the entries
}

// readIndex checks the whole of an index.
func readIndex(data []byte) (*index, error) {
	if len(data) < indexHeader+20 || string(data[:4]) != "DIRC" {
		return nil, errBadIndex
	}
	x := &index{data: data, version: binary.BigEndian.Uint32(data[4:])}
	count := binary.BigEndian.Uint32(data[8:])
	if x.version < 2 || x.version > 4 || int64(count)*(indexFixed+20+2) > int64(len(data)) {
		return nil, errBadIndex
	}
	x.count = int(count)
	var err error
	for _, x.hashSize = range []int{20, 32} { // nothing in the file says which
		if err = x.check(); err == nil || errors.Is(err, errSplitIndex) {
			return x, err
		}
	}
	return nil, err
}

// check walks the entries and what follows them.
func (x *index) check() error {
	at := indexHeader
	name := make([]byte, 0, 256)
	for range x.count {
		_, next, full, err := x.readEntry(at, name)
		if err != nil {
			return err
		}
		at, name = next, full
	}
	x.end = at
	for at < len(x.data)-x.hashSize {
		if len(x.data)-x.hashSize-at < 8 {
			return errBadIndex
		}
		size := int64(binary.BigEndian.Uint32(x.data[at+4:]))
		if size > int64(len(x.data)-x.hashSize-at-8) {
			return errBadIndex
		}
		if string(x.data[at:at+4]) == "link" {
			return errSplitIndex
		}
		at += 8 + int(size)
	}
	if at != len(x.data)-x.hashSize {
		return errBadIndex
	}
	return nil
}

// readEntry parses the entry at an offset. prev is the name of the previous one and is overwritten.
func (x *index) readEntry(at int, prev []byte) (e indexEntry, next int, name []byte, err error) {
	end := len(x.data) - x.hashSize
	fixed := indexFixed + x.hashSize + 2
	if at < 0 || end-at < fixed {
		return e, 0, prev, errBadIndex
	}
	b := x.data[at:end]
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	e.ctime, e.mtime = [2]uint32{word(0), word(1)}, [2]uint32{word(2), word(3)}
	e.ino, e.mode, e.size = word(5), word(6), word(9)
	e.object = b[indexFixed : indexFixed+x.hashSize]
	flags := binary.BigEndian.Uint16(b[indexFixed+x.hashSize:])
	e.stage = int(flags>>12) & 3
	rest := fixed
	if flags&0x4000 != 0 {
		if x.version < 3 || len(b) < rest+2 {
			return e, 0, prev, errBadIndex
		}
		rest += 2
	}
	if x.version == 4 {
		strip, n := offsetOf(b[rest:])
		if n == 0 || strip > len(prev) {
			return e, 0, prev, errBadIndex
		}
		rest += n
		prev = prev[:len(prev)-strip]
	} else {
		prev = prev[:0]
	}
	n := bytes.IndexByte(b[rest:], 0)
	if n < 0 || len(prev)+n > maxName {
		return e, 0, prev, errBadIndex
	}
	name = append(prev, b[rest:rest+n]...)
	rest += n + 1
	if x.version < 4 { // padded to eights, with one NUL at least
		rest = (rest + 7) &^ 7
		if rest > len(b) {
			return e, 0, prev, errBadIndex
		}
	}
	return e, at + rest, name, nil
}

// offsetOf parses a number in git's offset encoding and returns its length; 0 if invalid.
func offsetOf(b []byte) (v, n int) {
	for n < len(b) && n < 4 {
		c := b[n]
		n++
		v = v<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return v, n
		}
		v++
	}
	return 0, 0
}

// entries yields all entries that name a path in the worktree.
func (x *index) entries() iter.Seq[indexEntry] {
	return func(yield func(indexEntry) bool) {
		at := indexHeader
		var name []byte
		for range x.count {
			e, next, full, err := x.readEntry(at, name)
			if err != nil {
				return // it was checked
			}
			at, name = next, full
			if !localName(full) {
				continue
			}
			e.name = string(full)
			if !yield(e) {
				return
			}
		}
	}
}

// localName reports whether a name of the index stays in the worktree and out of the git folder.
func localName(name []byte) bool {
	for part := range bytes.SplitSeq(name, []byte{'/'}) {
		switch {
		case len(part) == 0, string(part) == ".", string(part) == "..", strings.EqualFold(string(part), ".git"):
			return false
		case !isPlainPart(part):
			return false
		}
	}
	return true
}

// differs reports whether a file may differ from what git last recorded. A time that is not older
// than the index proves nothing.
func (e indexEntry) differs(info fs.FileInfo, written int64) bool {
	switch {
	case e.stage != 0:
		return true
	case e.mode&gitTypeMask == gitLink:
		if info.Mode()&fs.ModeSymlink == 0 {
			return true
		}
	case !info.Mode().IsRegular(), (e.mode&0o100 != 0) != (info.Mode()&0o100 != 0):
		return true
	}
	mtime := info.ModTime()
	if uint32(mtime.Unix()) != e.mtime[0] || uint32(mtime.Nanosecond()) != e.mtime[1] || uint32(info.Size()) != e.size {
		return true
	}
	if mtime.UnixNano() >= written {
		return true
	}
	sec, nano, ok := changedAt(info)
	return ok && (uint32(sec) != e.ctime[0] || uint32(nano) != e.ctime[1])
}
