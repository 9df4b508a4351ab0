package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits for one command line. Beyond them, a file counts as not known.
const (
	maxExpandedNames = 50_000  // names in the text, expanded
	maxMatches       = 1000    // files that a pattern matches
	maxEntries       = 200_000 // names of folders that are listed
	maxLinks         = 128     // links that the line makes
	maxFollow        = 1000    // times that one of them is followed
	maxNameGrowth    = 1024    // how long a name grows by that

	maxLooking = 500 * time.Millisecond // for other names of files
)

// globMatches returns the files that a name matches, relative to dir. A pattern that matches no
// file is a name itself. It returns false if these are not all.
func (f *accessFinder) globMatches(dir, name string, glob bool) ([]string, bool) {
	if !glob {
		return []string{abs(dir, name)}, true
	}
	if !f.globs {
		return nil, false
	}
	found, ok, listed := []string{dir}, true, false
	if strings.HasPrefix(name, "/") {
		found = []string{"/"}
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' }) {
		if !hasMeta(part) {
			for i := range found {
				found[i] = strings.TrimSuffix(found[i], "/") + "/" + unescapePattern(part) // not Join: links come before dots
			}
			if listed {
				found = slices.DeleteFunc(found, f.doesNotExist)
			}
			continue
		}
		listed = true
		if found, ok = f.listMatching(found, part); !ok {
			return found, false
		}
	}
	if len(found) == 0 {
		return []string{abs(dir, unescapePattern(name))}, true
	}
	return found, ok
}

// listMatching returns the names in folders that a part of a pattern matches.
func (f *accessFinder) listMatching(folders []string, part string) (found []string, ok bool) {
	for _, folder := range folders {
		entries, ok := f.entries(folder)
		if !ok {
			return found, false
		}
		if len(f.links) > 0 {
			entries = append(slices.Clip(entries), f.entriesOfLinks(folder)...)
		}
		if strings.HasPrefix(part, ".") {
			entries = append(slices.Clip(entries), "..") // which older versions of bash have
		}
		for _, name := range entries {
			if !globMatch(part, name) {
				continue
			}
			if len(found) == maxMatches {
				return found, false
			}
			found = append(found, strings.TrimSuffix(folder, "/")+"/"+name)
		}
	}
	return found, true
}

// entries are the names in a folder, which is read once for a line, however often
// the line means it. It reports false where that would be more than is looked at.
func (f *accessFinder) entries(folder string) (names []string, ok bool) {
	names, known := f.held[folder]
	if !known {
		d, err := os.Open(folder)
		if err != nil {
			return nil, true // nothing matches there
		}
		names, err = d.Readdirnames(f.left)
		d.Close()
		if err != nil && len(names) > 0 {
			return nil, false
		}
	}
	if f.left -= len(names); f.left <= 0 {
		return nil, false
	}
	if f.held == nil {
		f.held = map[string][]string{}
	}
	f.held[folder] = names
	return names, true
}

// entriesOfLinks are the names that a folder has by the links that the line
// makes: those that lie in it, and what is in the folder that one leads to.
func (f *accessFinder) entriesOfLinks(folder string) (names []string) {
	folder = filepath.Clean(folder)
	f.left -= len(f.links)
	for _, l := range f.links {
		if filepath.Dir(l.from) == folder {
			names = append(names, filepath.Base(l.from))
		}
		if rest, ok := l.restOf(folder); ok {
			more, _ := f.entries(l.to + rest)
			names = append(names, more...)
		}
	}
	return names
}

// doesNotExist reports whether there is no such file, nor may be one by way of a link
// that the line makes.
func (f *accessFinder) doesNotExist(name string) bool {
	if _, err := os.Lstat(name); err == nil {
		return false
	}
	name = filepath.Clean(name)
	return !slices.ContainsFunc(f.links, func(l nameLink) bool {
		_, ok := l.restOf(name)
		return ok
	})
}

// elusive reports whether a name leads elsewhere for the process that uses it than for helve, such
// as below /proc/self.
func elusive(name string) bool {
	from := strings.TrimLeft(name, "/.")
	if strings.HasPrefix(from, "dev/fd/") && strings.Contains(from, "/..") {
		return true
	}
	proc := strings.HasPrefix(from, "proc/") || strings.Contains(name, "/../proc/")
	return proc && (strings.Contains(name+"/", "/cwd/") || strings.Contains(name+"/", "/root/"))
}

func hasMeta(part string) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// unescapePattern takes the backslashes out of a pattern.
func unescapePattern(pattern string) string {
	if !strings.Contains(pattern, `\`) {
		return pattern
	}
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		out.WriteByte(pattern[i])
	}
	return out.String()
}

// globMatch reports whether a part of a pattern matches a name, as in bash: a
// name with a dot in front is matched by one that has it too.
func globMatch(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, `\.`) {
		return false
	}
	return wild(pattern, name)
}

// wild is globMatch without a rule of its own for dots.
func wild(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, n
			p++
			continue
		}
		if pw, nw := globStep(pattern[p:], name[n:]); nw > 0 {
			p, n = p+pw, n+nw
			continue
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[mark:])
		mark += size
		p, n = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// globStep matches one character, and says how much of both it took; nothing
// when it does not match.
func globStep(pattern, name string) (pw, nw int) {
	r, size := utf8.DecodeRuneInString(name)
	if pattern == "" {
		return 0, 0
	}
	switch pattern[0] {
	case '?':
		return 1, size
	case '[':
		if width, hit := class(pattern, r); width > 0 {
			if hit {
				return width, size
			}
			return 0, 0
		}
	case '\\':
		if len(pattern) > 1 {
			pw, pattern = 1, pattern[1:]
		}
	}
	if c, width := utf8.DecodeRuneInString(pattern); c == r && pattern[:width] == name[:size] {
		return pw + width, size
	}
	return 0, 0
}

// class matches a character against [abc], [!abc] or [a-c]. Classes with a
// name, as in [[:alpha:]], match everything: too much rather than too little.
func class(pattern string, r rune) (width int, hit bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, hit != negated
		}
		if end := namedClass(pattern[i:]); end > 0 {
			return i + end, true
		}
		low, next := classRune(pattern, i)
		high := low
		if next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			high, next = classRune(pattern, next+1)
		}
		hit = hit || low <= r && r <= high
		i = next
	}
	return 0, false
}

// namedClass is how long a class is from one with a name in it on; 0 where
// there is none.
func namedClass(pattern string) int {
	if len(pattern) < 2 || pattern[0] != '[' || strings.IndexByte(":.=", pattern[1]) < 0 {
		return 0
	}
	if end := strings.LastIndex(pattern, "]]"); end > 0 {
		return end + len("]]")
	}
	return 0
}

func classRune(pattern string, i int) (rune, int) {
	if pattern[i] == '\\' && i+1 < len(pattern) {
		i++
	}
	r, size := utf8.DecodeRuneInString(pattern[i:])
	return r, i + size
}

// dashed reports whether a pattern may match a name that begins with a dash:
// there is such a file where a unit runs, or the line may make one.
func (f *accessFinder) dashed(u Unit, pattern string) bool {
	if !f.globs || !u.Dir.Known || len(f.links) > 0 || len(f.line.Functions) > 0 {
		return true
	}
	for _, other := range f.line.Units {
		if other.Text != u.Text && !looksOnly(other) {
			return true
		}
	}
	part, _, _ := strings.Cut(pattern, "/")
	for _, dir := range append([]string{u.Dir.Path}, u.Dir.Else...) {
		from, ok := f.tilde(dir)
		if !ok {
			return true
		}
		names, ok := f.listMatching([]string{abs(f.place.Cwd, from)}, part)
		if !ok || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(filepath.Base(n), "-") }) {
			return true
		}
	}
	return false
}

// looksOnly reports whether a unit surely makes no file.
func looksOnly(u Unit) bool {
	if len(u.Redirects) > 0 {
		return false
	}
	if u.Kind != Command || len(u.Words) == 0 {
		return u.Kind != Piece
	}
	switch u.Words[0].Value {
	case "cd", "echo", "printf", "cat", "head", "tail", "wc", "ls", "grep", "sort", "uniq", "cut", "tr", "true", "test", "[":
		return len(u.Words) == 1 || !slices.ContainsFunc(u.Words[1:], func(w Word) bool { return strings.HasPrefix(w.Value, "-o") || strings.HasPrefix(w.Value, "--o") })
	}
	return false
}
