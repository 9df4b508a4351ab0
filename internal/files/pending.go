package files

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const recount = 24 * time.Hour // how long the ledger is believed

// A PendingSet is a change that has begun. It must end with Done or Abort; if the process dies
// before, [History.Recover] ends it.
type PendingSet struct {
	store *History
	temps []string

	mu    sync.Mutex
	set   ChangeSet
	begun string   // the id it began with
	fresh []string // contents that came into the store with it
	line  []byte   // the last of the file
	size  int64    // of the file
	file  *os.File // pending/<id>.json, locked; nil when ended
}

// Begin keeps what is about to be replaced, and must return before the first file is touched.
// set.Changes holds the planned changes, before the contents to be replaced by path, and temps the
// temporary files that the change will use, so that they can be removed if it never ends. A change
// whose Before exists but is not in before, or is too large, is recorded as not kept.
func (s *History) Begin(set ChangeSet, before map[string][]byte, temps []string) (*PendingSet, error) {
	p := &PendingSet{store: s, set: set, temps: slices.Clone(temps)}
	parcels, err := p.pack(before)
	defer func() {
		for _, b := range parcels {
			if b.temp != "" {
				_ = os.Remove(b.temp) // those that were placed are gone
			}
		}
	}()
	if err == nil {
		err = s.locked(func(l *ledger) error { return p.writePending(l, parcels) })
	}
	if err != nil {
		return nil, fmt.Errorf("keeping what will be replaced: %w", err)
	}
	return p, nil
}

// pack checks the set, describes what will be replaced, and readies it.
func (p *PendingSet) pack(before map[string][]byte) ([]parcel, error) {
	if err := p.normalize(); err != nil {
		return nil, err
	}
	s := p.store
	var parcels []parcel
	packed := map[string]bool{}
	room := s.opt.Quota
	for i := range p.set.Changes {
		c := &p.set.Changes[i]
		data, ok := before[c.Path]
		if !c.Before.Exists && len(data) > 0 {
			return parcels, fmt.Errorf("%s is described as absent, and has contents", c.Path)
		}
		if !ok || !c.Before.Exists {
			continue
		}
		d := DescribeContent(data, true, c.Before.Mode)
		if c.Before.Hash != "" && c.Before.Hash != d.Hash {
			return parcels, fmt.Errorf("%s is described as other contents than are given", c.Path)
		}
		d.Kept = packed[d.Hash] || d.Size <= min(s.opt.FileCap, room)
		c.Before = d
		if !d.Kept || packed[d.Hash] {
			continue
		}
		b, err := s.prepareParcel(d.Hash, data)
		if err != nil {
			return parcels, err
		}
		parcels = append(parcels, b)
		packed[d.Hash] = true
		room -= d.Size
	}
	return parcels, nil
}

// normalize checks the set and brings it into the form in which it will be read again.
func (p *PendingSet) normalize() error {
	set := &p.set
	set.UndoneBy = ""
	set.Undoes = slices.Clone(set.Undoes)
	set.Changes = slices.Clone(set.Changes)
	for i := range set.Changes {
		c := &set.Changes[i]
		c.Before, c.After = c.Before.withoutKept(), c.After.withoutKept()
	}
	if set.Time.IsZero() {
		set.Time = p.store.opt.Now()
	}
	set.Time = set.Time.Round(0).UTC()
	for _, t := range p.temps {
		if !validPath(t) {
			return fmt.Errorf("temporary file %q is not an absolute path", t)
		}
	}
	return set.check()
}

// writePending puts parcels and pending file in their places. The ledger is saved
// first.
func (p *PendingSet) writePending(l *ledger, parcels []parcel) (err error) {
	s := p.store
	if err := p.identify(l); err != nil {
		return err
	}
	if p.line, err = encode(p.set, p.temps); err != nil {
		return err
	}
	p.size = int64(len(p.line))
	l.bytes += onDisk(p.size)
	p.begun = p.set.ID
	for i := range parcels {
		n, err := p.count(&parcels[i])
		if err != nil {
			return err
		}
		l.bytes += n
	}
	if err := l.save(); err != nil {
		return err
	}
	for _, b := range parcels {
		if b.temp == "" || b.pin && b.there {
			continue
		}
		err := s.moveIntoPlace(b.temp, s.blobPath(b.hash))
		if err != nil && s.copyBlob(io.Discard, b.hash) != nil { // somebody may have put it there and read it now
			return err
		}
	}
	return p.createFile()
}

// count says how many bytes the store grows by with a parcel.
func (p *PendingSet) count(b *parcel) (int64, error) {
	if _, err := os.Lstat(p.store.blobPath(b.hash)); err == nil {
		b.there = true
	} else if b.temp == "" { // swept a moment ago
		if err := p.store.write(b); err != nil {
			return 0, err
		}
	}
	switch {
	case !b.there:
		p.fresh = append(p.fresh, b.hash)
	case b.pin:
		return 0, nil
	}
	return b.size, nil
}

// identify gives the set its id.
func (p *PendingSet) identify(l *ledger) error {
	s := p.store
	if p.set.ID == "" {
		p.set.ID = l.nextID(s.opt.Now())
		return nil
	}
	if !validID(p.set.ID) {
		return fmt.Errorf("%q is no id", p.set.ID)
	}
	for _, undo := range []bool{false, true} {
		if _, err := os.Lstat(s.setPath(p.set.ID, undo)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is a set %s already", p.set.ID)
		}
	}
	return nil
}

// createFile writes the pending file and keeps it open and locked. Nobody looks at
// it before it is locked, because that takes the store's lock.
func (p *PendingSet) createFile() error {
	path := p.store.pendingPath(p.set.ID)
	f, err := p.store.open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		err = ErrBusy
	}
	if err == nil {
		_, err = f.Write(p.line)
	}
	if err == nil && p.store.opt.Sync {
		err = errors.Join(f.Sync(), syncDir(filepath.Dir(path)))
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(path)
		return err
	}
	p.file = f
	return nil
}

// Set returns the set as it will be or was recorded, with its id.
func (p *PendingSet) Set() ChangeSet {
	p.mu.Lock()
	defer p.mu.Unlock()
	set := p.set
	set.Changes = slices.Clone(set.Changes)
	return set
}

// Done records the change. after holds the current contents of files, where they may differ from
// the plan (paths that were not planned are ignored). Unchanged files are left out of the set, and
// an empty set is recorded only if it undoes others. After an error the change is still pending:
// Done may be tried again, and Recover ends it when this process is gone.
func (p *PendingSet) Done(after map[string]KeptContent) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return errors.New("recording a change: it has ended already")
	}
	set := p.set
	set.Changes = nil
	for _, c := range p.set.Changes {
		if now, ok := after[c.Path]; ok {
			c.After = now
		}
		c.After = c.After.withoutKept()
		if !c.After.is(c.Before) && !(set.Observed && c.After == c.Before.withoutKept()) {
			set.Changes = append(set.Changes, c)
		}
	}
	if err := set.check(); err != nil {
		return fmt.Errorf("recording a change: %w", err)
	}
	full, err := p.end(set)
	if err != nil {
		return fmt.Errorf("recording a change: %w", err)
	}
	if full {
		p.store.sweepQuietly()
	}
	return nil
}

// Abort discards a change that did not happen.
func (p *PendingSet) Abort() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	set := p.set
	set.Changes, set.Undoes = nil, nil
	if _, err := p.end(set); err != nil {
		return fmt.Errorf("forgetting a change: %w", err)
	}
	return nil
}

// end turns the pending change into a set, if there is anything to record. full says that the store
// should be swept.
func (p *PendingSet) end(set ChangeSet) (full bool, err error) {
	s := p.store
	record := len(set.Changes) > 0 || len(set.Undoes) > 0
	var line []byte // what the file does not say yet
	if record && !set.Observed {
		if line, err = p.unsaid(set); err != nil {
			return false, err
		}
	}
	err = s.locked(func(l *ledger) (err error) {
		if record && set.Observed {
			// An observed set gets the id and the time of its end, because changes that others made
			// meanwhile came before it.
			set.Time = p.store.opt.Now().Round(0).UTC()
			set.ID = l.nextID(set.Time)
			if line, err = p.unsaid(set); err != nil {
				return err
			}
		}
		l.bytes -= onDisk(p.size)
		if record {
			l.bytes += onDisk(p.size + int64(len(line)))
			if err := p.publish(line, s.setPath(set.ID, len(set.Undoes) > 0)); err != nil {
				return err
			}
		} else {
			p.removeFile()
		}
		p.giveBack(l, set)
		full = l.bytes > s.opt.Quota || s.opt.Now().Sub(time.Unix(l.counted, 0)).Abs() > recount
		if err := l.save(); err != nil {
			s.opt.Logger.Warn("history: saving the count", "err", err) // the set stands
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	p.set = set
	return full, nil
}

// unsaid returns the line of a set, or nothing if it is already in the file.
func (p *PendingSet) unsaid(set ChangeSet) ([]byte, error) {
	line, err := encode(set, p.temps)
	if bytes.Equal(line, p.line) {
		line = nil
	}
	return line, err
}

// giveBack removes contents that were stored for a change and are not needed. Only changes that
// began since can need them too; if there are too many to check, the next sweep finds them.
func (p *PendingSet) giveBack(l *ledger, set ChangeSet) {
	left := make(map[digest]bool, len(p.fresh))
	for _, hash := range p.fresh {
		if d, ok := parseDigest(hash); ok {
			left[d] = true
		}
	}
	p.fresh = nil
	for _, c := range set.Changes { // it needs them all, mostly
		if d, ok := parseDigest(c.Before.Hash); ok && c.Before.Kept {
			delete(left, d)
		}
	}
	if len(left) == 0 || !p.store.spare(left, p.begun) {
		return
	}
	for d := range left {
		path := p.store.blobPath(hex.EncodeToString(d[:]))
		if info, err := os.Lstat(path); err == nil && os.Remove(path) == nil {
			l.bytes -= onDisk(info.Size())
		}
	}
}

// spare removes from left what changes need that began after an id. It reports whether it could
// check all of them.
func (s *History) spare(left map[digest]bool, since string) bool {
	const most = 500
	sets, err := s.list("sets")
	pending, perr := s.list("pending")
	from, _ := slices.BinarySearchFunc(sets, since, func(e setEntry, id string) int { return strings.Compare(e.id, id) })
	if err != nil || perr != nil || len(sets)-from+len(pending) > most {
		return false
	}
	paths := make([]string, 0, len(sets)-from+len(pending))
	for _, e := range sets[from:] {
		paths = append(paths, s.setPath(e.id, e.undo))
	}
	for _, e := range pending {
		paths = append(paths, s.pendingPath(e.id))
	}
	for _, path := range paths {
		other, err := readNeeds(path)
		if err != nil {
			return false
		}
		for _, d := range other.needs {
			delete(left, d)
		}
	}
	return true
}

// publish turns the pending file into the file of a set: the plan is already in it, and the last
// line counts.
func (p *PendingSet) publish(line []byte, path string) error {
	s := p.store
	if len(line) > 0 {
		if _, err := p.file.WriteAt(line, p.size); err != nil {
			return err
		}
		p.size += int64(len(line))
		p.line = line
		if s.opt.Sync {
			if err := p.file.Sync(); err != nil {
				return err
			}
		}
	}
	from := p.file.Name()
	if runtime.GOOS == "windows" { // where an open file keeps its name
		p.release()
	}
	if err := s.moveIntoPlace(from, path); err != nil {
		return err
	}
	p.release()
	return nil
}

// removeFile removes the pending file, before closing it where the system allows that.
func (p *PendingSet) removeFile() {
	path := p.file.Name()
	removed := os.Remove(path) == nil
	unlock(p.file)
	_ = p.file.Close()
	p.file = nil
	if !removed {
		_ = os.Remove(path)
	}
}

func (s *History) pendingPath(id string) string {
	return filepath.Join(s.opt.Dir, "pending", id+setExt)
}

// setPath returns the file name of a set. The name shows whether the set undoes others, so that
// these can be found without reading all.
func (s *History) setPath(id string, undo bool) string {
	ext := setExt
	if undo {
		ext = undoExt
	}
	return filepath.Join(s.opt.Dir, "sets", id+ext)
}

func rawID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
