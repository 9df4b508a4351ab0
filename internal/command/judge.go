package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/permission"
)

// ErrNoCommand says that a text cannot be run at all: it is empty or contains a NUL.
var ErrNoCommand = errors.New("not a command: it is empty or holds a NUL")

// A Location is where a command line runs.
type Location struct {
	// Dir is the absolute working directory of the session: what lies in it, or in the worktree, is
	// inside.
	Dir string
	// Cwd is the absolute folder in which the command starts; Dir when empty.
	Cwd string
	// Home is what ~ and $HOME mean; the user's home folder when empty.
	Home string
}

// A Judged is a parsed command line with everything that has to be asked before it may run.
type Judged struct {
	files   *files.Workspace
	place   Location
	command string
	line    Line
}

// ReadLine parses a command line that runs in dir, which is absolute.
func ReadLine(files *files.Workspace, dir, command string) *Judged {
	return ReadLineIn(files, Location{Dir: dir}, command)
}

// ReadLineIn is [ReadLine] for a command line that starts in another folder than the session's.
func ReadLineIn(files *files.Workspace, place Location, command string) *Judged {
	if place.Cwd == "" {
		place.Cwd = place.Dir
	}
	if place.Home == "" {
		place.Home, _ = os.UserHomeDir() // without one, what is in it is not known
	}
	l := &Judged{files: files, place: place, command: command}
	if l.runnable() {
		l.line = Parse(command)
	}
	return l
}

func (l *Judged) runnable() bool { return l.command != "" && strings.IndexByte(l.command, 0) < 0 }

// Losses returns what the command line would destroy.
func (l *Judged) Losses() []Loss { return l.line.Losses() }

// Requests returns the permission requests of the line, in this order and without empty ones:
// external_directory, read, edit and bash, one of each. For folders that a command searches as a
// whole, it names the files that the rules of by single out. If by is nil it names every file and,
// if these are very many, adds that it cannot.
func (l *Judged) Requests(ctx context.Context, by Filterer) ([]permission.Request, error) {
	if !l.runnable() {
		return nil, ErrNoCommand
	}
	found := &accessFinder{Judged: l, files: l.files.WithCache(), by: by, left: maxEntries, words: maxExpandedNames, follow: maxFollow, globs: !l.changesGlobs()}
	bash := commands{at: map[string]int{}, seen: map[uncertaintyKey]bool{}, req: permission.Request{
		Permission: "bash", Metadata: l.requestMetadata(),
		Spellings: map[string][]string{}, Uncertainties: map[string][]permission.Uncertainty{},
	}}
	if err := found.visit(ctx, l.place.Cwd); err != nil {
		return nil, err
	}
	var loose []permission.Uncertainty // of files that units reach which nobody is asked about
	for _, u := range l.line.Units {
		uncertainties, err := found.unit(ctx, u)
		if err != nil {
			return nil, err
		}
		if !needsAsking(u) {
			loose = append(loose, uncertainties...)
			continue
		}
		for _, d := range u.Uncertainties {
			if d.Match != "" && !found.dashed(u, d.Match) {
				continue
			}
			uncertainties = append(uncertainties, permission.Uncertainty{Why: d.Why, Flag: d.Flag})
		}
		bash.add(u.Text, u.Spellings, append(uncertainties, loose...))
		loose = nil
	}
	if err := found.edits(ctx); err != nil {
		return nil, err
	}
	l.addWhole(&bash, loose)
	bash.req.Always = l.always()
	var out []permission.Request
	for _, req := range append(found.requests(), bash.req) {
		if len(req.Patterns) > 0 {
			out = append(out, req)
		}
	}
	return out, nil
}

// A Filterer knows which files the rules single out, so that for a whole folder only these have to
// be asked about; see [files.Filterer].
type Filterer interface {
	Filter(permission string) (passes func(names ...string) bool, key string)
}

// Ask asks for everything at once. It returns an error of a unchanged. If a is a [files.Filterer]
// too, only those files of searched folders are asked about that its rules single out.
func (l *Judged) Ask(ctx context.Context, a files.Asker) error {
	by, _ := a.(Filterer)
	reqs, err := l.Requests(ctx, by)
	if err != nil || len(reqs) == 0 {
		return err
	}
	return a.Ask(ctx, reqs...)
}

// requestMetadata returns what a person has to know in addition: the command, and its folder if
// that is not the session's.
func (l *Judged) requestMetadata() map[string]any {
	out := map[string]any{"command": l.command}
	if l.place.Cwd != l.place.Dir {
		out["workdir"] = l.place.Cwd
	}
	return out
}

// addWhole adds the uncertainties about the text as a whole.
func (l *Judged) addWhole(bash *commands, loose []permission.Uncertainty) {
	patterns := bash.req.Patterns
	switch {
	case len(l.line.Units) == 0 && !silent(l.command):
		bash.add(l.command, nil, loose)
	case len(loose) == 0:
	case len(patterns) > 0:
		bash.add(patterns[len(patterns)-1], nil, loose)
	default:
		bash.add(l.command, nil, loose)
	}
	if l.line.Opaque != "" {
		bash.add(l.command, nil, []permission.Uncertainty{{Why: l.line.Opaque}})
	}
	if deceives(l.command, l.line.Units) {
		bash.add(l.command, nil, []permission.Uncertainty{{Why: "it holds characters that can not be seen"}})
	}
}

// always returns the patterns that may be offered for an "always".
func (l *Judged) always() []string {
	out := []string{}
	for _, s := range l.line.Suggest() {
		if !s.Exact {
			out = append(out, s.Pattern)
		}
	}
	return out
}

// needsAsking reports whether a unit has to be asked about by itself. cd, variables and tests
// change nothing.
func needsAsking(u Unit) bool {
	switch u.Kind {
	case Command, Declaration, Piece:
		return len(u.Words) > 0 && u.Words[0].Value != "cd" || len(u.Uncertainties) > 0
	}
	return len(u.Uncertainties) > 0
}

// silent reports whether a text has only blank lines and comments.
func silent(command string) bool {
	for line := range strings.Lines(command) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// commands is a request about commands that grows.
type commands struct {
	req  permission.Request
	at   map[string]int
	seen map[uncertaintyKey]bool
}

// An uncertaintyKey is an uncertainty about the pattern with a number, whose text may be long.
type uncertaintyKey struct {
	pattern     int
	uncertainty permission.Uncertainty
}

func (c *commands) add(text string, spellings []string, uncertainties []permission.Uncertainty) {
	at, seen := c.at[text]
	if !seen {
		at = len(c.req.Patterns)
		c.at[text] = at
		c.req.Patterns = append(c.req.Patterns, text)
	}
	if len(spellings) > 0 {
		known := c.req.Spellings[text]
		for _, s := range spellings {
			if !slices.Contains(known, s) {
				known = append(known, s)
			}
		}
		c.req.Spellings[text] = known
	}
	var more []permission.Uncertainty
	for _, d := range uncertainties {
		key := uncertaintyKey{at, d}
		if d.Permission != "" {
			key.uncertainty.Why = "" // one of a kind is enough
		}
		if !c.seen[key] {
			c.seen[key] = true
			more = append(more, d)
		}
	}
	if len(more) > 0 {
		c.req.Uncertainties[text] = append(c.req.Uncertainties[text], more...)
	}
}

// changesGlobs reports whether the text changes which files a pattern matches.
func (l *Judged) changesGlobs() bool {
	return slices.ContainsFunc(l.line.Units, func(u Unit) bool {
		names := func(a Assign) bool { return a.Name == "GLOBIGNORE" }
		return len(u.Words) > 0 && u.Words[0].Value == "shopt" || slices.ContainsFunc(u.Assigns, names)
	})
}

// abs returns a name relative to a folder as an absolute one. It is not cleaned: links are resolved
// before dots.
func abs(dir, name string) string {
	if runtime.GOOS == "windows" {
		name = fromGitBash(name)
	}
	if filepath.IsAbs(name) {
		return name
	}
	if name == "" {
		return dir
	}
	return dir + string(filepath.Separator) + name
}

// fromGitBash is a name as Windows has it that is written as Git Bash, MSYS and
// Cygwin have it: /c/x, /cygdrive/c/x and /mnt/c/x are C:\x.
func fromGitBash(name string) string {
	rest := name
	for _, head := range []string{"/cygdrive", "/mnt"} {
		if cut, ok := strings.CutPrefix(name, head+"/"); ok {
			rest = "/" + cut
		}
	}
	if len(rest) < 2 || rest[0] != '/' || !isLetter(rest[1]) || len(rest) > 2 && rest[2] != '/' {
		return name
	}
	return strings.ToUpper(rest[1:2]) + ":\\" + strings.ReplaceAll(strings.TrimPrefix(rest[2:], "/"), "/", `\`)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
