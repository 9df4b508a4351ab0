package command

import (
	"path"
	"slices"
	"strings"
)

// workDirs are the possible working directories of a command. It is an immutable value.
type workDirs struct {
	dirs []string // the folders it may be; the first is where it is if nothing failed
	lost bool     // it may be anywhere

	// failed is where the shell may be if a cd of the current list has failed. What follows && does
	// not run then, but what comes after the list does.
	failed     []string
	failedLost bool

	stack   []workDirs // of pushd
	endless bool       // there are more of them than are followed
}

// maxPlaces is how many folders are followed at once.
const maxPlaces = 8

const (
	maxStack = 64   // how many folders pushd may keep
	maxPath  = 4096 // how long the name of a folder may grow
)

func (p workDirs) currentDir() Dir {
	if p.lost || len(p.dirs) == 0 {
		return Dir{Else: slices.DeleteFunc(slices.Clone(p.dirs), func(d string) bool { return d == "" })}
	}
	return Dir{Path: p.dirs[0], Known: true, Else: p.dirs[1:len(p.dirs):len(p.dirs)]}
}

func (p workDirs) equal(q workDirs) bool {
	return p.lost == q.lost && slices.Equal(p.dirs, q.dirs) && len(p.stack) == len(q.stack) && p.endless == q.endless
}

// or is a place that is one of two.
func (p workDirs) or(q workDirs) workDirs {
	p.lost = p.lost || q.lost
	p.dirs = union(p.dirs, q.dirs)
	p.failed = union(p.failed, q.failed)
	p.failedLost = p.failedLost || q.failedLost
	if len(q.stack) != len(p.stack) || q.endless {
		p.lost = p.lost || len(q.stack) != len(p.stack)
		p.endless = true
	}
	p.lost = p.lost || len(p.dirs) > maxPlaces
	return p
}

func union(a, b []string) []string {
	out := slices.Clip(a)
	for _, s := range b {
		if !slices.Contains(a, s) {
			out = append(out, s)
		}
	}
	return out
}

// mergeFailed is called where it no longer matters whether a cd has failed.
func (p *workDirs) mergeFailed() {
	p.dirs = union(p.dirs, p.failed)
	p.lost = p.lost || p.failedLost || len(p.dirs) > maxPlaces
	p.failed, p.failedLost = nil, false
}

// changeTo goes to a folder, or to an unknown one.
func (p *workDirs) changeTo(to string, known bool) {
	old := *p
	p.failed = union(p.failed, p.dirs)
	p.failedLost = p.failedLost || p.lost
	if len(p.failed) > maxPlaces {
		p.failed, p.failedLost = nil, true
	}
	absolute := strings.HasPrefix(to, "/") || strings.HasPrefix(to, "~")
	switch {
	case !known:
		p.dirs, p.lost = nil, true
	case absolute:
		p.dirs, p.lost = []string{to}, false
	case old.lost:
	default:
		p.dirs = nil
		for _, d := range old.dirs {
			if len(d)+len(to) > maxPath {
				p.dirs, p.lost = nil, true
				return
			}
			p.dirs = union(p.dirs, []string{joinDir(d, to)})
		}
	}
}

// joinDir is a folder as cd finds it from another: without regard to links.
func joinDir(dir, to string) string {
	switch {
	case strings.HasPrefix(dir, "~"): // where that is decides what .. means
		return dir + "/" + to
	case dir == "" && to == "":
		return ""
	}
	if p := path.Join(dir, to); p != "." {
		return p
	}
	return ""
}

// trackDir notes where a command goes that changes the folder of the shell.
func (c *collector) trackDir(words []Word) {
	if len(words) == 0 || !words[0].Literal {
		return
	}
	switch words[0].Value {
	case "cd":
		c.r.moved = true
		if rest, ok := c.repoTop(words); ok {
			c.cwd.changeTo(Top+rest, true)
			c.cwd.dirs = union(c.cwd.dirs, []string{strings.TrimPrefix(rest, "/")}) // there may be another one by now
			return
		}
		before := c.cwd
		to, known := target(words)
		c.cwd.changeTo(to, known)
		if guess := c.guess(words[len(words)-1]); !known && guess != "" { // restrictions hold there too
			before.changeTo(guess, true)
			c.cwd.dirs = before.dirs
		}
	case "pushd":
		c.r.moved = true
		saved := c.cwd
		to, known := target(words)
		known = known && len(words) > 1 && strings.Trim(to, "+-0123456789") != ""
		c.cwd.changeTo(to, known)
		c.cwd.push(saved)
	case "popd":
		c.r.moved = true
		n := len(c.cwd.stack)
		if n == 0 || len(words) > 1 || c.cwd.endless {
			c.cwd.changeTo("", false)
			return
		}
		back := c.cwd.stack[n-1]
		failed, lost := union(c.cwd.failed, c.cwd.dirs), c.cwd.failedLost || c.cwd.lost
		c.cwd = workDirs{dirs: back.dirs, lost: back.lost, failed: failed, failedLost: lost, stack: c.cwd.stack[:n-1]}
	}
}

// guess is what a word means with the values of variables that are known; "" if
// that is nothing.
func (c *collector) guess(w Word) string {
	parsed := parseWord(w.Raw)
	if w.Literal || parsed == nil {
		return ""
	}
	if _, guess := readWord(w.Raw, parsed, c.r.known); !strings.Contains(guess, Unknown) {
		return guess
	}
	return ""
}

// Top stands in front of a folder for the top of the repository in which the line
// starts.
const Top = "~" + Unknown

// BelowTop reads a word that begins with what git says is the top of the
// repository, and is otherwise known.
func BelowTop(w Word) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.ReplaceAll(w.Raw, `"`, ""), "$(git rev-parse --show-toplevel)")
	return rest, ok && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$`\\'*?[{~ \t\n")
}

// repoTop reads a cd to a folder below the top of the repository that the line starts
// in.
func (c *collector) repoTop(words []Word) (string, bool) {
	if len(words) != 2 || c.cwd.lost || !slices.Equal(c.cwd.dirs, []string{""}) || slices.Contains(c.r.functions, "git") || strings.Contains(c.src, "GIT_") {
		return "", false
	}
	return BelowTop(words[1])
}

// push keeps a place on the stack.
func (p *workDirs) push(saved workDirs) {
	stack := saved.stack
	saved.stack = nil
	if p.endless = p.endless || len(stack) >= maxStack; p.endless {
		p.stack = nil
		return
	}
	p.stack = append(slices.Clip(stack), saved)
}

// target says where cd or pushd goes to.
func target(words []Word) (to string, known bool) {
	i := 1
	for i < len(words) && words[i].Literal && len(words[i].Value) > 1 && words[i].Value[0] == '-' {
		switch words[i].Value {
		case "-L", "-e", "-@", "-n":
		case "--":
			i++
			return goal(words, i)
		default: // -P goes by the links, -2 by the stack
			return "", false
		}
		i++
	}
	return goal(words, i)
}

func goal(words []Word, i int) (to string, known bool) {
	if i >= len(words) {
		return "~", true
	}
	if i+1 < len(words) || words[i].Raw == "-" {
		return "", false
	}
	if to, ok := homePath(words[i]); ok {
		return to, true
	}
	w := words[i]
	if w.Literal && w.Raw != w.Value && strings.HasPrefix(w.Value, "~") && w.Raw[0] != '~' {
		return "", false // a folder of that name: so rare that it is not followed
	}
	return w.Value, w.Literal && w.Value != "-"
}

// homePath reads a word that begins with $HOME and is otherwise known.
func homePath(w Word) (string, bool) {
	for _, head := range []string{"$HOME", "${HOME}"} {
		rest, ok := strings.CutPrefix(w.Value, head)
		if ok && !w.Literal && (rest == "" || rest[0] == '/') && w.Shape == Unknown+rest {
			return "~" + rest, true
		}
	}
	return "", false
}
