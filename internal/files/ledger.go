package files

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	lockWait  = 10 * time.Second // for a lock that is held for less than a millisecond as a rule
	blockSize = 4096             // what a small file takes up on most disks
	idPrefix  = "chg_"
)

// A ledger is the content of the lock file, protected by the lock. It saves walking the store to
// know its size.
type ledger struct {
	file    *os.File
	bytes   int64  // on disk, never too low as long as processes only die
	counted int64  // when bytes was last counted, Unix seconds; 0 if never
	stamp   uint64 // of the newest id
}

// locked runs fn while it has the store's lock.
func (s *History) locked(fn func(l *ledger) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.open(filepath.Join(s.opt.Dir, "lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("opening the history: %w", err)
	}
	defer f.Close()
	if err := waitLock(f); err != nil {
		return fmt.Errorf("locking the history: %w", err)
	}
	defer unlock(f)
	l := &ledger{file: f}
	l.load()
	return fn(l)
}

// open opens a file of the store, and makes its folder if there is none.
func (s *History) open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		if err := s.mkdir(filepath.Dir(path)); err != nil {
			return nil, err
		}
		return os.OpenFile(path, flag, 0o600)
	}
	return f, err
}

// mkdir makes a folder of the store.
func (s *History) mkdir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	for s.opt.Sync && err == nil && len(dir) >= len(s.opt.Dir) {
		dir = filepath.Dir(dir)
		err = syncDir(dir)
	}
	return err
}

func waitLock(f *os.File) error {
	deadline := time.Now().Add(lockWait)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		ok, err := tryLock(f)
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return ErrBusy
		}
		time.Sleep(pause)
	}
}

const ledgerSize = 8 + 8 + 8 + 4

// load reads the ledger. One that is not there or damaged counts as empty and
// never counted, which the next Done puts right.
func (l *ledger) load() {
	var b [ledgerSize]byte
	if n, _ := l.file.ReadAt(b[:], 0); n != len(b) || crc32.ChecksumIEEE(b[:24]) != binary.LittleEndian.Uint32(b[24:]) {
		return
	}
	l.bytes = int64(binary.LittleEndian.Uint64(b[0:]))
	l.counted = int64(binary.LittleEndian.Uint64(b[8:]))
	l.stamp = binary.LittleEndian.Uint64(b[16:])
}

// save is called before files come and after files go, so that a process that
// dies between leaves the count too high rather than too low.
func (l *ledger) save() error {
	var b [ledgerSize]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(max(l.bytes, 0)))
	binary.LittleEndian.PutUint64(b[8:], uint64(l.counted))
	binary.LittleEndian.PutUint64(b[16:], l.stamp)
	binary.LittleEndian.PutUint32(b[24:], crc32.ChecksumIEEE(b[:24]))
	_, err := l.file.WriteAt(b[:], 0)
	return err
}

// nextID returns an id greater than every earlier one, also of other processes, and even if the
// clock runs backwards.
func (l *ledger) nextID(now time.Time) string {
	l.stamp = max(l.stamp+1, uint64(max(now.UnixMilli(), 0))<<16)
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s%016x%s", idPrefix, l.stamp, hex.EncodeToString(b[:]))
}

// onDisk returns the disk space of a file of n bytes.
func onDisk(n int64) int64 {
	return (max(n, 1) + blockSize - 1) / blockSize * blockSize
}

// validID reports whether an id can be a file name on every system.
func validID(id string) bool {
	if id == "" || len(id) > 120 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || i > 0 && (c == '_' || c == '-')
		if !ok {
			return false
		}
	}
	return true
}
