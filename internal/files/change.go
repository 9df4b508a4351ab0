package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/helve-dev/helve/internal/disk"
)

// MaxEdit is the largest file that can be changed, in bytes.
const MaxEdit = 64 << 20

// A Held is a claimed file with its state and contents at the time of the claim.
type Held struct {
	Path  Path
	State disk.State
	Data  []byte // nil if the file does not exist

	hash string
}

// Exists reports whether the file exists.
func (h *Held) Exists() bool { return h.State.Exists }

// Hash returns the hash of the contents.
func (h *Held) Hash() string {
	if h.hash == "" {
		h.hash = HashOf(h.Data)
	}
	return h.hash
}

// A Claim locks files for a change: nobody else can change them through helve meanwhile, in this
// process or in another.
type Claim struct {
	files   *Workspace
	release func()
}

// Claim waits until the files are free and locks them until Release.
func (f *Workspace) Claim(ctx context.Context, paths ...Path) (*Claim, error) {
	if err := f.Recover(ctx); err != nil && f.OnTrouble != nil {
		f.OnTrouble(err)
	}
	return f.claimLocked(ctx, paths)
}

func (f *Workspace) claimLocked(ctx context.Context, paths []Path) (*Claim, error) {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p.real
	}
	release, err := f.locks.Lock(ctx, names...)
	if err != nil {
		return nil, err
	}
	return &Claim{files: f, release: release}, nil
}

// Release unlocks the files.
func (c *Claim) Release() { c.release() }

// Get reads a claimed file. A missing one is no error.
func (c *Claim) Get(p Path) (*Held, error) {
	data, state, err := disk.Read(p.real, MaxEdit)
	if errors.Is(err, fs.ErrNotExist) {
		return &Held{Path: p}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	return &Held{Path: p, State: state, Data: data}, nil
}

// A Change is the new content of a claimed file.
type Change struct {
	*Held
	Data   []byte
	Remove bool
	Mode   fs.FileMode // of a new file; the default when 0
	// SetMode applies Mode to an existing file too.
	SetMode bool

	// Encoding is the text encoding of Data; "" if not known.
	Encoding string
}

func (c Change) unchanged() bool {
	return c.Exists() != c.Remove && (c.Remove || string(c.Held.Data) == string(c.Data))
}

// By identifies who makes a change, and where, for the history.
type By struct {
	Session, Message, Call, Tool, Agent, Dir string
	Undoes                                   []string // ids of the change sets that this one undoes
}

// A PendingChange is a change that was made but is not yet recorded, because a formatter may still
// change the files. It must end with Settle.
type PendingChange struct {
	files   *Workspace
	by      By
	changes []Change
	pending *PendingSet
}

// Commit makes the changes, all of them or none. It first keeps in the history what they replace.
func (c *Claim) Commit(ctx context.Context, by By, changes []Change) (*PendingChange, error) {
	l := &PendingChange{files: c.files, by: by}
	var writes []disk.Change
	for _, ch := range changes {
		if ch.unchanged() {
			continue
		}
		if len(ch.Data) > MaxEdit {
			return nil, &fs.PathError{Op: "write", Path: ch.Path.real, Err: disk.ErrTooLarge}
		}
		l.changes = append(l.changes, ch)
		writes = append(writes, disk.Change{
			Name: ch.Path.real, Data: ch.Data, Remove: ch.Remove, Mode: ch.Mode, SetMode: ch.SetMode,
			Was: ch.State, WasData: ch.Held.Data,
		})
	}
	if len(writes) == 0 {
		return l, nil
	}
	opt := c.files.diskOptions()
	opt.Staged = l.journal
	if err := disk.Commit(ctx, writes, opt); err != nil {
		if l.pending != nil {
			err = errors.Join(err, l.pending.Abort())
		}
		return nil, err
	}
	return l, nil
}

// journal keeps what is about to be replaced. It runs when all new files are written and nothing
// has been replaced yet.
func (l *PendingChange) journal(temps []string) error {
	if l.files.History == nil {
		return nil
	}
	set := ChangeSet{By: l.by, Project: l.files.Project}
	before := map[string][]byte{}
	for _, ch := range l.changes {
		set.Changes = append(set.Changes, KeptChange{
			Path: ch.Path.real, Title: ch.Path.shown,
			Before: DescribeContent(ch.Held.Data, ch.Exists(), ch.State.Mode),
			After:  DescribeContent(ch.Data, !ch.Remove, ch.State.Mode),
		})
		if ch.Exists() {
			before[ch.Path.real] = ch.Held.Data
		}
	}
	var err error
	l.pending, err = l.files.History.Begin(set, before, temps)
	if err != nil {
		return fmt.Errorf("keeping what would be replaced: %w", err)
	}
	return nil
}

// Rewrite writes the change again if a formatter that failed has left something else.
func (l *PendingChange) Rewrite(ctx context.Context, p Path) error {
	for _, ch := range l.changes {
		if ch.Remove || ch.Path.real != p.real {
			continue
		}
		data, state, err := disk.Read(p.real, MaxEdit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if state.Exists && bytes.Equal(data, ch.Data) {
			return nil
		}
		again := disk.Change{Name: p.real, Data: ch.Data, Was: state, WasData: data, Mode: ch.State.Mode.Perm()}
		return disk.Commit(ctx, []disk.Change{again}, l.files.diskOptions())
	}
	return nil
}

// KeepMark restores the byte order mark of a file if a formatter has removed it.
func (l *PendingChange) KeepMark(ctx context.Context) error {
	const mark = "\ufeff"
	var writes []disk.Change
	for _, ch := range l.changes {
		if ch.Remove || !bytes.HasPrefix(ch.Data, []byte(mark)) {
			continue
		}
		data, state, err := disk.Read(ch.Path.real, MaxEdit)
		if err != nil || bytes.HasPrefix(data, []byte(mark)) {
			continue // nothing to repair
		}
		writes = append(writes, disk.Change{Name: ch.Path.real, Data: append([]byte(mark), data...), Was: state, WasData: data})
	}
	if len(writes) == 0 {
		return nil
	}
	return disk.Commit(ctx, writes, l.files.diskOptions())
}

// Settle reads the files, records that the session has seen them, and completes the history record.
// It returns them in the order of the changes; a missing file has no contents.
func (l *PendingChange) Settle() ([]*Held, error) {
	var out []*Held
	after := map[string]KeptContent{}
	var errs []error
	for _, ch := range l.changes {
		now, err := (&Claim{files: l.files}).Get(ch.Path)
		if err != nil { // somebody has made it unreadable since it was written
			errs, out = append(errs, err), append(out, &Held{Path: ch.Path})
			continue
		}
		out = append(out, now)
		after[ch.Path.real] = DescribeContent(now.Data, now.Exists(), now.State.Mode)
		if now.Exists() && l.by.Session != "" {
			sight := ReadMark{Hash: now.Hash(), When: l.files.now()}
			if string(now.Data) == string(ch.Data) {
				sight.Encoding = ch.Encoding
			}
			l.files.MarkRead(l.by.Session, ch.Path, sight)
		}
		l.notifyChange(ch, now)
	}
	if l.pending != nil {
		errs = append(errs, l.pending.Done(after))
	}
	return out, errors.Join(errs...)
}

// notifyChange reports a change to the observer.
func (l *PendingChange) notifyChange(ch Change, now *Held) {
	if l.files.OnChange == nil {
		return
	}
	event := "change"
	switch {
	case !now.Exists():
		event = "unlink"
	case !ch.Exists():
		event = "add"
	}
	l.files.OnChange(Changed{Session: l.by.Session, Call: l.by.Call, File: ch.Path.abs, Event: event})
}

// Changed describes a file that was changed through the workspace.
type Changed struct {
	Session string
	Call    string
	File    string
	Event   string // add, change or unlink
}

// diskOptions returns how files are replaced.
func (f *Workspace) diskOptions() disk.Options { return disk.Options{Sync: f.Sync, Litter: &f.litter} }
