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
	// Command is the program and its arguments, in which $FILE stands for the
	// absolute name of the file. It is run as it is, not by a shell.
	Command []string
	// Extensions, with the dot, say which files it is for: ".go", ".html.erb".
	// Capitals count. "" is a name without extension.
	Extensions []string
	// Environment is set on top of what a child gets, see [Set.Run].
	Environment map[string]string
	// Disabled takes the formatter of that name out. ruff and uv are the same
	// program, so each takes out the other too.
	Disabled bool
}

// maxTime is how long a formatter may take.
const maxTime = 30 * time.Second

// FormatterOptions say which formatters there are.
type FormatterOptions struct {
	// Formatters are the configured ones. One with the name of a built-in one
	// takes its place, and its extensions if it has none itself; a new name comes
	// after all others, in order. One without a command is left out, unless it
	// disables or changes a built-in one. Of two with the same name the later counts. A configured
	// formatter is always on.
	Formatters []Formatter
	// Builtin says that the built-in ones are there too. Each is on if it is
	// installed and the project shows that it is wanted.
	Builtin bool
	// Experimental lets the built-in ones in that are still being tried out
	// upstream: oxfmt.
	Experimental bool
	// Dir is the folder commands run in, and from which the signs that a
	// built-in one is wanted are looked for, up to Worktree. "" is the current
	// folder, and for Worktree it is Dir.
	Dir, Worktree string
	// Logger is told what no caller is: which formatters are off, and why.
	// Nothing is logged when nil.
	Logger *slog.Logger
}

// A FormatReport is what came of one formatter.
type FormatReport struct {
	Name string
	// Err is why it failed, with the end of what it printed; nil if it did not.
	Err  error
	Took time.Duration
	// Output is the end of what it printed.
	Output string
}

// A Formatters is the formatters of a project. It is safe for concurrent use, as long
// as one file is not formatted twice at once.
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
	ready   chan struct{} // holds a value while nobody looks into it
	located bool          // the cheap checks were made
	probed  bool          // the program itself was asked
	program string        // what to run instead of Command[0]; "" if it is off
}

// NewFormatters makes a set. It looks at nothing yet.
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

// twin is the other name of the program.
func twin(name string) string {
	switch name {
	case "ruff":
		return "uv"
	case "uv":
		return "ruff"
	}
	return name
}

// For reports whether there may be something to run for a file. It starts no
// program: a formatter that can say only itself whether it is the right one
// counts until it was asked.
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

// takes reports whether the formatter is for files of this name.
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

// Run formats a file with every formatter that is for it, one after the
// other. One that fails is reported and the next runs nevertheless; the error
// is that of ctx alone.
//
// A child gets no input, the variables of our environment that name places and
// languages but not the others, and its own process group, which is ended as a
// whole when the time is up or ctx is done.
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

// programOf is the program of a formatter, "" if it is off. What was found out
// is kept. The program is asked itself, if that is needed, only if ask is set.
// The error is that of ctx.
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
