package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// racy is how much older than a build a file's time must be to be believed:
// one written just before may be written again within the clock's grain.
const racy = 2 * time.Second

// A Fingerprint records all inputs of a result, from which Fresh determines whether Build would
// return the same again. It is plain data, for a cache.
type Fingerprint struct {
	// Options is a hash of the options, virtual modules and limits included.
	Options string
	// Taken is when the build began.
	Taken time.Time
	// Files are those that were read, settings of packages included.
	Files []FileMark
	// Folders are those in which imported names were looked up.
	Folders []FolderMark
	// Absent are paths that were looked for and not there.
	Absent []string
	// Links are the files of the options that lead elsewhere, and where to;
	// nowhere is empty.
	Links map[string]string
	// Unsure is set if some of the inputs are unknown.
	Unsure bool
}

// A FileMark is the recorded state of a file. Sum is empty if it could not be read.
type FileMark struct {
	Path string
	Size int64
	Time time.Time
	Sum  string
}

// A FolderMark is what a folder had under some names, whatever the ending.
type FolderMark struct {
	Path  string
	Time  time.Time
	Names []string
	Sum   string
}

// Fresh reports whether Build would give the same result. It compiles
// nothing, and reads files only if their size or time says they may differ.
func (f *Fingerprint) Fresh(o Options) bool {
	o, err := o.checked()
	if err != nil || f.Unsure || f.Options != o.key() {
		return false
	}
	for _, m := range f.Files {
		if !m.unchangedSince(f.Taken) {
			return false
		}
	}
	for _, m := range f.Folders {
		if !m.unchangedSince(f.Taken) {
			return false
		}
	}
	for _, path := range f.Absent {
		if _, err := os.Lstat(path); err == nil {
			return false
		}
	}
	for _, name := range o.Files {
		path, now := resolvePath(o.Root, name)
		if then, ok := f.Links[name]; ok && then != now || !ok && now != path {
			return false
		}
	}
	return true
}

// resolvePath gives the path of a file, and where it leads: itself, elsewhere
// or nowhere, which is empty.
func resolvePath(root, name string) (path, real string) {
	path = filepath.Join(root, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, ""
	}
	return path, real
}

// key is a hash of the options.
func (o Options) key() string {
	data, err := json.Marshal(struct {
		Version int
		Options Options
	}{Version, o})
	if err != nil { // strings and numbers always have a JSON form
		panic(err)
	}
	return hashOf(data)
}

func hashOf(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func (m FileMark) unchangedSince(taken time.Time) bool {
	st, err := os.Stat(m.Path)
	if err != nil {
		return false
	}
	if st.Size() == m.Size && st.ModTime().Equal(m.Time) && taken.Sub(m.Time) > racy {
		return true
	}
	if m.Sum == "" || st.Size() != m.Size {
		return false
	}
	now := readSource(m.Path, m.Size)
	return now.err == nil && now.sum == m.Sum
}

func (m FolderMark) unchangedSince(taken time.Time) bool {
	st, err := os.Stat(m.Path)
	if err == nil && st.ModTime().Equal(m.Time) && taken.Sub(m.Time) > racy {
		return true
	}
	return listing(m.Path, m.Names) == m.Sum
}

// listing is a hash of what a folder has under some names.
func listing(dir string, names []string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		if _, found := slices.BinarySearch(names, stem(e.Name())); !found {
			continue
		}
		b.WriteString(strconv.Quote(e.Name()) + e.Type().String())
		if e.Type()&fs.ModeSymlink != 0 {
			if real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name())); err == nil {
				b.WriteString(strconv.Quote(real))
			}
		}
	}
	return hashOf([]byte(b.String()))
}

// stem is a name without its endings.
func stem(name string) string {
	if len(name) > 1 {
		if at := strings.IndexByte(name[1:], '.'); at >= 0 {
			return name[:at+1]
		}
	}
	return name
}

// fingerprint collects what the session read and looked for.
func (s *buildSession) fingerprint() Fingerprint {
	f := Fingerprint{Options: s.o.key(), Taken: s.began, Links: map[string]string{}}
	w := &witness{files: map[string]FileMark{}, folders: map[string]map[string]bool{}, absent: map[string]bool{}, dirs: map[string]bool{}}
	for path, src := range s.sources {
		switch {
		case src.sum != "":
			w.files[path] = FileMark{path, src.size, src.time, src.sum}
		case errors.Is(src.err, errSlow):
			f.Unsure = true // to look again would take as long
		case s.reach.mayRead(path):
			w.file(path)
		}
		w.settings(filepath.Dir(path))
	}
	for _, name := range s.o.Files {
		path, real := resolvePath(s.o.Root, name)
		w.settings(filepath.Dir(path))
		if real != path {
			f.Links[name] = real
		}
	}
	for l := range s.looked {
		w.lookup(filepath.Dir(l.importer), l.spec)
	}
	f.Unsure = f.Unsure || w.paths && len(s.losses) > 0
	for _, m := range w.files {
		f.Files = append(f.Files, m)
	}
	slices.SortFunc(f.Files, func(a, b FileMark) int { return strings.Compare(a.Path, b.Path) })
	for dir, set := range w.folders {
		m := FolderMark{Path: dir}
		for name := range set {
			m.Names = append(m.Names, name)
		}
		slices.Sort(m.Names)
		if st, err := os.Stat(dir); err == nil {
			m.Time = st.ModTime()
		}
		m.Sum = listing(dir, m.Names)
		f.Folders = append(f.Folders, m)
	}
	slices.SortFunc(f.Folders, func(a, b FolderMark) int { return strings.Compare(a.Path, b.Path) })
	for path := range w.absent {
		f.Absent = append(f.Absent, path)
	}
	slices.Sort(f.Absent)
	return f
}

// A witness gathers marks, each place once.
type witness struct {
	files   map[string]FileMark
	folders map[string]map[string]bool
	absent  map[string]bool
	dirs    map[string]bool
	paths   bool // a tsconfig gives imports other places
}

// file marks a file that was read, or would have been.
func (w *witness) file(path string) *sourceFile {
	if _, known := w.files[path]; known || w.absent[path] {
		return nil
	}
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		w.absent[path] = true
		return nil
	}
	if err != nil {
		return nil
	}
	src := readSource(path, 4<<20)
	w.files[path] = FileMark{path, st.Size(), st.ModTime(), src.sum}
	return src
}

// settings records the settings that apply to a folder, there and above.
func (w *witness) settings(dir string) {
	for !w.dirs[dir] {
		w.dirs[dir] = true
		w.file(filepath.Join(dir, "package.json"))
		if !strings.Contains(filepath.ToSlash(dir)+"/", "/node_modules/") {
			w.tsconfig(filepath.Join(dir, "tsconfig.json"))
		}
		dir = filepath.Dir(dir)
	}
}

// tsconfig marks a tsconfig and those it extends.
func (w *witness) tsconfig(path string) {
	src := w.file(path)
	if src == nil || src.err != nil {
		return
	}
	if strings.Contains(src.raw, `"paths"`) || strings.Contains(src.raw, `"baseUrl"`) {
		w.paths = true
	}
	for _, base := range extended(src.raw) {
		if isRelative(base) {
			target := filepath.Join(filepath.Dir(path), filepath.FromSlash(base))
			if filepath.IsAbs(base) {
				target = base
			}
			w.tsconfig(target)
			w.tsconfig(target + ".json")
			continue
		}
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			target := filepath.Join(dir, "node_modules", filepath.FromSlash(base))
			w.tsconfig(target)
			w.tsconfig(target + ".json")
			w.tsconfig(filepath.Join(target, "tsconfig.json"))
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
}

// extended reads which others a tsconfig extends, one or more.
func extended(text string) (bases []string) {
	_, text, found := strings.Cut(text, `"extends"`)
	if !found {
		return nil
	}
	text = strings.TrimLeft(text, " \t\r\n:")
	end := strings.IndexAny(text, ",}")
	if strings.HasPrefix(text, "[") {
		end = strings.IndexByte(text, ']')
	}
	if end >= 0 {
		text = text[:end]
	}
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			bases = append(bases, part)
		}
	}
	return bases
}

// lookup marks the places an import was looked up in.
func (w *witness) lookup(dir, spec string) {
	spec, _, _ = strings.Cut(spec, "?")
	if isRelative(spec) {
		target := filepath.FromSlash(spec)
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		w.name(filepath.Dir(target), filepath.Base(target))
		if st, err := os.Stat(target); err == nil && st.IsDir() {
			w.name(target, "index")
			w.file(filepath.Join(target, "package.json"))
		}
		return
	}
	for ; ; dir = filepath.Dir(dir) {
		if filepath.Base(dir) != "node_modules" {
			home := filepath.Join(dir, "node_modules", filepath.FromSlash(packageOf(spec)))
			if _, err := os.Lstat(home); err != nil {
				w.absent[home] = true
			} else {
				w.name(filepath.Dir(home), filepath.Base(home))
				w.file(filepath.Join(home, "package.json"))
				return
			}
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

func (w *witness) name(dir, name string) {
	if w.folders[dir] == nil {
		w.folders[dir] = map[string]bool{}
	}
	w.folders[dir][stem(name)] = true
}
