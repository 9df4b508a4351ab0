package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/helve-dev/helve/internal/disk"
)

const (
	// A restoration works in steps of limited files and bytes, which bounds its memory and its
	// handles. Each step is done completely or not at all.
	stepFiles = 500
	stepBytes = 64 << 20
	// maxTemps is how many temporary files are noted, to be removed after a
	// crash.
	maxTemps = 5000
)

// A restoration carries out an UndoPlan.
type restoration struct {
	files   *Workspace
	by      By
	items   []UndoItem // sorted by path
	parts   []string   // of the names of temporary files, one for each item
	touched bool       // something has been changed
	told    int
}

// restore carries out a plan and records it as a change of its own. The caller has locked the
// files.
func (f *Workspace) restore(ctx context.Context, by By, plan UndoPlan) (id string, err error) {
	r := &restoration{files: f, by: by}
	for _, item := range plan.Items {
		switch item.State {
		case UndoRestore, UndoRemove, UndoCreate:
			r.items = append(r.items, item)
		}
	}
	if len(r.items) == 0 {
		return "", nil
	}
	pending, err := r.keepReplaced()
	if err != nil {
		return "", err
	}
	err = r.run(ctx)
	if err != nil && !r.touched {
		return "", errors.Join(err, pending.Abort())
	}
	return r.recordResult(pending, err)
}

// keepReplaced keeps what will be replaced.
func (r *restoration) keepReplaced() (*PendingSet, error) {
	f := r.files
	set := ChangeSet{By: r.by, Project: f.Project}
	k := f.History.Keep(1 << 62)
	var temps []string
	for i := range r.items {
		item := &r.items[i]
		if item.Now.Exists {
			if err := keepNow(k, item); err != nil && !errors.Is(err, ErrNoRoom) {
				k.Drop()
				return nil, fmt.Errorf("keeping what %s holds: %w", item.Path, err)
			}
		}
		set.Changes = append(set.Changes, KeptChange{Path: item.Path, Title: item.Title, Before: item.Now, After: item.Want})
		random := make([]byte, 8)
		_, _ = rand.Read(random) // never fails
		r.parts = append(r.parts, hex.EncodeToString(random))
		if len(temps) < maxTemps && !item.Want.Mode.IsDir() {
			temps = append(temps, tempBeside(item.Path, r.parts[i]))
		}
	}
	return k.Begin(set, temps)
}

func tempBeside(path, part string) string {
	return filepath.Join(filepath.Dir(path), ".helve-"+part+".tmp")
}

// keepNow stores the current content, which must be the one that the plan was made for.
func keepNow(k *Backup, item *UndoItem) error {
	var got KeptContent
	var err error
	switch item.Now.Mode.Type() {
	case fs.ModeDir:
		got, err = k.Add(strings.NewReader(""), 0)
	case fs.ModeSymlink:
		var to string
		if to, err = os.Readlink(item.Path); err == nil {
			got, err = k.Add(strings.NewReader(to), int64(len(to)))
		}
	default:
		var file *os.File
		if file, err = disk.Open(item.Path, os.O_RDONLY|syscall.O_NONBLOCK); err != nil {
			return err
		}
		defer file.Close()
		got, err = k.Add(file, item.Now.Size)
	}
	if err == nil && got.Hash != item.Now.Hash {
		err = disk.ErrChanged
	}
	return err
}

// run makes the changes: first it removes what is in the way, then it creates folders, files and
// links; last it removes folders and sets modes.
func (r *restoration) run(ctx context.Context) error {
	for _, item := range r.items {
		if r.inTheWay(item) {
			if err := r.rooted(item.Path, func(dir *os.Root, base string) error { return dir.Remove(base) }); err != nil {
				return err
			}
			r.touched = true
		}
	}
	for _, item := range r.items {
		if item.Want.Exists && item.Want.Mode.IsDir() {
			if err := r.makeFolder(item.Path); err != nil {
				return err
			}
		}
	}
	if err := r.regular(ctx); err != nil {
		return err
	}
	var errs []error
	for i, item := range r.items {
		if item.Want.Exists && item.Want.Mode&fs.ModeSymlink != 0 {
			errs = append(errs, r.placeLink(item, r.parts[i]))
		}
	}
	for _, item := range slices.Backward(r.items) { // what is deeper first
		errs = append(errs, r.setModes(item))
	}
	return errors.Join(errs...)
}

// inTheWay reports whether something has to be removed first because something of another type, or
// nothing, is wanted there.
func (r *restoration) inTheWay(item UndoItem) bool {
	now, want := item.Now, item.Want
	switch {
	case !now.Exists || want.Exists && now.Mode.Type() == want.Mode.Type():
		return false
	case !want.Exists:
		return now.Mode&fs.ModeSymlink != 0
	case now.Mode.IsRegular():
		return want.Mode.IsDir() // a link takes the place of a file in one step
	}
	return true
}

// rooted calls do with the folder that contains a name, reached without links.
func (r *restoration) rooted(path string, do func(dir *os.Root, base string) error) error {
	name, base := filepath.Split(path)
	name = filepath.Clean(name)
	handle, err := disk.Open(name, os.O_RDONLY|dirFlag)
	if err != nil {
		return err
	}
	defer handle.Close()
	dir, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	mine, err := handle.Stat()
	if err != nil {
		return err
	}
	theirs, err := dir.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(mine, theirs) {
		return &fs.PathError{Op: "open", Path: name, Err: disk.ErrChanged}
	}
	return do(dir, base)
}

// makeFolder creates a folder and its missing parents. It stays writable until the end.
func (r *restoration) makeFolder(path string) error {
	state, err := disk.Look(path)
	switch {
	case err != nil:
		return err
	case state.Exists && state.Mode.IsDir():
		return nil
	case state.Exists:
		return &fs.PathError{Op: "mkdir", Path: path, Err: disk.ErrChanged}
	}
	if err := r.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	r.touched = true
	return r.rooted(path, func(dir *os.Root, base string) error { return dir.Mkdir(base, 0o777) })
}

// placeLink puts a link in its place.
func (r *restoration) placeLink(item UndoItem, part string) error {
	to, err := r.files.History.Content(item.Want.Hash)
	if err != nil {
		return fmt.Errorf("reading where %s led: %w", item.Path, err)
	}
	if err := r.makeFolder(filepath.Dir(item.Path)); err != nil {
		return err
	}
	r.touched = true
	return r.rooted(item.Path, func(dir *os.Root, base string) error {
		if now, err := dir.Lstat(base); errors.Is(err, fs.ErrNotExist) {
			return dir.Symlink(string(to), base)
		} else if err != nil || now.IsDir() {
			return cmp.Or(err, error(&fs.PathError{Op: "symlink", Path: item.Path, Err: disk.ErrChanged}))
		}
		temp := filepath.Base(tempBeside(item.Path, part))
		if err := dir.Symlink(string(to), temp); err != nil {
			return err
		}
		return dir.Rename(temp, base)
	})
}

// setModes sets missing modes, and removes folders. A folder that somebody has put something into
// stays.
func (r *restoration) setModes(item UndoItem) error {
	now, want := item.Now, item.Want
	switch {
	case now.Exists && now.Mode.IsDir() && !want.Exists:
		err := r.rooted(item.Path, func(dir *os.Root, base string) error { return dir.Remove(base) })
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		r.touched = true
		return err
	case !want.Exists || want.Mode&fs.ModeSymlink != 0:
		return nil
	case want.Mode.IsDir(), want.Mode.Perm() == 0, r.onlyMode(item):
		r.touched = true
		return r.rooted(item.Path, func(dir *os.Root, base string) error { return dir.Chmod(base, want.Mode.Perm()) })
	}
	return nil
}

// onlyMode reports whether a file already has the wanted content.
func (r *restoration) onlyMode(item UndoItem) bool {
	return item.Now.Exists && item.Want.Exists && item.Now.Hash == item.Want.Hash && item.Now.Mode.Type() == item.Want.Mode.Type()
}

// regular writes and removes plain files, step by step.
func (r *restoration) regular(ctx context.Context) error {
	var step []int
	size := int64(0)
	for i, item := range r.items {
		if !r.isRegularFile(item) {
			continue
		}
		n := item.Want.Size + item.Now.Size
		if len(step) > 0 && (len(step) == stepFiles || size+n > stepBytes) {
			if err := r.applyStep(ctx, step); err != nil {
				return err
			}
			step, size = nil, 0
		}
		step, size = append(step, i), size+n
	}
	return r.applyStep(ctx, step)
}

// isRegularFile reports whether a regular file is written or removed.
func (r *restoration) isRegularFile(item UndoItem) bool {
	if item.Want.Exists {
		return item.Want.Mode.IsRegular() && !r.onlyMode(item)
	}
	return item.Now.Exists && item.Now.Mode.IsRegular()
}

// applyStep changes some files, all or none of them.
func (r *restoration) applyStep(ctx context.Context, step []int) error {
	if len(step) == 0 {
		return nil
	}
	writes := make([]disk.Change, 0, len(step))
	parts := make([]string, 0, len(step))
	for _, i := range step {
		w, err := r.write(r.items[i])
		if err != nil {
			return err
		}
		writes, parts = append(writes, w), append(parts, r.parts[i])
	}
	opt := r.files.diskOptions()
	opt.Temp = func() string {
		if len(parts) == 0 {
			return rand.Text()
		}
		part := parts[0]
		parts = parts[1:]
		return part
	}
	err := disk.Commit(ctx, writes, opt)
	r.touched = r.touched || err == nil
	return err
}

// write is the change of one file.
func (r *restoration) write(item UndoItem) (disk.Change, error) {
	w := disk.Change{Name: item.Path, Remove: !item.Want.Exists, Mode: cmp.Or(item.Want.Mode.Perm(), 0o600)}
	if item.Now.Exists && item.Now.Mode.IsRegular() {
		var err error
		if w.WasData, w.Was, err = disk.Read(item.Path, MaxEdit); err != nil {
			return w, err
		}
		if HashOf(w.WasData) != item.Now.Hash {
			return w, &fs.PathError{Op: "restore", Path: item.Path, Err: disk.ErrChanged}
		}
		w.SetMode = item.Want.Exists && item.Want.Mode.Perm() != w.Was.Mode.Perm()
	}
	if item.Want.Exists {
		data, err := r.files.History.Content(item.Want.Hash)
		if err != nil {
			return w, fmt.Errorf("reading what %s held: %w", item.Path, err)
		}
		w.Data = data
	}
	return w, nil
}

// recordResult records what has been done, also where not all of it was.
func (r *restoration) recordResult(pending *PendingSet, failed error) (string, error) {
	f := r.files
	after := map[string]KeptContent{}
	errs := []error{failed}
	for _, item := range r.items {
		now, err := look(item.Path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		after[item.Path] = now
		r.notifyRestored(item, now)
		if !now.Exists || !now.Mode.IsRegular() {
			continue
		}
		p := Path{abs: item.Path, real: item.Path, shown: f.relativeTitle(r.by.Dir, item.Path), dir: r.by.Dir}
		if r.by.Session != "" {
			f.MarkRead(r.by.Session, p, ReadMark{Hash: now.Hash, When: f.now()})
		}
		if item.Now.Exists {
			errs = append(errs, f.turned(item.Path, item.Now.Hash, now.Hash))
		}
	}
	errs = append(errs, pending.Done(after))
	return pending.Set().ID, errors.Join(errs...)
}

func (r *restoration) notifyRestored(item UndoItem, now KeptContent) {
	const most = 1000
	if r.told++; r.files.OnChange == nil || r.told > most || now.Is(item.Now) || now.Mode.IsDir() || item.Now.Mode.IsDir() {
		return
	}
	event := "change"
	switch {
	case !now.Exists:
		event = "unlink"
	case !item.Now.Exists:
		event = "add"
	}
	r.files.OnChange(Changed{Session: r.by.Session, Call: r.by.Call, File: item.Path, Event: event})
}
