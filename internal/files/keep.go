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
	"slices"
	"sync"
)

// ErrNoRoom says that contents are larger than the store accepts, or than the space left for one
// change.
var ErrNoRoom = errors.New("too large to be kept")

// inMemory is the size up to which contents are compressed in memory. Larger ones are never held
// completely.
const inMemory = 1 << 20

// A Backup stores contents before a change of them begins, for changes too large to be held in
// memory. Its methods are safe for concurrent use. It ends with Begin or Drop; a sweep removes what
// a dead process leaves of it.
type Backup struct {
	store *History

	mu      sync.Mutex
	room    int64
	parcels map[string]parcel // by hash
}

// Keep returns a Backup of at most so many bytes on disk; a fourth of the quota if not positive, so
// that no single change displaces all others.
func (s *History) Keep(most int64) *Backup {
	if most <= 0 {
		most = s.opt.Quota / 4
	}
	return &Backup{store: s, room: min(most, s.opt.Quota), parcels: map[string]parcel{}}
}

// Holds reports whether a file lies in the store itself.
func (s *History) Holds(path string) bool { return isUnder(path, s.opt.Dir) }

// Add stores everything that r returns; size is approximately how much that is. The result has no
// mode. The error is [ErrNoRoom] if it is too much.
func (k *Backup) Add(r io.Reader, size int64) (KeptContent, error) {
	s := k.store
	if size > s.opt.FileCap {
		return KeptContent{}, ErrNoRoom
	}
	// One byte more is read than there should be, to see the end.
	data := make([]byte, 0, min(max(size, 511), inMemory)+1)
	data, err := readHead(r, data)
	if err != nil && err != io.EOF {
		return KeptContent{}, err
	}
	if err == io.EOF {
		return k.small(data)
	}
	return k.large(data, r)
}

// readHead reads until data is full or r has ended.
func readHead(r io.Reader, data []byte) ([]byte, error) {
	n, err := io.ReadFull(r, data[:cap(data)])
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return data[:n], err
}

// small keeps contents that are in memory as a whole.
func (k *Backup) small(data []byte) (KeptContent, error) {
	c := KeptContent{Exists: true, Hash: contentHash(data), Size: int64(len(data)), Kept: true}
	if c.Size > k.store.opt.FileCap {
		return KeptContent{}, ErrNoRoom
	}
	if k.hasParcel(c.Hash) {
		return c, nil
	}
	if k.store.copyBlob(io.Discard, c.Hash) == nil && k.pin(c.Hash) {
		return c, nil
	}
	file := k.store.pack(data)
	if !k.reserve(onDisk(int64(len(file)))) {
		return KeptContent{}, ErrNoRoom
	}
	b := parcel{hash: c.Hash, size: onDisk(int64(len(file)))}
	var err error
	if b.temp, err = k.store.temp(file); err != nil {
		k.unclaim(b.size)
		return KeptContent{}, err
	}
	k.put(b)
	return c, nil
}

// large keeps contents of which head has been read, on their way through.
func (k *Backup) large(head []byte, r io.Reader) (KeptContent, error) {
	s := k.store
	path := filepath.Join(s.opt.Dir, "tmp", rawID())
	f, err := s.open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return KeptContent{}, err
	}
	hash, size, err := s.stream(f, head, r)
	var length int64
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil {
			length = onDisk(info.Size())
		}
	}
	if err == nil && s.opt.Sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
		return KeptContent{}, err
	}
	c := KeptContent{Exists: true, Hash: hash, Size: size, Kept: true}
	switch {
	case k.hasParcel(hash) || s.copyBlob(io.Discard, hash) == nil && k.pin(hash):
		_ = os.Remove(path)
	case !k.reserve(length):
		_ = os.Remove(path)
		return KeptContent{}, ErrNoRoom
	default:
		k.put(parcel{hash: hash, size: length, temp: path})
	}
	return c, nil
}

// stream writes a blob file: packed, unless the head of it shows that this is
// not worth it.
func (s *History) stream(f *os.File, head []byte, r io.Reader) (hash string, size int64, err error) {
	header := [blobHeader]byte{packRaw}
	if _, err := f.Write(header[:]); err != nil {
		return "", 0, err
	}
	var out io.Writer = f
	var packed *flate.Writer
	// Contents that get a tenth smaller at least are packed.
	sample := head[:min(len(head), 64<<10)]
	if len(s.pack(sample)) < len(sample)/10*9 {
		header[0] = packFlate
		packed = s.deflate.Get().(*flate.Writer)
		packed.Reset(f)
		defer func() {
			packed.Reset(nil)
			s.deflate.Put(packed)
		}()
		out = packed
	}
	h := sha256.New()
	size, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(out, h)},
		io.LimitReader(io.MultiReader(bytes.NewReader(head), r), s.opt.FileCap+1), make([]byte, 128<<10))
	if err == nil && size > s.opt.FileCap {
		err = ErrNoRoom
	}
	if err == nil && packed != nil {
		err = packed.Close()
	}
	if err == nil {
		binary.LittleEndian.PutUint64(header[1:], uint64(size))
		_, err = f.WriteAt(header[:], 0)
	}
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// Known records that stored contents are needed, and reports whether they are in the store.
func (k *Backup) Known(hash string) bool {
	return validHash(hash) && (k.hasParcel(hash) || k.pin(hash))
}

// pin gives stored contents a second name, so that no sweep removes them before the change begins.
func (k *Backup) pin(hash string) bool {
	s := k.store
	from, temp := s.blobPath(hash), filepath.Join(s.opt.Dir, "tmp", rawID())
	err := os.Link(from, temp)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Lstat(from); e != nil || s.mkdir(filepath.Dir(temp)) != nil {
			return false
		}
		err = os.Link(from, temp)
	}
	if err != nil {
		return false
	}
	info, err := os.Lstat(temp)
	if err != nil {
		return false
	}
	k.put(parcel{hash: hash, temp: temp, pin: true, size: onDisk(info.Size())})
	return true
}

func (k *Backup) hasParcel(hash string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.parcels[hash]
	return ok
}

func (k *Backup) put(b parcel) {
	k.mu.Lock()
	_, twice := k.parcels[b.hash]
	if !twice {
		k.parcels[b.hash] = b
	}
	k.mu.Unlock()
	if twice {
		_ = os.Remove(b.temp)
		if !b.pin {
			k.unclaim(b.size)
		}
	}
}

func (k *Backup) reserve(n int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n > k.room {
		return false
	}
	k.room -= n
	return true
}

func (k *Backup) unclaim(n int64) {
	k.mu.Lock()
	k.room += n
	k.mu.Unlock()
}

// Begin begins a change whose contents were added, like [History.Begin]. A change whose Before was
// not added is recorded as not kept. The Backup has ended, even after an error.
func (k *Backup) Begin(set ChangeSet, temps []string) (*PendingSet, error) {
	defer k.Drop()
	p := &PendingSet{store: k.store, set: set, temps: slices.Clone(temps)}
	err := p.normalize()
	if err == nil {
		used := map[string]bool{}
		var parcels []parcel
		for i := range p.set.Changes {
			c := &p.set.Changes[i].Before
			b, ok := k.parcels[c.Hash]
			if c.Kept = c.Exists && ok; c.Kept && !used[c.Hash] {
				used[c.Hash] = true
				parcels = append(parcels, b)
			}
		}
		err = k.store.locked(func(l *ledger) error { return p.writePending(l, parcels) })
	}
	if err != nil {
		return nil, fmt.Errorf("keeping what will be replaced: %w", err)
	}
	return p, nil
}

// Drop discards what was added.
func (k *Backup) Drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.parcels {
		_ = os.Remove(b.temp) // those that were placed are gone
	}
	k.parcels = nil
	k.room = 0
}

// Room returns how many more bytes on disk may be added.
func (k *Backup) Room() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.room
}
