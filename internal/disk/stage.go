//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	nameTries = 16  // how many temporary names to try
	batchSize = 64  // how many new files are open at a time
	flushers  = 8   // how many of them are flushed at a time
	maxHeld   = 256 // how many new files stay locked
)

// stage writes the new contents beside the old files.
func (t *transaction) stage(ctx context.Context) error {
	for batch := range slices.Chunk(t.items, batchSize) {
		if err := t.stageBatch(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// stageBatch writes a number of files and then flushes several at once, because file systems write
// them to the disk together.
func (t *transaction) stageBatch(ctx context.Context, batch []*item) (err error) {
	defer func() {
		for _, it := range batch {
			if e := it.closeNew(); e != nil && err == nil {
				err = pathError("replace", it.Name, e)
			}
		}
	}()
	for _, it := range batch {
		if err = ctx.Err(); err == nil {
			err = t.writeNew(it)
		}
		if err != nil {
			return pathError("replace", it.Name, err)
		}
	}
	if t.opt.Sync {
		if err := flushNew(batch); err != nil {
			return err
		}
	}
	for _, it := range batch {
		if err := t.linkTemp(it); err != nil {
			return pathError("replace", it.Name, err)
		}
	}
	return nil
}

// flushNew writes the new files of a batch to the disk.
func flushNew(batch []*item) error {
	errs := make([]error, len(batch))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(batch); i = int(next.Add(1)) - 1 {
			if it := batch[i]; it.open {
				errs[i] = pathError("replace", it.Name, flush(it.fd))
			}
		}
	}
	var others sync.WaitGroup
	for range min(flushers, len(batch)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return errors.Join(errs...)
}

// writeNew checks the old file once more, by its contents if necessary, and writes the new one. A
// removal only needs a name to move the old file to.
func (t *transaction) writeNew(it *item) error {
	if it.Remove {
		it.temp = t.newTemp()
		return nil
	}
	old := -1
	if it.update() {
		var err error
		old, it.now, err = openRegular(it.dir.fd, it.base)
		if err == unix.ENOENT || err == unix.ELOOP {
			return ErrChanged
		}
		if err != nil {
			return err
		}
		defer unix.Close(old)
		if err := t.checkContents(it, old); err != nil {
			return err
		}
	}
	return t.write(it, old)
}

// linkTemp gives a new file its temporary name, if it has none, and locks it until the end, so that
// no other process that uses [Locks] builds on a change that may be undone.
func (t *transaction) linkTemp(it *item) (err error) {
	if !it.open {
		return nil
	}
	if it.ours, err = statFile(it.fd); err != nil {
		return err
	}
	if !it.staged {
		err = t.freeName(it, func(name string) error { return nameFile(it.fd, it.dir.fd, name) })
	}
	if err == nil {
		err = it.closeNew()
	}
	if err != nil && !it.staged && unsupported(err) { // begin again, with a name
		t.lacks.nameless = true
		if err := errors.Join(it.closeNew(), t.writeNew(it)); err != nil {
			return err
		}
		if t.opt.Sync {
			if err := flush(it.fd); err != nil {
				return err
			}
		}
		return t.linkTemp(it)
	}
	if err == nil && t.held < maxHeld {
		t.held++
		_, _ = it.lock.tryAt(it.dir.fd, it.temp)
	}
	return err
}

// closeNew closes the new file. Its error may be the first sign of a failed write.
func (it *item) closeNew() error {
	if !it.open {
		return nil
	}
	it.open = false
	if err := unix.Close(it.fd); err != unix.EINTR {
		return err
	}
	return nil
}

// checkContents compares the old file with what the caller saw, by its
// contents if the states differ.
func (t *transaction) checkContents(it *item, old int) error {
	if err := it.check(); err != nil {
		return err
	}
	if it.now.Same(it.Was) {
		return nil
	}
	same, err := equal(old, it.WasData, t.compareBuffer())
	if err == nil && !same {
		err = ErrChanged
	}
	return err
}

// compareBuffer returns a buffer to compare contents with.
func (t *transaction) compareBuffer() []byte {
	if t.buf == nil {
		t.buf = make([]byte, compareSize)
	}
	return t.buf
}

// write makes the file with the new contents, without a name if possible.
// old is the file it replaces, if it does.
func (t *transaction) write(it *item, old int) (err error) {
	mode := uint32(0o600) // until it has its final owner
	if old < 0 && it.Mode == 0 {
		mode = 0o666 // the system takes away the umask, or asks the folder
	}
	if it.fd, err = t.createTemp(it, mode); err != nil {
		return err
	}
	it.open = true
	if err := writeAll(it.fd, it.Data); err != nil {
		return err
	}
	if old >= 0 {
		if err := copyRights(it.fd, old, it.now); err != nil || !it.SetMode {
			return err
		}
	}
	if it.Mode == 0 {
		return nil
	}
	return retryInterrupted(func() error { return unix.Fchmod(it.fd, uint32(it.Mode.Perm())) })
}

// createTemp makes a file to write to, without a name or with a new one.
func (t *transaction) createTemp(it *item, mode uint32) (fd int, err error) {
	if !t.lacks.nameless {
		fd, err := openNameless(it.dir.fd, mode)
		if err == nil || !unsupported(err) {
			return fd, err
		}
		t.lacks.nameless = true
	}
	err = t.freeName(it, func(name string) error {
		fd, err = createAt(it.dir.fd, name, mode)
		return err
	})
	return fd, err
}

func createAt(dir int, name string, mode uint32) (fd int, err error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	err = retryInterrupted(func() error {
		fd, err = unix.Openat(dir, name, flags, mode)
		return err
	})
	return fd, err
}

// freeName finds a temporary name that use can take.
func (t *transaction) freeName(it *item, use func(name string) error) (err error) {
	for range nameTries {
		name := t.newTemp()
		if err = use(name); err == nil {
			it.temp, it.staged = name, true
			return nil
		}
		if err != unix.EEXIST {
			break
		}
	}
	return err
}

func (t *transaction) newTemp() string {
	if t.opt.Temp != nil {
		return tempPrefix + t.opt.Temp() + tempSuffix
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		var n int
		err := retryInterrupted(func() (err error) { n, err = unix.Write(fd, data); return err })
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// copyRights gives a file the owner, the attributes and the mode of the old one, in this order,
// because each may change those after it.
//
// A user who may write to a file of somebody else cannot give the new one away. It then belongs to
// us, and if it cannot have the old group either, the new group gets no more rights than everybody.
// Programs that run as their owner or group are not replaced by ones that would run as somebody
// else.
func copyRights(fd, old int, st State) error {
	mode := st.Mode
	now, err := statFile(fd)
	if err != nil {
		return err
	}
	if now.uid != st.uid || now.gid != st.gid {
		err := chown(fd, int(st.uid), int(st.gid))
		if err != nil && mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			return err
		}
		if err != nil && now.gid != st.gid && chown(fd, -1, int(st.gid)) != nil {
			mode &^= 0o070 &^ (mode & 0o007 << 3)
		}
	}
	if err := copyAttributes(old, fd); err != nil {
		return err
	}
	return retryInterrupted(func() error { return unix.Fchmod(fd, bitsOf(mode)) })
}

func chown(fd, uid, gid int) error {
	return retryInterrupted(func() error { return unix.Fchown(fd, uid, gid) })
}
