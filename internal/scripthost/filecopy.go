package scripthost

import (
	"context"
	"errors"
	"github.com/helve-dev/helve/internal/files"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// copy copies one file, with its mode.
func (w *Host) copy(ctx context.Context, by *work, a pathArg) error {
	from, err := w.find(ctx, by, a.From)
	if err != nil {
		return err
	}
	st, err := from.look()
	if err != nil {
		return err
	}
	if st.isDir() {
		return syscall.EISDIR
	}
	to := writing{how: howOf("w"), mode: st.perm(), set: true}
	to.how.only = a.Exclusive
	if to.at, err = w.find(ctx, by, a.To); err != nil {
		return err
	}
	if err := to.look(w.opt.Files); err != nil {
		return err
	}
	if to.exists && to.st.Dev == st.Dev && to.st.Ino == st.Ino && st.Ino != 0 {
		return nil
	}
	f, err := w.openSpot(ctx, by, from)
	if err != nil {
		return err
	}
	defer f.Close()
	meta := map[string]any{"action": "copy", "from": from.path.String()}
	if err := w.askEdit(ctx, by, meta, to.at); err != nil {
		return err
	}
	if st.Size > files.MaxEdit {
		return w.pourFrom(ctx, by, to, f)
	}
	data, err := readContents(ctx, f)
	if err != nil {
		return err
	}
	return w.store(ctx, by, to, data)
}

// pourFrom copies a file that is too large for memory.
func (w *Host) pourFrom(ctx context.Context, by *work, to writing, from *os.File) error {
	f, settle, err := w.openWrite(ctx, by, to)
	if err != nil {
		return err
	}
	_, err = f.ReadFrom(&mortal{ctx, from})
	if err == nil {
		err = f.Chmod(fs.FileMode(to.mode & 0o777))
	}
	err = errors.Join(err, f.Close())
	settle()
	return err
}

// truncate cuts a file, or fills it up with zeros.
func (w *Host) truncate(ctx context.Context, by *work, a pathArg) error {
	to := writing{how: how{write: true}}
	var err error
	if to.at, err = w.find(ctx, by, a.Path); err != nil {
		return err
	}
	if err := to.look(w.opt.Files); err != nil {
		return err
	}
	length := int64(a.Length)
	if length < 0 {
		return syscall.EINVAL
	}
	meta := map[string]any{"action": "truncate", "length": length}
	if err := w.askEdit(ctx, by, meta, to.at); err != nil {
		return err
	}
	if to.at.ours || max(length, to.st.Size) > files.MaxEdit || !w.opt.Files.MayRead(by, to.at.path) {
		f, settle, err := w.openWrite(ctx, by, to)
		if err != nil {
			return err
		}
		err = errors.Join(f.Truncate(length), f.Close())
		settle()
		return err
	}
	return w.commit(ctx, by, to.at, func(held *files.Held) (files.Change, error) {
		if !held.Exists() {
			return files.Change{}, syscall.ENOENT
		}
		data := make([]byte, length)
		copy(data, held.Data)
		return files.Change{Held: held, Data: data}, nil
	})
}

// A mortal reader ends with its context.
type mortal struct {
	ctx  context.Context
	from io.Reader
}

func (m *mortal) Read(to []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	return m.from.Read(to)
}
