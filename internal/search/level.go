package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxIgnoreFile is how much of an ignore file is read.
	maxIgnoreFile = 1 << 20
	// maxLive is how much text of ignore files may be in force at once. More
	// files are not read.
	maxLive = 4 << 20
)

var errTooMuch = errors.New("too many ignore rules are in force already")

// A level is the ignore files of one folder. A folder without any has no
// level of its own, but that of the folder above.
type level struct {
	up     *level
	end    int  // where in a path names relative to the folder begin
	repo   bool // the folder is the top of a repository
	inRepo bool // this folder or one above is
	size   int  // bytes of text read

	files [kinds]*rules
}

// The kinds of ignore files, the stronger first. From gitFile on they are
// git's own.
const (
	rgFile      = iota // .rgignore
	plainFile          // .ignore
	gitFile            // .gitignore
	excludeFile        // .git/info/exclude
	kinds
)

// judge asks the ignore files about the entry that the path names now. A file
// of a nearer folder goes before one of a folder above. All of one kind go
// before those of the next kind, and git's own are bounded by the repository.
func (w *walker) judge(l *level, base int, isDir bool) verdict {
	var said [kinds]verdict
	inRepo := l != nil && l.inRepo
	outside := !inRepo // of the innermost repository
	for ; l != nil && said[rgFile] == unnamed; l = l.up {
		for kind, rules := range l.files {
			if said[kind] == unnamed && (kind < gitFile || !outside) {
				said[kind] = rules.match(&w.machine, w.path[l.end:], base-l.end, isDir)
			}
		}
		outside = outside || l.repo
	}
	for _, v := range said {
		if v != unnamed {
			return v
		}
	}
	if inRepo {
		return w.global.match(&w.machine, w.path[w.dirAt:], base-w.dirAt, isDir)
	}
	return unnamed
}

// readLevel reads the ignore files of the folder that the path names now. The
// entries of the folder say which there are; nil means that it was not listed.
func (w *walker) readLevel(dir *folder, list []entry, above *level) *level {
	l := &level{up: above, end: len(w.path)}
	has := func(name string) entryKind {
		at, ok := slices.BinarySearchFunc(list, name, func(e entry, name string) int { return strings.Compare(e.name, name) })
		if !ok {
			return entryOther
		}
		return list[at].kind
	}
	read := func(name string) *rules {
		if list != nil && has(name) != entryFile {
			return nil
		}
		return w.readRules(l, func() (*os.File, error) { return dir.open(name) })
	}
	l.files = [kinds]*rules{rgFile: read(".rgignore"), plainFile: read(".ignore"), gitFile: read(".gitignore")}
	if list == nil || w.reader.repo {
		w.readRepo(dir, l)
	}
	if above != nil && above.inRepo {
		l.inRepo = true
	}
	if !l.repo && l.files == [kinds]*rules{} {
		w.live -= l.size
		return above
	}
	return l
}

// readRepo looks whether the folder is the top of a repository, and reads the
// exclude file of that.
func (w *walker) readRepo(dir *folder, l *level) {
	if !dir.exists(".git") {
		l.repo = dir.exists(".jj")
		l.inRepo = l.repo
		return
	}
	l.repo, l.inRepo = true, true
	l.files[excludeFile] = w.readRules(l, func() (*os.File, error) {
		return openExclude(dir, func() string { return filepath.Join(w.top, filepath.FromSlash(string(w.path[:l.end]))) })
	})
}

// openExclude opens the exclude file of a repository. In a linked worktree and
// in a submodule .git is a file that names the folder, maybe relative to where
// it is.
func openExclude(dir *folder, where func() string) (*os.File, error) {
	if f, err := dir.open(".git"); err == nil {
		text, err := readBounded(f, 4096)
		_ = f.Close()
		gitDir, ok := strings.CutPrefix(firstLine(text), "gitdir: ")
		if err != nil || !ok {
			return nil, fs.ErrNotExist
		}
		return openRegular(filepath.Join(commonDir(resolve(where(), gitDir)), "info", "exclude"))
	}
	gitDir, err := dir.sub(".git")
	if err != nil {
		return nil, errNotRegular
	}
	defer gitDir.close()
	info, err := gitDir.sub("info")
	if err != nil {
		return nil, errNotRegular
	}
	defer info.close()
	return info.open("exclude")
}

// commonDir is the folder that the worktrees of a repository share.
func commonDir(gitDir string) string {
	f, err := openRegular(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	defer func() { _ = f.Close() }()
	text, err := readBounded(f, 4096)
	if err != nil || firstLine(text) == "" {
		return gitDir
	}
	return resolve(gitDir, firstLine(text))
}

func resolve(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// readRules reads an ignore file. One that is not there has no rules.
func (w *walker) readRules(l *level, open func() (*os.File, error)) *rules {
	f, err := open()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotRegular) {
			w.fail(err)
		}
		return nil
	}
	defer func() { _ = f.Close() }()
	if w.live >= maxLive {
		w.fail(errTooMuch)
		return nil
	}
	text, err := readBounded(f, maxIgnoreFile)
	if err != nil {
		w.fail(err)
		return nil
	}
	l.size += len(text)
	w.live += len(text)
	return parseRules(text)
}

// readGlobal reads the user's own excludes file.
func (w *walker) readGlobal() {
	name := w.opt.Excludes
	if name == "" {
		name = userExcludes()
	}
	if name == "" {
		return
	}
	w.global = w.readRules(&level{}, func() (*os.File, error) { return openRegular(name) })
}

// userExcludes finds the user's own excludes file as ripgrep does: in git's
// settings in the home folder, in those below the settings folder, or at the
// usual place.
func userExcludes() string {
	home, _ := os.UserHomeDir()
	settings := os.Getenv("XDG_CONFIG_HOME")
	if settings == "" && home != "" {
		settings = filepath.Join(home, ".config")
	}
	files := []string{os.Getenv("GIT_CONFIG_GLOBAL")}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	if settings != "" {
		files = append(files, filepath.Join(settings, "git", "config"))
	}
	for _, name := range files {
		if name == "" {
			continue
		}
		f, err := openRegular(name)
		if err != nil {
			continue
		}
		text, err := readBounded(f, maxIgnoreFile)
		_ = f.Close()
		if err != nil {
			continue
		}
		if value := excludesFile(text); value != "" {
			if rest, ok := strings.CutPrefix(value, "~"); ok && home != "" {
				value = home + rest
			}
			return filepath.FromSlash(value)
		}
	}
	if settings == "" {
		return ""
	}
	return filepath.Join(settings, "git", "ignore")
}

// excludesFile is the value of core.excludesFile in git's settings. The key is
// looked for without regard to sections, since no other section has it.
func excludesFile(text string) string {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			if value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), `"`)); value != "" {
				return value
			}
		}
	}
	return ""
}
