package scripthost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
)

const (
	// maxRead bounds a single read of a file.
	maxRead = 256 << 20
	// maxListed bounds how much a listing names.
	maxListed = 500_000
)

// fileOps are the operations that only read files.
func (w *Host) fileOps() map[string]operation {
	return map[string]operation{
		"fs.read":     w.readFile,
		"fs.stat":     op(w.stat),
		"fs.list":     op(w.list),
		"fs.readlink": op(w.readlink),
		"fs.real":     op(w.real),
		"fs.access":   op(w.access),
	}
}

// A pathArg is the argument of most requests about files.
type pathArg struct {
	Path, From, To, Target, Flags     string
	Mode                              *uint32
	Recursive, Force, Link, Exclusive bool
	Atime, Mtime, Length              float64
	UID, GID                          int
}

func (a pathArg) mode(usual uint32) uint32 {
	if a.Mode == nil {
		return usual
	}
	return *a.Mode & 0o7777
}

func (w *Host) readFile(ctx context.Context, arg script.Data) (script.Data, error) {
	var a pathArg
	by, err := read(ctx, arg, &a)
	if err != nil {
		return script.Data{}, err
	}
	how := howOf(a.Flags)
	if !how.read {
		return script.Data{}, failure(syscall.EBADF)
	}
	if how.create {
		if err := w.put(ctx, by, a, nil); err != nil {
			return script.Data{}, failure(err)
		}
	}
	f, err := w.openRead(ctx, by, a.Path)
	if err != nil {
		return script.Data{}, failure(err)
	}
	defer f.Close()
	data, err := readContents(ctx, f)
	if err != nil {
		return script.Data{}, failure(err)
	}
	return script.Data{Raw: data}, nil
}

// readContents reads a file to its end. The bytes are never nil.
func readContents(ctx context.Context, f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxRead {
		return nil, tooLarge(info.Size())
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):min(cap(data), len(data)+1<<20)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) > maxRead:
			return nil, tooLarge(int64(len(data)))
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

func tooLarge(size int64) error {
	return &script.Failure{
		Name: "RangeError", Code: "ERR_FS_FILE_TOO_LARGE",
		Message: fmt.Sprintf("File size (%d) is greater than %d bytes. Open the file and read a part of it at a time.", size, maxRead),
	}
}

// openRead opens a file for reading. It reports a missing file before it requests permission: in
// the project that is not a secret, and outside of it permission was requested already.
func (w *Host) openRead(ctx context.Context, by *work, name string) (*os.File, error) {
	at, err := w.find(ctx, by, name)
	if err != nil {
		return nil, err
	}
	return w.openSpot(ctx, by, at)
}

func (w *Host) openSpot(ctx context.Context, by *work, at entryPath) (*os.File, error) {
	d, err := at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	st, err := at.lookIn(d)
	switch {
	case err != nil:
		return nil, err
	case st.isDir():
		return nil, syscall.EISDIR
	case !st.regular():
		return nil, special(at.path.String())
	}
	if at.ours && st.Nlink < 2 {
		return openOurs(d, at)
	}
	var f *os.File
	if st.Nlink > 1 {
		f, err = w.openLinked(ctx, by, at)
	} else {
		f, _, err = w.opt.Files.OpenRead(ctx, w.door(by), at.path)
	}
	if errors.Is(err, disk.ErrNotRegular) {
		return nil, special(at.path.String())
	}
	return f, err
}

// openOurs opens a file that needs no permission. It refuses a file with other names, which may
// belong to another user.
func openOurs(d dirHandle, at entryPath) (*os.File, error) {
	f, err := d.open(at.base, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	st, err := statOpen(f)
	if err == nil && (!st.regular() || st.Nlink > 1) {
		err = special(at.path.String())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (w *Host) stat(ctx context.Context, by *work, a pathArg) (any, error) {
	find := w.findEither
	if a.Link {
		find = w.findItself
	}
	at, err := find(ctx, by, a.Path)
	if err != nil {
		return nil, err
	}
	return at.look()
}

func (w *Host) readlink(ctx context.Context, by *work, a pathArg) (any, error) {
	at, err := w.findItself(ctx, by, a.Path)
	if err != nil {
		return nil, err
	}
	d, err := at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.readlink(at.base)
}

func (w *Host) real(ctx context.Context, by *work, a pathArg) (any, error) {
	at, err := w.findEither(ctx, by, a.Path)
	if err != nil {
		return nil, err
	}
	if _, err := at.look(); err != nil {
		return nil, err
	}
	return at.path.Real(), nil
}

func (w *Host) access(ctx context.Context, by *work, a pathArg) (any, error) {
	at, err := w.findEither(ctx, by, a.Path)
	if err != nil {
		return nil, err
	}
	d, err := at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	if _, err := at.lookIn(d); err != nil {
		return nil, err
	}
	return nil, d.access(at.base, a.mode(0)&7)
}

// list requests the permission of the list tool, and lists a folder. Links are not followed.
func (w *Host) list(ctx context.Context, by *work, a pathArg) (any, error) {
	at, err := w.findFolder(ctx, by, a.Path)
	if err != nil {
		return nil, err
	}
	d, err := at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	st, err := at.lookIn(d)
	if err != nil {
		return nil, err
	}
	if !st.isDir() {
		return nil, syscall.ENOTDIR
	}
	if !at.ours {
		ask := permission.Request{Permission: "list", Metadata: map[string]any{"path": at.path.String()}}
		if err := w.opt.Files.AskFor(ctx, by, ask, at.path); err != nil {
			return nil, err
		}
	}
	top, err := d.openBelow(at.base)
	if err != nil {
		return nil, err
	}
	defer top.close()
	l := lister{deep: a.Recursive, found: [][2]string{}}
	if err := l.walk(ctx, top, ""); err != nil {
		return nil, err
	}
	return l.found, nil
}

type lister struct {
	deep  bool
	found [][2]string
}

func (l *lister) walk(ctx context.Context, d dirHandle, below string) error {
	entries, err := d.names()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(l.found)+len(entries) > maxListed {
		return &script.Failure{
			Name: "RangeError", Code: "ERR_OUT_OF_RANGE",
			Message: fmt.Sprintf("The folder holds more than %d files. List the folders below it one by one.", maxListed),
		}
	}
	for _, e := range entries {
		at := e.Name()
		if below != "" {
			at = below + string(filepath.Separator) + at
		}
		l.found = append(l.found, [2]string{at, entryKind(e.Type())})
		if !l.deep || !e.IsDir() {
			continue
		}
		if err := l.listBelow(ctx, d, e.Name(), at); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) listBelow(ctx context.Context, d dirHandle, base, at string) error {
	next, err := d.openBelow(base)
	if isMissing(err) {
		return nil // it has gone meanwhile
	}
	if err != nil {
		return err
	}
	defer next.close()
	return l.walk(ctx, next, at)
}

// A how is the mode in which a file is opened, written as in Node.
type how struct {
	read, write, create, cut, append, only, sync bool
}

func howOf(letters string) how {
	h := how{
		read: true, only: strings.Contains(letters, "x"), sync: strings.Contains(letters, "s"),
	}
	switch {
	case strings.HasPrefix(letters, "w"), strings.HasPrefix(letters, "xw"):
		h.read, h.write, h.create, h.cut = false, true, true, true
	case strings.HasPrefix(letters, "c"):
		h.read, h.write, h.create = false, true, true
	case strings.HasPrefix(letters, "a"), strings.HasPrefix(letters, "xa"), strings.HasPrefix(letters, "sa"):
		h.read, h.write, h.create, h.append = false, true, true, true
	}
	if strings.Contains(letters, "+") {
		h.read, h.write = true, true
	}
	return h
}
