package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// How often to try replacing a file that a reader blocks, and how long to wait in between.
const (
	placeTries = 100
	placePause = 10 * time.Millisecond
)

// ReplaceSmall replaces or creates a file of ours that only its owner can read. Readers see the old
// contents or the new, and after an error the file is unchanged. A link of that name is replaced
// and not followed. Changes by others are not detected; use [Commit] for that. With sync the
// contents survive a power failure.
func ReplaceSmall(name string, data []byte, sync bool) error {
	temp, err := stageSmall(name, data, sync)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err = os.Rename(temp, name)
		if err == nil || runtime.GOOS != "windows" || try == placeTries {
			break
		}
		time.Sleep(placePause)
	}
	if err != nil {
		_ = os.Remove(temp) // the first error tells more
		return err
	}
	if !sync {
		return nil
	}
	if dir, err := os.Open(filepath.Dir(name)); err == nil {
		_ = dir.Sync() // not every file system can; the rename itself has happened
		_ = dir.Close()
	}
	return nil
}

// TrySmall checks that [ReplaceSmall] of so many bytes would work, and leaves nothing behind.
func TrySmall(name string, size int64) error {
	temp, err := stageSmall(name, make([]byte, size), true)
	if err != nil {
		return err
	}
	return os.Remove(temp)
}

// stageSmall writes a temporary file beside the target and returns its name.
func stageSmall(name string, data []byte, sync bool) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), tempPrefix+"*"+tempSuffix) // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Unplaced reports whether a name is that of a temporary file of [ReplaceSmall], which a killed
// process leaves behind.
func Unplaced(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, tempPrefix) && strings.HasSuffix(base, tempSuffix)
}

// ReadSmall reads a regular file of at most most bytes and follows links. It never blocks on a
// pipe. The error is [ErrNotRegular] for anything but a regular file, and [ErrTooLarge] for a
// longer one. For files that tools change, use [Read].
func ReadSmall(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened, because opening a device can have effects
	if err != nil {
		return nil, err
	}
	if err := small(info, most); err != nil {
		return nil, pathError("read", name, err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOpen(f, most)
}

// ReadOpen is [ReadSmall] for an open file, from its current offset.
func ReadOpen(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := small(info, most); err != nil {
		return nil, pathError("read", f.Name(), err)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead) // room to find the end without growing
	if _, err := buf.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > most { // it has grown, or the kernel generates it
		return nil, pathError("read", f.Name(), tooLarge(most))
	}
	return buf.Bytes(), nil
}

// small returns nil for a regular file of at most most bytes.
func small(info fs.FileInfo, most int64) error {
	if err := (State{Mode: info.Mode()}).regular(); err != nil {
		return err
	}
	if info.Size() > most {
		return tooLarge(most)
	}
	return nil
}

func tooLarge(most int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most) }
