package scripthost

import (
	"context"
	"io"
	"io/fs"
	"os"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// longestScript is what a shell takes as one text.
	longestScript = 128<<10 - 1
	// mostWords is how many words the brace expansions of a script may produce.
	mostWords = 10_000
	// mostKept bounds what is kept of one output, and mostHeld the size of variables and words.
	mostKept, mostHeld = 16 << 20, 64 << 20
	// mostListed bounds how much a listing names.
	mostListed = 500_000
)

// A ShellScript is one that was read.
type ShellScript struct {
	text  string // as it is run
	file  *syntax.File
	globs map[uint][]*syntax.Word // what stands for names of files, by where its command is
}

// Text is what the script runs, as the rules check it: variables outside of quotes are not split,
// so they are quoted there.
func (s *ShellScript) Text() string { return s.text }

// A ShellSetting is what a script is run in.
type ShellSetting struct {
	Dir   string
	Env   []string
	Path  string // where programs are looked for that have no PATH
	Input []byte // nil for none
	// Files are what the shell's own commands work on. Where it is nil, these
	// are programs of the machine like all others.
	Files ShellFiles
}

// A ShellOutcome is how a script ended, and what it wrote.
type ShellOutcome struct {
	Code     int
	Out, Err []byte
}

// A ShellMachine is what scripts reach the machine through. It asks before it gives.
type ShellMachine interface {
	// Run runs a program to its end.
	Run(ctx context.Context, p ShellProgram) (code int, err error)
	// Open opens a file as seen from a folder, by the flags of [os.OpenFile].
	Open(ctx context.Context, dir, name string, flags int) (io.ReadWriteCloser, error)
	// Which finds a program, as seen from a folder; "" if there is none.
	Which(name, dir, path string) string
	// Trouble words an error as the system does, and reports whether the rules refused, which ends
	// the script.
	Trouble(err error) (words string, refused bool)
}

// A ShellProgram is a program that was found and is to be run.
type ShellProgram struct {
	Path  string
	Args  []string // without its name
	Env   []string
	Dir   string
	Stdin *os.File // nil for none
	// Where Stdout and Stderr are files, the program is given these; where
	// they are the same, it has one for both.
	Stdout, Stderr io.Writer
}

// ShellFiles are what the shell's own commands work on. Names are absolute.
type ShellFiles interface {
	// Find resolves a name, or, if itself is set, a link of that name.
	Find(ctx context.Context, name string, itself bool) (ShellEntry, error)
	// Mkdir makes a folder, with its parents if deep, and returns the first that was made; "" if
	// unknown, or if there was none.
	Mkdir(ctx context.Context, name string, deep bool) (first string, err error)
	// Touch makes a file, or gives one that is there the time of now.
	Touch(ctx context.Context, name string) error
	// Move gives something another name.
	Move(ctx context.Context, from, to string) error
}

// A ShellEntry is a name that was found. Nothing need be there.
type ShellEntry interface {
	Look() (FileFacts, error)
	// Enter opens the folder that is there.
	Enter() (ShellFolder, error)
	// Remove removes what was seen there: a folder with its contents if deep, and otherwise only an
	// empty one.
	Remove(ctx context.Context, seen FileFacts, deep bool) error
}

// A ShellFolder is an open folder: entries are reached without following links.
type ShellFolder interface {
	Look(base string) (FileFacts, error)
	Enter(base string) (ShellFolder, error)
	Names() ([]fs.DirEntry, error)
	Close()
}

// FileFacts are the attributes of a file.
type FileFacts struct {
	Mode         uint32 // with the bits of what it is
	Nlink        uint64
	UID, GID     uint32
	Size         int64
	Milliseconds float64 // when it was changed, since 1970
}

func (f FileFacts) dir() bool { return f.Mode&kindMask == kindDir }
