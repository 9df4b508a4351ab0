//go:build (linux || darwin || freebsd || netbsd || openbsd || dragonfly) && !disk_simple

package disk

import (
	"bytes"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// youngAge is the age below which the time of a file proves little: file system clocks are coarse,
// and the time is taken when a write begins rather than when it ends. Younger files are read twice.
const youngAge = 20 * time.Millisecond

const (
	readTries   = 16 // how often to read a file that changes while it is read
	settleTries = 50 // how often to check a file that is open for writing
	readPause   = time.Millisecond
)

// Read reads a regular file of at most max bytes (no limit if max is not positive) and returns the
// State that the bytes belong to. A file that is written meanwhile is read again; if it never
// settles, the error is [ErrChanged]. Read never blocks, whatever the name leads to.
func Read(name string, max int64) ([]byte, State, error) {
	dir, base, err := openParent(name)
	if err != nil {
		return nil, State{}, pathError("read", name, err)
	}
	defer unix.Close(dir)
	for try := range readTries {
		data, st, err := readOnce(dir, base, max)
		if err != nil {
			return nil, State{}, pathError("read", name, err)
		}
		if st.Exists {
			return data, st, nil
		}
		if try > 0 {
			time.Sleep(readPause)
		}
	}
	return nil, State{}, pathError("read", name, ErrChanged)
}

// readOnce returns a State that does not exist if the file has changed while
// it was read.
func readOnce(dir int, base string, max int64) ([]byte, State, error) {
	fd, before, err := openRegular(dir, base)
	if err != nil {
		return nil, State{}, err
	}
	defer unix.Close(fd)
	if max > 0 && before.Size > max {
		return nil, State{}, ErrTooLarge
	}
	data, err := readAll(fd, before.Size, max)
	if err != nil {
		return nil, State{}, err
	}
	after, err := statFile(fd)
	if err != nil {
		return nil, State{}, err
	}
	// Generated files, as in /proc, report size 0 and are not empty.
	if !after.Same(before) || int64(len(data)) != after.Size && after.Size != 0 {
		return nil, State{}, nil
	}
	if time.Since(time.Unix(0, after.mtime)) < youngAge {
		if same, err := rereadEqual(fd, data); err != nil || !same {
			return nil, State{}, err
		}
	}
	return data, after, nil
}

// rereadEqual reads a file again and reports whether it holds the same. If somebody has it open for
// writing, it first gives them time to continue.
func rereadEqual(fd int, data []byte) (bool, error) {
	buf := make([]byte, min(len(data)+1, compareSize))
	tries := settleTries
	return watch(fd, func() (bool, error) { return equal(fd, data, buf) }, func() bool {
		tries--
		time.Sleep(readPause)
		return tries > 0
	})
}

// watch reports whether an open file satisfies same, and checks again while somebody has it open
// for writing and wait returns true.
func watch(fd int, same func() (bool, error), wait func() bool) (bool, error) {
	for {
		who := lease(fd)
		ok, err := same()
		if who == leased && !endLease(fd) {
			who = writers
		}
		if err != nil || !ok || who != writers || !wait() {
			return ok, err
		}
	}
}

// readAll reads to the end of a file of about size bytes.
func readAll(fd int, size, max int64) ([]byte, error) {
	data := make([]byte, 0, size+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := readAt(fd, data[len(data):cap(data)], int64(len(data)))
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case max > 0 && int64(len(data)) > max:
			return nil, ErrTooLarge
		}
	}
}

func readAt(fd int, to []byte, at int64) (n int, err error) {
	err = retryInterrupted(func() error {
		n, err = unix.Pread(fd, to, at)
		return err
	})
	if err != nil {
		return 0, err
	}
	if n == 0 && len(to) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// openRegular opens a regular file for reading. It checks the type before it opens the file,
// because opening a device can have effects.
func openRegular(dir int, base string) (int, State, error) {
	st, err := statAt(dir, base)
	if err != nil {
		return -1, State{}, err
	}
	if !st.Exists {
		return -1, State{}, unix.ENOENT
	}
	if err := st.regular(); err != nil {
		return -1, State{}, err
	}
	fd, err := openAt(dir, base, readFlags)
	if err != nil {
		return -1, State{}, err
	}
	st, err = statFile(fd)
	if err == nil {
		err = st.regular()
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, State{}, err
	}
	return fd, st, nil
}

// compareSize is how much of a file is compared at a time.
const compareSize = 64 << 10

// equal reports whether an open file holds exactly data. buf is room to read
// into.
func equal(fd int, data, buf []byte) (bool, error) {
	at := 0
	for {
		n, err := readAt(fd, buf, int64(at))
		if err == io.EOF {
			return at == len(data), nil
		}
		if err != nil {
			return false, err
		}
		if n > len(data)-at || !bytes.Equal(buf[:n], data[at:at+n]) {
			return false, nil
		}
		at += n
	}
}
