package lspclient

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// A walk is the way from the folder of a file up to the folder where the
// search for a root ends.
type walk struct {
	dirs []string // the file's folder first; base is the last
	base string   // the root of what has no marker
	top  string   // the outermost folder of the project
}

// root returns the root folder of a file for the server, and false if the server is not for the
// file: the file is outside the project, something the server requires is missing, or another
// server is responsible.
func (s Server) root(file string, p environment) (string, bool) {
	if s.wanted != nil && !s.wanted(s, p) {
		return "", false
	}
	w, ok := p.walk(file)
	if !ok {
		return "", false
	}
	if _, found := w.nearest(s.without); found {
		return "", false
	}
	if s.locate != nil {
		return s.locate(w)
	}
	for _, markers := range s.steps {
		if dir, found := w.nearest(markers); found {
			return dir, true
		}
	}
	return w.base, !s.strict
}

// walk returns the way up from a file, and false if it is not of the project.
func (p environment) walk(file string) (walk, bool) {
	if !filepath.IsAbs(file) {
		return walk{}, false
	}
	from := filepath.Dir(filepath.Clean(file))
	if w, ok := walkFrom(from, p.dir, p.worktree); ok {
		return w, true
	}
	// A file may be named by where it really is, and the project by a link.
	return walkFrom(from, actual(p.dir), actual(p.worktree))
}

func walkFrom(from, dir, tree string) (walk, bool) {
	if isTop(tree) {
		tree = ""
	}
	w := walk{base: dir, top: dir}
	if disk.Within(tree, dir) {
		w.top = tree
	}
	if !disk.Within(dir, from) {
		if !disk.Within(tree, from) {
			return walk{}, false
		}
		w.base, w.top = tree, tree
	}
	w.dirs = upTo(w.base, from)
	return w, true
}

// upTo returns the folders from one folder up to another that it lies in.
func upTo(base, from string) []string {
	dirs := []string{from}
	for up := filepath.Dir(from); up != from && disk.Within(base, up); up = filepath.Dir(up) {
		dirs = append(dirs, up)
		from = up
	}
	return dirs
}

// nearest returns the first folder on the way up that holds a marker.
func (w walk) nearest(markers []string) (string, bool) {
	if len(markers) == 0 {
		return "", false
	}
	for _, dir := range w.dirs {
		if hasMarker(dir, markers) {
			return dir, true
		}
	}
	return "", false
}

// above returns the folders from dir up to the outermost one of the project.
func (w walk) above(dir string) []string { return upTo(w.top, dir) }

// hasMarker reports whether a folder has an entry of one of these names. A name that begins with a
// star stands for all names that end with the rest.
func hasMarker(dir string, markers []string) bool {
	var ends []string
	for _, m := range markers {
		if end, ok := strings.CutPrefix(m, "*"); ok {
			ends = append(ends, end)
		} else if exists(filepath.Join(dir, filepath.FromSlash(m))) {
			return true
		}
	}
	return len(ends) > 0 && holdsEnding(dir, ends)
}

// holdsEnding checks a bounded number of entries of a folder.
func holdsEnding(dir string, ends []string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	for range 40 {
		names, err := f.Readdirnames(256)
		for _, name := range names {
			if slices.ContainsFunc(ends, func(end string) bool { return len(name) > len(end) && strings.HasSuffix(name, end) }) {
				return true
			}
		}
		if err != nil {
			return false
		}
	}
	return false
}

// instance returns the working folder, whatever it contains.
func instance(w walk) (string, bool) { return w.base, true }

// cargo takes the nearest crate, and the workspace around it if there is one.
func cargo(w walk) (string, bool) {
	crate, ok := w.nearest([]string{"Cargo.toml", "Cargo.lock"})
	if !ok {
		return w.base, true
	}
	for _, dir := range w.above(crate) {
		for line := range bytes.Lines(head(filepath.Join(dir, "Cargo.toml"))) {
			line = bytes.TrimSpace(line)
			if bytes.HasPrefix(line, []byte("[workspace]")) || bytes.HasPrefix(line, []byte("[workspace.")) {
				return dir, true
			}
		}
	}
	return crate, true
}

// flake takes the nearest flake, otherwise the whole project.
func flake(w walk) (string, bool) {
	if dir, ok := w.nearest([]string{"flake.nix"}); ok {
		return dir, true
	}
	return w.top, true
}

// java takes the build that a file belongs to as a whole: that of Gradle's
// settings, the outermost of the Maven projects that name each other as
// modules, a single Gradle build, or a project of Eclipse. A file of none of
// these has no server, which would have to guess where sources begin.
func java(w walk) (string, bool) {
	if dir, ok := w.nearest([]string{"settings.gradle", "settings.gradle.kts"}); ok {
		return dir, true
	}
	if dir, ok := w.nearest([]string{"pom.xml"}); ok {
		return maven(w, dir), true
	}
	if dir, ok := w.nearest([]string{"build.gradle", "build.gradle.kts"}); ok {
		return dir, true
	}
	return w.nearest([]string{".project", ".classpath"})
}

// maven goes up from a Maven project as long as one above names it as a module.
func maven(w walk, dir string) string {
	root := dir
	for _, up := range w.above(dir)[1:] {
		rel, err := filepath.Rel(up, root)
		if err == nil && slices.Contains(modules(head(filepath.Join(up, "pom.xml"))), filepath.ToSlash(rel)) {
			root = up
		}
	}
	return root
}

// modules returns the folders that a pom.xml names as its modules.
func modules(pom []byte) (names []string) {
	for {
		_, rest, ok := bytes.Cut(pom, []byte("<module>"))
		if !ok {
			return names
		}
		name, rest, ok := bytes.Cut(rest, []byte("</module>"))
		if !ok {
			return names
		}
		clean := path.Clean(strings.ReplaceAll(strings.TrimSpace(string(name)), `\`, "/"))
		names = append(names, strings.TrimSuffix(clean, "/pom.xml"))
		pom = rest
	}
}

// head returns the beginning of a file, or nothing if there is none.
func head(file string) []byte {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return text
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// isTop reports whether a folder is the top of a file system: as a worktree it means that there is
// none.
func isTop(dir string) bool { return dir != "" && filepath.Dir(dir) == dir }

// actual returns a path with its links followed, as far as it exists.
func actual(path string) string {
	if found, err := filepath.EvalSymlinks(path); err == nil && path != "" {
		return found
	}
	return path
}
