package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	maxKeepers = 4   // files that are read at a time
	keepTries  = 3   // how often a file is read that changes meanwhile
	maxRecent  = 1e5 // files whose contents are known by their times
	// settledAge is how old a change has to be for the time to tell the next.
	settledAge = 100 * time.Millisecond
)

// A recentKey identifies a file at some time.
type recentKey struct {
	path  string
	stamp stamp
}

// recent caches the contents of files that have not changed since they were kept.
type recent struct {
	mu    sync.Mutex
	known map[recentKey]KeptContent
}

func (r *recent) get(key recentKey) (KeptContent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.known[key]
	return c, ok
}

// put notes contents that were read from a moment on.
func (r *recent) put(key recentKey, c KeptContent, began time.Time) {
	if began.Sub(time.Unix(0, max(key.stamp.mtime, key.stamp.ctime))) < settledAge {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= maxRecent {
		r.known = map[recentKey]KeptContent{}
	}
	r.known[key] = c
}

// storeFound stores the collected files: small ones first, and generated ones last.
func (g *gatherer) storeFound(ctx context.Context, k *Backup) {
	slices.SortStableFunc(g.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.stamp.size, b.stamp.size))
	})
	var next atomic.Int64
	var others sync.WaitGroup
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(g.found); i = int(next.Add(1)) - 1 {
			g.keepOne(ctx, k, &g.found[i])
		}
	}
	for range min(maxKeepers, runtime.GOMAXPROCS(0), len(g.found)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// keepOne keeps a file, or records why that is not possible.
func (g *gatherer) keepOne(ctx context.Context, k *Backup, one *candidate) {
	mode := one.stamp.mode
	var err error
	switch {
	case ctx.Err() != nil:
		return
	case time.Now().After(g.deadline):
		one.why = "there was no time to keep it"
	case mode.IsDir():
		one.before, err = k.Add(bytes.NewReader(nil), 0)
	case mode&fs.ModeSymlink != 0:
		var to string
		if to, err = os.Readlink(one.path); err == nil {
			one.before, err = k.Add(bytes.NewReader([]byte(to)), int64(len(to)))
		}
	default:
		err = g.keepFile(k, one)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		one.before = KeptContent{}
		return
	case errors.Is(err, ErrNoRoom):
		one.why = "too large to be kept"
	case errors.Is(err, fs.ErrPermission):
		one.why = "may not be read"
	case err != nil:
		one.why = "can not be kept: " + plainError(err)
	}
	if one.why != "" {
		one.before = KeptContent{Exists: true, Size: one.stamp.size}
	}
	one.before.Mode = one.stamp.mode
}

// plainError leaves out the name of the file.
func plainError(err error) string {
	var named *fs.PathError
	if errors.As(err, &named) {
		return named.Err.Error()
	}
	return err.Error()
}

// keepFile keeps a regular file. One that changes while it is read is read again.
func (g *gatherer) keepFile(k *Backup, one *candidate) error {
	key := recentKey{one.path, one.stamp}
	if c, ok := g.files.recent.get(key); ok && k.Known(c.Hash) {
		one.before = c
		return nil
	}
	f, err := disk.Open(one.path, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return err
	}
	defer f.Close()
	for range keepTries {
		began := time.Now()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return disk.ErrNotRegular
		}
		one.stamp = stampFrom(info)
		if _, err := f.Seek(0, 0); err != nil {
			return err
		}
		if one.before, err = k.Add(f, info.Size()); err != nil {
			return err
		}
		if info, err = f.Stat(); err != nil {
			return err
		}
		if stampFrom(info) == one.stamp {
			g.files.recent.put(recentKey{one.path, one.stamp}, one.before, began)
			return nil
		}
	}
	return errors.New("it is being written to")
}
