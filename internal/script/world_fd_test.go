package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"io"
	"os"
	"syscall"
)

type fdArg struct {
	FD       int
	Position *int64
	Length   int64
	Path     string
	Flags    string
	Mode     *uint32
}

// descriptorOps are those on open files.
func (w *world) descriptorOps() map[string]operation {
	return map[string]operation{
		"fs.open": op(func(a fdArg) (any, error) {
			f, err := os.OpenFile(a.Path, openFlags(a.Flags), os.FileMode(pathArg{Mode: a.Mode}.mode(0o666)))
			if err != nil {
				return nil, err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			fd := int(f.Fd())
			w.opened[fd] = f
			return fd, nil
		}),
		"fs.close": op(func(a fdArg) (any, error) {
			f, err := w.file(a.FD)
			if err != nil {
				return nil, err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.opened, a.FD)
			return nil, f.Close()
		}),
		"fs.readAt":  w.readAt,
		"fs.writeAt": w.writeAt,
		"fs.fstat": op(func(a fdArg) (any, error) {
			f, err := w.file(a.FD)
			if err != nil {
				return nil, err
			}
			return facts(f.Stat())
		}),
		"fs.sync": op(func(a fdArg) (any, error) {
			f, err := w.file(a.FD)
			if err != nil {
				return nil, err
			}
			return nil, f.Sync()
		}),
		"fs.ftruncate": op(func(a fdArg) (any, error) {
			f, err := w.file(a.FD)
			if err != nil {
				return nil, err
			}
			return nil, f.Truncate(a.Length)
		}),
	}
}

func (w *world) file(fd int) (*os.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.opened[fd]; f != nil {
		return f, nil
	}
	return nil, syscall.EBADF
}

func (w *world) readAt(_ context.Context, arg script.Data) (script.Data, error) {
	var a fdArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	f, err := w.file(a.FD)
	if err != nil {
		return script.Data{}, refused(err)
	}
	b := make([]byte, a.Length)
	var n int
	if a.Position != nil {
		n, err = f.ReadAt(b, *a.Position)
	} else {
		n, err = f.Read(b)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return script.Data{}, refused(err)
	}
	return script.Data{Raw: b[:n]}, nil
}

func (w *world) writeAt(_ context.Context, arg script.Data) (script.Data, error) {
	var a fdArg
	if err := json.Unmarshal(arg.JSON, &a); err != nil {
		return script.Data{}, err
	}
	f, err := w.file(a.FD)
	if err != nil {
		return script.Data{}, refused(err)
	}
	var n int
	if a.Position != nil {
		n, err = f.WriteAt(arg.Raw, *a.Position)
	} else {
		n, err = f.Write(arg.Raw)
	}
	if err != nil {
		return script.Data{}, refused(err)
	}
	text, err := json.Marshal(n)
	return script.Data{JSON: text}, err
}
