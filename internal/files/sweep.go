package files

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const tempAge = time.Hour // after which a file on its way has lost it

type digest [32]byte

// A sweeper finds out what is in the store and what of it is needed. It does most of that before it
// takes the lock, because files of the store never change.
type sweeper struct {
	store *History
	sets  map[setEntry]*swept
	blobs map[digest]int64 // bytes on disk
	refs  map[digest]int   // sets and pending changes that need it
	total int64
	seen  []setEntry // oldest first
}

// A swept is the part of a set that a sweep needs.
type swept struct {
	size  int64
	needs []digest
}

// Sweep enforces the quota: if the store is larger, it removes the oldest sets until the size is a
// tenth below, with the contents that nothing else needs. It always keeps the newest set. It also
// removes contents and temporary files that dead processes left behind. If another process is
// sweeping, it does nothing.
func (s *History) Sweep(ctx context.Context) error {
	if _, err := os.Stat(s.opt.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f, err := s.open(filepath.Join(s.opt.Dir, "sweep"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("sweeping the history: %w", err)
	}
	defer f.Close()
	ok, err := tryLock(f)
	if err == nil && ok {
		defer unlock(f)
		w := &sweeper{store: s, sets: map[setEntry]*swept{}, blobs: map[digest]int64{}}
		if err = w.look(ctx); err == nil {
			err = s.locked(func(l *ledger) error { return w.collectGarbage(ctx, l) })
		}
	}
	if err != nil {
		return fmt.Errorf("sweeping the history: %w", err)
	}
	return nil
}

// sweepQuietly sweeps for a caller who has done what it came for.
func (s *History) sweepQuietly() {
	if err := s.Sweep(context.Background()); err != nil {
		s.opt.Logger.Warn("history: the quota is not kept", "err", err)
	}
}

// look learns what there is, without the lock.
func (w *sweeper) look(ctx context.Context) error {
	root := filepath.Join(w.store.opt.Dir, "blobs")
	folders, err := readNames(root)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := readNames(filepath.Join(root, folder))
		if err != nil {
			return err
		}
		for _, name := range names {
			d, ok := parseDigest(name)
			if !ok || name[:2] != folder {
				continue
			}
			w.findBlob(d)
		}
	}
	return w.readSets(ctx)
}

// readSets reads the sets that were not read before.
func (w *sweeper) readSets(ctx context.Context) (err error) {
	if w.seen, err = w.store.list("sets"); err != nil {
		return err
	}
	there := make(map[setEntry]*swept, len(w.seen))
	for _, e := range w.seen {
		if err := ctx.Err(); err != nil {
			return err
		}
		set := w.sets[e]
		if set == nil {
			if set, err = readNeeds(w.store.setPath(e.id, e.undo)); err != nil {
				return err
			}
		}
		there[e] = set
	}
	w.sets = there
	return nil
}

// readNeeds reads a set or pending file. If the file is invalid, perhaps because a later version
// wrote it, everything that looks like a hash counts as needed. If it cannot be read, the sweep
// stops.
func readNeeds(path string) (*swept, error) {
	data, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &swept{}, nil
	case errors.Is(err, errDamaged):
		return &swept{size: maxSetFile}, nil
	case err != nil:
		return nil, err
	}
	out := &swept{size: onDisk(int64(len(data)))}
	line, _ := lastLine(data)
	set, _, err := decode(line)
	if err != nil {
		for part := range bytes.SplitSeq(data, []byte{'"'}) {
			out.add(string(part))
		}
		return out, nil
	}
	for _, c := range set.Changes {
		if c.Before.Kept {
			out.add(c.Before.Hash)
		}
	}
	return out, nil
}

func (s *swept) add(hash string) {
	if d, ok := parseDigest(hash); ok {
		s.needs = append(s.needs, d)
	}
}

func parseDigest(hash string) (d digest, ok bool) {
	if !validHash(hash) {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(hash))
	return d, err == nil
}

func (w *sweeper) findBlob(d digest) {
	if info, err := os.Lstat(w.store.blobPath(hex.EncodeToString(d[:]))); err == nil {
		w.blobs[d] = onDisk(info.Size())
	}
}

// readNames lists a folder, which need not be there.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, err
	}
	return f.Readdirnames(-1)
}

// collectGarbage runs under the lock, so that nobody begins a change meanwhile.
func (w *sweeper) collectGarbage(ctx context.Context, l *ledger) error {
	if err := w.readSets(ctx); err != nil { // what has come since
		return err
	}
	if err := w.count(); err != nil {
		return err
	}
	err := w.evict(ctx)
	l.bytes, l.counted = w.total, w.store.opt.Now().Unix()
	return errors.Join(err, l.save())
}

// count adds up what there is, and removes what nobody needs.
func (w *sweeper) count() error {
	w.refs = make(map[digest]int, len(w.blobs))
	pending, err := w.store.list("pending")
	if err != nil {
		return err
	}
	for _, e := range pending {
		p, err := readNeeds(w.store.pendingPath(e.id))
		if err != nil {
			return err
		}
		w.total += p.size
		w.need(p)
	}
	for _, set := range w.sets {
		w.total += set.size
		w.need(set)
	}
	for d, size := range w.blobs {
		w.total += size
		if w.refs[d] == 0 {
			if err := w.removeBlob(d); err != nil {
				return err
			}
		}
	}
	temps, err := readNames(filepath.Join(w.store.opt.Dir, "tmp"))
	for _, name := range temps {
		path := filepath.Join(w.store.opt.Dir, "tmp", name)
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case time.Since(info.ModTime()) > tempAge && info.Mode().IsRegular() && os.Remove(path) == nil:
		default:
			w.total += onDisk(info.Size())
		}
	}
	return err
}

func (w *sweeper) need(s *swept) {
	for _, d := range s.needs {
		w.refs[d]++
		if _, ok := w.blobs[d]; !ok {
			w.findBlob(d) // it came after look
		}
	}
}

// evict removes the oldest sets while the store is too large: each set before its contents, so that
// no set ever lacks what it refers to.
func (w *sweeper) evict(ctx context.Context) error {
	if w.total <= w.store.opt.Quota {
		return nil
	}
	target := w.store.opt.Quota / 10 * 9
	for i, e := range w.seen {
		if w.total <= target || i == len(w.seen)-1 || ctx.Err() != nil {
			break
		}
		if err := remove(w.store.setPath(e.id, e.undo)); err != nil {
			return err
		}
		set := w.sets[e]
		w.total -= set.size
		for _, d := range set.needs {
			w.refs[d]--
			if w.refs[d] == 0 {
				if err := w.removeBlob(d); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

func (w *sweeper) removeBlob(d digest) error {
	size, ok := w.blobs[d]
	if !ok {
		return nil
	}
	if err := remove(w.store.blobPath(hex.EncodeToString(d[:]))); err != nil {
		return err
	}
	delete(w.blobs, d)
	w.total -= size
	return nil
}

// remove removes a file that may be gone already.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
