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
	// Encoding is how the contents were read as text; "" where nobody said.
	Encoding string
}

// HashOf names contents.
func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// StampOf names contents by what the system says of the file, without
// reading it.
func StampOf(info fs.FileInfo) string {
	return stampOf(info.Size(), info.ModTime())
}

func stampOf(size int64, modified time.Time) string {
	return fmt.Sprintf("%d bytes of %s", size, modified.UTC().Format(time.RFC3339Nano))
}

// A Memory keeps what sessions saw beyond the life of a process.
type Memory interface {
	// Sight returns what a session saw of a file.
	Sight(session, file string) (ReadMark, bool, error)
	// See keeps it. It may be lost when the process ends at once.
	See(session, file string, s ReadMark)
	// Turned tells that contents were put back: who saw from has seen to.
	Turned(file, from, to string) error
}

type readMarkKey struct{ session, file string }

// How many sights a process remembers by itself, and how many where a Memory
// has them all.
const (
	maxSights  = 100_000
	hereSights = 10_000
)

// MarkRead notes what a session has seen of a file. Its own writes count. What it
// has seen before is not kept anew: the time is for people, and may be that of
// the first sight.
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

// turned makes a file that was put back no change to those who had seen what
// was taken away.
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

// An UnreadError says that a session has not read a file it is to change.
type UnreadError struct{ Path Path }

// Error gives the text of the reference.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("You must read file %s before overwriting it. Use the Read tool first", e.Path)
}

// A StaleError says that a file is not what a session has read.
type StaleError struct {
	Path           Path
	Modified, Read time.Time
}

// Error gives the text of the reference.
func (e *StaleError) Error() string {
	const iso = "2006-01-02T15:04:05.000Z"
	return fmt.Sprintf("File %s has been modified since it was last read.\nLast modification: %s\nLast read: %s\n\n"+
		"Please read the file again before modifying it.", e.Path, e.Modified.UTC().Format(iso), e.Read.UTC().Format(iso))
}

// is reports whether a file holds what was seen.
func (h *Held) is(s ReadMark) bool { return s.Hash == h.Hash() || s.Hash == h.stamp() }

// seenElsewhere reports whether the same session has seen a file as it is in
// another process.
func (f *Workspace) seenElsewhere(session string, h *Held) bool {
	if f.Memory == nil {
		return false
	}
	s, ok, err := f.Memory.Sight(session, h.Path.real)
	return err == nil && ok && h.is(s)
}

// Check holds a file against what the session has seen of it: an
// [UnreadError], a [StaleError], or nil. Contents decide, not times.
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
