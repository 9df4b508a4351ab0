package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// absorb learns from the errors of a round for the next one. An error it cannot learn from ends the
// build.
func (s *buildSession) absorb(messages []api.Message) error {
	learned := false
	for _, m := range messages {
		if m.Location == nil {
			return errors.New(m.Text)
		}
		learned = s.learn(m) || learned
	}
	if !learned {
		m := messages[0]
		return fmt.Errorf("%s:%d:%d: %s", m.Location.File, m.Location.Line, m.Location.Column+1, m.Text)
	}
	return nil
}

// learn reports whether a message contained something new.
func (s *buildSession) learn(m api.Message) bool {
	file := m.Location.File
	src := s.sources[file]
	if strings.HasPrefix(m.Text, "Top-level await is currently not supported") {
		new := !s.awaits
		s.awaits = true
		return new
	}
	if m.Text == errForgo.Error() {
		return s.forgo()
	}
	if src == nil {
		file := m.Location.File
		if filepath.Base(file) == "package.json" {
			home := packageHome(file)
			return home != "" && s.damaged(m, home)
		}
		if s.lonely || !strings.HasSuffix(file, ".json") {
			return false
		}
		s.lonely = true
		s.problems = append(s.problems, problem(m, nil))
		return true
	}
	if spec, ok := unresolved(m.Text); ok {
		return s.addUnresolved(m, spec)
	}
	if target, name, ok := unexported(m.Text); ok && s.isType(file, target, name) {
		if slices.Contains(s.undefs[target], name) {
			return false
		}
		s.undefs[target] = append(s.undefs[target], name)
		return true
	}
	if _, known := s.broken[file]; known {
		return false
	}
	s.broken[file] = problem(m, src)
	return true
}

// problem converts a message about a file.
func problem(m api.Message, src *sourceFile) Problem {
	p := Problem{File: m.Location.File, Line: m.Location.Line, Column: m.Location.Column, Text: m.Text}
	if src != nil {
		p.Line, p.Column = src.originalPosition(p.Line, p.Column)
		if p.Line > src.lines { // on a line that was put behind the file's own
			p.Line, p.Text = src.lines, "Unexpected end of file"
		}
	}
	p.Column++
	return p
}

// addUnresolved remembers an import that leads nowhere.
func (s *buildSession) addUnresolved(m api.Message, spec string) bool {
	src := s.sources[m.Location.File]
	here := ref{m.Location.File, spec}
	if _, known := s.missing[here]; known || s.typesRef[here] {
		return false
	}
	dir := filepath.Dir(m.Location.File)
	p := problem(m, src)
	switch {
	case isRelative(spec):
		if typesOnly(filepath.Join(dir, filepath.FromSlash(spec))) {
			s.typesRef[here] = true
			return true
		}
		p.Text = fmt.Sprintf("there is no module %q", spec)
	case remote(spec):
		p.Text = fmt.Sprintf("%q is on another machine; modules are not fetched", spec)
	case !packageName(packageOf(spec)):
		p.Text = fmt.Sprintf("there is no module %q", spec)
	case installed(dir, packageOf(spec)):
		p.Text = fmt.Sprintf("package %q has no module %q", packageOf(spec), spec)
		if len(m.Notes) > 0 && strings.Contains(m.Notes[0].Text, "not exported") {
			p.Text = fmt.Sprintf("package %q does not export %q", packageOf(spec), spec)
		}
	default:
		p.Package = packageOf(spec)
		p.Text = fmt.Sprintf("package %q is not installed", p.Package)
		if p.Package != spec {
			p.Text += fmt.Sprintf(" (imported as %q)", spec)
		}
	}
	s.missing[here] = len(s.losses)
	s.losses = append(s.losses, p)
	return true
}

// damaged records all imports of a package whose settings cannot be read.
func (s *buildSession) damaged(m api.Message, home string) (learned bool) {
	name := filepath.ToSlash(home)
	name = name[strings.LastIndex(name, "/node_modules/")+len("/node_modules/"):]
	// The order does not depend on which goroutine was faster.
	for _, here := range slices.SortedFunc(maps.Keys(s.looked), func(a, b ref) int {
		return cmp.Or(strings.Compare(a.importer, b.importer), strings.Compare(a.spec, b.spec))
	}) {
		if _, known := s.missing[here]; known || packageOf(here.spec) != name {
			continue
		}
		s.missing[here] = len(s.losses)
		s.losses = append(s.losses, problem(m, nil))
		learned = true
	}
	return learned
}

// packageName reports whether a package can have a name.
func packageName(name string) bool {
	return regexp.MustCompile(`^(?:@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*$`).MatchString(name)
}

// lostAt is the problem behind a module of the missing namespace.
func (s *buildSession) lostAt(path string) Problem {
	i, err := strconv.Atoi(path)
	if err != nil || i >= len(s.losses) {
		return Problem{Text: "module " + path + " is missing"}
	}
	return s.losses[i]
}

// isRelative reports whether an import names a file rather than a package.
func isRelative(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../") || filepath.IsAbs(spec)
}

// typesOnly reports whether types are all there is of a module.
func typesOnly(path string) bool {
	path = strings.TrimSuffix(path, ".js")
	for _, ext := range []string{".d.ts", ".d.mts", ".d.cts", "/index.d.ts"} {
		if _, err := os.Stat(path + ext); err == nil {
			return true
		}
	}
	return false
}

// packageOf is the package an import is of.
func packageOf(spec string) string {
	parts := strings.SplitN(spec, "/", 3)
	if strings.HasPrefix(spec, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// installed reports whether a package is in a node_modules up the tree.
func installed(dir, name string) bool {
	for {
		if st, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(name))); err == nil && st.IsDir() {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// isType reports whether a name that is imported as a value, but is not
// exported as one, is a type: one that the module declares, or one of a
// package, whose types are kept apart from its code.
func (s *buildSession) isType(importer, target, name string) bool {
	src := s.sources[target]
	if src == nil || src.err != nil || !strings.Contains(filepath.Ext(importer), "ts") || !regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*$`).MatchString(name) {
		return false
	}
	if strings.Contains(target, "/node_modules/") {
		return true
	}
	return regexp.MustCompile(`\b(?:interface|type|class|enum|namespace|declare\s+\w+)\s+` + regexp.QuoteMeta(name) + `(?:$|[^\p{L}\p{N}_$])`).MatchString(src.text)
}

// unresolved reads the compiler's message about an import that leads nowhere.
func unresolved(text string) (spec string, ok bool) {
	quoted, ok := strings.CutPrefix(text, "Could not resolve ")
	if !ok {
		return "", false
	}
	spec, err := strconv.Unquote(quoted)
	return spec, err == nil
}

// unexported reads the compiler's message about a name that a module lacks.
func unexported(text string) (target, name string, ok bool) {
	m := regexp.MustCompile(`^No matching export in ("(?:[^"\\]|\\.)*") for import ("(?:[^"\\]|\\.)*")$`).FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	target, err := strconv.Unquote(m[1])
	if err != nil {
		return "", "", false
	}
	name, err = strconv.Unquote(m[2])
	return target, name, err == nil
}
