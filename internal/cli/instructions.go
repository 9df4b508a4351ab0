package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"helve/internal/text"
)

const (
	// instructionFile and instructionTotal are how many bytes of one file, and
	// of all, an agent's model is told, and instructionCount of how many files.
	instructionFile, instructionTotal, instructionCount = 32 << 10, 128 << 10, 100
)

// An instruction is a file that tells agents how to work.
type instruction struct {
	name string
	// within is the folder that no link may lead it out of; "" for a file that
	// the person has named or owns.
	within string
}

// instructions are the texts that tell an agent how to work here: those of the
// user, of the project, and those that the config names, in this order. The
// files are looked for when they are first asked for: most commands never ask.
func (s *setup) instructions(a *app) func(agent string) []string {
	find := sync.OnceValue(func() []instruction { return s.instructionFiles(a) })
	return func(string) []string {
		var out []string
		total := 0
		for _, file := range find() {
			said, err := file.read()
			if err != nil || strings.TrimSpace(said) == "" {
				continue // it may come or go while the command runs
			}
			if total += len(said); total > instructionTotal {
				out = append(out, "There are more instructions in "+file.name+": read them.")
				continue
			}
			out = append(out, "Instructions from: "+file.name+"\n"+said)
		}
		return out
	}
}

// read reads the beginning of a file of text.
func (i instruction) read() (string, error) {
	real, err := i.real()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", i.name)
	}
	data, err := io.ReadAll(io.LimitReader(f, instructionFile+1))
	if err != nil {
		return "", err
	}
	said := strings.ToValidUTF8(string(data), string(utf8.RuneError))
	if cut, more := text.Cut(said, instructionFile); more {
		said = cut + "\n(cut: read the file for the rest)"
	}
	return said, nil
}

var errLeadsOut = errors.New("leads to a file that is not the project's, or may hold secrets")

// real is the file that is read. What a project links to may be a secret of the
// person who works on it: a link may not lead out of the project, and not to a
// file that the rules ask about.
func (i instruction) real() (string, error) {
	real, err := filepath.EvalSymlinks(i.name)
	if err != nil || i.within == "" {
		return real, err
	}
	within, err := filepath.EvalSymlinks(i.within)
	if err != nil {
		return "", err
	}
	if inside(i.within, i.name) && !inside(within, real) || envFile(real) || !prose(i.name, real) {
		return "", errLeadsOut
	}
	return real, nil
}

// prose reports whether a file is what it is called, or, where it is a link, leads
// to a text that was written to be read: not to a config file with a token in it.
func prose(name, real string) bool {
	if filepath.Base(name) == filepath.Base(real) {
		return true
	}
	return slices.Contains([]string{".md", ".mdc", ".markdown", ".txt"}, strings.ToLower(filepath.Ext(real)))
}

// envFile reports whether a file is one that by the default rules is read only
// if a person says so.
func envFile(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	return (strings.HasSuffix(base, ".env") || strings.Contains(base, ".env.")) && !strings.HasSuffix(base, ".env.example")
}

// inside reports whether a path lies in a folder.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// instructionFiles are the files that may hold instructions. It tells what of
// the config finds none.
func (s *setup) instructionFiles(a *app) []instruction {
	set := func(name string) bool { return a.truth("OPENCODE_"+name) || a.truth("HELVE_"+name) }
	claude := !set("DISABLE_CLAUDE_CODE") && !set("DISABLE_CLAUDE_CODE_PROMPT")
	project := !set("DISABLE_PROJECT_CONFIG")
	all := s.ownInstructions(claude)
	if project {
		all = append(all, s.projectInstructions(claude)...)
	}
	seek := newSeeker()
	for _, e := range s.cfg.Instructions {
		var name string
		if err := json.Unmarshal(e.Value, &name); err != nil || name == "" {
			continue // the config tells of it
		}
		found, problem := s.namedInstructions(seek, name, e.Dir, project)
		if problem != "" {
			a.note(problem)
		}
		all = append(all, found...)
	}
	if seek.tired {
		a.note(fmt.Sprintf("the search for instructions was given up after %d files: name them with fewer wildcards", seek.seen))
	}
	var out []instruction
	for _, file := range all {
		if !slices.ContainsFunc(out, func(have instruction) bool { return have.name == file.name }) {
			out = append(out, file)
		}
	}
	if len(out) > instructionCount {
		a.note(fmt.Sprintf("there are %d files of instructions, of which the first %d are read", len(out), instructionCount))
		out = out[:instructionCount]
	}
	return out
}

// ownInstructions are those of the person, for all projects.
func (s *setup) ownInstructions(claude bool) (out []instruction) {
	var dirs []string
	if file := s.userFile(); file != "" {
		own := filepath.Dir(file)
		dirs = append(dirs, own, filepath.Join(filepath.Dir(own), "opencode"))
	}
	for _, name := range []string{"OPENCODE_CONFIG_DIR", "HELVE_CONFIG_DIR"} {
		dir := s.opt.Env(name)
		if dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.opt.Dir, dir)
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if name := filepath.Join(dir, "AGENTS.md"); isFile(name) {
			out = append(out, instruction{name: name})
		}
	}
	if name := filepath.Join(s.opt.Home, ".claude", "CLAUDE.md"); len(out) == 0 && claude && s.opt.Home != "" && isFile(name) {
		out = append(out, instruction{name: name})
	}
	return out
}

// projectInstructions are those of the folders from the working one up to the
// worktree, the outermost first, of the first name that one of them has.
func (s *setup) projectInstructions(claude bool) (out []instruction) {
	names := []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"}
	if !claude {
		names = []string{"AGENTS.md", "CONTEXT.md"}
	}
	for _, name := range names {
		for _, dir := range s.upward() {
			if file := (instruction{filepath.Join(dir, name), s.bound(dir)}); isFile(file.name) {
				out = append(out, file)
			}
		}
		if len(out) > 0 {
			slices.Reverse(out)
			return out
		}
	}
	return nil
}

// upward are the folders from the working one up to the worktree.
func (s *setup) upward() (out []string) {
	for dir := s.opt.Dir; ; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if dir == s.opt.Worktree {
			return out
		}
		if dir == filepath.Dir(dir) {
			return out[:1] // no project around it
		}
	}
}

// bound is the folder that links in dir may lead about: the worktree, or dir
// where there is none.
func (s *setup) bound(dir string) string {
	if s.loose() {
		return dir
	}
	return s.opt.Worktree
}

// loose reports whether there is no worktree but the whole disk.
func (s *setup) loose() bool { return filepath.Dir(s.opt.Worktree) == s.opt.Worktree }

// namedInstructions are the files that an entry of the config names. One that
// is not absolute is looked for in all folders from the working one up to the
// worktree, and beside the config.
func (s *setup) namedInstructions(seek *seeker, name, dir string, project bool) (out []instruction, problem string) {
	switch {
	case strings.HasPrefix(name, "https://"), strings.HasPrefix(name, "http://"):
		return nil, "instructions are not fetched from the network: keep a copy of " + name + " in a file and name that"
	case strings.HasPrefix(name, "~/") || filepath.IsAbs(name):
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(s.opt.Home, rest)
		}
		for _, found := range seek.find("", name) {
			out = append(out, instruction{name: found})
		}
	default:
		out = s.relativeInstructions(seek, name, dir, project)
		if !project {
			return out, "" // it may be meant for a file of the project
		}
	}
	if len(out) == 0 {
		return nil, fmt.Sprintf("the instructions %q name no file", name)
	}
	bad := slices.IndexFunc(out, func(i instruction) bool { _, err := i.real(); return errors.Is(err, errLeadsOut) })
	if bad >= 0 {
		problem = fmt.Sprintf("the instructions %q are not read: it is a link that %v; name that file itself", out[bad].name, errLeadsOut)
	}
	return out, problem
}

func (s *setup) relativeInstructions(seek *seeker, name, dir string, project bool) (out []instruction) {
	above := s.upward()
	places := above
	switch {
	case !project:
		places = nil
	case s.loose() && strings.Contains(name, "**"):
		places = above[:1] // not through the whole disk
	}
	for _, base := range places { // the nearest first: the search may be given up
		var here []instruction
		for _, found := range seek.find(base, name) {
			here = append(here, instruction{found, s.bound(base)})
		}
		out = append(here, out...)
	}
	if filepath.IsAbs(dir) && !slices.Contains(above, dir) {
		for _, found := range seek.find(dir, name) {
			out = append(out, instruction{found, s.bound(s.opt.Dir)})
		}
	}
	return out
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// What a search for instructions may take.
const (
	seekFiles   = 10_000
	seekTime    = 500 * time.Millisecond
	seekChoices = 64 // that the braces of a pattern come to
)

// A seeker finds the files of patterns: *, ? and [..] as [path.Match] reads
// them, ** for any folders, {a,b} for a choice. It gives up in time.
type seeker struct {
	seen  int
	until time.Time
	tired bool // it has given up
	known map[string][]fs.DirEntry
}

func newSeeker() *seeker {
	return &seeker{until: time.Now().Add(seekTime), known: map[string][]fs.DirEntry{}}
}

// find returns the files of a pattern that begins in a folder; in no folder an
// absolute one begins.
func (k *seeker) find(base, pattern string) (out []string) {
	if base == "" {
		base = filepath.VolumeName(pattern) + string(filepath.Separator)
		pattern = pattern[len(filepath.VolumeName(pattern)):]
	}
	for _, one := range choices(filepath.ToSlash(pattern)) {
		parts := slices.DeleteFunc(strings.Split(one, "/"), func(part string) bool { return part == "" || part == "." })
		if n := len(parts); n > 0 && parts[n-1] == "**" {
			parts = append(parts, "*")
		}
		k.walk(base, slices.CompactFunc(parts, func(a, b string) bool { return a == b && a == "**" }), func(name string) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		})
	}
	return out
}

func (k *seeker) walk(dir string, parts []string, yield func(string)) {
	switch {
	case time.Now().After(k.until):
		k.tired = true
	case len(parts) == 0:
		if isFile(dir) {
			yield(dir)
		}
	case parts[0] == "**":
		k.walk(dir, parts[1:], yield)
		for _, e := range k.list(dir) {
			if e.IsDir() && !passed(e) {
				k.walk(filepath.Join(dir, e.Name()), parts, yield)
			}
		}
	case !strings.ContainsAny(parts[0], `*?[\`):
		k.walk(filepath.Join(dir, parts[0]), parts[1:], yield)
	default:
		for _, e := range k.list(dir) {
			if ok, err := path.Match(parts[0], e.Name()); err == nil && ok && !passed(e) {
				k.walk(filepath.Join(dir, e.Name()), parts[1:], yield)
			}
		}
	}
}

// passed reports whether a folder is one that no pattern means unless it names
// it.
func passed(e fs.DirEntry) bool { return e.Name() == ".git" || e.Name() == "node_modules" }

// list is what a folder holds, sorted, or nothing where it is none.
func (k *seeker) list(dir string) []fs.DirEntry {
	if have, ok := k.known[dir]; ok {
		return have
	}
	if k.seen >= seekFiles {
		k.tired = true
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.ReadDir(seekFiles - k.seen)
	if err != nil {
		list = nil // also of an empty folder
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	k.seen += len(list)
	k.tired = k.tired || k.seen >= seekFiles
	k.known[dir] = list
	return list
}

// choices are the patterns without braces that one with braces stands for.
func choices(pattern string) (out []string) {
	for todo := []string{pattern}; len(todo) > 0 && len(out) < seekChoices; {
		one := todo[0]
		before, among, after := choice(one)
		if among == nil {
			todo, out = todo[1:], append(out, one)
			continue
		}
		next := make([]string, 0, len(among)+len(todo))
		for _, a := range among {
			next = append(next, before+a+after)
		}
		todo = append(next, todo[1:]...)
	}
	return out
}

// choice cuts a pattern at its first braces that are closed; among is nil where
// there are none.
func choice(pattern string) (before string, among []string, after string) {
	depth, open, from := 0, 0, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				among, from = append(among, pattern[from:i]), i+1
			}
		case '}':
			if depth--; depth == 0 {
				return pattern[:open], append(among, pattern[from:i]), pattern[i+1:]
			}
			depth = max(depth, 0)
		}
	}
	return pattern, nil, ""
}
