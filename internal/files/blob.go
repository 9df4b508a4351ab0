package files

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const maxBlob = 4 << 30

// A blob file starts with a byte for the kind of compression, and the uncompressed size.
const (
	packRaw    = 'r'
	packFlate  = 'z'
	blobHeader = 1 + 8
)

func (s *History) blobPath(hash string) string {
	return filepath.Join(s.opt.Dir, "blobs", hash[:2], hash)
}

// Content returns kept contents. The error is [ErrLost] if they are missing or damaged.
func (s *History) Content(hash string) ([]byte, error) {
	var b bytes.Buffer
	if err := s.copyBlob(&b, hash); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// copyBlob writes contents to w. They are correct only if it returns no error.
func (s *History) copyBlob(w io.Writer, hash string) error {
	if !validHash(hash) {
		return fmt.Errorf("reading contents %.80q: %w", hash, ErrLost)
	}
	f, err := os.Open(s.blobPath(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading contents %s: %w", hash, ErrLost)
	} else if err != nil {
		return fmt.Errorf("reading contents: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if err := decompressBlob(io.MultiWriter(w, h), f); err != nil {
		var disk *fs.PathError
		if errors.As(err, &disk) {
			return fmt.Errorf("reading contents: %w", err)
		}
		return fmt.Errorf("reading contents %s: %w: damaged: %w", hash, ErrLost, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != hash {
		return fmt.Errorf("reading contents %s: %w: damaged", hash, ErrLost)
	}
	return nil
}

func decompressBlob(w io.Writer, r io.Reader) error {
	var head [blobHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint64(head[1:])
	if size > maxBlob {
		return fmt.Errorf("%d bytes are too many", size)
	}
	switch head[0] {
	case packRaw:
	case packFlate:
		r = flate.NewReader(r)
	default:
		return fmt.Errorf("packed in an unknown way, %q", head[0])
	}
	n, err := io.Copy(w, io.LimitReader(r, int64(size)+1))
	if err != nil {
		return err
	}
	if n != int64(size) {
		return fmt.Errorf("%d bytes instead of %d", n, size)
	}
	return nil
}

// pack returns the file of a blob: compressed if that saves a block on disk.
func (s *History) pack(data []byte) []byte {
	var b bytes.Buffer
	var head [blobHeader]byte
	binary.LittleEndian.PutUint64(head[1:], uint64(len(data)))
	raw := onDisk(int64(len(data)) + blobHeader)
	if raw > blockSize {
		head[0] = packFlate
		b.Grow(len(data)/2 + blobHeader)
		b.Write(head[:])
		w := s.deflate.Get().(*flate.Writer)
		w.Reset(&b)
		_, err := w.Write(data)
		err = errors.Join(err, w.Close())
		w.Reset(nil)
		s.deflate.Put(w)
		if err == nil && onDisk(int64(b.Len())) < raw {
			return b.Bytes()
		}
	}
	head[0] = packRaw
	return append(head[:], data...)
}

// A parcel holds contents prepared for storing quickly while the lock is held.
type parcel struct {
	hash string
	data []byte
	temp string // the file, if one had to be written
	size int64  // of the file

	pin   bool // temp is a second name of the stored file, so that that stays
	there bool // it is already stored
}

// prepareParcel prepares contents without the lock. Contents that are already stored are read, so
// that damaged ones can be replaced.
func (s *History) prepareParcel(hash string, data []byte) (parcel, error) {
	p := parcel{hash: hash, data: data}
	if s.copyBlob(io.Discard, hash) == nil {
		return p, nil
	}
	return p, s.write(&p)
}

func (s *History) write(p *parcel) (err error) {
	file := s.pack(p.data)
	p.size = onDisk(int64(len(file)))
	p.temp, err = s.temp(file)
	return err
}

// temp writes a temporary file.
func (s *History) temp(data []byte) (string, error) {
	path := filepath.Join(s.opt.Dir, "tmp", rawID())
	f, err := s.open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && s.opt.Sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return "", err
	}
	return path, nil
}

// moveIntoPlace moves a file to its final name.
func (s *History) moveIntoPlace(temp, path string) error {
	err := os.Rename(temp, path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.mkdir(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Rename(temp, path)
	}
	if err == nil && s.opt.Sync {
		err = syncDir(filepath.Dir(path))
	}
	return err
}
