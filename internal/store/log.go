package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// errBadLog is a write-ahead log that is not one.
var errBadLog = errors.New("its log is not readable")

// soundLog reports whether the write-ahead log at path is missing, empty or has a valid header.
// SQLite silently ignores any other, and with it the transactions in it. (The log itself carries no
// locks, so unlike the database it may be opened and closed beside SQLite.)
func soundLog(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // missing, or SQLite will say
	}
	defer f.Close()
	var head [32]byte
	n, err := io.ReadFull(f, head[:])
	if n == 0 {
		return true
	}
	if err != nil {
		return false
	}
	var order binary.ByteOrder
	switch binary.BigEndian.Uint32(head[:]) { // the magic number gives the byte order of checksums
	case 0x377f0682:
		order = binary.LittleEndian
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return false
	}
	var a, b uint32
	for i := 0; i < 24; i += 8 {
		a += order.Uint32(head[i:]) + b
		b += order.Uint32(head[i+4:]) + a
	}
	return a == binary.BigEndian.Uint32(head[24:]) && b == binary.BigEndian.Uint32(head[28:])
}

// moveLog moves an unreadable log aside. The caller holds the lock.
func (s *Store) moveLog() error {
	log := s.path + "-wal"
	if s.othersAlive() {
		return fmt.Errorf("the log of %s is damaged and another process is using it; stop that one and try again", s.path)
	}
	aside := log + ".damaged-" + stamp(time.Now())
	if err := os.Rename(log, aside); err != nil {
		return err
	}
	if err := os.Remove(s.path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // the index of the log that is gone
	}
	s.notice(fmt.Sprintf("The log of the store %s was damaged and is now %s; calls that were only in it are missing.", s.path, aside))
	return nil
}
