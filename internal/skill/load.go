package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
)

// Bounds on the list of a skill's files.
const (
	listedFiles  = 10
	listingDepth = 8
	listingSize  = 2000 // entries that are looked at
)

// ErrChanged says that the file no longer contains this skill.
var ErrChanged = errors.New("the file has changed and holds another skill now")

// A Text is a skill as it is now.
type Text struct {
	Document
	// Files are what else is in its folder: the first ten by name, with
	// slashes, relative to the folder.
	Files []string
	More  int  // how many there are besides
	Many  bool // there are too many to count; More is the least
}

// Load reads a skill that was found earlier. If it is gone or broken now, it returns an error.
func (s Skill) Load() (*Text, error) {
	type loaded struct {
		text *Text
		err  error
	}
	l, ok := disk.InTime(loadTime, func() loaded {
		text, err := s.load()
		return loaded{text, err}
	})
	if !ok {
		return nil, fmt.Errorf("reading the skill %s: %w", s.Path, errSlow)
	}
	return l.text, l.err
}

func (s Skill) load() (*Text, error) {
	if s.fence != nil {
		real, err := filepath.EvalSymlinks(s.Path)
		if err != nil {
			return nil, fmt.Errorf("reading a skill: %w", err)
		}
		if !s.fence.contains(real) {
			return nil, fmt.Errorf("reading the skill %s: it leads out of a project that is not trusted", s.Path)
		}
	}
	data, _, err := readFile(s.Path, s.limit)
	if err != nil {
		return nil, fmt.Errorf("reading the skill %s: %w", s.Path, err)
	}
	doc, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("reading the skill %s: %w", s.Path, err)
	}
	if doc.Name != s.Name {
		return nil, fmt.Errorf("reading the skill %s: %w", s.Path, ErrChanged)
	}
	text := &Text{Document: *doc}
	text.Files, text.Many = list(s.Dir)
	slices.Sort(text.Files)
	if n := len(text.Files); n > listedFiles {
		text.Files, text.More = text.Files[:listedFiles:listedFiles], n-listedFiles
	}
	return text, nil
}

// readFile reads a regular file of at most limit bytes; it does not block on a pipe or device. The
// error is a [*FormatError].
func readFile(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if info.Mode().IsRegular() && disk.OfKernel(path) {
		return nil, info, &FormatError{Code: NotAFile, Why: "a file of the kernel's"}
	}
	data, err := disk.ReadOpen(f, limit)
	switch {
	case errors.Is(err, disk.ErrNotRegular):
		return nil, info, &FormatError{Code: NotAFile, Why: "not a file"}
	case errors.Is(err, disk.ErrTooLarge):
		return nil, info, &FormatError{Code: TooLarge, Why: fmt.Sprintf("larger than %d bytes; move what is seldom needed to files beside it", limit)}
	case err != nil:
		return nil, info, unreadable(err)
	}
	return data, info, nil
}

func unreadable(err error) *FormatError {
	return &FormatError{Code: Unreadable, Why: "can not be read: " + reason(err)}
}

// reason returns the text of a file system error, without the path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// list returns the files of a skill's folder, up to a limit, and whether there may be more. It
// follows no links to folders.
func list(dir string) (files []string, many bool) {
	type place struct {
		rel   string
		depth int
	}
	queue := []place{{"", 0}}
	for seen := 0; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		entries, more, err := readDir(filepath.Join(dir, filepath.FromSlash(at.rel)), listingSize-seen)
		if err != nil {
			continue // the rest is listed all the same
		}
		many = many || more
		seen += len(entries)
		for _, e := range entries {
			rel := e.Name()
			if at.rel != "" {
				rel = at.rel + "/" + rel
			}
			switch {
			case !e.IsDir():
				if e.Name() != fileName {
					files = append(files, rel)
				}
			case passed(e.Name()):
			case at.depth == listingDepth || seen >= listingSize:
				many = true
			default:
				queue = append(queue, place{rel, at.depth + 1})
			}
		}
	}
	return files, many
}

// passed reports whether a folder name is skipped, because such folders contain other people's
// files.
func passed(name string) bool { return name == "node_modules" || name == ".git" }

// readDir returns at most most entries of a folder by name, and whether there
// are more.
func readDir(path string, most int) (entries []fs.DirEntry, more bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	most = max(most, 0)
	entries, err = f.ReadDir(most + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if more = len(entries) > most; more {
		entries = entries[:most]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, err
}
