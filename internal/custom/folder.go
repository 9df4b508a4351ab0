package custom

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kinds of files.
const (
	kindTool    = "tool"
	kindPlugin  = "plugin"
	kindProgram = "program"
)

// A userFile is a file of a config folder that is a tool, a plugin or a program.
type userFile struct {
	name    string // relative to the folder, with slashes
	kind    string
	label   string // the npm package it is the plugin of
	options string // what the config starts the plugin with, JSON
	both    bool   // it is a tool file that the config names as a plugin too
	problem string // why there is no such file
}

// starts reports whether the file is started as a plugin.
func (e userFile) starts() bool { return e.kind == kindPlugin || e.both }

// settingsName returns the name of the file in settings.
func (e userFile) settingsName() string {
	if e.label != "" {
		return e.label
	}
	return e.stem()
}

// stem is what the file's tools are named by.
func (e userFile) stem() string { return stem(e.name) }

func stem(name string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if dot := strings.LastIndexByte(base, '.'); dot >= 0 {
		return base[:dot]
	}
	return base
}

// mayDefine reports whether a file of that name may define a tool of an id: its own name, or its
// own name and an export's.
func (e userFile) mayDefine(id string) bool {
	rest, ok := strings.CutPrefix(id, e.stem())
	return ok && (rest == "" || rest[0] == '_')
}

// A shelfDir is one of the four folders, as it was last seen.
type shelfDir struct {
	time    time.Time // when it last changed; zero if it is not there
	seen    time.Time
	entries []userFile
}

// grain is how old a folder's time must be to be trusted: a folder that changed just before may
// change again within the resolution of the clock.
const grain = 2 * time.Second

// A lister finds the files of a config folder, and reads a folder again only if it has changed.
type lister struct {
	root string
	own  bool // it is the user's, and none of a project
	dirs map[string]shelfDir
	all  []userFile
}

// kinds are the folders that are searched for files, in order, and what they contain.
func kinds() []userFile {
	return []userFile{
		{name: "plugin", kind: kindPlugin}, {name: "plugins", kind: kindPlugin},
		{name: "tool", kind: kindTool}, {name: "tools", kind: kindTool},
	}
}

// look returns the present files, and whether they differ from the last look.
func (l *lister) look() (all []userFile, changed bool) {
	if l.dirs == nil {
		l.dirs = map[string]shelfDir{}
	}
	again := false
	for _, k := range kinds() {
		old, known := l.dirs[k.name]
		path := filepath.Join(l.root, k.name)
		now := time.Now()
		st, err := os.Stat(path)
		switch {
		case err != nil || !st.IsDir():
			if known && old.time.IsZero() {
				continue
			}
			l.dirs[k.name] = shelfDir{seen: now}
		case known && st.ModTime().Equal(old.time) && old.seen.Sub(old.time) > grain:
			continue
		default:
			l.dirs[k.name] = shelfDir{time: st.ModTime(), seen: now, entries: l.list(path, k)}
		}
		again = true
	}
	if !again {
		return l.all, false
	}
	for _, k := range kinds() {
		all = append(all, l.dirs[k.name].entries...)
	}
	changed = !slices.Equal(all, l.all)
	l.all = all
	return all, changed
}

// strange says why a file is not used: in the user's own folder, links of others are not followed.
func (l *lister) strange(e userFile) string {
	if !l.own {
		return ""
	}
	why := strange(l.root, e.name)
	if why != "" && e.kind != kindProgram {
		why = filepath.Join(l.root, filepath.FromSlash(e.name)) + ": " + why
	}
	return why
}

// list finds the tool or plugin files in one folder. Symbolic links are followed; subfolders are
// not searched.
func (l *lister) list(path string, kind userFile) (found []userFile) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !isScript(e.Name()) || isTest(e.Name()) {
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			if st, err := os.Stat(filepath.Join(path, e.Name())); err == nil && !st.Mode().IsRegular() {
				continue
			}
		} else if !e.Type().IsRegular() {
			continue
		}
		one := userFile{name: kind.name + "/" + e.Name(), kind: kind.kind}
		one.problem = l.strange(one)
		found = append(found, one)
	}
	return found
}

// isTest reports whether a script of a name is a test of another one, which only a test runner can
// load. No tool has a name with a dot.
func isTest(name string) bool {
	ext := filepath.Ext(strings.TrimSuffix(name, filepath.Ext(name)))
	return ext == ".test" || ext == ".spec"
}

// isScript reports whether a file of a name is one of JavaScript or TypeScript that is looked at.
// Declarations are not.
func isScript(name string) bool {
	switch filepath.Ext(name) {
	case ".js":
		return true
	case ".ts":
		return !strings.HasSuffix(name, ".d.ts")
	}
	return false
}
