package agentconfig

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/helve-dev/helve/internal/disk"
)

// The size limits of an edited file. Parsing takes many times the size, and a project's files may
// come from anyone.
const (
	maxFile    = 16 << 20
	maxProject = 2 << 20
	maxTOML    = 1 << 20
)

// A Plan is a change of one file that has not been made yet.
type Plan struct {
	Path   string // of the file, as the client names it
	Target string // the file that is written: Path, with symbolic links followed
	Before []byte // its contents, nil if there is no file
	After  []byte // what it shall hold
	Exists bool
	Same   bool     // nothing is to be done
	Delete bool     // the file goes
	Notes  []string // what else to know or do

	file target
}

// A target is a config file as a request names it.
type target struct {
	path    string
	within  string // a folder that symbolic links must not lead out of; "" = none
	toml    bool
	mode    fs.FileMode // of a new file
	dirMode fs.FileMode // of new folders
}

// plan reads the file, edits it and returns the result.
func (c *change) plan(edit func(text) (text, error)) (Plan, error) {
	refuse := func(reason string, err error) (Plan, error) {
		return Plan{}, &Refusal{Path: c.path, Reason: reason, Add: c.hand, Err: err}
	}
	p := Plan{Path: c.path, file: c.target}
	var err error
	if p.Target, err = c.resolve(); err != nil {
		return refuse(err.Error(), err)
	}
	before, err := readRegular(p.Target, c.sizeLimit())
	switch {
	case err == nil:
		p.Before, p.Exists = before, true
	case !errors.Is(err, fs.ErrNotExist):
		return refuse(err.Error(), err)
	}
	old, err := parse(before, c.toml)
	if err != nil {
		return refuse(err.Error(), err)
	}
	now, err := edit(old)
	if err != nil {
		return refuse(err.Error(), err)
	}
	if p.After = now.bytes(); p.After == nil {
		p.Delete, p.Same = p.Exists, !p.Exists
	} else if p.Same = p.Exists && bytes.Equal(p.Before, p.After); !p.Same && p.Exists {
		if info, err := os.Stat(p.Target); err == nil && info.Mode().Perm()&0o200 == 0 {
			return refuse("the file is read-only", fs.ErrPermission)
		}
	}
	if !p.Same {
		p.Notes = c.notes
	}
	if now.off(c.entry) {
		p.Notes = append(p.Notes, fmt.Sprintf("the entry %s is switched off in %s", c.entry.name, c.path))
	}
	return p, nil
}

// parse reads the contents of a file; nil is a file that is not there.
func parse(data []byte, toml bool) (text, error) {
	if toml {
		return parseTOML(data)
	}
	return parseJSON(data)
}

// resolve follows symbolic links to the file to write, which need not exist.
func (f target) resolve() (string, error) {
	target, err := followLinks(f.path)
	if err != nil || f.within == "" {
		return target, err
	}
	root, err := filepath.EvalSymlinks(f.within)
	if err != nil {
		return "", err
	}
	if !disk.Within(root, target) {
		return "", fmt.Errorf("a symbolic link leads out of the project, to %s", target)
	}
	return target, nil
}

func followLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			return "", err
		}
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a symbolic link to something that is not there", at)
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

func (f target) sizeLimit() int64 {
	switch {
	case f.toml:
		return maxTOML
	case f.within != "":
		return maxProject
	}
	return maxFile
}

// readRegular reads a file that must be a regular one of bounded size.
func readRegular(path string, limit int64) ([]byte, error) {
	data, err := disk.ReadSmall(path, limit)
	switch {
	case errors.Is(err, disk.ErrNotRegular):
		return nil, fmt.Errorf("%s is not a regular file", path)
	case errors.Is(err, disk.ErrTooLarge):
		return nil, fmt.Errorf("%s is larger than %d MiB", path, limit>>20)
	}
	return data, err
}

// Apply makes the change. The new file takes the place of the old one in one
// step, with its permissions and owner; other hard links to the old file keep
// the old contents. No copy is kept: an edit is small, and the file may hold
// secrets. It fails with [ErrChanged] if the file is not any more what it was
// when the plan was made.
func (p Plan) Apply() error {
	if p.Same {
		return nil
	}
	if err := p.apply(); err != nil {
		return fmt.Errorf("config file %s: %w", p.Path, err)
	}
	return nil
}

func (p Plan) apply() error {
	dir := filepath.Dir(p.Target)
	if !p.Delete {
		if err := os.MkdirAll(dir, p.file.dirMode); err != nil {
			return err
		}
	}
	release, err := lockFolder(dir)
	if err != nil {
		return err
	}
	defer release()
	if err := p.unchanged(); err != nil {
		return err
	}
	if p.Delete {
		return os.Remove(p.Target)
	}
	temp, err := p.stage(dir)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // after a rename there is none
	if err := p.unchanged(); err != nil {
		return err
	}
	if !p.Exists {
		switch err := os.Link(temp, p.Target); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return ErrChanged
		} // no hard links here
	}
	return os.Rename(temp, p.Target)
}

// unchanged makes sure that the file is what it was when the plan was made.
func (p Plan) unchanged() error {
	target, err := p.file.resolve()
	if err != nil {
		return err
	}
	if target != p.Target {
		return fmt.Errorf("%w: it is %s now", ErrChanged, target)
	}
	data, err := readRegular(p.Target, p.file.sizeLimit())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if p.Exists {
			return fmt.Errorf("%w: it is gone", ErrChanged)
		}
		return nil
	case err != nil:
		return err
	case !p.Exists || !bytes.Equal(data, p.Before):
		return ErrChanged
	}
	return nil
}

// stage writes the new contents to a file beside the old one.
func (p Plan) stage(dir string) (name string, err error) {
	name = filepath.Join(dir, "."+filepath.Base(p.Target)+"."+rand.Text()+".tmp")
	mode := p.file.mode
	var old fs.FileInfo
	if p.Exists {
		if old, err = os.Stat(p.Target); err != nil {
			return "", err
		}
		mode = 0o600 // until it has its owner
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(name)
		}
	}()
	if _, err = f.Write(p.After); err == nil && old != nil {
		if err = keepOwner(f, old); err == nil {
			err = f.Chmod(old.Mode().Perm())
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return name, errors.Join(err, f.Close())
}

// lockFolder keeps other processes that go through here out of a folder while
// a file in it is replaced. The folder itself is locked, so that no lock file
// is left in a place that is not ours. Where that is not possible, comparing
// the contents has to do.
func lockFolder(dir string) (release func(), err error) {
	if runtime.GOOS == "windows" {
		return func() {}, nil
	}
	lock := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another process has locked %s", dir)
	}
	if !ok || err != nil {
		return func() {}, nil
	}
	return func() { _ = lock.Close() }, nil
}
