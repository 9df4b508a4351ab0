package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/text"
)

// Limits for instructions.
const (
	mostOfOne = 32 << 10  // bytes of one file
	mostOfAll = 128 << 10 // bytes of all
	mostFiles = 100
)

// InstructionOptions configure where instructions are.
type InstructionOptions struct {
	Dir, Worktree string             // of the work; a worktree that is the whole disk is none
	Home          string             // of the person; "" where it is not known
	Own           []string           // folders with instructions of the person for all projects
	Named         []NamedInstruction // that the config names
	NoClaude      bool               // those are left out that are written for Claude Code
	NoProject     bool               // those of the project are left out
	// Note is called with entries of the config that match nothing, and with what was left out.
	Note func(string)
}

// NamedInstruction is an entry of the config: a file or a pattern of files.
type NamedInstruction struct {
	Name string
	Dir  string // of the config
}

// Instructions are files that tell agents how to work, in the order in which agents are given them.
type Instructions []instruction

// An instruction is a file that tells agents how to work.
type instruction struct {
	name string
	// within is the folder that no link may lead out of; "" for a file that the person has named or
	// owns.
	within string
}

// Texts returns the current contents of the files, each with its name above it.
func (f Instructions) Texts() (out []string) {
	total := 0
	for _, file := range f {
		said, err := file.read()
		if err != nil || strings.TrimSpace(said) == "" {
			continue // it may come or go while the command runs
		}
		if total += len(said); total > mostOfAll {
			out = append(out, "There are more instructions in "+file.name+": read them.")
			continue
		}
		out = append(out, "Instructions from: "+file.name+"\n"+said)
	}
	return out
}

// read returns the beginning of a text file.
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
	data, err := io.ReadAll(io.LimitReader(f, mostOfOne+1))
	if err != nil {
		return "", err
	}
	said := strings.ToValidUTF8(string(data), string(utf8.RuneError))
	if cut, more := text.Cut(said, mostOfOne); more {
		said = cut + "\n(cut: read the file for the rest)"
	}
	return said, nil
}

var errLeadsOut = errors.New("leads to a file that is not the project's, or may hold secrets")

// real returns the file to read. A link in a project could point to a secret of the person who
// works on it, so it must not lead out of the project, nor to a file that the rules ask about.
func (i instruction) real() (string, error) {
	real, err := filepath.EvalSymlinks(i.name)
	if err != nil || i.within == "" {
		return real, err
	}
	within, err := filepath.EvalSymlinks(i.within)
	if err != nil {
		return "", err
	}
	if disk.Within(i.within, i.name) && !disk.Within(within, real) || envFile(real) || !prose(i.name, real) {
		return "", errLeadsOut
	}
	return real, nil
}

// prose reports whether a file is not a link, or links to a text meant for reading rather than,
// say, a config file with a token in it.
func prose(name, real string) bool {
	if filepath.Base(name) == filepath.Base(real) {
		return true
	}
	return slices.Contains([]string{".md", ".mdc", ".markdown", ".txt"}, strings.ToLower(filepath.Ext(real)))
}

// envFile reports whether the default rules ask before they let a file be read.
func envFile(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	return (strings.HasSuffix(base, ".env") || strings.Contains(base, ".env.")) && !strings.HasSuffix(base, ".env.example")
}

// FindInstructions returns the files that may hold instructions: the person's, the project's, and
// those that the config names, in this order.
func FindInstructions(o InstructionOptions) Instructions {
	all := o.ownFiles()
	if !o.NoProject {
		all = append(all, o.project()...)
	}
	seek := newSeeker()
	for _, n := range o.Named {
		found, problem := o.namedFiles(seek, n)
		if problem != "" {
			o.Note(problem)
		}
		all = append(all, found...)
	}
	if seek.tired {
		o.Note(fmt.Sprintf("the search for instructions was given up after %d files: name them with fewer wildcards", seek.seen))
	}
	var out Instructions
	for _, file := range all {
		if !slices.ContainsFunc(out, func(have instruction) bool { return have.name == file.name }) {
			out = append(out, file)
		}
	}
	if len(out) > mostFiles {
		o.Note(fmt.Sprintf("there are %d files of instructions, of which the first %d are read", len(out), mostFiles))
		out = out[:mostFiles]
	}
	return out
}

// ownFiles returns the person's files, for all projects.
func (o InstructionOptions) ownFiles() (out []instruction) {
	for _, dir := range o.Own {
		if name := filepath.Join(dir, "AGENTS.md"); isFile(name) {
			out = append(out, instruction{name: name})
		}
	}
	if name := filepath.Join(o.Home, ".claude", "CLAUDE.md"); len(out) == 0 && !o.NoClaude && o.Home != "" && isFile(name) {
		out = append(out, instruction{name: name})
	}
	return out
}

// project returns the files of the folders from the worktree down to the working directory, the
// outermost first, under the first name that any of them has.
func (o InstructionOptions) project() (out []instruction) {
	names := []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"}
	if o.NoClaude {
		names = []string{"AGENTS.md", "CONTEXT.md"}
	}
	for _, name := range names {
		for _, dir := range o.upward() {
			if file := (instruction{filepath.Join(dir, name), o.bound(dir)}); isFile(file.name) {
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

// upward returns the folders from the working directory up to the worktree.
func (o InstructionOptions) upward() (out []string) {
	for dir := o.Dir; ; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if dir == o.Worktree {
			return out
		}
		if dir == filepath.Dir(dir) {
			return out[:1] // no project around it
		}
	}
}

// bound returns the folder that links in dir must stay in: the worktree, or dir if there is none.
func (o InstructionOptions) bound(dir string) string {
	if o.loose() {
		return dir
	}
	return o.Worktree
}

// loose reports whether the worktree is the whole disk.
func (o InstructionOptions) loose() bool { return filepath.Dir(o.Worktree) == o.Worktree }

// namedFiles returns the files of a config entry. A relative one is searched in all folders from
// the working directory up to the worktree, and beside the config.
func (o InstructionOptions) namedFiles(seek *seeker, n NamedInstruction) (out []instruction, problem string) {
	name := n.Name
	switch {
	case strings.HasPrefix(name, "https://"), strings.HasPrefix(name, "http://"):
		return nil, "instructions are not fetched from the network: keep a copy of " + name + " in a file and name that"
	case strings.HasPrefix(name, "~/") || filepath.IsAbs(name):
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(o.Home, rest)
		}
		for _, found := range seek.find("", name) {
			out = append(out, instruction{name: found})
		}
	default:
		out = o.relativeFiles(seek, n)
		if o.NoProject {
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

func (o InstructionOptions) relativeFiles(seek *seeker, n NamedInstruction) (out []instruction) {
	above := o.upward()
	places := above
	switch {
	case o.NoProject:
		places = nil
	case o.loose() && strings.Contains(n.Name, "**"):
		places = above[:1] // not through the whole disk
	}
	for _, base := range places { // the nearest first: the search may be given up
		var here []instruction
		for _, found := range seek.find(base, n.Name) {
			here = append(here, instruction{found, o.bound(base)})
		}
		out = append(here, out...)
	}
	if filepath.IsAbs(n.Dir) && !slices.Contains(above, n.Dir) {
		for _, found := range seek.find(n.Dir, n.Name) {
			out = append(out, instruction{found, o.bound(o.Dir)})
		}
	}
	return out
}
