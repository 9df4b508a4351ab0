package search

import (
	"github.com/helve-dev/helve/internal/regex"
	"time"
)

// An Order says which files come first.
type Order uint8

// The orders. Files of the same time are in byte order of their names.
const (
	Newest Order = iota // by the time of their last change, the newest first
	First               // as they are found: the quickest, and not the same every time
	ByName              // in byte order of their names
)

// A Grep is a search for lines that match a pattern.
type Grep struct {
	Where Options // where; Max and Skipped are not used
	// File, if not empty, is the one file to search, relative to Where.Dir and
	// in it. It is searched whatever ignore files and Where.Globs say.
	File    string
	Pattern *regex.Regexp
	Limit   int // how many lines are wanted; 0 is all
	Order   Order
	LineMax int           // how many bytes of a line are kept; 0 is 8 KiB
	Budget  time.Duration // after that long the answer is what was found so far; 0 is no limit
	Bar     *Exclusion
	// Report, if not nil, is called periodically with the progress of a long search, by one
	// goroutine at a time.
	Report func(Progress)
}

// A Glob is a search for files by their names: those that Where.Globs keep.
type Glob struct {
	Where  Options // where, and the globs; Max and Skipped are not used
	Limit  int     // how many names are wanted; 0 is all
	Order  Order
	Budget time.Duration
	Report func(Progress)
}

// An Exclusion keeps files from being searched. Their names may be listed, but neither their
// contents nor whether a pattern matches in them may be revealed.
type Exclusion struct {
	// Suspect, if not nil, is true for all files that Shut may be true for, and for few others. It
	// depends only on the name and on what Key stands for, so its results can be cached.
	Suspect func(name string) bool
	Key     string
	// Shut reports whether the file of that name, relative to Where.Dir, may
	// not be searched. It is called by several goroutines at once.
	Shut func(name string) bool
	// Linked, if not nil, is asked about a file that has more than one name
	// (hard links) before lines of it are shown. A file for which it returns
	// true is left out as if nothing had matched there.
	Linked func(name string) bool
}

// Progress is how far a search is.
type Progress struct {
	Files int // looked at so far
	Lines int // found so far
	Last  []Hit
}

// A Hit is a line that matched.
type Hit struct {
	Name string
	MatchLine
}

// Found is the result of a [Grep].
type Found struct {
	Files   []File
	Lines   int     // in all Files
	More    bool    // there are more lines than were wanted
	Late    bool    // the budget was used up before all was looked at
	Skipped Skipped // what was left out
}

// A File is a file with lines that match.
type File struct {
	Name  string // relative to Where.Dir, with slashes
	Time  time.Time
	Lines []MatchLine
}

// A MatchLine is a line that matches.
type MatchLine struct {
	Number int    // the first is 1
	Text   []byte // UTF-8 where the file is in UTF-16; without the line end
	Cut    bool   // it is longer than LineMax
}

// Names is the result of a [Glob].
type Names struct {
	Files   []Name
	More    bool
	Late    bool
	Skipped Skipped
}

// A Name is a file that was found.
type Name struct {
	Name string // relative to Where.Dir, with slashes
	Time time.Time
}
