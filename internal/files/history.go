package files

import (
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"
)

// ErrLost says that contents are not in the store, or no longer what they
// were when they were kept.
var ErrLost = errors.New("contents are not kept")

// ErrBusy says that another process has held the store's lock for too long.
var ErrBusy = errors.New("the history is in use by another process")

// HistoryOptions says where a store lies and how much it keeps.
type HistoryOptions struct {
	Dir     string           // the folder, made when first needed
	Quota   int64            // bytes on disk, in whole blocks; 1 GiB if not positive
	FileCap int64            // larger contents are not kept, and the set says so; 64 MiB if not positive
	Sync    bool             // survive loss of power, not only of the process
	Now     func() time.Time // time.Now if nil
	Logger  *slog.Logger     // silent if nil
}

// A History is a history folder. Making one does no I/O; its methods may be
// called from any goroutine. It holds nothing open between calls, so there is
// nothing to close.
type History struct {
	opt     HistoryOptions
	mu      sync.Mutex // queues our goroutines before the lock file
	deflate sync.Pool  // of *flate.Writer
}

// NewHistory returns the store in opt.Dir.
func NewHistory(opt HistoryOptions) *History {
	if opt.Quota <= 0 {
		opt.Quota = 1 << 30
	}
	if opt.FileCap <= 0 {
		opt.FileCap = 64 << 20
	}
	opt.FileCap = min(opt.FileCap, maxBlob)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	s := &History{opt: opt}
	s.deflate.New = func() any {
		w, _ := flate.NewWriter(nil, flate.BestSpeed) // fails for unknown levels only
		return w
	}
	return s
}

// A ChangeSet is what one call changed, all of it under one id.
type ChangeSet struct {
	ID   string // made by Begin if empty; greater ids are newer
	Time time.Time

	Session, Message, Call, Tool, Agent string // who changed it
	Project, Dir                        string // where

	Changes []KeptChange
	Undoes  []string // ids of the sets this one took back

	// Observed says that somebody else changes the files and the set only
	// says what became of them: a command that was run. What a change leaves is
	// not known before, files may change in part, and the set is as new as its
	// end.
	Observed bool

	// UndoneBy is the newest set that took this one back, in whole or in part,
	// and was not taken back itself. It is found when sets are listed, not
	// stored.
	UndoneBy string
}

// A KeptChange is what happened to one file. A move is two: one file goes, another
// comes.
type KeptChange struct {
	Path          string // absolute, links resolved
	Title         string // the name as people are shown it
	Before, After KeptContent
}

// What a change did.
const (
	Add    = "add"
	Update = "update"
	Delete = "delete"
)

// Kind says whether the change added, updated or deleted the file.
func (c KeptChange) Kind() string {
	switch {
	case !c.Before.Exists:
		return Add
	case !c.After.Exists:
		return Delete
	}
	return Update
}

// KeptContent is what a file held, or that there was none. What a link holds is
// the name it leads to, and a folder holds nothing; the Mode says which it is.
type KeptContent struct {
	Exists bool
	Hash   string // sha256 in hex; empty if nobody knows
	Size   int64
	Mode   fs.FileMode // with the type
	Kept   bool        // the bytes were put into the store
}

// DescribeContent returns the Content of a file that holds data.
func DescribeContent(data []byte, exists bool, mode fs.FileMode) KeptContent {
	if !exists {
		return KeptContent{}
	}
	return KeptContent{Exists: true, Hash: contentHash(data), Size: int64(len(data)), Mode: mode}
}

func contentHash(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// sameBytes reports whether c and d are the same bytes, or both no file. What
// nobody knows is never the same as anything.
func (c KeptContent) sameBytes(d KeptContent) bool {
	if !c.Exists || !d.Exists {
		return c.Exists == d.Exists
	}
	return c.Hash != "" && c.Hash == d.Hash && c.Mode.Type() == d.Mode.Type()
}

// withoutKept returns c without what only the store can say.
func (c KeptContent) withoutKept() KeptContent {
	if !c.Exists {
		return KeptContent{}
	}
	c.Kept = false
	return c
}

// is reports whether c and d are the same in bytes and mode.
func (c KeptContent) is(d KeptContent) bool {
	return c.sameBytes(d) && (!c.Exists || bits(c.Mode) == bits(d.Mode))
}

// Is reports whether c and d are the same: no file, or the same bytes with the
// same type and the same mode.
func (c KeptContent) Is(d KeptContent) bool { return c.is(d) }

// bits are the part of a mode that can be set. A link has none.
func bits(m fs.FileMode) fs.FileMode {
	if m&fs.ModeSymlink != 0 {
		return 0
	}
	return m & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}
