package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/helve-dev/helve/internal/disk"
)

// maxTrustFile limits the size of the trust file.
const maxTrustFile = 16 << 20

// trustRecord is the trust file.
type trustRecord struct {
	Version int                   `json:"version"`
	Trusted map[string]trustEntry `json:"trusted"` // by absolute path
}

type trustEntry struct {
	Hash string    `json:"sha256"`
	Time time.Time `json:"time"`

	// Files are the hashes of the single files, to show which have changed. They decide nothing,
	// and are left out if there are very many.
	Files map[string]string `json:"files,omitempty"`
}

// maxTrustFiles limits the files that are stored for one entry.
const maxTrustFiles = 500

// entryOf returns what is stored about a trusted source.
func entryOf(s Source) trustEntry {
	e := trustEntry{Hash: s.Hash, Time: time.Now().UTC().Truncate(time.Microsecond)}
	if len(s.Files) > maxTrustFiles {
		return e
	}
	for _, f := range s.Files {
		if f.State == "gone" {
			continue
		}
		if e.Files == nil {
			e.Files = map[string]string{}
		}
		e.Files[f.Path] = f.Hash
	}
	return e
}

// compared compares files with those that were trusted; missing files come last.
func (l *loader) compared(path string, files []TrustFile) []TrustFile {
	if !l.hashAll {
		return nil
	}
	had := maps.Clone(l.trustedPaths()[path].Files)
	if had == nil {
		return files
	}
	for i, f := range files {
		switch was, ok := had[f.Path]; {
		case !ok:
			files[i].State = "new"
		case was != f.Hash:
			files[i].State = "changed"
		}
		delete(had, f.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		files = append(files, TrustFile{Path: name, Hash: had[name], State: "gone"})
	}
	return files
}

// Trust trusts files and folders of the project with the contents that were shown, as [TrustStatus]
// returned them. If something has changed since, Trust fails and does not trust it.
func Trust(opt Options, shown ...Source) error {
	now, err := TrustStatus(opt)
	if err != nil {
		return err
	}
	for _, s := range shown {
		i := slices.IndexFunc(now, func(o Source) bool { return o.Path == s.Path })
		switch {
		case i < 0:
			return fmt.Errorf("trusting %s: it is not part of the config of this project", s.Path)
		case s.Hash == "":
			return fmt.Errorf("trusting %s: its contents cannot be read in full", s.Path)
		case now[i].Hash != s.Hash:
			return fmt.Errorf("trusting %s: it has changed since it was shown; look at it again", s.Path)
		}
	}
	return updateTrust(opt.TrustFile, func(trusted map[string]trustEntry) {
		for _, s := range shown {
			i := slices.IndexFunc(now, func(o Source) bool { return o.Path == s.Path })
			trusted[s.Path] = entryOf(now[i])
		}
	})
}

// Untrust removes the trust in files and folders, even missing ones, and returns the paths that
// were trusted. Without files it removes the trust in everything below the worktree and everything
// else that belongs to the project.
func Untrust(opt Options, files ...string) ([]string, error) {
	l, err := newLoader(opt)
	if err != nil {
		return nil, err
	}
	var match func(path string) bool
	if len(files) > 0 {
		var paths []string
		for _, f := range files {
			paths = append(paths, absFrom(opt.Dir, f))
		}
		match = func(path string) bool { return slices.Contains(paths, path) }
	} else {
		levels := l.levels()
		below := l.opt.Worktree
		if filepath.Dir(below) == below { // no worktree: not the whole disk
			below = l.opt.Dir
		}
		match = func(path string) bool {
			dir := filepath.Dir(path)
			return slices.Contains(levels, dir) || slices.Contains(levels, filepath.Dir(dir)) ||
				strings.HasPrefix(path, below+string(filepath.Separator))
		}
	}
	var gone []string
	err = updateTrust(opt.TrustFile, func(trusted map[string]trustEntry) {
		for path := range trusted {
			if match(path) {
				gone = append(gone, path)
				delete(trusted, path)
			}
		}
	})
	slices.Sort(gone)
	return gone, err
}

// TrustStatus lists the sources that belong to the project and whether they are trusted.
func TrustStatus(opt Options) ([]Source, error) {
	l, err := newLoader(opt)
	if err != nil {
		return nil, err
	}
	l.hashAll = true
	l.load()
	all := slices.DeleteFunc(l.cfg.Sources, func(s Source) bool { return !s.Guarded })
	return append(all, l.sharedSkills()...), nil
}

// IsSharedSkills reports whether a path is a folder of skills that other agents read too: it needs
// trust like a config folder, but is none.
func IsSharedSkills(path string) bool {
	of := filepath.Base(filepath.Dir(path))
	return filepath.Base(path) == "skills" && (of == ".claude" || of == ".agents")
}

// sharedSkills lists those folders of the project.
func (l *loader) sharedSkills() (all []Source) {
	if l.flag("DISABLE_PROJECT_CONFIG") {
		return nil
	}
	for _, dir := range l.levels() {
		if l.opt.Home != "" && dir == filepath.Clean(l.opt.Home) {
			continue // those are the user's
		}
		for _, of := range []string{".claude", ".agents"} {
			s := Source{Path: filepath.Join(dir, of, "skills"), Kind: ofFolder, Guarded: true}
			if info, err := os.Stat(s.Path); err != nil || !info.IsDir() {
				continue
			}
			w := walker{root: s.Path, keep: func(string, []byte) {}, list: true}
			hash, err := w.hashFiles()
			if err == nil { // else it is listed, and trusting it says so
				s.Hash = hash
			}
			s.Trusted, s.Changed = l.trusted(s.Path, s.Hash)
			s.Files = l.compared(s.Path, w.listed)
			all = append(all, s)
		}
	}
	return all
}

func absFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// trusted looks up whether a path is trusted with the contents it has.
func (l *loader) trusted(path, hash string) (trusted, changed bool) {
	e, ok := l.trustedPaths()[path]
	if !ok {
		return false, false
	}
	return hash != "" && e.Hash == hash, hash == "" || e.Hash != hash
}

// needsHash reports whether the hash of a guarded path matters.
func (l *loader) needsHash(path string) bool {
	_, ok := l.trustedPaths()[path]
	return ok || l.hashAll
}

func (l *loader) trustedPaths() map[string]trustEntry {
	if l.trust != nil {
		return l.trust
	}
	l.trust = map[string]trustEntry{}
	if l.opt.TrustFile == "" {
		return l.trust
	}
	rec, err := readTrust(l.opt.TrustFile)
	if err != nil { // nothing is trusted then
		l.addProblem(&input{path: l.opt.TrustFile}, 0, Problem{Message: err.Error(), Severity: Error})
		return l.trust
	}
	l.trust = rec.Trusted
	return l.trust
}

// readTrust reads the trust file; a missing one is an empty one.
func readTrust(path string) (trustRecord, error) {
	rec := trustRecord{Version: 1, Trusted: map[string]trustEntry{}}
	data, err := readRegular(path, maxTrustFile)
	if absent(err) {
		return rec, nil
	}
	if err != nil {
		return rec, fmt.Errorf("reading the trust file: %s", plainError(err))
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode()&0o022 != 0 {
		return rec, errors.New("reading the trust file: others may write to it; set its mode to 0600")
	}
	var got trustRecord
	if err := json.Unmarshal(data, &got); err != nil {
		return rec, fmt.Errorf("reading the trust file: %w", err)
	}
	if got.Version != 1 {
		return rec, fmt.Errorf("reading the trust file: version %d is not known", got.Version)
	}
	if got.Trusted != nil {
		rec.Trusted = got.Trusted
	}
	return rec, nil
}

// updateTrust changes the trust file under a lock, so that concurrent writers lose nothing, and
// replaces it atomically.
func updateTrust(path string, change func(map[string]trustEntry)) error {
	if path == "" {
		return errors.New("changing the trust file: no place for it is known")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("changing the trust file: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return fmt.Errorf("locking the trust file: %w", err)
	}
	defer lock.Close()
	rec, err := readTrust(path)
	if err != nil {
		return err
	}
	change(rec.Trusted)
	data, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the trust file: %w", err)
	}
	if err := disk.ReplaceSmall(path, append(data, '\n'), true); err != nil {
		return fmt.Errorf("writing the trust file: %w", err)
	}
	return nil
}
