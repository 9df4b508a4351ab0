package lspclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// launch determines how to start the server in a root: its program, arguments and environment. It
// starts and downloads nothing; if something is missing it returns a [*Missing].
func (s Server) launch(root string, p environment) (launch, error) {
	argv, err := s.findCommand(root, p)
	if err != nil {
		return launch{}, err
	}
	if s.runs != "" && !p.trusted {
		return launch{}, s.untrusted(fmt.Sprintf("The language server %s runs code of the project (%s)", s.Name, s.runs))
	}
	for _, name := range s.needs {
		if _, err := p.find(name); err != nil && !s.own {
			return launch{}, &Missing{s.Name, fmt.Sprintf("The language server %s needs %s, which is not on the PATH: install it.", s.Name, name)}
		}
	}
	l := launch{argv: argv, env: p.cautions()}
	maps.Copy(l.env, s.Environment)
	if s.prepare != nil {
		if err := s.prepare(&l, s, root, p); err != nil {
			return launch{}, err
		}
	}
	if l.init, err = mergeJSON(l.init, s.Initialization); err != nil {
		return launch{}, fmt.Errorf("language server %s: %w", s.Name, err)
	}
	return l, nil
}

// findCommand returns the first command of the server whose program is there.
func (s Server) findCommand(root string, p environment) ([]string, error) {
	if len(s.Command) == 0 {
		return nil, &Missing{s.Name, fmt.Sprintf("The language server %s has no command: set lsp.%s.command in the config.", s.Name, s.Name)}
	}
	if s.own {
		return s.configured(p)
	}
	var inside error
	for _, c := range append([][]string{s.Command}, s.others...) {
		program, err := s.findProgram(c[0], root, p)
		if err == nil {
			return append([]string{program}, c[1:]...), nil
		}
		if inside == nil && isInside(err) {
			inside = err
		}
	}
	if inside != nil {
		return nil, s.untrusted(inside.Error())
	}
	return nil, &Missing{s.Name, fmt.Sprintf("%s is not on the PATH: %s, or set lsp.%s.command in the config.", s.Command[0], s.get, s.Name)}
}

// configured returns the command that the config names. A relative path starts
// at the working folder.
func (s Server) configured(p environment) ([]string, error) {
	argv := slices.Clone(s.Command)
	if !hasSeparator(argv[0]) {
		program, err := p.find(argv[0])
		switch {
		case isInside(err):
			return nil, s.untrusted(err.Error())
		case err != nil:
			return nil, &Missing{s.Name, fmt.Sprintf("%s is not on the PATH: install it, or mend lsp.%s.command in the config.", argv[0], s.Name)}
		}
		argv[0] = program
		return argv, nil
	}
	if !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(p.dir, argv[0])
	}
	if !p.mayRun(argv[0]) {
		return nil, s.untrusted(fmt.Sprintf("%s lies in the project", argv[0]))
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, &Missing{s.Name, fmt.Sprintf("%s is not a program that can be run: mend lsp.%s.command in the config.", argv[0], s.Name)}
	}
	return argv, nil
}

// findProgram finds a program of a known server: in the project if that is trusted and usual for
// it, otherwise on the PATH, and last in a virtual environment.
func (s Server) findProgram(name, root string, p environment) (string, error) {
	inside := ""
	if file, ok := p.upwards(root, "node_modules/.bin/"+name); ok && s.npm {
		inside, _ = exec.LookPath(file)
	}
	if inside != "" && p.trusted {
		return inside, nil
	}
	found, err := p.find(name)
	if err != nil && s.venv {
		for _, dir := range p.environments(root) {
			if program, err := exec.LookPath(filepath.Join(dir, programsOf(name))); err == nil {
				return program, nil
			}
		}
	}
	if err != nil && inside != "" {
		err = &insideError{name, inside}
	}
	return found, err
}

func (s Server) untrusted(what string) *Missing {
	return &Missing{s.Name, what + ", and this project is not trusted: look at it, put {\"lsp\": true} into its helve.json if it has none, and run 'helve trust'."}
}

// An insideError is a program that was found in a project that is not trusted.
type insideError struct{ name, found string }

func (e *insideError) Error() string {
	return fmt.Sprintf("%s lies in the project (%s)", e.name, e.found)
}

func isInside(err error) bool {
	_, ok := err.(*insideError)
	return ok
}

// find looks up a program on the PATH. One in the project counts only if the project is trusted:
// otherwise the next one is used.
func (p environment) find(name string) (string, error) {
	var refused error
	if p.lookPath != nil {
		found, err := p.lookPath(name)
		if err == nil && filepath.IsAbs(found) && p.mayRun(found) {
			return found, nil
		}
		if found == "" {
			return "", fmt.Errorf("program %s: %w", name, exec.ErrNotFound)
		}
		if !p.trusted {
			refused = &insideError{name, found}
		}
	}
	for _, dir := range filepath.SplitList(p.env("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if p.mayRun(found) {
			return found, nil
		}
		if refused == nil {
			refused = &insideError{name, found}
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("program %s: %w", name, exec.ErrNotFound)
}

// mayRun reports whether a program may run, by its location.
func (p environment) mayRun(file string) bool { return p.trusted || !p.inProject(file) }

// inProject reports whether a file is in the project, by its name or after following links.
func (p environment) inProject(file string) bool {
	for _, dir := range []string{p.dir, p.worktree} {
		if dir == "" || isTop(dir) {
			continue
		}
		for _, f := range []string{file, actual(file)} {
			if disk.Within(dir, f) || disk.Within(actual(dir), f) {
				return true
			}
		}
	}
	return false
}

// cautions returns environment variables with which the process, too, finds no programs in an
// untrusted project.
func (p environment) cautions() map[string]string {
	env := map[string]string{}
	if p.trusted {
		return env
	}
	if runtime.GOOS == "windows" {
		env["NoDefaultCurrentDirectoryInExePath"] = "1"
	}
	all := filepath.SplitList(p.env("PATH"))
	kept := slices.DeleteFunc(slices.Clone(all), func(dir string) bool { return !filepath.IsAbs(dir) || p.inProject(dir) })
	if len(kept) < len(all) {
		env["PATH"] = strings.Join(kept, string(filepath.ListSeparator))
	}
	return env
}

// upwards looks for a file of the project: in the root, and in the folders above it within the
// project.
func (p environment) upwards(root, name string) (string, bool) {
	w, ok := p.walk(filepath.Join(root, "x"))
	if !ok {
		return "", false
	}
	for _, dir := range w.above(root) {
		if file := filepath.Join(dir, filepath.FromSlash(name)); exists(file) {
			return file, true
		}
	}
	return "", false
}

func (p environment) env(name string) string {
	if p.getenv == nil {
		return ""
	}
	return p.getenv(name)
}

// flag reports whether a variable switches something on.
func (p environment) flag(name string) bool {
	value := strings.ToLower(p.env(name))
	return value == "1" || value == "true"
}

// cache returns a folder of the user's cache that belongs to a root, and ""
// where there is no cache.
func (p environment) cache(server, root string) string {
	dir := p.env("XDG_CACHE_HOME")
	if dir == "" {
		if home := p.env("HOME"); home != "" && runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
			dir = filepath.Join(home, ".cache")
		} else {
			dir, _ = os.UserCacheDir()
		}
	}
	if !filepath.IsAbs(dir) || p.inProject(dir) {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dir, "helve", "lsp", server, hex.EncodeToString(sum[:8]))
}

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// options encodes a value that always encodes.
func options(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
