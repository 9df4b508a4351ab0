package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	setExt  = ".json"
	undoExt = ".undo.json"
)

// A HistoryQuery selects sets. Empty fields select all.
type HistoryQuery struct {
	Session, Message, Call, Project string

	Path  string // changed, or a folder above what was changed
	Since string // only sets newer than this id
	Until string // only sets older than this id; the next page starts here
	Limit int    // at most so many, if positive
}

// Sets lists sets, newest first, and reads no more of them than are consumed. A set that cannot be
// read is yielded as an error with its id, and the others follow.
func (s *History) Sets(ctx context.Context, q HistoryQuery) iter.Seq2[ChangeSet, error] {
	return func(yield func(ChangeSet, error) bool) {
		list, err := s.list("sets")
		if err != nil {
			yield(ChangeSet{}, fmt.Errorf("listing the history: %w", err))
			return
		}
		undone, marks := undoers{}, q.marks()
		left := q.Limit
		for _, e := range q.window(list) {
			if err := ctx.Err(); err != nil {
				yield(ChangeSet{}, err)
				return
			}
			set, err := s.read(e, marks)
			if err == nil {
				undone.see(&set)
			}
			if q.skips(set, e, err) {
				continue
			}
			if err != nil {
				set, err = ChangeSet{ID: e.id}, fmt.Errorf("reading set %s: %w", e.id, err)
			} else {
				left--
			}
			if !yield(set, err) || q.Limit > 0 && left == 0 {
				return
			}
		}
	}
}

// window returns the entries that have to be read, newest first: those between Since and Until, and
// newer ones that undo sets.
func (q HistoryQuery) window(list []setEntry) []setEntry {
	var out []setEntry
	for _, e := range slices.Backward(list) {
		if q.Since != "" && e.id <= q.Since {
			break
		}
		if e.undo || !q.later(e) {
			out = append(out, e)
		}
	}
	return out
}

// later reports whether an entry is too new to be listed.
func (q HistoryQuery) later(e setEntry) bool { return q.Until != "" && e.id >= q.Until }

// skips reports whether a set that was read is not listed.
func (q HistoryQuery) skips(set ChangeSet, e setEntry, err error) bool {
	switch {
	case q.later(e):
		return true
	case err != nil:
		return errors.Is(err, fs.ErrNotExist) || err == errOther // swept, or not asked for
	}
	return !q.matchesSet(set)
}

// marks returns texts that the file of every matching set contains.
func (q HistoryQuery) marks() [][]byte {
	var out [][]byte
	for _, text := range []string{q.Session, q.Message, q.Call, q.Project} {
		if text != "" && utf8.ValidString(text) {
			out = append(out, quote(text))
		}
	}
	if q.Path != "" && utf8.ValidString(q.Path) {
		out = append(out, bytes.TrimSuffix(quote(q.Path), []byte{'"'}))
	}
	return out
}

func (q HistoryQuery) matchesSet(set ChangeSet) bool {
	for _, f := range [][2]string{
		{q.Session, set.Session}, {q.Message, set.Message}, {q.Call, set.Call}, {q.Project, set.Project},
	} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	return q.Path == "" || slices.ContainsFunc(set.Changes, func(c KeptChange) bool { return isUnder(c.Path, q.Path) })
}

// isUnder reports whether path is dir or lies in it.
func isUnder(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || dir != "" && os.IsPathSeparator(dir[len(dir)-1]))
}

// undoers maps sets to the set that undid them, when sets are visited newest first.
type undoers map[string]string

// see sets UndoneBy. A set that was undone itself undoes nothing.
func (u undoers) see(set *ChangeSet) {
	set.UndoneBy = u[set.ID]
	if set.UndoneBy != "" {
		return
	}
	for _, id := range set.Undoes {
		if u[id] == "" {
			u[id] = set.ID
		}
	}
}

// A setEntry is the file of a set, by its name.
type setEntry struct {
	id   string
	undo bool
}

// list returns the entries of sets or pending, oldest first. Other files are
// passed over.
func (s *History) list(folder string) ([]setEntry, error) {
	f, err := os.Open(filepath.Join(s.opt.Dir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	list := make([]setEntry, 0, len(names))
	for _, name := range names {
		id, undo := strings.CutSuffix(name, undoExt)
		if !undo {
			var ok bool
			if id, ok = strings.CutSuffix(name, setExt); !ok {
				continue
			}
		}
		if validID(id) {
			list = append(list, setEntry{id, undo})
		}
	}
	slices.SortFunc(list, func(a, b setEntry) int { return cmp.Compare(a.id, b.id) })
	return list, nil
}

// errDamaged says that a file is invalid, which reading it again will not change.
var errDamaged = errors.New("the file is damaged")

// errOther says that a set does not match, as seen without decoding it.
var errOther = errors.New("another set")

// read reads a set. It skips one whose file lacks any of marks and that undoes nothing.
func (s *History) read(e setEntry, marks [][]byte) (ChangeSet, error) {
	data, err := readFile(s.setPath(e.id, e.undo))
	if err != nil {
		return ChangeSet{}, err
	}
	line, end := lastLine(data)
	if end != int64(len(data)) {
		return ChangeSet{}, fmt.Errorf("%w: it is cut off", errDamaged)
	}
	for _, m := range marks {
		if !e.undo && !bytes.Contains(line, m) && !bytes.Contains(line, []byte(rawMark)) {
			return ChangeSet{}, errOther
		}
	}
	set, _, err := decode(line)
	if err != nil {
		return ChangeSet{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if set.ID != e.id || e.undo != (len(set.Undoes) > 0) {
		return ChangeSet{}, fmt.Errorf("%w: it is that of another set", errDamaged)
	}
	return set, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, blockSize)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) > maxSetFile:
			return nil, fmt.Errorf("%w: it is too large", errDamaged)
		}
	}
}
