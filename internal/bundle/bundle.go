// Package bundle makes one JavaScript program of the tool and plugin files of a config folder, so
// that an engine without a module system, a file system or TypeScript can run them. It only reads
// files: it fetches, installs and writes nothing, and runs none of what it reads.
//
// The files share one program because they share helper modules, and a helper must have one
// instance. Errors stay separate: a file that cannot be read, parsed or linked is left out and
// reported, and one that throws while it is loaded is caught by its own entry.
//
// The program is the body of a CommonJS module. It exports
//
//	exports.files = [{ file: "tools/x.ts", load: async () => ({ exports } | { error }) }, …]
//
// in the order of [Options.Files], without those that cannot be loaded. Nothing of a file runs
// before its load is called, and load never rejects. The exports are those that import() gives: a
// CommonJS file has its module.exports as default. A require or import of a computed name becomes a
// call of the require the program is given.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Version is the version of the program's format. Callers that store programs make it part of the
// key.
const Version = 2

// ErrOptions is wrapped by errors about what Build was asked, rather than
// about the files.
var ErrOptions = errors.New("bundle options")

// Options configure [Build].
type Options struct {
	// Root is the config folder, absolute. Files below it may be read, and so
	// may node_modules there and in the folders above it.
	Root string
	// Files are the tool and plugin files, relative to Root with slashes.
	Files []string
	// Also are further folders and files imports may lead to, absolute; a project whose
	// tools import its own sources gives itself.
	Also []string
	// Virtual are the sources of modules that are not files, by the name they
	// are imported by. One named "fs" also answers to "node:fs", and one named
	// "node:fs" to "fs". They win over installed packages. CommonJS is best
	// (a name that is not there is undefined, a function can be the module);
	// a source with a line that begins with "export" is an ES module, and there,
	// too, a name that is not exported is undefined.
	Virtual map[string]string
	// MaxFile and MaxTotal bound the bytes read of one file and of all;
	// 16 MiB and 64 MiB when zero.
	MaxFile, MaxTotal int64
}

// A Result is a program and its metadata. It is plain data that can be encoded as JSON, for a cache
// of the caller.
type Result struct {
	// Code is the program.
	Code string
	// Map is its source map, without the sources' text; see Position.
	Map []byte
	// Files are those of the options, in their order.
	Files []File
	// Problems are about the folder rather than one of its files.
	Problems []Problem
	// Hash is equal for equal inputs, options and program, and for no others.
	Hash string
	// Inputs tell whether the result is still that of the folder.
	Inputs Fingerprint

	once  sync.Once // table is read when a position is first asked for
	table segments
}

// A File is what became of one tool or plugin file.
type File struct {
	// Name is the file's in Options.Files.
	Name string
	// Problems are the errors in it or in what it imports.
	Problems []Problem
	// Needs are what it uses that an embedded engine does not have.
	Needs []Need
}

// Loads reports whether the program has the file.
func (f File) Loads() bool {
	return !slices.ContainsFunc(f.Problems, func(p Problem) bool { return !p.Late })
}

// A Problem is an error in a file, or an unresolved import.
type Problem struct {
	// File is absolute. Line and Column count from 1, the column in bytes;
	// both are 0 where the problem is the whole file's.
	File         string
	Line, Column int
	// Text describes the problem in one line.
	Text string
	// Package is the npm package that is not installed, if that is the problem.
	Package string
	// Late problems are in a require or an import() that may never run; if it does, it throws.
	Late bool
}

// String gives a problem as compilers do.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// A Need is a use of something an embedded engine cannot provide.
type Need struct {
	// API is its name: "WebAssembly", "Bun.serve", "node:http", "native add-on x.node".
	API string
	// File is absolute, Line counts from 1 or is 0 where it is not known.
	File string
	Line int
	// Guarded uses are in a file that also asks by typeof whether the API is
	// there, so it may do without.
	Guarded bool
}

// Build makes a program. It fails only if the options are wrong, ctx ends, or the folder's own
// settings cannot be read. Errors of single files are in the result.
func Build(ctx context.Context, o Options) (*Result, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	type made struct {
		result *Result
		err    error
	}
	done := make(chan made, 1)
	go func() {
		r, err := build(ctx, o)
		done <- made{r, err}
	}()
	select {
	case m := <-done:
		return m.result, m.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case m := <-done:
		return m.result, m.err
	case <-timer.C: // it hangs in a file system that does not answer
		return nil, fmt.Errorf("bundle %s: %w", o.Root, ctx.Err())
	}
}

// grace is how long Build waits for the compiler to stop.
const grace = time.Second

func build(ctx context.Context, o Options) (*Result, error) {
	s := &buildSession{
		o: o, began: time.Now(), reach: newReach(o), vetter: &vetter{files: map[string]error{}, dirs: map[string]error{}, homes: map[string]error{}},
		dropped: map[string][]Problem{}, broken: map[string]Problem{}, missing: map[ref]int{},
		typesRef: map[ref]bool{}, undefs: map[string][]string{}, odd: map[string]bool{},
		sources: map[string]*sourceFile{}, looked: map[ref]bool{},
	}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", o.Root, err)
	}
	r := &Result{Problems: s.problems}
	packed, err := s.packMap()
	if err != nil {
		return nil, err
	}
	needs := s.needs()
	r.Code, r.Map, r.table = s.code, packed, s.table
	for _, name := range s.o.Files {
		f := File{Name: name, Problems: s.dropped[name]}
		if f.Problems == nil {
			f.Problems = s.problemsOf(name)
			order, _ := s.graph.from(name)
			for _, module := range order {
				f.Needs = append(f.Needs, needs[module]...)
			}
		}
		r.Files = append(r.Files, f)
	}
	r.Inputs = s.fingerprint()
	// The program also represents the compiler's version.
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Inputs.Options)
	for _, m := range r.Inputs.Files {
		fmt.Fprintf(&b, "%q %s\n", m.Path, m.Sum)
	}
	b.WriteString(r.Code)
	r.Hash = hashOf([]byte(b.String()))
	return r, nil
}

// checked returns options with defaults filled in, or why they are no good.
func (o Options) checked() (Options, error) {
	if !filepath.IsAbs(o.Root) {
		return o, fmt.Errorf("%w: root %q is not absolute", ErrOptions, o.Root)
	}
	o.Root = filepath.Clean(o.Root)
	if st, err := os.Stat(o.Root); err != nil {
		return o, fmt.Errorf("%w: %w", ErrOptions, err)
	} else if !st.IsDir() {
		return o, fmt.Errorf("%w: root %q is not a folder", ErrOptions, o.Root)
	}
	seen := map[string]bool{}
	for _, f := range o.Files {
		switch {
		case !filepath.IsLocal(filepath.FromSlash(f)):
			return o, fmt.Errorf("%w: file %q is not below the root", ErrOptions, f)
		case !utf8.ValidString(f) || strings.ContainsRune(f, 0):
			return o, fmt.Errorf("%w: file name %q is not text", ErrOptions, f)
		case seen[f]:
			return o, fmt.Errorf("%w: file %q is named twice", ErrOptions, f)
		}
		seen[f] = true
	}
	for _, dir := range o.Also {
		if !filepath.IsAbs(dir) {
			return o, fmt.Errorf("%w: folder %q is not absolute", ErrOptions, dir)
		}
	}
	if o.MaxFile == 0 {
		o.MaxFile = 16 << 20
	}
	if o.MaxTotal == 0 {
		o.MaxTotal = 64 << 20
	}
	return o, nil
}
