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

// Endangered is what a command that is about to run may destroy.
type Endangered struct {
	Path Pattern
	Tree bool // with everything below it
	// Name narrows Tree to files and folders whose own name fits this pattern;
	// what is below such a folder counts too.
	Name string
	// Write says that it is written to and not replaced: where it is a link,
	// what that leads to changes.
	Write bool
	// From is what is copied or moved to Path: where that is a folder, the same
	// names in it are written over.
	From []Pattern
	// Move says that From is gone afterwards. It is kept where something is
	// written over, so that both come back.
	Move bool
	// Discard says that git throws work away, and Path is where: a file, or a
	// folder with everything below it.
	Discard Discard
	// Whole says that git does so in the whole worktree that Path lies in.
	Whole bool
}

// A Pattern is the name of a file, or of several.
type Pattern struct {
	Name string // absolute, or seen from Dir
	Glob bool   // Name is a pattern of the shell's, with \ before what is meant as it is
	Dir  string // absolute; [By.Dir] when empty
}

// A Discard is what git throws away.
type Discard uint8

// What git throws away; one of them.
const (
	Nothing     Discard = iota
	Changes             // changes of files it tracks, also those only staged
	Untracked           // files it does not track
	AndIgnored          // files it does not track, ignored ones too
	OnlyIgnored         // files it ignores
)

// CheckpointLimits bound what a checkpoint keeps, and for how long it looks. Zero fields
// take their defaults.
type CheckpointLimits struct {
	Files int           // 20,000
	Bytes int64         // on the disk of the history; a fourth of its quota
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

// A Lost is a file that is not what it was before a command.
type Lost struct {
	File  string // absolute
	Title string // from the worktree
	Gone  bool
	Kept  bool // it can be brought back
}

// A Checkpoint is what files held before a command. It ends in Settle, or in
// Drop if the command does not run.
type Checkpoint struct {
	// Left is what could not be kept, in words, for who decides whether the
	// command shall run.
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
	why    string // it is not kept
	group  int    // what comes later is kept later
}

// A stamp changes when a file does. Of a folder only the mode counts.
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

// Checkpoint puts what a command may destroy into the history: files and links
// inside the workspace, ignored and untracked ones too. It looks only at what
// is endangered, and changes nothing; links are kept as links. What does not
// fit is in Left, and no error. An error says that nothing was kept.
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
	g := newGatherer(ctx, f, by, limits)
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
	c.Left = g.left.list()
	return c, nil
}

// recordKept notes what was kept, before the command runs.
func (c *Checkpoint) recordKept(k *Backup, found []candidate) error {
	set := ChangeSet{
		Session: c.by.Session, Message: c.by.Message, Call: c.by.Call, Tool: c.by.Tool, Agent: c.by.Agent, Dir: c.by.Dir,
		Project: c.files.Project, Observed: true,
	}
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

// Kept says how many files and folders could be brought back.
func (c *Checkpoint) Kept() int {
	return len(slices.DeleteFunc(slices.Clone(c.kept), func(one candidate) bool { return one.why != "" }))
}

// Settle finds out what became of the files, after the command has ended, and
// records it: what is gone or changed can be brought back by undo, all other
// contents are let go. It looks closely only at what has another time.
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

// now says what has become of a file, as cheaply as it can.
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

// notifyLosses reports what was lost to who watches, as long as it is not too much.
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

// Drop forgets a checkpoint whose command did not run.
func (c *Checkpoint) Drop() error {
	if c.pending == nil {
		return nil
	}
	err := c.pending.Abort()
	c.pending = nil
	return err
}

// Changed lists the files that are gone or changed, once Settle has found out.
func (c *Checkpoint) Changed() []Lost { return c.lost }

// ID is that of the change set with which what was lost can be brought back;
// "" where nothing was, and before Settle.
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

func (l *leftovers) list() []string {
	if l.more > 0 {
		return append(slices.Clone(l.lines), fmt.Sprintf("and %d more", l.more))
	}
	return l.lines
}

// plainText is what a pattern says without its quotes.
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
