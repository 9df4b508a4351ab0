package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"helve/internal/text"
)

const (
	// instructionFile and instructionTotal are how many bytes of one file, and
	// of all, an agent's model is told.
	instructionFile, instructionTotal = 32 << 10, 128 << 10
)

// instructions are the texts that tell an agent how to work here: those of the
// user, of the project, and those that the config names, in this order.
func (s *setup) instructions(a *app) func(agent string) []string {
	files := s.instructionFiles(a)
	return func(string) []string {
		var out []string
		total := 0
		for _, name := range files {
			said, err := readInstructions(name)
			if err != nil || strings.TrimSpace(said) == "" {
				continue // it may come or go while the command runs
			}
			if total += len(said); total > instructionTotal {
				out = append(out, "There are more instructions in "+name+": read them.")
				continue
			}
			out = append(out, "Instructions from: "+name+"\n"+said)
		}
		return out
	}
}

// readInstructions reads the beginning of a file of text.
func readInstructions(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
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

// instructionFiles are the files that may hold instructions.
func (s *setup) instructionFiles(a *app) (out []string) {
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	claude := !a.truth("OPENCODE_DISABLE_CLAUDE_CODE") && !a.truth("OPENCODE_DISABLE_CLAUDE_CODE_PROMPT") && !a.truth("HELVE_DISABLE_CLAUDE_CODE")
	own := filepath.Dir(s.userFile())
	for _, name := range []string{filepath.Join(own, "AGENTS.md"), filepath.Join(filepath.Dir(own), "opencode", "AGENTS.md")} {
		if isFile(name) {
			add(name)
		}
	}
	if name := filepath.Join(s.opt.Home, ".claude", "CLAUDE.md"); len(out) == 0 && claude && s.opt.Home != "" && isFile(name) {
		add(name)
	}
	add(s.projectInstructions(claude)...)
	for _, e := range s.cfg.Instructions {
		names, problem := s.namedInstructions(e.Value, e.Dir)
		if problem != "" {
			a.note(problem)
		}
		add(names...)
	}
	return out
}

// projectInstructions are those of the folders from the working one up to the
// worktree, the outermost first, of the first name that one of them has.
func (s *setup) projectInstructions(claude bool) (out []string) {
	names := []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"}
	if !claude {
		names = []string{"AGENTS.md", "CONTEXT.md"}
	}
	for _, name := range names {
		for _, dir := range s.upward() {
			if path := filepath.Join(dir, name); isFile(path) {
				out = append(out, path)
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

// namedInstructions are the files that an entry of the config names.
func (s *setup) namedInstructions(value json.RawMessage, dir string) (out []string, problem string) {
	var name string
	if err := json.Unmarshal(value, &name); err != nil {
		return nil, ""
	}
	switch {
	case strings.HasPrefix(name, "https://"), strings.HasPrefix(name, "http://"):
		return nil, "instructions are not fetched from the network: keep a copy of " + name + " in a file and name that"
	case strings.HasPrefix(name, "~/"):
		name = filepath.Join(s.opt.Home, name[2:])
	case !filepath.IsAbs(name):
		for _, base := range append(s.upward(), dir) {
			if found, _ := filepath.Glob(filepath.Join(base, name)); len(found) > 0 {
				return found, ""
			}
		}
		return nil, fmt.Sprintf("the instructions %q name no file", name)
	}
	found, err := filepath.Glob(name)
	if err != nil || len(found) == 0 {
		return nil, fmt.Sprintf("the instructions %q name no file", name)
	}
	return found, ""
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
