package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// RecoveredSet is what is known about a change whose process died.
type RecoveredSet struct {
	Set    ChangeSet    // with the changes that happened; not recorded if there are none
	Missed []KeptChange // planned, but did not happen
	Temps  []string     // files that the caller should remove if they exist
}

// Half reports whether only some of the files were changed. It is false for observed sets.
func (r RecoveredSet) Half() bool {
	return !r.Set.Observed && len(r.Set.Changes) > 0 && len(r.Missed) > 0
}

// Recover ends the pending changes of dead processes; look returns the current content of a file. A
// change that happened is recorded. One whose file holds neither its earlier content nor the
// planned one is recorded as planned, so that an undo reports a conflict instead of overwriting
// what somebody may have written since.
//
// It returns what it has done, even with an error.
func (s *History) Recover(ctx context.Context, look func(path string) (KeptContent, error)) ([]RecoveredSet, error) {
	list, err := s.list("pending")
	if err != nil {
		return nil, fmt.Errorf("looking for unfinished changes: %w", err)
	}
	var out []RecoveredSet
	var errs []error
	idle := false
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			errs = append(errs, err)
			break
		}
		p, err := s.seize(e.id)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading unfinished change %s: %w", e.id, err))
		}
		if p == nil {
			continue
		}
		r := p.reconstruct(look)
		set := r.Set
		if len(set.Changes) == 0 {
			set.Undoes = nil
		}
		if _, err := p.end(set); err != nil {
			p.release()
			errs = append(errs, fmt.Errorf("ending unfinished change %s: %w", e.id, err))
			continue
		}
		r.Set.ID, r.Set.Time = p.set.ID, p.set.Time
		idle = idle || slices.ContainsFunc(r.Missed, func(c KeptChange) bool { return c.Before.Kept })
		out = append(out, r)
	}
	if idle {
		s.sweepQuietly() // what was kept and is not needed
	}
	return out, errors.Join(errs...)
}

// reconstruct finds out what has happened.
func (p *PendingSet) reconstruct(look func(path string) (KeptContent, error)) RecoveredSet {
	r := RecoveredSet{Set: p.set, Temps: p.temps}
	r.Set.Changes = nil
	for _, c := range p.set.Changes {
		now, err := look(c.Path)
		now = now.withoutKept()
		switch {
		case err != nil: // recorded as planned
		case now.is(c.Before), p.set.Observed && c.Before.Hash == "" && now.Exists:
			r.Missed = append(r.Missed, c)
			continue
		case now.sameBytes(c.After):
			c.After = now
		case now.sameBytes(c.Before): // but for the mode, which somebody else has set
			r.Missed = append(r.Missed, c)
			continue
		case c.After.Exists && c.After.Hash == "": // the plan did not say
			c.After = now
		}
		r.Set.Changes = append(r.Set.Changes, c)
	}
	return r
}

// seize takes over the pending change of a dead process. It returns nil if the process lives, or if
// there is nothing left to do.
func (s *History) seize(id string) (p *PendingSet, err error) {
	err = s.locked(func(l *ledger) error {
		f, err := os.OpenFile(s.pendingPath(id), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		got := &PendingSet{store: s, file: f}
		ok, err := tryLock(f)
		if err != nil || !ok {
			_ = f.Close()
			return err
		}
		data, err := io.ReadAll(io.LimitReader(f, maxSetFile+1))
		if err != nil {
			got.release()
			return err
		}
		got.line, got.size = lastLine(data)
		got.set, got.temps, err = decode(got.line)
		switch {
		case err != nil || got.set.ID != id && !got.set.Observed:
			// It died while it wrote this, before it touched a file.
			s.opt.Logger.Warn("history: an unfinished change cannot be read", "id", id, "err", err)
		default:
			p = got
			return nil
		}
		got.removeFile()
		l.bytes -= onDisk(int64(len(data)))
		return l.save()
	})
	return p, err
}

// release leaves a pending change to others.
func (p *PendingSet) release() {
	if p.file != nil {
		unlock(p.file)
		_ = p.file.Close()
		p.file = nil
	}
}
