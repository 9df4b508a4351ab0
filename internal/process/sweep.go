package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	folderCost = 8 << 10                // of a job on disk, beside its output
	youngTime  = time.Minute            // a folder without an entry may be one that is being made
	lockTime   = 2 * time.Second        // for others to be done
	sweepGrace = 300 * time.Millisecond // for processes whose runtime is gone
)

// Sweep ends what runtimes that are gone left running, as far as the ledger identifies it with
// certainty (number and start time), and marks those jobs as lost. It removes jobs that ended long
// ago. The first Reserve sweeps too; a runtime may sweep when it starts.
func (j *Jobs) Sweep() error {
	ids, err := entries(j.opt.Dir)
	if err != nil || len(ids) == 0 {
		return err
	}
	j.mu.Lock()
	j.swept = true
	j.mu.Unlock()
	errs := j.buryAll(ids)
	unlock := lockDir(j.opt.Dir)
	defer unlock()
	j.expire(j.stock())
	return errors.Join(errs...)
}

// expire removes jobs that ended long ago, and returns the others.
func (t *jobTable) expire(stock []holding) []holding {
	now := t.opt.Now()
	return slices.DeleteFunc(stock, func(h holding) bool {
		return h.free && now.Sub(h.ended) > t.opt.Keep && remove(filepath.Join(t.opt.Dir, h.id))
	})
}

// buryAll ends what is left of the jobs whose runtimes are gone, all at once.
func (t *jobTable) buryAll(ids []string) []error {
	me := self()
	errs := make([]error, len(ids), len(ids)+1)
	var wg sync.WaitGroup
	for i, id := range ids {
		e, err := readLedgerEntry(t.opt.Dir, id)
		if err != nil || e.State != JobRunning || e.Owner.seen(me) != gone {
			continue
		}
		// Read again: it may have ended its jobs just before it went.
		if e, err = readLedgerEntry(t.opt.Dir, id); err == nil && e.State == JobRunning {
			wg.Go(func() { errs[i] = bury(t.opt.Dir, e, t.opt.Now()) })
		}
	}
	wg.Wait()
	return errs
}

// bury ends what is left of a job whose runtime is gone, and says so in its
// entry.
func bury(dir string, e ledgerEntry, now time.Time) error {
	me := self()
	problem := "the runtime that ran it is gone, and so is its process"
	if e.isRunning(me) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := endTree(ctx, e.PID, e.Start); err != nil {
			return fmt.Errorf("ending job %s, whose runtime is gone: %w", e.ID, err)
		}
		problem = "the runtime that ran it is gone; its processes were ended"
	}
	out := filepath.Join(dir, e.ID, ringName)
	e.State, e.Ended, e.Left, e.Input, e.Problem = JobLost, stamp(now), 0, false, problem
	if info, err := os.Lstat(out); err == nil && info.ModTime().After(e.Began) {
		e.Ended = stamp(info.ModTime()) // the last sign of it
	}
	if n, err := ringTotal(out); err == nil {
		e.Bytes = n
	}
	return writeEntry(filepath.Join(dir, e.ID), e)
}

// A holding is what a job takes up on disk.
type holding struct {
	id    string
	size  int64 // what it has, or may come to have while it runs
	ended time.Time
	free  bool // it may be removed
}

// stock returns what all jobs of the folder take up, the one to be removed
// first at the beginning.
func (t *jobTable) stock() []holding {
	ids, _ := entries(t.opt.Dir)
	me := self()
	var out []holding
	for _, id := range ids {
		h := holding{id: id}
		e, err := readLedgerEntry(t.opt.Dir, id)
		switch {
		case err == nil && e.State == JobRunning && e.Owner.seen(me) != gone:
			h.size = max(e.Quota, leastQuota) + folderCost
			// Whether a job run by another process still runs is unknown.
			h.ended, h.free = lastChange(filepath.Join(t.opt.Dir, id)), false
			if e.Owner.seen(me) == elsewhere {
				h.free = t.opt.Now().Sub(h.ended) > t.opt.Keep
			}
		case err == nil && e.State == JobRunning && e.isRunning(me):
			h.size = sizeOf(t.opt.Dir, id) // an orphan that could not be ended
		case err == nil:
			h.size, h.ended, h.free = sizeOf(t.opt.Dir, id), e.Ended, true
		default:
			h.size, h.ended = sizeOf(t.opt.Dir, id), lastChange(filepath.Join(t.opt.Dir, id))
			h.free = t.opt.Now().Sub(h.ended) > youngTime
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b holding) int { return a.ended.Compare(b.ended) })
	return out
}

// lastChange is when a folder or the output in it changed.
func lastChange(dir string) time.Time {
	var last time.Time
	for _, path := range []string{dir, filepath.Join(dir, ringName)} {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

func sizeOf(dir, id string) int64 {
	n := int64(folderCost)
	if info, err := os.Lstat(filepath.Join(dir, id, ringName)); err == nil {
		n += info.Size()
	}
	return n
}

// makeRoom makes space for one more job, by removing those that ended first, and returns how large
// its output file may grow.
func (t *jobTable) makeRoom() (quota int64, err error) {
	stock := t.expire(t.stock())
	want := t.opt.PerJob + folderCost
	var used int64
	for _, h := range stock {
		used += h.size
	}
	count := len(stock)
	for _, h := range stock {
		if used+want <= t.opt.Total && count < mostEntries {
			break
		}
		if h.free && remove(filepath.Join(t.opt.Dir, h.id)) {
			used -= h.size
			count--
		}
	}
	quota = min(t.opt.PerJob, t.opt.Total-used-folderCost)
	if quota < leastQuota {
		return 0, fmt.Errorf("%w: their output may take up all %d bytes that jobs have; stop one first", ErrFull, t.opt.Total)
	}
	return quota, nil
}

func remove(dir string) bool {
	err := os.RemoveAll(dir)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// lockDir keeps other processes from adding and removing jobs meanwhile. When
// one of them does not come to an end, we go on: then the quota may be passed
// by one job.
func lockDir(dir string) (unlock func()) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE|openFlags, 0o600)
	if err != nil {
		return func() {}
	}
	for until := time.Now().Add(lockTime); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if ok, err := tryLock(f); ok || err != nil {
			break
		}
	}
	return func() { _ = f.Close() }
}
