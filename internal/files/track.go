package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"
)

// A ReadMark is what a session last saw of a file.
type ReadMark struct {
	// Hash names the contents, see [HashOf]; for a file too large to be
	// hashed, its size and time, see [StampOf].
	Hash string
	When time.Time
	// Encoding is the text encoding with which it was read; "" if not known.
	Encoding string
}

// HashOf returns the hash of contents.
func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// StampOf returns an identifier of contents from size and time, without reading the file.
func StampOf(info fs.FileInfo) string {
	return stampOf(info.Size(), info.ModTime())
}

func stampOf(size int64, modified time.Time) string {
	return fmt.Sprintf("%d bytes of %s", size, modified.UTC().Format(time.RFC3339Nano))
}

// A Memory keeps the read marks of sessions longer than a process lives.
type Memory interface {
	// Sight returns what a session saw of a file.
	Sight(session, file string) (ReadMark, bool, error)
	// See stores a read mark. It may be lost if the process ends at once.
	See(session, file string, s ReadMark)
	// Turned records that earlier contents were restored: sessions that saw from have now seen to.
	Turned(file, from, to string) error
}

type readMarkKey struct{ session, file string }

// How many read marks a process keeps in memory, without and with a Memory.
const (
	maxSights  = 100_000
	hereSights = 10_000
)

// MarkRead records what a session has seen of a file. Its own writes count. An unchanged mark is
// not stored again: its time is only for people.
func (f *Workspace) MarkRead(session string, p Path, s ReadMark) {
	key := readMarkKey{session, p.real}
	most := maxSights
	if f.Memory != nil {
		most = hereSights
	}
	f.mu.Lock()
	if f.sights == nil || len(f.sights) >= most {
		f.sights = map[readMarkKey]ReadMark{}
	}
	last, again := f.sights[key]
	again = again && last.Hash == s.Hash && last.Encoding == s.Encoding
	f.sights[key] = s
	f.mu.Unlock()
	if f.Memory != nil && !again {
		f.Memory.See(session, p.real, s)
	}
}

// ReadMark returns what a session has seen of a file.
func (f *Workspace) ReadMark(session string, p Path) (ReadMark, bool) {
	key := readMarkKey{session, p.real}
	f.mu.Lock()
	s, ok := f.sights[key]
	f.mu.Unlock()
	if ok || f.Memory == nil {
		return s, ok
	}
	s, ok, err := f.Memory.Sight(session, p.real)
	return s, ok && err == nil
}

// turned records that a file was restored, so that it does not count as changed for sessions that
// saw the undone content.
func (f *Workspace) turned(file, from, to string) error {
	f.mu.Lock()
	for key, s := range f.sights {
		if key.file == file && s.Hash == from {
			s.Hash = to
			f.sights[key] = s
		}
	}
	f.mu.Unlock()
	if f.Memory == nil {
		return nil
	}
	return f.Memory.Turned(file, from, to)
}

// An UnreadError says that a session has not read the file that it is about to change.
type UnreadError struct{ Path Path }

// Error returns OpenCode's text.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("You must read file %s before overwriting it. Use the Read tool first", e.Path)
}

// A StaleError says that a file has changed since the session read it.
type StaleError struct {
	Path           Path
	Modified, Read time.Time
}

// Error returns OpenCode's text.
func (e *StaleError) Error() string {
	const iso = "2006-01-02T15:04:05.000Z"
	return fmt.Sprintf("File %s has been modified since it was last read.\nLast modification: %s\nLast read: %s\n\n"+
		"Please read the file again before modifying it.", e.Path, e.Modified.UTC().Format(iso), e.Read.UTC().Format(iso))
}

// is reports whether a file holds what was seen.
func (h *Held) is(s ReadMark) bool {
	return s.Hash == h.Hash() || s.Hash == stampOf(h.State.Size, h.State.Modified())
}

// seenElsewhere reports whether the same session has seen the current content in another process.
func (f *Workspace) seenElsewhere(session string, h *Held) bool {
	if f.Memory == nil {
		return false
	}
	s, ok, err := f.Memory.Sight(session, h.Path.real)
	return err == nil && ok && h.is(s)
}

// Check compares a file with what the session has seen of it: it returns an [UnreadError], a
// [StaleError], or nil. Contents decide, not times.
func (f *Workspace) Check(session string, h *Held) error {
	if f.Unchecked || !h.Exists() {
		return nil
	}
	s, ok := f.ReadMark(session, h.Path)
	switch {
	case !ok:
		return &UnreadError{h.Path}
	case !h.is(s) && !f.seenElsewhere(session, h):
		return &StaleError{Path: h.Path, Modified: h.State.Modified(), Read: s.When}
	}
	return nil
}
