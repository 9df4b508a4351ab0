package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// maxIgnoreFile is how much of an ignore file is read.
	maxIgnoreFile = 1 << 20
	// maxLive is how much text of ignore files may be in force at once. More
	// files are not read.
	maxLive = 4 << 20
	// maxWork bounds the cost, in instructions, of all rules of a folder for a name. Files beyond
	// that are ignored.
	maxWork = 32 << 10
	// fileWork is what a file costs whose rules are only looked up.
	fileWork = 4
)

var errTooMuch = errors.New("too many ignore rules are in force already")

// A level is the ignore files of one folder. A folder without any shares the level of its parent.
type level struct {
	up     *level
	end    int  // where in a path names relative to the folder begin
	repo   bool // the folder is the top of a repository
	inRepo bool // this folder or one above is
	size   int  // bytes of text read, here and above
	work   int  // what the rules cost for a name, here and above

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

// marks record which ignore files a listing of a folder contains.
type marks struct {
	unlisted bool              // it was not listed: any may be there
	repo     bool              // there is an entry .git or .jj
	files    [excludeFile]bool // by their kind
}

// noteEntry checks an entry of a listing that begins with a dot.
func (m *marks) noteEntry(name []byte, kind entryKind) {
	at := rgFile
	switch string(name) {
	case ".git", ".jj":
		m.repo = true
		return
	case ".rgignore":
	case ".ignore":
		at = plainFile
	case ".gitignore":
		at = gitFile
	default:
		return
	}
	m.files[at] = kind == entryFile
}

// ignoreVerdict asks the ignore files about the entry that a path names, whose last component
// begins at base. The verdict means nothing when the context is done. A file of a nearer folder
// goes before one of a folder above. All of one kind go before those of the next kind, and git's
// own are bounded by the repository.
func (s *surveyor) ignoreVerdict(ctx context.Context, l *level, path []byte, base int, isDir bool) verdict {
	s.machine.ctx = ctx
	var said [kinds]verdict
	inRepo := l != nil && l.inRepo
	outside := !inRepo // of the innermost repository
	for ; l != nil && said[rgFile] == unnamed; l = l.up {
		for kind, rules := range l.files {
			if said[kind] == unnamed && (kind < gitFile || !outside) {
				said[kind] = rules.match(&s.machine, path[l.end:], base-l.end, isDir)
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
		return s.global.match(&s.machine, path[len(s.prefix):], base-len(s.prefix), isDir)
	}
	return unnamed
}

// readLevel reads the ignore files of the folder that the path names. The marks say which exist.
func (s *surveyor) readLevel(dir *dirHandle, m marks, above *level) *level {
	l := &level{up: above, end: len(s.path)}
	if above != nil {
		l.inRepo, l.size, l.work = above.inRepo, above.size, above.work
	}
	for kind, name := range [...]string{rgFile: ".rgignore", plainFile: ".ignore", gitFile: ".gitignore"} {
		if m.unlisted || m.files[kind] {
			l.files[kind] = s.readRules(l, func() (*os.File, error) { return dir.open(name) })
		}
	}
	if m.unlisted || m.repo {
		s.readRepo(dir, l)
	}
	if !l.repo && l.files == [kinds]*rules{} {
		return above
	}
	return l
}

// readRepo checks whether the folder is the top of a repository, and reads the repository's exclude
// file.
func (s *surveyor) readRepo(dir *dirHandle, l *level) {
	if !dir.exists(".git") {
		l.repo = dir.exists(".jj")
		l.inRepo = l.inRepo || l.repo
		return
	}
	l.repo, l.inRepo = true, true
	l.files[excludeFile] = s.readRules(l, func() (*os.File, error) {
		return openExclude(dir, func() string { return filepath.Join(s.top, filepath.FromSlash(string(s.path[:l.end]))) })
	})
}

// openExclude opens the exclude file of a repository. In a linked worktree and
// in a submodule .git is a file that names the folder, maybe relative to where
// it is.
func openExclude(dir *dirHandle, where func() string) (*os.File, error) {
	if f, err := dir.open(".git"); err == nil {
		text, err := readBounded(f, 4096)
		_ = f.Close()
		gitDir, ok := strings.CutPrefix(firstLine(text), "gitdir: ")
		if err != nil || !ok {
			return nil, fs.ErrNotExist
		}
		common, err := openFolder(commonDir(resolve(where(), gitDir)))
		if err != nil {
			return nil, fs.ErrNotExist
		}
		defer common.close()
		return common.openExclude()
	}
	gitDir, err := dir.sub(".git")
	if err != nil {
		return nil, errNotRegular
	}
	defer gitDir.close()
	return gitDir.openExclude()
}

// openExclude opens the exclude file in a repository's own folder. A link is not followed, because
// results reveal the contents of a rule file.
func (f *dirHandle) openExclude() (*os.File, error) {
	info, err := f.sub("info")
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
func (s *surveyor) readRules(l *level, open func() (*os.File, error)) *rules {
	f, err := open()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotRegular) {
			s.countError(err)
		}
		return nil
	}
	defer func() { _ = f.Close() }()
	if s.size+l.size >= maxLive {
		s.countError(errTooMuch)
		return nil
	}
	text, err := readBounded(f, maxIgnoreFile)
	if err != nil {
		s.countError(err)
		return nil
	}
	l.size += len(text)
	r, err := s.stock.readRules(text)
	if err == nil && r != nil {
		l.work += r.work + fileWork
		switch {
		case s.work+l.work > maxWork:
			l.work -= r.work + fileWork
			r, err = nil, errTooMuch
		case r.cut:
			err = errTooMuch
		}
	}
	if err != nil {
		s.countError(err)
	}
	return r
}

// readGlobal reads the user's own excludes file.
func (s *surveyor) readGlobal() {
	name := s.opt.Excludes
	if name == "" {
		name = userExcludes()
	}
	if name == "" {
		return
	}
	l := &level{}
	s.global = s.readRules(l, func() (*os.File, error) { return openRegular(name) })
	s.size, s.work = l.size, l.work
}

// userExcludes finds the user's own excludes file as ripgrep does: in git's
// settings in the home folder, in those below the settings folder, or at the
// usual place.
func userExcludes() string {
	files, usual := gitSettings()
	for _, name := range files {
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
			if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(value, "~") {
				value = home + value[1:]
			}
			return filepath.FromSlash(value)
		}
	}
	return usual
}

// gitSettings are the files that may name the user's own excludes file, and
// where that is if none does; "" where there is no such place.
func gitSettings() (files []string, usual string) {
	home, _ := os.UserHomeDir()
	settings := os.Getenv("XDG_CONFIG_HOME")
	if settings == "" && home != "" {
		settings = filepath.Join(home, ".config")
	}
	if name := os.Getenv("GIT_CONFIG_GLOBAL"); name != "" {
		files = append(files, name)
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	if settings != "" {
		files = append(files, filepath.Join(settings, "git", "config"))
		usual = filepath.Join(settings, "git", "ignore")
	}
	return files, usual
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
