package custom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/script"
)

// How much is kept.
const (
	maxStored  = 64 << 20 // bytes of all entries
	staleAfter = 24 * time.Hour
)

// ending is how the name of an entry's file ends.
const ending = ".compiled"

// storeMark begins every entry. It changes with the form of entries.
const storeMark = "helve-custom-1\n"

// A store keeps compiled programs in a folder of the user's own. An entry is used only if it is
// complete and was made by this exact version from these exact files; any other entry is ignored.
type store struct {
	dir string
	log *slog.Logger

	limit    int64 // bytes of all entries; an entry may have half of it
	identity func() string

	once sync.Once
	ok   bool // the folder can be used
}

func newStore(dir string, log *slog.Logger) *store {
	return &store{dir: dir, log: log, limit: maxStored, identity: sync.OnceValue(newIdentity)}
}

// A base is what every engine begins with, compiled.
type base struct {
	prelude, driver []byte
}

// newBase finds it in the store, or compiles it.
func newBase(s *store) (*base, error) {
	key := hashTexts("base", s.identity())
	if parts, _, ok := s.get(key); ok && len(parts) == 2 {
		return &base{parts[0], parts[1]}, nil
	}
	b := &base{}
	var err error
	if b.prelude, err = script.Compile("prelude.js", script.Prelude()); err != nil {
		return nil, fmt.Errorf("compile the prelude: %w", err)
	}
	if b.driver, err = script.Compile("driver.js", script.DriverPart()); err != nil {
		return nil, fmt.Errorf("compile the driver: %w", err)
	}
	s.put(key, nil, b.prelude, b.driver)
	return b, nil
}

// compiled fills in the program of a build: from the store if its files are as they were, or made
// anew.
func (s *store) compiled(ctx context.Context, b *build) error {
	given, err := json.Marshal(b.opts)
	if err != nil {
		return fmt.Errorf("options of a bundle: %w", err)
	}
	key := hashTexts("program", s.identity(), string(given))
	if parts, head, ok := s.get(key); ok && len(parts) == 2 {
		kept := &bundle.Result{}
		if json.Unmarshal(head, kept) == nil && kept.Inputs.Fresh(b.opts) {
			b.result, b.parts, b.program = kept, parts[0], parts[1]
			return nil
		}
	}
	if b.result, err = bundle.Build(ctx, b.opts); err != nil {
		return err
	}
	if b.parts, err = script.Compile("parts.js", script.Parts(script.Uses(b.result.Code)...)); err != nil {
		return fmt.Errorf("compile the modules: %w", err)
	}
	if b.program, err = script.Compile(script.ProgramName, script.Program(b.result.Code)); err != nil {
		return fmt.Errorf("compile the program: %w", err)
	}
	head, err := json.Marshal(b.result)
	if err != nil {
		return fmt.Errorf("keep a bundle: %w", err)
	}
	s.put(key, head, b.parts, b.program)
	return nil
}

// newIdentity identifies this build of the program, and with it the engine, the compiler, and the
// modules that scripts find, without reading the binary. If it is "", nothing is cached.
func newIdentity() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	id := fmt.Sprint(storeMark, bundle.Version, runtime.GOOS, runtime.GOARCH, path, st.Size(), st.ModTime().UnixNano())
	if info, ok := debug.ReadBuildInfo(); ok {
		id += info.String()
	}
	return id
}

func hashTexts(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n", len(p))
		io.WriteString(h, p) //nolint:errcheck // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ensureDir makes the folder, and refuses one that others can write to.
func (s *store) ensureDir() bool {
	if s.dir == "" || s.identity() == "" {
		return false
	}
	s.once.Do(func() {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			s.log.Warn("nothing compiled is kept", "error", err)
			return
		}
		st, err := os.Lstat(s.dir)
		if err != nil || !st.IsDir() || runtime.GOOS != "windows" && st.Mode().Perm()&0o022 != 0 {
			s.log.Warn("nothing compiled is kept: others can write to the folder", "folder", s.dir)
			return
		}
		s.ok = true
	})
	return s.ok
}

// A label is the line of JSON in an entry. An entry consists of a magic number, a checksum of all
// that follows, the label with the entry's name and the lengths of its parts, and the parts, the
// first of which is the head.
type label struct {
	Key   string
	Sizes []int
}

func (s *store) file(key string) string { return filepath.Join(s.dir, key+ending) }

// get reads an entry. One that is damaged, or another's, is not there.
func (s *store) get(key string) (parts [][]byte, head []byte, ok bool) {
	if !s.ensureDir() {
		return nil, nil, false
	}
	path := s.file(key)
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > s.limit/2 {
		return nil, nil, false
	}
	data, err := disk.ReadSmall(path, s.limit/2)
	if err != nil {
		return nil, nil, false
	}
	parts, ok = readEntry(key, data)
	if !ok {
		s.log.Info("a compiled program is damaged and made anew", "file", path)
		return nil, nil, false
	}
	if now := time.Now(); now.Sub(st.ModTime()) > staleAfter {
		if err := os.Chtimes(path, now, now); err != nil { // it only goes sooner
			s.log.Debug("a compiled program keeps its time", "error", err)
		}
	}
	return parts[1:], parts[0], true
}

// pack makes an entry.
func pack(key string, parts [][]byte) ([]byte, error) {
	l := label{Key: key}
	for _, p := range parts {
		l.Sizes = append(l.Sizes, len(p))
	}
	line, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("label: %w", err)
	}
	body := append(line, '\n')
	for _, p := range parts {
		body = append(body, p...)
	}
	sum := sha256.Sum256(body)
	return slices.Concat([]byte(storeMark), sum[:], body), nil
}

// readEntry reads an entry, if it is whole and the one that is looked for.
func readEntry(key string, data []byte) ([][]byte, bool) {
	data, ok := bytes.CutPrefix(data, []byte(storeMark))
	if !ok || len(data) < sha256.Size {
		return nil, false
	}
	body := data[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil, false
	}
	line, rest, ok := bytes.Cut(body, []byte("\n"))
	var l label
	if !ok || json.Unmarshal(line, &l) != nil || l.Key != key || len(l.Sizes) == 0 {
		return nil, false
	}
	var parts [][]byte
	for _, n := range l.Sizes {
		if n < 0 || n > len(rest) {
			return nil, false
		}
		parts = append(parts, rest[:n:n])
		rest = rest[n:]
	}
	return parts, len(rest) == 0
}

// put writes an entry, all or nothing, and removes others to make space.
func (s *store) put(key string, head []byte, parts ...[]byte) {
	if !s.ensureDir() {
		return
	}
	err := func() error {
		data, err := pack(key, slices.Concat([][]byte{head}, parts))
		if err != nil || int64(len(data)) > s.limit/2 {
			return err
		}
		if err := disk.ReplaceSmall(s.file(key), data, false); err != nil { // what a power cut damages is made anew
			return err
		}
		return s.trim(s.file(key))
	}()
	if err != nil {
		s.log.Warn("a compiled program is not kept", "error", err)
	}
}

// trim removes the oldest entries until the rest fits.
func (s *store) trim(keep string) error {
	all, err := s.kept()
	if err != nil {
		return err
	}
	total := int64(0)
	for _, st := range all {
		total += st.Size()
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, st := range all {
		if total <= s.limit {
			break
		}
		path := filepath.Join(s.dir, st.Name())
		if path == keep {
			continue
		}
		if err := remove(path); err != nil {
			return err
		}
		total -= st.Size()
	}
	return nil
}

// kept are the entries there are. What a process left half written some time ago is removed.
func (s *store) kept() (all []fs.FileInfo, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		st, err := e.Info()
		switch {
		case err != nil || !st.Mode().IsRegular():
		case filepath.Ext(e.Name()) == ending:
			all = append(all, st)
		case disk.Unplaced(e.Name()) && time.Since(st.ModTime()) > time.Hour:
			if err := remove(filepath.Join(s.dir, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// remove takes a file away that may be gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
