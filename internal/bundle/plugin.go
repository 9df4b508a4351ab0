package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The namespaces of modules that are not files.
const (
	spaceEntry   = "entry"   // the module all files hang on
	spaceVirtual = "virtual" // the caller's
	spaceEmpty   = "empty"   // an import of types
	spaceMissing = "missing" // an import that leads nowhere
	spaceNeed    = "need"    // what an engine does not have
)

// plug configures the compiler's module resolution.
func (s *buildSession) plug(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return s.resolve(a), nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		if a.Namespace == "file" {
			return s.load(a), nil
		}
		var text string
		dir := ""
		switch a.Namespace {
		case spaceEntry:
			text, dir = entrySource(s.kept()), s.o.Root
		case spaceVirtual:
			text = virtualSource(s.o.Virtual[a.Path])
		case spaceEmpty:
			text = "module.exports = {};\n"
		case spaceMissing:
			text = throwing("Error", s.lostAt(a.Path).String())
		case spaceNeed:
			text = throwing("Error", a.Path+" is not available to tools that run in the embedded engine")
		}
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS, ResolveDir: dir}, nil
	})
}

// resolve decides about the imports that do not lead to files, and leaves the
// others to the compiler.
func (s *buildSession) resolve(a api.OnResolveArgs) api.OnResolveResult {
	if a.Kind == api.ResolveEntryPoint {
		return api.OnResolveResult{Path: a.Path, Namespace: spaceEntry}
	}
	here := ref{importerName(a), a.Path}
	if name, ok := s.virtual(a.Path); ok {
		return api.OnResolveResult{Path: name, Namespace: spaceVirtual}
	}
	if a.Namespace == spaceEntry {
		if name := strings.TrimPrefix(a.Path, "./"); s.odd[name] {
			_, real := resolvePath(s.o.Root, name)
			return api.OnResolveResult{Path: real}
		}
		return api.OnResolveResult{}
	}
	if at, ok := s.missing[here]; ok {
		return api.OnResolveResult{Path: strconv.Itoa(at), Namespace: spaceMissing}
	}
	if declaration(a.Path) || s.typesRef[here] || a.Namespace == spaceVirtual && a.Path == spaceEmpty {
		return api.OnResolveResult{Path: "empty", Namespace: spaceEmpty}
	}
	if api := lacking(a.Path); api != "" {
		return resolvedNeed(api)
	}
	if remote(a.Path) {
		return api.OnResolveResult{Errors: []api.Message{{Text: fmt.Sprintf("Could not resolve %q", a.Path)}}}
	}
	s.mu.Lock()
	s.looked[ref{a.Importer, a.Path}] = true
	s.mu.Unlock()
	if told, wary := s.wary(a); wary {
		return told
	}
	return api.OnResolveResult{}
}

func resolvedNeed(name string) api.OnResolveResult {
	return api.OnResolveResult{Path: name, Namespace: spaceNeed}
}

// importerName is a module's name as the compiler writes it in messages.
func importerName(a api.OnResolveArgs) string {
	if a.Namespace == "file" || a.Namespace == "" {
		return a.Importer
	}
	return a.Namespace + ":" + a.Importer
}

// virtual finds the caller's module of a name, with or without "node:".
func (s *buildSession) virtual(name string) (string, bool) {
	if _, ok := s.o.Virtual[name]; ok {
		return name, true
	}
	bare, prefixed := strings.CutPrefix(name, "node:")
	if !prefixed {
		bare = "node:" + name
	}
	_, ok := s.o.Virtual[bare]
	return bare, ok
}

// remote reports whether an import is of something on another machine.
func remote(spec string) bool {
	return strings.HasPrefix(spec, "http://") || strings.HasPrefix(spec, "https://") || strings.HasPrefix(spec, "//")
}

// virtualSource makes names that an ES module does not export undefined,
// where they would be an error: it also re-exports what a module exports of
// which nothing is known before it runs.
func virtualSource(text string) string {
	if regexp.MustCompile(`(?m)^\s*export\b`).MatchString(text) {
		text += "\nexport * from " + quote(spaceEmpty) + ";\n"
	}
	return text
}

// load gives the text of a file, or of a module that throws in its place.
func (s *buildSession) load(a api.OnLoadArgs) api.OnLoadResult {
	if kind := dataOf(a.Path, a.With["type"]); kind != "" {
		// The module parses the data when it is loaded.
		src := s.readSource(a.Path)
		text := fmt.Sprintf("module.exports = require(%q).%s(%s);\n", dataModule, kind, quote(src.raw))
		if src.err != nil {
			text = throwing("Error", Problem{File: a.Path, Text: src.err.Error()}.String())
		}
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS, ResolveDir: filepath.Dir(a.Path)}
	}
	loader := loaderOf(a.Path, a.With["type"])
	if loader == api.LoaderFile && s.reach.trusted(a.Path) {
		text := "export default " + quote(a.Path) + ";\n"
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}
	}
	src := s.readSource(a.Path)
	text := src.text
	if loader == api.LoaderText {
		text = src.raw
	}
	if p, ok := s.broken[a.Path]; ok && loader != api.LoaderText {
		text, loader = throwing("SyntaxError", p.String()), api.LoaderJS
	} else if src.err != nil {
		text, loader = throwing("Error", Problem{File: a.Path, Text: src.err.Error()}.String()), api.LoaderJS
	} else {
		for i, name := range s.undefs[a.Path] {
			text += fmt.Sprintf("\nvar $helve$type%d; export { $helve$type%d as %s };", i, i, name)
		}
	}
	return api.OnLoadResult{Contents: &text, Loader: loader, ResolveDir: filepath.Dir(a.Path)}
}

// readSource reads a file, or has read it in an earlier round.
func (s *buildSession) readSource(path string) *sourceFile {
	s.mu.Lock()
	src, left := s.sources[path], s.o.MaxTotal-s.total
	s.mu.Unlock()
	if src != nil {
		return src
	}
	switch {
	case !s.reach.mayRead(path):
		src = &sourceFile{err: fmt.Errorf("outside of %s: imports from there are not allowed. Name its folder in the config key custom.also: {\"custom\": {\"also\": [%s]}}", s.o.Root, quote(filepath.Dir(path))), outside: true}
	case !s.reach.trusted(path):
		src = &sourceFile{err: errUntrusted, outside: true}
	case left <= 0:
		src = &sourceFile{err: fmt.Errorf("the files together are larger than %d bytes", s.o.MaxTotal)}
	default:
		src = readSource(path, s.o.MaxFile)
		switch {
		case src.err != nil:
		case binary(src.raw):
			src.err = errors.New("not a text file")
		case loaderOf(path, "") != api.LoaderText && src.tooMuch():
		case isScript(loaderOf(path, "")):
			src.prepareScript(path)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.sources[path]; first != nil {
		return first
	}
	s.sources[path] = src
	if src.sum != "" { // what was not read does not count
		s.total += src.size
	}
	return src
}
