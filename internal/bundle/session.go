package bundle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// maxRounds bounds how often a folder is compiled again after errors. All errors of a kind are
// found at once, so a handful is usual.
const maxRounds = 50

// A ref is an import as it is written in a file.
type ref struct{ importer, spec string }

// A buildSession is one build: what is known of the files after some rounds.
type buildSession struct {
	o      Options
	began  time.Time
	reach  reach
	vetter *vetter

	// What earlier rounds found.
	dropped  map[string][]Problem // of Files: those that cannot be loaded
	broken   map[string]Problem   // by path: files that cannot be compiled
	missing  map[ref]int          // imports that lead nowhere: which of losses
	losses   []Problem
	typesRef map[ref]bool        // imports of files of types only
	undefs   map[string][]string // by path: names that are types, exported as undefined
	odd      map[string]bool     // of Files: those the compiler does not find by name, such as one with a star
	awaits   bool                // a file has an await outside of functions
	lonely   bool                // tsconfig files are not heeded, as one is broken
	problems []Problem           // about the folder

	// What the last round gave.
	code  string
	srcs  []byte // the source map
	table segments
	moved []int32 // by line of the program: which it was in the compiler's
	graph *graph

	mu      sync.Mutex // the compiler loads files on many goroutines
	sources map[string]*sourceFile
	total   int64
	looked  map[ref]bool // imports of files that were looked up on disk
}

// run compiles until nothing is left to complain about.
func (s *buildSession) run(ctx context.Context) error {
	for _, f := range s.o.Files {
		path := filepath.Join(s.o.Root, filepath.FromSlash(f))
		if _, err := filepath.EvalSymlinks(path); err != nil {
			s.dropped[f] = []Problem{{File: path, Text: withoutPath(err).Error()}}
		}
	}
	if err := s.reach.settings(s.o.Files); err != nil {
		return err
	}
	if err := s.vet(); err != nil {
		return err
	}
	for range maxRounds {
		again, err := s.compile(ctx)
		if err != nil {
			return err
		}
		if !again {
			return nil
		}
	}
	return errors.New("mistakes do not come to an end")
}

// compile makes a compiler for the present settings and has it work until it
// is content (false) or needs other settings (true).
func (s *buildSession) compile(ctx context.Context) (again bool, err error) {
	compiler, bad := api.Context(s.settings())
	if bad != nil {
		return false, fmt.Errorf("settings: %s", bad.Errors[0].Text)
	}
	defer compiler.Dispose()
	stop := context.AfterFunc(ctx, compiler.Cancel)
	defer stop()
	awaits, lonely := s.awaits, s.lonely
	for range maxRounds {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		out := compiler.Rebuild()
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if len(out.Errors) > 0 {
			if err := s.absorb(out.Errors); err != nil {
				return false, err
			}
		} else if done, err := s.accept(out); done || err != nil {
			return false, err
		}
		if s.awaits != awaits || s.lonely != lonely {
			return true, nil
		}
	}
	return false, errors.New("mistakes do not come to an end")
}

// accept handles a round without errors. If files need what is broken or missing, they are dropped,
// and there is another round.
func (s *buildSession) accept(out api.BuildResult) (done bool, err error) {
	if s.graph, err = readGraph(out.Metafile, s.o.Root, s.kept()); err != nil {
		return false, err
	}
	for _, f := range s.graph.lost {
		if s.odd[f] {
			return false, fmt.Errorf("import graph: %q is not in it", f)
		}
		s.odd[f] = true
	}
	if len(s.graph.lost) > 0 {
		return false, nil
	}
	for _, f := range s.kept() {
		problems := s.problemsOf(f)
		if !(File{Problems: problems}).Loads() {
			s.dropped[f] = problems
			done = true
		}
	}
	if done {
		return false, nil
	}
	for _, file := range out.OutputFiles {
		if strings.HasSuffix(file.Path, ".map") {
			s.srcs = file.Contents
		} else {
			s.code = string(file.Contents)
		}
	}
	if s.table, err = readMap(s.srcs, s.o.Root); err != nil {
		return false, err
	}
	s.mend()
	s.code = strings.Replace(s.code, nodeInterop, bunInterop, 1)
	s.arrange()
	return true, nil
}

// mend fixes paths in the compiler's source map, which replaces a backslash, legal in a name, by a
// slash.
func (s *buildSession) mend() {
	slashed := map[string]string{}
	for path := range s.sources {
		if s := filepath.Clean(strings.ReplaceAll(path, "\\", "/")); s != path {
			slashed[s] = path
		}
	}
	for i, path := range s.table.sources {
		if real, ok := slashed[filepath.ToSlash(path)]; ok && s.sources[path] == nil {
			s.table.sources[i] = real
		}
	}
}

// Where a CommonJS module says that it was made of an ES module, its default
// export is meant, whatever the file is called that imports it. The compiler
// goes by Node's rule for files that can only be ES modules.
const (
	nodeInterop = "isNodeMode || !mod || !mod.__esModule ?"
	bunInterop  = "!mod || !mod.__esModule ?"
)

// kept are the files still in the program.
func (s *buildSession) kept() (files []string) {
	for _, f := range s.o.Files {
		if s.dropped[f] == nil {
			files = append(files, f)
		}
	}
	return files
}

// settings are the compiler's. Plain CommonJS is what sloppy packages need; a
// file that awaits outside of functions needs the other format, in which the
// program comes out the same but for such files.
func (s *buildSession) settings() api.BuildOptions {
	o := api.BuildOptions{
		EntryPoints: []string{"entry"}, Bundle: true, Write: false, Metafile: true,
		AbsWorkingDir: s.o.Root, Outfile: filepath.Join(s.o.Root, "bundle.js"),
		AbsPaths: api.LogAbsPath | api.MetafileAbsPath,
		LogLevel: api.LogLevelSilent, LogLimit: 0,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		LegalComments: api.LegalCommentsNone, Charset: api.CharsetASCII, KeepNames: true,
		Platform: api.PlatformNode, Format: api.FormatCommonJS, Target: api.ES2023,
		Conditions:        []string{"bun"},                                                                 // the compiler adds node, and import or require by what asks
		ResolveExtensions: []string{".tsx", ".jsx", ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"}, // in the order they are tried
		Supported:         map[string]bool{"dynamic-import": false},
		Define:            defines(),
		Plugins:           []api.Plugin{{Name: "helve", Setup: s.plug}},
	}
	if s.awaits {
		o.Format = api.FormatESModule
		o.Supported["top-level-await"] = true
	}
	if s.lonely {
		o.TsconfigRaw = "{}"
	}
	return o
}

// defines gives the names that are replaced in every file, where the file
// does not declare them itself: by those of its first line, or by those that
// are looked for in the program.
func defines() map[string]string {
	d := map[string]string{"import.meta": metaName, "__dirname": dirnameName, "__filename": filenameName}
	for api, marker := range markers() {
		d[api] = marker
	}
	return d
}
