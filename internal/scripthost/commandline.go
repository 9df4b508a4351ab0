package scripthost

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/command"
	"mvdan.cc/sh/v3/syntax"
)

// variables are those of a program.
type variables struct {
	all map[string]string
	// changed are those that a script has set, and that are not what the host
	// gives anyway.
	changed map[string]string
	whole   bool // the script gave all of them
}

// surroundings returns the environment of a program: what the host gives to commands with the
// changes of the script, or exactly what the script gave. known are the host's variables that
// scripts see, which do not count as changes.
func surroundings(host []string, known map[string]string, env map[string]string, set map[string]*string) variables {
	v := variables{all: map[string]string{}, changed: map[string]string{}, whole: env != nil}
	for _, line := range host {
		name, value, _ := strings.Cut(line, "=")
		v.all[name] = value
	}
	if env != nil {
		given := v.all
		v.all = map[string]string{}
		for name, value := range env {
			before, ok := given[name]
			seen, also := known[name]
			if v.put(name, value) && (!ok || before != value) && (!also || seen != value) {
				v.changed[name] = value
			}
		}
		return v
	}
	for name, value := range set {
		if value == nil {
			delete(v.all, name)
			continue
		}
		if before, ok := v.all[name]; v.put(name, *value) && (!ok || before != *value) {
			v.changed[name] = *value
		}
	}
	return v
}

// put sets a variable, unless its name or value is invalid.
func (v variables) put(name, value string) bool {
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
		return false
	}
	v.all[name] = value
	return true
}

// list is what the system is given.
func (v variables) list() []string {
	out := make([]string, 0, len(v.all))
	for _, name := range slices.Sorted(maps.Keys(v.all)) {
		out = append(out, name+"="+v.all[name])
	}
	return out
}

// path is where programs are looked for: that of the variables, or the host's.
func (v variables) path(host string) string {
	if path, ok := v.all["PATH"]; ok && path != "" {
		return path
	}
	return host
}

// prefixLine puts in front of a command line the variables that the script has changed, as far as
// they matter for it: those that change what runs, and those named in it. So they are checked with
// it.
func (v variables) prefixLine(line string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.changed)) {
		value := v.changed[name]
		switch {
		case strings.HasPrefix(name, "BASH_FUNC_"): // a function in place of a command
			out.WriteString(quoteWhole(name+"="+value) + "; ")
		case !syntax.ValidName(name):
		case strings.Contains(line, name) || changesWhatRuns(name):
			out.WriteString(name + "=" + quote(value) + "; ")
		}
	}
	return out.String() + line
}

// changesWhatRuns reports whether a variable changes which program a command runs.
func changesWhatRuns(name string) bool {
	return slices.ContainsFunc(command.Parse(name+"=x").Units, func(u command.Unit) bool { return len(u.Uncertainties) > 0 })
}

// A commandLine is the form in which a program is checked.
type commandLine struct {
	argv  []string
	argv0 string // the program's argv[0], if not argv[0] of the line
	found string // the program that runs
	usual string // the one that its name means to commands
}

// text returns an equivalent shell line. A shell that runs a text is checked as that text.
func (c commandLine) text() string {
	if text, ok := c.shellText(); ok {
		return text
	}
	words := make([]string, len(c.argv))
	for i, word := range c.argv {
		words[i] = quote(word)
	}
	words[0] = c.programWord()
	line := strings.Join(words, " ")
	if c.argv0 != "" && filepath.Base(c.argv0) != filepath.Base(c.argv[0]) {
		line = "exec -a " + quote(c.argv0) + " " + line // some programs are what they are called
	}
	return line
}

// programWord returns the program's word in the command line: its name, if a shell would run the
// same by it, and otherwise its path.
func (c commandLine) programWord() string {
	name := c.argv[0]
	if c.usual != c.found || shellsOwn(name) {
		name = c.found
	}
	if strings.Contains(name, "=") {
		return quoteWhole(name)
	}
	return quote(name)
}

// shellText is the text that the system's shell is given, and nothing else.
func (c commandLine) shellText() (string, bool) {
	if len(c.argv) != 3 || c.argv[1] != "-c" || c.argv0 != "" || strings.TrimSpace(c.argv[2]) == "" {
		return "", false
	}
	switch filepath.Base(c.argv[0]) {
	case "sh", "bash", "dash":
	default:
		return "", false
	}
	switch filepath.Dir(c.found) {
	case "/bin", "/usr/bin":
		return c.argv[2], true
	}
	return "", false
}

// shellsOwn reports whether a name means something else to a shell than the program of that name.
func shellsOwn(name string) bool {
	switch name {
	case "cd", "exec", "command", "builtin", "eval", "source", ".", ":", "export", "declare", "typeset", "local", "readonly", "let",
		"set", "shopt", "unset", "trap", "alias", "unalias", "exit", "return", "break", "continue", "shift", "read", "mapfile", "readarray",
		"getopts", "wait", "jobs", "fg", "bg", "disown", "enable", "hash", "type", "umask", "ulimit", "pushd", "popd", "dirs", "times",
		"coproc", "time", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function",
		"select", "!", "{", "}", "[[", "]]":
		return true
	}
	return false
}

// quote writes a word for a shell. What needs no quotes stays as it is, so
// that rules meet the text they were written for.
func quote(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		if text, err := syntax.Quote(word, syntax.LangBash); err == nil {
			return text
		}
	}
	if word == "" || strings.ContainsFunc(word, unsafeRune) {
		return quoteWhole(word)
	}
	return word
}

func quoteWhole(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// unsafeRune reports whether a shell would see more in a letter than itself.
func unsafeRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("_/.:@%+,=-", r)
}

// which finds a program as the system does: by its name in the folders of path, or by a path in its
// name, as seen from dir. It returns "" if there is none.
func which(name, dir, path string) string {
	if name == "" || strings.ContainsRune(name, 0) {
		return ""
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return executable(name)
	}
	for _, folder := range filepath.SplitList(path) {
		if folder == "" {
			continue
		}
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if found := executable(filepath.Join(folder, name)); found != "" {
			return found
		}
	}
	return ""
}

// executable returns the name of a file that can be run; "" if there is none.
func executable(name string) string {
	for _, ending := range endings(name) {
		if runs(name + ending) {
			return name + ending
		}
	}
	return ""
}

func runs(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// endings are those that a program may have beyond its name.
func endings(name string) []string {
	if runtime.GOOS != "windows" || filepath.Ext(name) != "" {
		return []string{""}
	}
	return []string{".exe", ".cmd", ".bat", ".com"}
}
