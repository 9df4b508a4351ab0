package scripthost

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/text"
)

const (
	// maxAppend is how large a file may be that is written anew, and kept in
	// the history, with every bit that is appended. A larger one grows in place.
	maxAppend = 1 << 20
	// maxShown is how much of the written data a permission request shows.
	maxShown = 4 << 10
	// commitTries is how often a change is retried after a conflict with another one.
	commitTries = 5
)

// changeOps are those that change files. All of them ask for edit, under every
// name that they change.
func (w *Host) changeOps() map[string]operation {
	return map[string]operation{
		"fs.write": w.writeFile,
		"fs.copy":  op(func(ctx context.Context, by *work, a pathArg) (any, error) { return nil, w.copy(ctx, by, a) }),
		"fs.truncate": op(func(ctx context.Context, by *work, a pathArg) (any, error) {
			return nil, w.truncate(ctx, by, a)
		}),
		"fs.mkdir":  op(w.mkdir),
		"fs.rmdir":  op(func(ctx context.Context, by *work, a pathArg) (any, error) { return nil, w.rmdir(ctx, by, a) }),
		"fs.unlink": op(func(ctx context.Context, by *work, a pathArg) (any, error) { return nil, w.unlink(ctx, by, a) }),
		"fs.remove": op(func(ctx context.Context, by *work, a pathArg) (any, error) { return nil, w.remove(ctx, by, a) }),
		"fs.rename": op(func(ctx context.Context, by *work, a pathArg) (any, error) { return nil, w.rename(ctx, by, a) }),
		"fs.link":   op(func(ctx context.Context, by *work, a pathArg) (any, error) { return nil, w.makeLink(ctx, by, a) }),
		"fs.symlink": op(func(ctx context.Context, by *work, a pathArg) (any, error) {
			return nil, w.symlink(ctx, by, a)
		}),
		"fs.chmod": op(func(ctx context.Context, by *work, a pathArg) (any, error) {
			return nil, w.adjust(ctx, by, a, func(d dirHandle, base string) error { return d.chmod(base, a.mode(0)) })
		}),
		"fs.chown": op(func(ctx context.Context, by *work, a pathArg) (any, error) {
			return nil, w.adjust(ctx, by, a, func(d dirHandle, base string) error { return d.chown(base, a.UID, a.GID) })
		}),
		"fs.utimes": op(func(ctx context.Context, by *work, a pathArg) (any, error) {
			return nil, w.adjust(ctx, by, a, func(d dirHandle, base string) error {
				return d.utimes(base, moment(a.Atime), moment(a.Mtime))
			})
		}),
	}
}

func moment(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)) }

func (w *Host) writeFile(ctx context.Context, arg script.Data) (script.Data, error) {
	var a pathArg
	by, err := read(ctx, arg, &a)
	if err != nil {
		return script.Data{}, err
	}
	if err := w.put(ctx, by, a, arg.Raw); err != nil {
		return script.Data{}, failure(err)
	}
	return script.Data{}, nil
}

// A writing is a file on its way to new contents.
type writing struct {
	at     entryPath
	how    how
	mode   uint32 // of a new file, without the mask
	set    bool   // an old file gets it, too
	st     facts
	exists bool
}

// put writes a file as the flags say.
func (w *Host) put(ctx context.Context, by *work, a pathArg, data []byte) error {
	to := writing{how: howOf(a.Flags), mode: a.mode(0o666)}
	if !to.how.write {
		return syscall.EBADF
	}
	var err error
	if to.at, err = w.find(ctx, by, a.Path); err != nil {
		return err
	}
	if err := to.look(w.opt.Files); err != nil {
		return err
	}
	if err := w.askEdit(ctx, by, shownChange("write", data), to.at); err != nil {
		return err
	}
	return w.store(ctx, by, to, data)
}

// shownChange returns what people are shown of a change.
func shownChange(action string, data []byte) map[string]any {
	meta := map[string]any{"action": action}
	if data != nil {
		meta["bytes"] = len(data)
		if utf8.Valid(data) {
			meta["content"], _ = text.Cut(string(data), maxShown)
		}
	}
	return meta
}

// look checks whether a file can be written as wanted, and returns the system's error if not.
func (to *writing) look(files *files.Workspace) error {
	if to.how.only && files.IsLink(to.at.path) {
		return syscall.EEXIST
	}
	d, err := to.at.open()
	if err != nil {
		return err
	}
	defer d.close()
	to.st, err = to.at.lookIn(d)
	switch {
	case to.at.slash && to.how.create && (isMissing(err) || errors.Is(err, syscall.ENOTDIR)):
		return syscall.EISDIR
	case isMissing(err) && to.how.create:
		return nil
	case err != nil:
		return err
	}
	to.exists = true
	switch {
	case to.how.only:
		return syscall.EEXIST
	case to.st.isDir():
		return syscall.EISDIR
	case !to.st.regular():
		return special(to.at.path.String())
	}
	return d.access(to.at.base, 2)
}

// store gives a file its contents: whole where that can be taken back, and
// else in place.
func (w *Host) store(ctx context.Context, by *work, to writing, data []byte) error {
	if w.inPlace(by, to, int64(len(data))) {
		return w.pour(ctx, by, to, data)
	}
	mode, err := fs.FileMode(to.mode&0o777), error(nil)
	if !to.set {
		mode, err = w.newMode(to.mode)
	}
	if err != nil {
		return err
	}
	return w.commit(ctx, by, to.at, func(held *files.Held) (files.Change, error) {
		change := files.Change{Held: held, Mode: mode, SetMode: to.set}
		switch {
		case held.Exists() && to.how.only:
			return change, syscall.EEXIST
		case !held.Exists() && !to.how.create:
			return change, syscall.ENOENT
		}
		change.Data = combined(to.how, held.Data, data)
		return change, nil
	})
}

// inPlace reports whether a file is written to in place. A committed file counts as read, so one
// that may not be read is written in place; and a file with several names is replaced under one of
// them, unless that would need reading.
func (w *Host) inPlace(by *work, to writing, more int64) bool {
	size := to.st.Size
	if to.how.cut {
		size = 0
	}
	switch {
	case to.exists && !to.how.cut && !w.opt.Files.MayRead(by, to.at.path):
		return true
	case to.st.Nlink > 1:
		return false
	}
	return to.at.ours || max(size+more, to.st.Size) > files.MaxEdit || to.how.append && size > maxAppend
}

// combined returns the contents of a file after data was written at its beginning or its end.
func combined(how how, old, data []byte) []byte {
	out := make([]byte, 0, len(old)+len(data))
	switch {
	case how.append:
		return append(append(out, old...), data...)
	case how.cut:
		return append(out, data...)
	}
	out = append(out, data...)
	if len(old) > len(data) {
		out = append(out, old[len(data):]...)
	}
	return out
}

// newMode is the mode of a new file, less what the process takes from it; 0
// for the usual one.
func (w *Host) newMode(mode uint32) (fs.FileMode, error) {
	if mode == 0o666 {
		return 0, nil
	}
	mask, err := w.temp.umask()
	return fs.FileMode(mode & 0o777 &^ mask), err
}

// author returns the author of a change, for the history.
func (w *Host) author(by *work) files.By {
	who := by.by()
	who.Dir = w.home(by)
	return who
}

// commit changes a file through the workspace, so that the change is recorded and can be undone.
func (w *Host) commit(ctx context.Context, by *work, at entryPath, change func(*files.Held) (files.Change, error)) error {
	for try := 1; ; try++ {
		err := w.commitOnce(ctx, by, []entryPath{at}, func(held []*files.Held) ([]files.Change, error) {
			one, err := change(held[0])
			return []files.Change{one}, err
		})
		if !errors.Is(err, disk.ErrChanged) || try == commitTries {
			return err
		}
	}
}

func (w *Host) commitOnce(ctx context.Context, by *work, spots []entryPath, change func([]*files.Held) ([]files.Change, error)) error {
	paths := make([]files.Path, len(spots))
	for i, at := range spots {
		paths[i] = at.path
	}
	claim, err := w.opt.Files.Claim(ctx, paths...)
	if err != nil {
		return err
	}
	defer claim.Release()
	held := make([]*files.Held, len(paths))
	for i, p := range paths {
		if held[i], err = claim.Get(p); err != nil {
			return err
		}
	}
	changes, err := change(held)
	if err != nil {
		return err
	}
	landing, err := claim.Commit(ctx, w.author(by), changes)
	if err != nil {
		return err
	}
	w.settle(landing)
	return nil
}

// trouble reports an error beside a change that was made.
func (w *Host) trouble(err error) {
	if w.opt.Files.OnTrouble != nil {
		w.opt.Files.OnTrouble(err)
		return
	}
	w.opt.Logger.Warn("a change of a script was made, but", "error", err)
}

// pour writes to a file in place.
func (w *Host) pour(ctx context.Context, by *work, to writing, data []byte) error {
	f, settle, err := w.openWrite(ctx, by, to)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && to.set {
		err = f.Chmod(fs.FileMode(to.mode & 0o777))
	}
	err = errors.Join(err, f.Close())
	settle()
	return err
}

// openWrite opens a file for writing in place, for which permission was given. If the file belongs
// to the project, its contents are kept first; settle ends that, after the file was closed, and
// reports the change.
func (w *Host) openWrite(ctx context.Context, by *work, to writing) (*os.File, func(), error) {
	var kept func()
	switch {
	case !to.exists && w.inProject(to.at):
		made, err := w.create(ctx, by, to)
		if err != nil {
			return nil, nil, err
		}
		kept, to.how.create, to.how.only = made, false, false
	case to.exists && !to.how.append:
		kept = w.keep(ctx, by, false, to.at)
	}
	f, err := to.open()
	if err != nil {
		if kept != nil {
			kept()
		}
		return nil, nil, err
	}
	return f, func() {
		switch {
		case kept != nil: // the workspace tells of it
			kept()
		case to.exists:
			w.report(by, to.at, "change")
		default:
			w.report(by, to.at, "add")
		}
	}, nil
}

// create makes an empty file of the project, in an existing folder. What is written to it before
// settle counts as one change with it.
func (w *Host) create(ctx context.Context, by *work, to writing) (settle func(), err error) {
	mode, err := w.newMode(to.mode)
	if err != nil {
		return nil, err
	}
	claim, err := w.opt.Files.Claim(ctx, to.at.path)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	held, err := claim.Get(to.at.path)
	if err != nil {
		return nil, err
	}
	if held.Exists() { // another process was faster
		if to.how.only {
			return nil, syscall.EEXIST
		}
		return func() { w.report(by, to.at, "change") }, nil
	}
	landing, err := claim.Commit(ctx, w.author(by), []files.Change{{Held: held, Data: []byte{}, Mode: mode}})
	if err != nil {
		return nil, err
	}
	return func() { w.settle(landing) }, nil
}

// settle ends the record of a change.
func (w *Host) settle(landing *files.PendingChange) {
	if _, err := landing.Settle(); err != nil {
		w.trouble(err)
	}
}

// open opens the file and truncates it if required, but not before it is known to be a file of this
// user.
func (to writing) open() (*os.File, error) {
	d, err := to.at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	flags := os.O_WRONLY
	if to.how.read {
		flags = os.O_RDWR
	}
	if to.how.create {
		flags |= os.O_CREATE
	}
	if to.how.only {
		flags |= os.O_EXCL
	}
	if to.how.append {
		flags |= os.O_APPEND
	}
	if to.how.sync {
		flags |= os.O_SYNC
	}
	f, err := d.open(to.at.base, flags, to.mode)
	if err != nil {
		return nil, err
	}
	st, err := statOpen(f)
	switch {
	case err != nil:
	case !st.regular():
		err = special(to.at.path.String())
	case st.Nlink > 1:
		err = several(to.at.path.String())
	case to.how.cut && st.Size > 0:
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// several refuses to write in place to a file with other names, for which no permission was given.
func several(name string) error {
	return &script.Failure{
		Name: "Error", Code: "EPERM", Errno: -1, Syscall: "open", Path: name,
		Message: "EPERM: " + name + " has several names (hard links), and writing to it would change what is under the others too. " +
			"Write the whole file with fs.writeFile, which gives this name contents of its own.",
	}
}

// keep stores what is about to be lost in the history. The returned function must be called after
// the change was made, and reports it; it is nil if nothing was kept.
func (w *Host) keep(ctx context.Context, by *work, tree bool, spots ...entryPath) func() {
	var at []files.Endangered
	for _, s := range spots {
		if w.inProject(s) {
			at = append(at, files.Endangered{Path: files.Pattern{Name: filepath.Join(s.dir, s.base)}, Tree: tree})
		}
	}
	if len(at) == 0 || w.opt.Files.History == nil {
		return nil
	}
	c, err := w.opt.Files.Checkpoint(ctx, w.author(by), at, files.CheckpointLimits{})
	if err != nil {
		w.trouble(err)
		return nil
	}
	return func() {
		if err := c.Settle(); err != nil {
			w.trouble(err)
		}
	}
}
