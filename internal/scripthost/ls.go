package scripthost

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A listing is an ls on its way.
type listing struct {
	*builtin
	hidden, dots, long, deep, itself, headed bool
	told                                     int
}

// ls lists folders, in the system's order.
func (b *builtin) ls(ctx context.Context, args []string) error {
	set := map[string]bool{}
	const known = "aAbBcCdDfFgGhHiIklLmnNopqQrRsStTuUvwxXZ1"
	names, unknown, word := flags(args, oneOf(set, strings.Split(known, "")...))
	switch {
	case strings.HasPrefix(unknown, "-"):
		return b.complain("ls: illegal option -- -\n")
	case unknown != "":
		return b.complain("ls: illegal option -- %s\n", word[1:2])
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	l := &listing{
		builtin: b, hidden: set["a"] || set["A"], dots: set["a"], long: set["l"], deep: set["R"],
		itself: set["d"], headed: len(names) > 1,
	}
	for _, name := range names {
		err := l.listName(ctx, name)
		if err != nil {
			err = b.fileError(ctx, name, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listName prints a file, or the contents of a folder.
func (l *listing) listName(ctx context.Context, name string) error {
	found, err := l.files().Find(ctx, l.fromDir(name), false)
	if err != nil {
		return err
	}
	st, err := found.Look()
	if err != nil || !st.dir() {
		itself, lost := l.files().Find(ctx, l.fromDir(name), true)
		if lost != nil {
			return lost
		}
		if st, err = itself.Look(); err != nil { // neither a link to nothing
			return err
		}
	}
	switch {
	case l.itself:
		fmt.Fprintln(l.out, name)
		return nil
	case !st.dir():
		l.printEntry(name, st)
		return nil
	}
	in, err := found.Enter()
	if err != nil {
		return err
	}
	return l.listFolder(ctx, in, name)
}

// listFolder prints the contents of a folder, and then those of its subfolders. It closes the
// folder.
func (l *listing) listFolder(ctx context.Context, in ShellFolder, name string) error {
	defer in.Close()
	entries, err := in.Names()
	if err != nil {
		return err
	}
	if l.told += len(entries); l.told > mostListed {
		return syscall.EFBIG
	}
	if l.headed {
		fmt.Fprintf(l.out, "%s:\n", name)
	}
	l.headed = l.headed || l.deep
	if l.dots {
		l.printInside(in, ".")
		l.printInside(in, "..")
	}
	if !l.hidden {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	}
	for _, e := range entries {
		l.printInside(in, e.Name())
	}
	if !l.deep {
		return nil
	}
	return l.listBelow(ctx, in, name, entries)
}

// listBelow prints the contents of the subfolders of a folder.
func (l *listing) listBelow(ctx context.Context, in ShellFolder, name string, entries []fs.DirEntry) error {
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		next, err := in.Enter(e.Name())
		if err == nil {
			err = l.listFolder(ctx, next, bunshellTrimmed(name)+"/"+e.Name())
		}
		if err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}

// printInside prints an entry of a folder.
func (l *listing) printInside(in ShellFolder, base string) {
	var st FileFacts
	if l.long {
		var err error
		if st, err = in.Look(base); err != nil {
			return // it has gone meanwhile
		}
	}
	l.printEntry(base, st)
}

func (l *listing) printEntry(name string, st FileFacts) {
	if l.long {
		fmt.Fprintf(l.out, "%s %3d %5d %5d %8d %s ", letters(st.Mode), st.Nlink, st.UID, st.GID, st.Size, day(time.UnixMicro(int64(st.Milliseconds*1000))))
	}
	fmt.Fprintln(l.out, name)
}

// letters are a mode as ls writes it.
func letters(mode uint32) string {
	kind := "?"
	switch mode & kindMask {
	case kindFile:
		kind = "-"
	case kindDir:
		kind = "d"
	case kindLink:
		kind = "l"
	case kindChar:
		kind = "c"
	case kindBlock:
		kind = "b"
	case kindPipe:
		kind = "p"
	case kindSocket:
		kind = "s"
	}
	return kind + fs.FileMode(mode & 0o777).String()[1:]
}

// day is a time as ls writes it: with the hour if it is not long ago.
func day(at time.Time) string {
	at = at.UTC()
	if ago := time.Since(at); ago < 180*24*time.Hour && ago > -180*24*time.Hour {
		return at.Format("Jan 02 15:04")
	}
	return at.Format("Jan 02  2006")
}
