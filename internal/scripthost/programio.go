package scripthost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/script"
)

const (
	pieceSize = 64 << 10 // as much as a pipe holds
	// mostTold bounds what one program may print to the log.
	mostTold = 1 << 20
	// drainLimit is how long the last output of a program that ended is waited for. No process can
	// write any more, so it is already there.
	drainLimit = time.Second
)

// plumbing is what a program reads from and writes to, until it is started.
type plumbing struct {
	known            bool     // scripts get a number for the program
	feeds            bool     // it reads from a pipe that scripts fill
	bytes            []byte   // what it is filled with at once; nil for nothing
	input            *os.File // or from this
	out, err         *os.File // its own ends
	outBack, errBack *os.File // ours
	theirs           []io.Closer
	told             []*os.File // what it writes here goes to the log
	later            []func()   // when it has ended
}

// outlet makes what a program writes to: a pipe, a file, the log or nothing.
// back is our end of a pipe that scripts read.
func (p *programs) outlet(ctx context.Context, by *asker, mode json.RawMessage, pipes *plumbing) (end, back *os.File, err error) {
	var file struct{ Path string }
	var word string
	switch {
	case len(mode) > 0 && mode[0] == '{':
		if err := json.Unmarshal(mode, &file); err != nil {
			return nil, nil, err
		}
		f, err := p.open.file(ctx, by, p.homeDir(by.work), file.Path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return nil, nil, err
		}
		pipes.later = append(pipes.later, func() { _ = f.Close() })
		return f.File, nil, nil
	case len(mode) > 0:
		if err := json.Unmarshal(mode, &word); err != nil {
			return nil, nil, err
		}
	}
	if word != "pipe" && word != "inherit" {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return nil, nil, err
		}
		pipes.theirs = append(pipes.theirs, f)
		return f, nil, nil
	}
	back, end, err = os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	pipes.theirs = append(pipes.theirs, end)
	if word == "inherit" {
		pipes.told = append(pipes.told, back)
		back = nil
	}
	return end, back, nil
}

// plumb makes the outputs of a program.
func (p *programs) plumb(ctx context.Context, by *asker, a *wanted) (*plumbing, error) {
	pipes := &plumbing{}
	var err error
	if pipes.out, pipes.outBack, err = p.outlet(ctx, by, a.Stdout, pipes); err == nil {
		pipes.err, pipes.errBack, err = p.outlet(ctx, by, a.Stderr, pipes)
	}
	if err != nil {
		pipes.close()
		return nil, system(err)
	}
	return pipes, nil
}

// started lets go of what is only the program's.
func (pipes *plumbing) started() {
	for _, f := range pipes.theirs {
		_ = f.Close()
	}
	pipes.theirs = nil
}

// close closes all pipes that were not taken.
func (pipes *plumbing) close() {
	pipes.started()
	for _, f := range append(pipes.told, pipes.outBack, pipes.errBack) {
		if f != nil {
			_ = f.Close()
		}
	}
	for _, f := range pipes.later {
		f()
	}
	pipes.told, pipes.outBack, pipes.errBack, pipes.later = nil, nil, nil, nil
}

// A reader is our end of a pipe that a script reads; nil for none.
type reader struct {
	pipe *os.File
	turn chan struct{} // held by who reads
	over bool          // nothing more will come
	rest []byte        // what was taken out of the pipe already
}

func newReader(pipe *os.File) *reader {
	if pipe == nil {
		return nil
	}
	return &reader{pipe: pipe, turn: make(chan struct{}, 1)}
}

// next waits for some bytes; none means the end.
func (r *reader) next(ctx context.Context) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-r.turn }()
	if n := min(len(r.rest), pieceSize); n > 0 {
		piece := r.rest[:n]
		r.rest = r.rest[n:]
		return piece, nil
	}
	if r.over {
		return nil, nil
	}
	piece := make([]byte, pieceSize)
	_ = r.pipe.SetReadDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { _ = r.pipe.SetReadDeadline(time.Unix(1, 0)) })()
	n, err := r.pipe.Read(piece)
	switch {
	case n > 0:
		return piece[:n], nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, fs.ErrClosed):
		return nil, system(err)
	}
	r.over = true
	_ = r.pipe.Close()
	return nil, nil
}

// readRest reads the rest of the pipe of a program that has ended, so that the pipe can be closed.
func (r *reader) readRest() {
	if r == nil {
		return
	}
	r.turn <- struct{}{} // who reads now reaches the end
	defer func() { <-r.turn }()
	if r.over {
		return
	}
	_ = r.pipe.SetReadDeadline(time.Now().Add(drainLimit))
	rest, err := io.ReadAll(io.LimitReader(r.pipe, usualOutput))
	r.rest = append(r.rest, rest...)
	if err == nil {
		r.over = true
		_ = r.pipe.Close()
	}
}

// left reports whether something may still be read.
func (r *reader) left() bool {
	if r == nil {
		return false
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
		return !r.over || len(r.rest) > 0
	default: // a reader is active
		return true
	}
}

func (r *reader) close() {
	if r != nil {
		_ = r.pipe.Close()
	}
}

// A bounded keeps the beginning of what is written to it. The first byte beyond its limit calls
// full, once.
type bounded struct {
	max  int
	full func()

	mu   sync.Mutex
	held []byte
	over bool
}

// Write takes everything and keeps what fits.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	fits := min(len(p), b.max-len(b.held))
	b.held = append(b.held, p[:fits]...)
	first := fits < len(p) && !b.over
	b.over = b.over || first
	b.mu.Unlock()
	if first {
		b.full()
	}
	return len(p), nil
}

// take returns what was kept, and whether something is missing.
func (b *bounded) take() (held []byte, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.over
}

// tell gives what a program writes to the log, line by line, as long as it is
// not too much.
func (w *Host) tell(by *work, level string, from io.Reader) {
	lines := bufio.NewReaderSize(from, 16<<10)
	for told := 0; ; {
		line, err := lines.ReadSlice('\n')
		if told += len(line); len(line) > 0 && told <= mostTold && w.opt.Tell != nil {
			text := strings.TrimRight(strings.ToValidUTF8(string(line), "\ufffd"), "\r\n")
			w.opt.Tell(by.name, level, text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// written opens the files that programs and scripts of the shell read from and
// write to.
type written struct{ w *Host }

// An outFile is a file that is being written. Its earlier contents can be restored; Close records
// the change.
type outFile struct {
	*os.File
	settle func() error // nil for nothing to record
	once   sync.Once
}

// Close closes the file and records what it holds.
func (f *outFile) Close() (err error) {
	f.once.Do(func() {
		err = f.File.Close()
		if f.settle != nil {
			err = errors.Join(err, f.settle())
		}
	})
	return err
}

// file requests permission for a file, by its name as seen from dir, and opens it with the flags of
// [os.OpenFile]. The history keeps the earlier contents, as for files that commands write.
func (o written) file(ctx context.Context, a *asker, dir, name string, flags int) (*outFile, error) {
	if name == os.DevNull {
		f, err := os.OpenFile(os.DevNull, flags&^(os.O_CREATE|os.O_TRUNC|os.O_APPEND), 0)
		return &outFile{File: f}, err
	}
	path, err := o.w.opt.Files.Resolve(ctx, a, dir, name)
	if err != nil {
		return nil, err
	}
	if flags&(os.O_WRONLY|os.O_RDWR) == 0 {
		f, _, err := o.w.opt.Files.OpenRead(ctx, a, path)
		return &outFile{File: f}, err
	}
	if flags&os.O_RDWR != 0 {
		if err := o.w.opt.Files.AskRead(ctx, a, path); err != nil {
			return nil, err
		}
	}
	if err := o.w.opt.Files.AskEdit(ctx, a, nil, path); err != nil {
		return nil, err
	}
	return o.openForChange(ctx, a, path, flags)
}

// openForChange opens a file that may be changed.
func (o written) openForChange(ctx context.Context, a *asker, path files.Path, flags int) (*outFile, error) {
	f := &outFile{}
	info, err := os.Lstat(path.Real())
	switch {
	case errors.Is(err, fs.ErrNotExist) && flags&os.O_CREATE != 0:
		if f.settle, err = o.create(ctx, a, path); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path.String(), Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path.String(), Err: disk.ErrNotRegular}
	default:
		by := a.by()
		by.Dir = filepath.Dir(path.Real())
		at := files.Endangered{Path: files.Pattern{Name: path.Real()}, Write: true}
		kept, err := o.w.opt.Files.Checkpoint(ctx, by, []files.Endangered{at}, files.CheckpointLimits{})
		if err != nil {
			return nil, err
		}
		f.settle = kept.Settle
	}
	f.File, err = openAlone(path, flags)
	if err != nil {
		if f.settle != nil {
			err = errors.Join(err, f.settle())
		}
		return nil, err
	}
	return f, nil
}

// openAlone opens a file that is there to be written to, if it has no other name.
func openAlone(path files.Path, flags int) (*os.File, error) {
	f, err := disk.Open(path.Real(), flags&^(os.O_CREATE|os.O_TRUNC|os.O_EXCL))
	if err != nil {
		return nil, err
	}
	st, err := statOpen(f)
	switch {
	case err != nil:
	case st.Nlink > 1:
		err = several(path.String())
	case flags&os.O_TRUNC != 0:
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// create makes an empty file, in a folder that is there.
func (o written) create(ctx context.Context, a *asker, path files.Path) (settle func() error, err error) {
	if _, err := os.Stat(filepath.Dir(path.Real())); err != nil {
		return nil, err
	}
	claim, err := o.w.opt.Files.Claim(ctx, path)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	held, err := claim.Get(path)
	if err != nil {
		return nil, err
	}
	if held.Exists() { // another process was faster
		return nil, nil
	}
	landing, err := claim.Commit(ctx, a.by(), []files.Change{{Held: held, Data: []byte{}}})
	if err != nil {
		return nil, err
	}
	return func() error {
		_, err := landing.Settle()
		return err
	}, nil
}

// outcome describes how a program ended.
func outcome(r *running) (map[string]any, error) {
	status := r.process.Status()
	if status.Err != nil {
		return nil, fmt.Errorf("how a program ended is not known: %w", status.Err)
	}
	told := map[string]any{"code": status.Code, "pid": r.process.PID()}
	if status.Signal != 0 {
		told["code"], told["signal"] = 128+int(status.Signal), signalName(status.Signal)
	}
	return told, nil
}

// both returns a result with two outputs.
func both(told map[string]any, out, errs []byte) (script.Data, error) {
	told["out"] = len(out)
	text, err := json.Marshal(told)
	raw := make([]byte, 0, len(out)+len(errs))
	return script.Data{JSON: text, Raw: append(append(raw, out...), errs...)}, err
}
