package files

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed protected.txt
var protectedText string

// A protectedName is an entry of the list of names that may only be changed if a rule names them.
type protectedName struct {
	path  string   // as written
	parts []string // in lower case
	home  bool     // in the home folder
	above bool     // only in the working folder and above it
	hold  bool     // protected in the sandbox even if it is missing
}

// lastPart returns what a rule has to contain to name it.
func (n protectedName) lastPart() string { return n.parts[len(n.parts)-1] }

// covers reports whether the parts of a name begin with n, or name a folder above it, which could
// be moved away and replaced; a folder that is only created does not count. It returns the word
// that a rule has to contain.
func (n protectedName) covers(parts []string, made bool) (word string, ok bool) {
	if made && len(parts) < len(n.parts) {
		return "", false
	}
	for i, part := range n.parts {
		if i == len(parts) {
			break
		}
		if part != parts[i] {
			return "", false
		}
		word = part
	}
	return word, word != ""
}

// A protectedList indexes the names by their first part.
type protectedList struct {
	all     []protectedName
	any     map[string][]protectedName
	home    map[string][]protectedName
	endings []string // *.code-workspace
}

// A lazyList loads the list on first use.
type lazyList struct {
	once sync.Once
	list *protectedList
}

func readProtected(text string) *protectedList {
	l := &protectedList{any: map[string][]protectedName{}, home: map[string][]protectedName{}}
	for line := range strings.Lines(text) {
		where, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		how, name, ok := strings.Cut(rest, " ")
		if !ok || where == "#" {
			continue
		}
		if ending, ok := strings.CutPrefix(name, "*"); ok {
			l.endings = append(l.endings, ending)
			continue
		}
		n := protectedName{path: filepath.FromSlash(name), parts: strings.Split(strings.ToLower(name), "/"), home: where == "home", above: where == "above", hold: how == "hold"}
		l.all = append(l.all, n)
		switch {
		case n.home:
			l.home[n.parts[0]] = append(l.home[n.parts[0]], n)
		case !n.above:
			l.any[n.parts[0]] = append(l.any[n.parts[0]], n)
		}
	}
	return l
}

// protected is the list.
func (f *Workspace) protected() *protectedList {
	if f.cache != nil {
		return f.cache.protected
	}
	f.list.once.Do(func() { f.list.list = readProtected(protectedText) })
	return f.list.list
}

// homeDir is the home folder of the person.
func (f *Workspace) homeDir() string {
	if f.Home == "" {
		home, _ := os.UserHomeDir() // without one, nothing lies in it
		return home
	}
	return f.Home
}

// protectedWords returns the words of the list for a name. Within the workspace only what is below
// its top counts: a workspace inside such a folder is like any other.
func (f *Workspace) protectedWords(p Path, name string) (words []string) {
	l := f.protected()
	top, from, whole := f.baseDir(p.dir), "", true
	for _, top := range []string{top, f.cache.real(top)} {
		if rel, err := filepath.Rel(top, name); err == nil && within(top, name) {
			from, whole = rel, false
		}
	}
	if whole {
		from = name
	}
	parts := lowerParts(from)
	for i, part := range parts {
		for _, n := range l.any[part] {
			if word, ok := n.covers(parts[i:], p.folder); ok {
				words = append(words, word)
			}
		}
	}
	if len(parts) > 0 {
		last := parts[len(parts)-1]
		for _, ending := range l.endings {
			if strings.HasSuffix(last, ending) {
				words = append(words, ending, last)
			}
		}
	}
	return append(words, f.listedAtHome(p, top, name)...)
}

func (f *Workspace) listedAtHome(p Path, top, name string) (words []string) {
	home := f.homeDir()
	if home == "" || isRoot(home) {
		return nil
	}
	for _, home := range []string{home, f.cache.real(home)} {
		if !within(home, name) {
			continue
		}
		rel, err := filepath.Rel(home, name)
		if err != nil {
			continue
		}
		parts := lowerParts(rel)
		if len(parts) == 0 {
			continue
		}
		for _, n := range f.protected().home[parts[0]] {
			own := filepath.Join(home, n.path)
			if word, ok := n.covers(parts, p.folder); ok && !within(own, top) && !within(own, f.cache.real(top)) {
				words = append(words, word)
			}
		}
	}
	return words
}

func lowerParts(name string) []string {
	return strings.FieldsFunc(strings.ToLower(filepath.ToSlash(name)), func(r rune) bool { return r == '/' })
}

// Singled reports whether a rule has to name this very name, and the folder in which that holds.
// What is below it does not count.
func (f *Workspace) Singled(name string) (folder string, ok bool) {
	if strings.EqualFold(filepath.Base(name), ".git") {
		return filepath.Dir(name), true
	}
	l := f.protected()
	last := strings.ToLower(filepath.Base(name))
	for _, ending := range l.endings {
		if strings.HasSuffix(last, ending) {
			return filepath.Dir(name), true
		}
	}
	for _, n := range l.all {
		if n.home || n.lastPart() != last {
			continue
		}
		at := name
		for i := len(n.parts) - 1; i >= 0 && strings.EqualFold(filepath.Base(at), n.parts[i]); i-- {
			if at = filepath.Dir(at); i == 0 {
				return at, true
			}
		}
	}
	return "", false
}
