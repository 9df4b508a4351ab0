package files

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Formatter is a command that formats a file in place.
type Formatter struct {
	Name string
	// Command is the program and its arguments, in which $FILE stands for the absolute name of the
	// file. It does not run in a shell.
	Command []string
	// Extensions, with the dot, select the files: ".go", ".html.erb". Case matters. "" matches a
	// name without extension.
	Extensions []string
	// Environment is added to the environment of the command, see [Formatters.Run].
	Environment map[string]string
	// Disabled disables the formatter of that name. ruff and uv are the same program, so each also
	// disables the other.
	Disabled bool
}

// maxTime is how long a formatter may take.
const maxTime = 30 * time.Second

// FormatterOptions configure the formatters of a project.
type FormatterOptions struct {
	// Formatters are the configured ones. One with the name of a built-in formatter replaces it,
	// and takes over its extensions if it has none itself; other names follow in order. One without
	// a command is ignored, unless it disables or changes a built-in one. Of two with the same name
	// the later counts. A configured formatter is always enabled.
	Formatters []Formatter
	// Builtin includes the built-in formatters. Each is enabled if it is installed and the project
	// uses it.
	Builtin bool
	// Experimental includes the experimental built-in ones: oxfmt.
	Experimental bool
	// Dir is the working directory of commands, and where the search for signs of a built-in
	// formatter starts, up to Worktree. "" is the current folder, and for Worktree it is Dir.
	Dir, Worktree string
	// Logger receives which formatters are disabled, and why. When it is nil, nothing is logged.
	Logger *slog.Logger
}

// A FormatReport is the outcome of one formatter.
type FormatReport struct {
	Name string
	// Err is why it failed, with the end of its output; nil if it succeeded.
	Err  error
	Took time.Duration
	// Output is the end of its output.
	Output string
}

// Formatters are the formatters of a project. They are safe for concurrent use, as long as one file
// is not formatted twice at once.
type Formatters struct {
	place   projectDirs
	timeout time.Duration
	log     *slog.Logger
	items   []*item
}

// An item is a formatter and what is known about it.
type item struct {
	Formatter
	builtin builtin
	ready   chan struct{} // holds a value while the item is free
	located bool          // the cheap checks were made
	probed  bool          // the program itself was asked
	program string        // what to run instead of Command[0]; "" if it is off
}

// NewFormatters returns the formatters that opt configures. It checks nothing yet.
func NewFormatters(opt FormatterOptions) *Formatters {
	s := &Formatters{
		place:   projectDirs{dir: absolute(opt.Dir), worktree: opt.Worktree},
		timeout: maxTime,
		log:     opt.Logger,
	}
	if s.place.worktree = absolute(opt.Worktree); opt.Worktree == "" {
		s.place.worktree = s.place.dir
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if opt.Builtin {
		for _, b := range builtins() {
			if !b.experimental || opt.Experimental {
				s.items = append(s.items, newItem(b))
			}
		}
	}
	for _, f := range opt.Formatters {
		s.configure(f)
	}
	return s
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

func newItem(b builtin) *item {
	it := &item{Formatter: b.Formatter, builtin: b, ready: make(chan struct{}, 1)}
	it.ready <- struct{}{}
	return it
}

// configure lets a configured formatter change the set.
func (s *Formatters) configure(f Formatter) {
	at := slices.IndexFunc(s.items, func(it *item) bool { return it.Name == f.Name })
	switch {
	case f.Disabled:
		s.remove(f.Name)
		s.remove(twin(f.Name))
	case len(f.Command) == 0 && at >= 0: // the built-in one, with what was said about it
		it := s.items[at]
		if len(f.Extensions) > 0 {
			it.Extensions = f.Extensions
		}
		if f.Environment != nil {
			it.Environment = f.Environment
		}
	case len(f.Command) == 0 || f.Command[0] == "":
		s.log.Warn("a formatter has no command and is left out", "name", f.Name)
	case at < 0:
		s.items = append(s.items, newItem(builtin{Formatter: f}))
	default:
		if len(f.Extensions) == 0 {
			f.Extensions = s.items[at].Extensions
		}
		s.items[at] = newItem(builtin{Formatter: f})
		// The same program need not run a second time under its other name.
		other := twin(f.Name)
		s.items = slices.DeleteFunc(s.items, func(it *item) bool { return it.Name == other && it.builtin.find != nil })
	}
}

func (s *Formatters) remove(name string) {
	s.items = slices.DeleteFunc(s.items, func(it *item) bool { return it.Name == name })
}

// twin returns the other name of the same program.
func twin(name string) string {
	switch name {
	case "ruff":
		return "uv"
	case "uv":
		return "ruff"
	}
	return name
}

// For reports whether there may be a formatter for a file. It starts no program: a formatter that
// has to be asked whether it is the right one counts until it was asked.
func (s *Formatters) For(path string) bool {
	for _, it := range s.items {
		if !it.takes(path) {
			continue
		}
		if program, _ := s.programOf(context.Background(), it, false); program != "" {
			return true
		}
	}
	return false
}

// takes reports whether the formatter is for files with this name.
func (it *item) takes(path string) bool {
	base := filepath.Base(path)
	for _, ext := range it.Extensions {
		if ext == "" {
			if filepath.Ext(strings.TrimLeft(base, ".")) == "" {
				return true
			}
			continue
		}
		if !strings.HasPrefix(ext, ".") {
			ext = "." + ext
		}
		if len(base) > len(ext) && strings.HasSuffix(base, ext) {
			return true
		}
	}
	return false
}

// Run formats a file with every matching formatter, one after the other. If one fails, that is
// reported and the next one runs all the same; the error is only that of ctx.
//
// A formatter gets no input, only those variables of our environment that name places and
// languages, and its own process group, which is killed as a whole when the time is up or ctx ends.
func (s *Formatters) Run(ctx context.Context, path string) ([]FormatReport, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.place.dir, path)
	}
	var reports []FormatReport
	for _, it := range s.items {
		if !it.takes(path) {
			continue
		}
		program, err := s.programOf(ctx, it, true)
		if err != nil {
			return reports, err
		}
		if program == "" {
			continue
		}
		reports = append(reports, s.run(ctx, it, program, path))
		if err := context.Cause(ctx); err != nil {
			return reports, err
		}
	}
	return reports, context.Cause(ctx)
}

// programOf returns the program of a formatter, "" if it is disabled, and caches the answer. The
// program itself is asked, if necessary, only if ask is set. The error is that of ctx.
func (s *Formatters) programOf(ctx context.Context, it *item, ask bool) (string, error) {
	if it.builtin.find == nil {
		return it.Command[0], nil
	}
	if !ask && len(it.ready) == 0 { // somebody is asking it right now
		return it.Command[0], nil
	}
	select {
	case <-it.ready:
		defer func() { it.ready <- struct{}{} }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if !it.located {
		it.program = it.builtin.find(s.place)
		it.located = true
		if it.program == "" {
			s.log.Debug("a formatter is off: not installed, or the project does not ask for it", "name", it.Name)
		}
	}
	if it.program == "" || it.probed || it.builtin.probe == nil || !ask {
		return it.program, nil
	}
	good := s.probe(ctx, it)
	if err := context.Cause(ctx); err != nil {
		return "", err // not the program's fault
	}
	it.probed = true
	if !good {
		s.log.Debug("a formatter is off: the program is another, or too old", "name", it.Name, "program", it.program)
		it.program = ""
	}
	return it.program, nil
}
