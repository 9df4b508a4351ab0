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

// How often a file is put in its place where somebody who reads the old one
// stands in the way, and what is waited in between.
const (
	placeTries = 100
	placePause = 10 * time.Millisecond
)

// ReplaceSmall puts data in the place of a file of ours, or makes one, that
// only its owner can read. Whoever reads it meanwhile sees the old contents or
// the new, and after an error it is as it was. A link of that name is replaced
// and not followed; what others may have written is not asked about: that is
// what [Commit] does. With sync the contents outlive a power cut.
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

// TrySmall does what [ReplaceSmall] of so many bytes needs and leaves nothing
// of it, for those who can not do without it later.
func TrySmall(name string, size int64) error {
	temp, err := stageSmall(name, make([]byte, size), true)
	if err != nil {
		return err
	}
	return os.Remove(temp)
}

// stageSmall writes a file beside the one it is for, and returns its name.
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

// Unplaced reports whether a file has the name of one that was not yet put in
// its place. A process that was killed leaves it.
func Unplaced(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, tempPrefix) && strings.HasSuffix(base, tempSuffix)
}

// ReadSmall reads a regular file of at most most bytes, through links. It
// waits for no pipe, also if there was a file a moment ago. The error of what
// is no regular file is [ErrNotRegular], and that of a longer one
// [ErrTooLarge]. Those who read what a tool changes want [Read].
func ReadSmall(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened, since opening a device can do things
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

// ReadOpen is [ReadSmall] of a file that is open, from where it stands.
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
	if int64(buf.Len()) > most { // it has grown, or is one that the kernel makes up
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
