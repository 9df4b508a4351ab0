package scripthost

import (
	"context"
	"errors"
	"github.com/helve-dev/helve/internal/script"
	"io"
	"os"
	"sync"
	"syscall"
)

const (
	// maxOpen is how many files the scripts of an engine may have open.
	maxOpen = 1000
	// maxChunk is how much is read at once.
	maxChunk = 16 << 20
	// firstDescriptor is the first number after the standard descriptors.
	firstDescriptor = 3
)

// descriptors are the open files of scripts. They have numbers of their own, not the system's, so
// that a script cannot guess one of ours.
type descriptors struct {
	w    *Host
	mu   sync.Mutex
	open map[int]*descriptor
	done bool
}

// A descriptor is an open file.
type descriptor struct {
	file   *os.File
	settle func() // after it was closed; nil where it was only read
	append bool
}

func (w *Host) descriptorOps() map[string]operation {
	t := &descriptors{w: w, open: map[int]*descriptor{}}
	w.onClose(t.closeAll)
	return map[string]operation{
		"fs.open":      op(t.openFile),
		"fs.close":     op(func(_ context.Context, _ *work, a fdArg) (any, error) { return nil, t.close(a.FD) }),
		"fs.readAt":    t.readAt,
		"fs.writeAt":   t.writeAt,
		"fs.fstat":     on(t, func(d *descriptor, _ fdArg) (any, error) { return statOpen(d.file) }),
		"fs.sync":      on(t, func(d *descriptor, _ fdArg) (any, error) { return nil, d.file.Sync() }),
		"fs.ftruncate": on(t, func(d *descriptor, a fdArg) (any, error) { return nil, d.truncate(int64(a.Length)) }),
	}
}

type fdArg struct {
	FD       int
	Position *int64
	Length   float64
}

// on makes an operation of a function on an open file.
func on(t *descriptors, do func(d *descriptor, a fdArg) (any, error)) operation {
	return op(func(_ context.Context, _ *work, a fdArg) (any, error) {
		d, err := t.find(a.FD)
		if err != nil {
			return nil, err
		}
		return do(d, a)
	})
}

func (d *descriptor) truncate(length int64) error {
	if d.settle == nil || length < 0 {
		return syscall.EINVAL
	}
	return d.file.Truncate(length)
}

func (t *descriptors) find(fd int) (*descriptor, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.open[fd]; d != nil {
		return d, nil
	}
	return nil, syscall.EBADF
}

// openFile opens a file and asks for all that can be done with it.
func (t *descriptors) openFile(ctx context.Context, by *work, a pathArg) (any, error) {
	t.mu.Lock()
	full := len(t.open) >= maxOpen
	t.mu.Unlock()
	if full {
		return nil, syscall.EMFILE
	}
	d, err := t.w.openDescriptor(ctx, by, a)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		d.close()
		return nil, syscall.EBADF
	}
	fd := firstDescriptor
	for t.open[fd] != nil {
		fd++
	}
	t.open[fd] = d
	return fd, nil
}

func (w *Host) openDescriptor(ctx context.Context, by *work, a pathArg) (*descriptor, error) {
	how := howOf(a.Flags)
	if !how.write {
		f, err := w.openRead(ctx, by, a.Path)
		return &descriptor{file: f}, err
	}
	to := writing{how: how, mode: a.mode(0o666)}
	var err error
	if to.at, err = w.find(ctx, by, a.Path); err != nil {
		return nil, err
	}
	if err := to.look(w.opt.Files); err != nil {
		return nil, err
	}
	if to.st.Nlink > 1 {
		return nil, several(to.at.path.String())
	}
	if how.read {
		if err := w.askContents(ctx, by, to.at, to.st); err != nil {
			return nil, err
		}
	}
	if err := w.askEdit(ctx, by, map[string]any{"action": "open"}, to.at); err != nil {
		return nil, err
	}
	f, settle, err := w.openWrite(ctx, by, to)
	return &descriptor{file: f, settle: settle, append: how.append}, err
}

func (d *descriptor) close() error {
	err := d.file.Close()
	if d.settle != nil {
		d.settle()
	}
	return err
}

func (t *descriptors) close(fd int) error {
	t.mu.Lock()
	d := t.open[fd]
	delete(t.open, fd)
	t.mu.Unlock()
	if d == nil {
		return syscall.EBADF
	}
	return d.close()
}

// closeAll closes what scripts have left open.
func (t *descriptors) closeAll() error {
	t.mu.Lock()
	open := t.open
	t.open, t.done = map[int]*descriptor{}, true
	t.mu.Unlock()
	var errs []error
	for _, d := range open {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

func (t *descriptors) readAt(ctx context.Context, arg script.Data) (script.Data, error) {
	var a fdArg
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	d, err := t.find(a.FD)
	if err != nil {
		return script.Data{}, failure(err)
	}
	if a.Length < 0 {
		return script.Data{}, failure(syscall.EINVAL)
	}
	b := make([]byte, int(min(a.Length, maxChunk)))
	var n int
	if a.Position != nil {
		n, err = d.file.ReadAt(b, *a.Position)
	} else {
		n, err = d.file.Read(b)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return script.Data{}, failure(err)
	}
	return script.Data{Raw: b[:n]}, nil
}

func (t *descriptors) writeAt(ctx context.Context, arg script.Data) (script.Data, error) {
	var a fdArg
	if _, err := read(ctx, arg, &a); err != nil {
		return script.Data{}, err
	}
	d, err := t.find(a.FD)
	if err != nil {
		return script.Data{}, failure(err)
	}
	var n int
	if a.Position != nil && !d.append {
		n, err = d.file.WriteAt(arg.Raw, *a.Position)
	} else {
		n, err = d.file.Write(arg.Raw)
	}
	if err != nil {
		return script.Data{}, failure(err)
	}
	return encodeAnswer(n)
}
