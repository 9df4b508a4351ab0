package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Endangered is something that a command which is about to run may destroy.
type Endangered struct {
	Path Pattern
	Tree bool // including everything below it
	// Name limits Tree to files and folders whose own name matches this pattern; everything below
	// such a folder counts too.
	Name string
	// Write says that the file is written to rather than replaced: if it is a link, its target
	// changes.
	Write bool
	// From is what is copied or moved to Path: if that is a folder, files with the same names in it
	// are overwritten.
	From []Pattern
	// Move says that From is gone afterwards. It is kept if something is overwritten, so that both
	// can be restored.
	Move bool
	// Discard says that git discards changes under Path: a file, or a folder with everything below
	// it.
	Discard Discard
	// Whole says that git does so in the whole worktree that contains Path.
	Whole bool
}

// A Pattern names one or more files.
type Pattern struct {
	Name string // absolute, or relative to Dir
	Glob bool   // Name is a shell pattern, with \ before literal characters
	Dir  string // absolute; [By.Dir] when empty
}

// A Discard is what git discards.
type Discard uint8

// What git discards; exactly one of them.
const (
	Nothing     Discard = iota
	Changes             // changes of tracked files, staged or not
	Untracked           // untracked files
	AndIgnored          // untracked files, including ignored ones
	OnlyIgnored         // ignored files
)

// CheckpointLimits limit what a checkpoint keeps and how long it may take. Zero fields have
// defaults.
type CheckpointLimits struct {
	Files int           // 20,000
	Bytes int64         // on disk; a fourth of the history's quota
	Time  time.Duration // 5 seconds
}

func (l CheckpointLimits) withDefaults() CheckpointLimits {
	if l.Files <= 0 {
		l.Files = 20_000
	}
	if l.Time <= 0 {
		l.Time = 5 * time.Second
	}
	return l
}

// A Lost is a file that a command has changed or removed.
type Lost struct {
	File  string // absolute
	Title string // relative to the worktree
	Gone  bool
	Kept  bool // it can be restored
}

// A Checkpoint holds the contents of files before a command. It ends with Settle, or with Drop if
// the command does not run.
type Checkpoint struct {
	// Left describes what could not be kept, for whoever decides whether the command may run.
	Left []string

	files   *Workspace
	by      By
	pending *PendingSet
	kept    []candidate
	lost    []Lost
	id      string
}

// A candidate is a file that may be lost.
type candidate struct {
	path   string
	stamp  stamp
	before KeptContent
	why    string // why it is not kept
	group  int    // order of keeping
}

// A stamp changes when a file does. For a folder only the mode counts.
type stamp struct {
	size, mtime, ctime int64
	mode               fs.FileMode
	inode              inode
}

func stampFrom(info fs.FileInfo) stamp {
	if info.IsDir() {
		return stamp{mode: info.Mode()}
	}
	s := stamp{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode(), inode: inodeOf(info)}
	if sec, nano, ok := changedAt(info); ok {
		s.ctime = sec*1e9 + nano
	}
	return s
}

// Checkpoint keeps in the history what a command may destroy: files and links inside the workspace,
// including ignored and untracked ones. It reads only what is endangered, and changes nothing;
// links are kept as links. What does not fit is listed in Left. An error says that nothing was
// kept.
func (f *Workspace) Checkpoint(ctx context.Context, by By, at []Endangered, limits CheckpointLimits) (*Checkpoint, error) {
	c := &Checkpoint{files: f, by: by}
	if len(at) == 0 {
		return c, nil
	}
	if !filepath.IsAbs(by.Dir) {
		return nil, fmt.Errorf("keeping what a command may destroy: %q is no absolute folder", by.Dir)
	}
	if f.History == nil {
		c.Left = []string{"everything: no history is kept"}
		return c, nil
	}
	if err := f.Recover(ctx); err != nil && f.OnTrouble != nil {
		f.OnTrouble(err)
	}
	limits = limits.withDefaults()
	k := f.History.Keep(limits.Bytes)
	limits.Bytes = k.Room()
	g := &gatherer{files: f, by: by, limits: limits, seen: map[string]bool{}, repos: map[string]*repository{}}
	g.deadline = time.Now().Add(limits.Time)
	g.roots = []string{realName(by.Dir)}
	if top := realName(f.baseDir(by.Dir)); top != g.roots[0] {
		g.roots = append(g.roots, top)
	}
	for _, e := range at {
		g.endangered(ctx, e)
	}
	g.bulky(ctx)
	g.storeFound(ctx, k)
	if err := ctx.Err(); err != nil {
		k.Drop()
		return nil, err
	}
	if err := c.recordKept(k, g.found); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, c.Drop())
	}
	for _, one := range g.found {
		if one.why != "" {
			g.left.add(f.relativeTitle(by.Dir, one.path), one.why)
		}
	}
	c.Left = g.left.lines
	if g.left.more > 0 {
		c.Left = append(slices.Clone(g.left.lines), fmt.Sprintf("and %d more", g.left.more))
	}
	return c, nil
}

// recordKept records what was kept, before the command runs.
func (c *Checkpoint) recordKept(k *Backup, found []candidate) error {
	set := ChangeSet{By: c.by, Project: c.files.Project, Observed: true}
	slices.SortFunc(found, func(a, b candidate) int { // files first, for people
		return cmp.Or(cmp.Compare(a.stamp.mode&fs.ModeDir, b.stamp.mode&fs.ModeDir), cmp.Compare(a.path, b.path))
	})
	for _, one := range found {
		if !one.before.Exists {
			continue // it went by itself
		}
		c.kept = append(c.kept, one)
		title := c.files.relativeTitle(c.by.Dir, one.path)
		if one.before.Mode.IsDir() {
			title += string(filepath.Separator)
		}
		set.Changes = append(set.Changes, KeptChange{
			Path: one.path, Title: title, Before: one.before, After: KeptContent{Exists: true},
		})
	}
	if len(c.kept) == 0 {
		k.Drop()
		return nil
	}
	var err error
	c.pending, err = k.Begin(set, nil)
	return err
}

// Kept returns how many files and folders could be restored.
func (c *Checkpoint) Kept() int {
	return len(slices.DeleteFunc(slices.Clone(c.kept), func(one candidate) bool { return one.why != "" }))
}

// Settle finds out what became of the files after the command has ended, and records it: undo can
// restore what is gone or changed, and all other contents are released. It compares contents only
// where the times differ.
func (c *Checkpoint) Settle() error {
	if c.pending == nil {
		return nil
	}
	after := make(map[string]KeptContent, len(c.kept))
	for _, one := range c.kept {
		now, known := one.now()
		if !known {
			now = KeptContent{Exists: true}
		}
		after[one.path] = now
		if now == one.before || now.Is(one.before) || one.before.Mode.IsDir() {
			continue
		}
		lost := Lost{File: one.path, Title: c.files.relativeTitle(c.by.Dir, one.path), Gone: !now.Exists, Kept: one.why == ""}
		c.lost = append(c.lost, lost)
	}
	if err := c.pending.Done(after); err != nil {
		return fmt.Errorf("recording what a command changed: %w", err)
	}
	if set := c.pending.Set(); len(set.Changes) > 0 {
		c.id = set.ID
	}
	c.pending = nil
	c.notifyLosses()
	return nil
}

// now returns the current state of a file, as cheaply as possible.
func (one candidate) now() (content KeptContent, known bool) {
	info, err := os.Lstat(one.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return KeptContent{}, true
	case err != nil:
		return KeptContent{}, false
	case stampFrom(info) == one.stamp:
		return one.before, true
	}
	content, err = look(one.path)
	return content, err == nil
}

// notifyLosses reports the losses to the observer, unless there are too many.
func (c *Checkpoint) notifyLosses() {
	const most = 1000
	if c.files.OnChange == nil {
		return
	}
	for _, l := range c.lost[:min(len(c.lost), most)] {
		event := "change"
		if l.Gone {
			event = "unlink"
		}
		c.files.OnChange(Changed{Session: c.by.Session, Call: c.by.Call, File: l.File, Event: event})
	}
}

// Drop discards a checkpoint whose command did not run.
func (c *Checkpoint) Drop() error {
	if c.pending == nil {
		return nil
	}
	err := c.pending.Abort()
	c.pending = nil
	return err
}

// Changed returns the files that are gone or changed. It is empty before Settle.
func (c *Checkpoint) Changed() []Lost { return c.lost }

// ID returns the id of the change set that can restore what was lost, or "" if there is none, and
// before Settle.
func (c *Checkpoint) ID() string { return c.id }

// leftovers are what is not kept, in words.
type leftovers struct {
	lines []string
	more  int
}

func (l *leftovers) add(name, why string) {
	const most = 20
	line := name + ": " + why
	switch {
	case slices.Contains(l.lines, line):
	case len(l.lines) < most:
		l.lines = append(l.lines, line)
	default:
		l.more++
	}
}

// plainText returns a pattern without its quoting.
func plainText(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		out.WriteByte(pattern[i])
	}
	return out.String()
}
