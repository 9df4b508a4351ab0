package scripthost

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
)

// A move is a rename on its way.
type move struct {
	from, to entryPath
	st       facts
	over     facts // what is at to
	exists   bool  // there is something
}

// rename renames a file or a folder. It requests permission to read it, since it may become
// readable under the new name.
func (w *Host) rename(ctx context.Context, by *work, a pathArg) error {
	m, err := w.findMove(ctx, by, a)
	if err != nil || m == nil {
		return err
	}
	if err := w.askMove(ctx, by, m); err != nil {
		return err
	}
	switch {
	case m.isPlainFile():
		return w.moveWhole(ctx, by, m)
	case m.across():
		return w.moveAcross(ctx, by, m)
	}
	return w.moveName(ctx, by, m)
}

func (w *Host) askMove(ctx context.Context, by *work, m *move) error {
	if !m.st.isDir() && !m.st.link() {
		if err := w.askContents(ctx, by, m.from, m.st); err != nil {
			return err
		}
	}
	meta := map[string]any{"action": "rename", "to": m.to.path.String()}
	if err := w.askEdit(ctx, by, meta, m.from, m.to); err != nil || !m.st.isDir() {
		return err
	}
	return w.askTree(ctx, by, m.from, &m.to)
}

// isPlainFile reports whether a file can be moved through the workspace.
func (m *move) isPlainFile() bool {
	if !m.from.replaceable(m.st) {
		return false
	}
	if m.exists {
		return m.to.replaceable(m.over)
	}
	return !m.to.ours && m.to.path.Real() == filepath.Join(m.to.dir, m.to.base)
}

// across reports whether one of both is in the folder that scripts have for
// themselves, and it is a file that moves.
func (m *move) across() bool {
	file := m.st.regular() && m.st.Nlink < 2 && m.st.Size <= files.MaxEdit
	return file && m.from.ours != m.to.ours && (!m.exists || m.over.regular())
}

// moveAcross moves a file between the project and the scripts' own folder, which may be on another
// disk: the change of the project is recorded.
func (w *Host) moveAcross(ctx context.Context, by *work, m *move) error {
	d, err := m.from.open()
	if err != nil {
		return err
	}
	defer d.close()
	f, err := openOurs(d, m.from)
	if err != nil {
		return err
	}
	data, err := readContents(ctx, f)
	_ = f.Close()
	if err != nil {
		return err
	}
	to := writing{at: m.to, how: howOf("w"), mode: m.st.perm(), set: true, st: m.over, exists: m.exists}
	if err := w.store(ctx, by, to, data); err != nil {
		return err
	}
	m.keepTime()
	if m.from.ours {
		return d.unlink(m.from.base)
	}
	return w.commit(ctx, by, m.from, func(held *files.Held) (files.Change, error) {
		return files.Change{Held: held, Remove: true}, nil
	})
}

// findMove resolves what is to be renamed; nil if there is nothing to do.
func (w *Host) findMove(ctx context.Context, by *work, a pathArg) (*move, error) {
	const sep = string(filepath.Separator)
	m := &move{}
	var err error
	if m.from, err = w.findItself(ctx, by, trimmed(a.From)); err != nil {
		return nil, err
	}
	if m.to, err = w.findItself(ctx, by, trimmed(a.To)); err != nil {
		return nil, err
	}
	from, err := m.from.open()
	if err != nil {
		return nil, err
	}
	defer from.close()
	to, err := m.to.open()
	if err != nil {
		return nil, err
	}
	defer to.close()
	if m.st, err = m.from.lookIn(from); err != nil {
		return nil, err
	}
	if m.st.isDir() && strings.HasPrefix(m.to.dir+sep, filepath.Join(m.from.dir, m.from.base)+sep) {
		return nil, syscall.EINVAL // into itself
	}
	m.over, err = m.to.lookIn(to)
	m.exists = err == nil
	if err != nil && !isMissing(err) {
		return nil, err
	}
	if m.exists && m.over.inode() == m.st.inode() && m.st.Ino != 0 {
		return nil, nil
	}
	return m, m.checkTarget()
}

// checkTarget returns the error that the system would give for replacing the target.
func (m *move) checkTarget() error {
	switch {
	case !m.exists:
	case m.over.isDir() && !m.st.isDir():
		return syscall.EISDIR
	case m.st.isDir() && !m.over.isDir():
		return syscall.ENOTDIR
	}
	return nil
}

// moveWhole moves a file through the workspace.
func (w *Host) moveWhole(ctx context.Context, by *work, m *move) error {
	mode := fs.FileMode(m.st.perm() & 0o777)
	for try := 1; ; try++ {
		err := w.commitOnce(ctx, by, []entryPath{m.from, m.to}, func(held []*files.Held) ([]files.Change, error) {
			if !held[0].Exists() {
				return nil, syscall.ENOENT
			}
			return []files.Change{
				{Held: held[0], Remove: true},
				{Held: held[1], Data: held[0].Data, Mode: mode, SetMode: true},
			}, nil
		})
		if err == nil {
			m.keepTime()
		}
		if !errors.Is(err, disk.ErrChanged) || try == commitTries {
			return err
		}
	}
}

// keepTime gives the file the time that it had under its old name, which
// builds go by.
func (m *move) keepTime() {
	d, err := m.to.open()
	if err != nil {
		return
	}
	defer d.close()
	_ = d.utimes(m.to.base, time.Now(), moment(m.st.Mtime)) // it is there, whatever its time
}

// moveName lets the system move what the workspace cannot. What it would replace is kept.
func (w *Host) moveName(ctx context.Context, by *work, m *move) error {
	from, err := m.from.open()
	if err != nil {
		return err
	}
	defer from.close()
	to, err := m.to.open()
	if err != nil {
		return err
	}
	defer to.close()
	var kept func()
	if m.exists && !m.over.isDir() {
		kept = w.keep(ctx, by, false, m.to)
	}
	err = from.rename(m.from.base, to, m.to.base)
	if kept != nil {
		kept()
	}
	if err != nil {
		return err
	}
	w.report(by, m.from, "unlink")
	w.report(by, m.to, "add")
	return nil
}
