package scripthost

import (
	"context"
	"errors"
	"github.com/helve-dev/helve/internal/files"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// replaceable reports whether a file may be replaced as a whole through the workspace: it has no
// other name, and it is not too large.
func (s entryPath) replaceable(st facts) bool {
	return st.regular() && !s.ours && st.Size <= files.MaxEdit && s.path.Real() == filepath.Join(s.dir, s.base)
}

// unlink removes a file or a link.
func (w *Host) unlink(ctx context.Context, by *work, a pathArg) error {
	at, err := w.findItself(ctx, by, a.Path)
	if err != nil {
		return err
	}
	return w.unlinkSpot(ctx, by, at)
}

func (w *Host) unlinkSpot(ctx context.Context, by *work, at entryPath) error {
	st, err := at.look()
	if err != nil {
		return err
	}
	if st.isDir() {
		return syscall.EISDIR
	}
	if err := w.askEdit(ctx, by, map[string]any{"action": "remove"}, at); err != nil {
		return err
	}
	if at.replaceable(st) {
		return w.commit(ctx, by, at, func(held *files.Held) (files.Change, error) {
			if !held.Exists() {
				return files.Change{}, syscall.ENOENT
			}
			return files.Change{Held: held, Remove: true}, nil
		})
	}
	d, err := at.open()
	if err != nil {
		return err
	}
	defer d.close()
	kept := w.keep(ctx, by, false, at)
	err = d.unlink(at.base)
	w.ended(by, kept, at, err)
	return err
}

// rmdir removes an empty folder.
func (w *Host) rmdir(ctx context.Context, by *work, a pathArg) error {
	at, err := w.findItself(ctx, by, a.Path)
	if err != nil {
		return err
	}
	d, err := at.open()
	if err != nil {
		return err
	}
	defer d.close()
	st, err := at.lookIn(d)
	if err != nil {
		return err
	}
	if !st.isDir() {
		return syscall.ENOTDIR
	}
	if err := w.askEdit(ctx, by, map[string]any{"action": "remove"}, at); err != nil {
		return err
	}
	return d.rmdir(at.base)
}

// remove removes a file, or a folder with all below it.
func (w *Host) remove(ctx context.Context, by *work, a pathArg) error {
	at, err := w.findItself(ctx, by, a.Path)
	if err != nil {
		return err
	}
	st, err := at.look()
	switch {
	case isMissing(err) && a.Force:
		return nil
	case err != nil:
		return err
	case !st.isDir() || !a.Recursive:
		return w.unlinkSpot(ctx, by, at)
	}
	if err := w.askEdit(ctx, by, map[string]any{"action": "remove", "recursive": true}, at); err != nil {
		return err
	}
	if err := w.askTree(ctx, by, at, nil); err != nil {
		return err
	}
	d, err := at.open()
	if err != nil {
		return err
	}
	defer d.close()
	kept := w.keep(ctx, by, true, at)
	err = removeTree(ctx, d, at.base)
	w.ended(by, kept, at, err)
	return err
}

// ended finishes the history entry of what was removed, or reports the removal if nothing was kept.
func (w *Host) ended(by *work, kept func(), at entryPath, err error) {
	switch {
	case kept != nil:
		kept()
	case err == nil:
		w.report(by, at, "unlink")
	}
}

// mkdir makes a folder, with its parents if recursive. It returns the first that was made.
func (w *Host) mkdir(ctx context.Context, by *work, a pathArg) (any, error) {
	if a.Recursive {
		return w.mkdirAll(ctx, by, a)
	}
	at, err := w.findItself(ctx, by, trimmed(a.Path))
	if err != nil {
		return nil, err
	}
	d, err := at.open()
	if err != nil {
		return nil, err
	}
	defer d.close()
	if _, err := d.stat(at.base); err == nil {
		return nil, syscall.EEXIST
	}
	at.path = at.path.AsFolder()
	if err := w.askEdit(ctx, by, map[string]any{"action": "mkdir"}, at); err != nil {
		return nil, err
	}
	return nil, d.mkdir(at.base, a.mode(0o777))
}

// trimmed is a name without separators at its end.
func trimmed(name string) string {
	for len(name) > 1 && os.IsPathSeparator(name[len(name)-1]) {
		name = name[:len(name)-1]
	}
	return name
}

func (w *Host) mkdirAll(ctx context.Context, by *work, a pathArg) (any, error) {
	at, err := w.findFolder(ctx, by, a.Path)
	if err != nil {
		return nil, err
	}
	if leadsNowhere(at.path.String()) {
		return nil, syscall.EEXIST
	}
	real := at.path.Real()
	var lacking []string // the last comes first
	for dir := real; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil && !info.IsDir() {
			if dir == real {
				return nil, syscall.EEXIST
			}
			return nil, syscall.ENOTDIR
		}
		if err == nil {
			break
		}
		if !isMissing(err) && !errors.Is(err, syscall.ENOTDIR) {
			return nil, err
		}
		lacking = append(lacking, dir)
	}
	if len(lacking) == 0 {
		return nil, nil
	}
	first := at
	first.path = w.opt.Files.Beside(at.path, lacking[len(lacking)-1]).AsFolder()
	at.path = at.path.AsFolder()
	if err := w.askEdit(ctx, by, map[string]any{"action": "mkdir"}, at, first); err != nil {
		return nil, err
	}
	for i := len(lacking) - 1; i >= 0; i-- {
		if err := makeFolder(lacking[i], a.mode(0o777)); err != nil {
			return nil, err
		}
	}
	made := at.path.String() // the first, as the script names it
	for range len(lacking) - 1 {
		made = filepath.Dir(made)
	}
	return made, nil
}

// leadsNowhere reports whether a name, or an existing part of its path, is a dangling link.
func leadsNowhere(name string) bool {
	for ; ; name = filepath.Dir(name) {
		info, err := os.Lstat(name)
		if err == nil {
			_, err = os.Stat(name)
			return info.Mode()&fs.ModeSymlink != 0 && (isMissing(err) || errors.Is(err, syscall.ENOTDIR))
		}
		if filepath.Dir(name) == name {
			return false
		}
	}
}

// makeFolder makes a folder that may have come by itself meanwhile.
func makeFolder(real string, mode uint32) error {
	d, err := openFolder(filepath.Dir(real))
	if err != nil {
		return err
	}
	defer d.close()
	err = d.mkdir(filepath.Base(real), mode)
	if errors.Is(err, fs.ErrExist) {
		if st, e := d.stat(filepath.Base(real)); e == nil && st.isDir() {
			return nil
		}
	}
	return err
}

// symlink makes a link. Where it leads is asked about when it is followed.
func (w *Host) symlink(ctx context.Context, by *work, a pathArg) error {
	if a.Target == "" {
		return syscall.ENOENT
	}
	at, err := w.findItself(ctx, by, a.Path)
	if err != nil {
		return err
	}
	at.meta = map[string]any{"action": "symlink", "target": a.Target}
	return w.place(ctx, by, at, func(d dirHandle) error { return d.symlink(a.Target, at.base) })
}

// place makes something under a name that is free.
func (w *Host) place(ctx context.Context, by *work, at entryPath, make func(d dirHandle) error) error {
	d, err := at.open()
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.stat(at.base); err == nil {
		return syscall.EEXIST
	}
	if at.slash { // only a folder could be made there
		return syscall.ENOENT
	}
	if err := w.askEdit(ctx, by, at.meta, at); err != nil {
		return err
	}
	if err := make(d); err != nil {
		return err
	}
	w.report(by, at, "add")
	return nil
}

// makeLink gives a file a further name. Who may not read or change it under the
// one may not do so under the other.
func (w *Host) makeLink(ctx context.Context, by *work, a pathArg) error {
	from, err := w.findItself(ctx, by, a.From)
	if err != nil {
		return err
	}
	source, err := from.open()
	if err != nil {
		return err
	}
	defer source.close()
	st, err := from.lookIn(source)
	if err != nil {
		return err
	}
	if st.isDir() {
		return syscall.EPERM
	}
	if err := w.askContents(ctx, by, from, st); err != nil {
		return err
	}
	if err := w.askEdit(ctx, by, map[string]any{"action": "link"}, from); err != nil {
		return err
	}
	to, err := w.findItself(ctx, by, a.To)
	if err != nil {
		return err
	}
	to.meta = map[string]any{"action": "link", "from": from.path.String()}
	return w.place(ctx, by, to, func(d dirHandle) error { return source.link(from.base, d, to.base) })
}

// askContents requests permission to read an entry, because its contents become readable under
// another name.
func (w *Host) askContents(ctx context.Context, by *work, at entryPath, st facts) error {
	if at.ours && st.Nlink < 2 {
		return nil
	}
	return w.opt.Files.AskContents(ctx, w.door(by), at.path)
}

// adjust changes the attributes of a file, not its contents.
func (w *Host) adjust(ctx context.Context, by *work, a pathArg, do func(d dirHandle, base string) error) error {
	find := w.findEither
	if a.Link {
		find = w.findItself
	}
	at, err := find(ctx, by, a.Path)
	if err != nil {
		return err
	}
	d, err := at.open()
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := at.lookIn(d); err != nil {
		return err
	}
	if err := w.askEdit(ctx, by, map[string]any{"action": "mode, owner or times"}, at); err != nil {
		return err
	}
	if err := do(d, at.base); err != nil {
		return err
	}
	w.report(by, at, "change")
	return nil
}
