package bundle

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// An edge is one import: to is the module's name as the compiler writes it.
type edge struct {
	to, spec string
	always   bool // evaluated whenever the importing module is
}

// A graph records which module imports which. Files are named by their path, other modules by
// namespace and name.
type graph struct {
	edges   map[string][]edge
	modules map[string]string // of the files of the options
	strict  map[string]bool   // modules with ES imports or exports, by the name they have in the program
	lost    []string          // files of the options the compiler did not find
}

// readGraph reads the compiler's account of a round.
func readGraph(metafile, root string, files []string) (*graph, error) {
	var meta struct {
		Inputs map[string]struct {
			Format  string
			Imports []struct {
				Path, Kind, Original string
				External             bool
			}
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("import graph: %w", err)
	}
	g := &graph{edges: make(map[string][]edge, len(meta.Inputs)), modules: map[string]string{}, strict: map[string]bool{}}
	for name, in := range meta.Inputs {
		if in.Format == "esm" {
			g.strict[moduleName(root, name)] = true
		}
		name = withoutType(name)
		for _, i := range in.Imports {
			if !i.External {
				g.edges[name] = append(g.edges[name], edge{withoutType(i.Path), i.Original, i.Kind == "import-statement"})
			}
		}
	}
	imports := g.edges[spaceEntry+":entry"]
	bySpec := make(map[string]string, len(imports))
	for _, e := range imports {
		bySpec[e.spec] = e.to
	}
	for _, f := range files {
		if module, ok := bySpec["./"+f]; ok {
			g.modules[f] = module
		} else {
			g.lost = append(g.lost, f)
		}
	}
	return g, nil
}

// moduleName is a module's name as the compiler writes it into the program.
func moduleName(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsAbs(name) {
		return filepath.ToSlash(rel)
	}
	return name
}

// withoutType is a module's name without the attributes it was imported with.
func withoutType(name string) string {
	for _, kind := range []string{"text", "json", "file"} {
		name = strings.TrimSuffix(name, " with { type: '"+kind+"' }")
	}
	return name
}

// from returns all modules a file leads to, itself first, and whether each is
// evaluated whenever the file is.
func (g *graph) from(file string) (order []string, always map[string]bool) {
	start := g.modules[file]
	always = map[string]bool{}
	for _, only := range []bool{true, false} {
		queue := []string{start}
		seen := map[string]bool{start: true}
		for len(queue) > 0 {
			module := queue[0]
			queue = queue[1:]
			if only {
				always[module] = true
			} else {
				order = append(order, module)
			}
			for _, e := range g.edges[module] {
				if !seen[e.to] && (e.always || !only) {
					seen[e.to] = true
					queue = append(queue, e.to)
				}
			}
		}
	}
	return order, always
}

// problemsOf collects the problems of the modules that a file imports.
func (s *buildSession) problemsOf(file string) (problems []Problem) {
	order, always := s.graph.from(file)
	for _, module := range order {
		p, ok := s.broken[module]
		if src := s.sources[module]; !ok && src != nil && src.err != nil {
			p, ok = s.unread(module, order), true
		}
		if path, is := strings.CutPrefix(module, spaceMissing+":"); !ok && is {
			p, ok = s.lostAt(path), true
		}
		if p.Late = !always[module]; ok && !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return problems
}

// unread is the problem of a file that has no text. If imports may not lead
// to it, that is the mistake of the first of some modules that imports it.
func (s *buildSession) unread(module string, order []string) Problem {
	src := s.sources[module]
	p := Problem{File: module, Text: src.err.Error()}
	if much, ok := src.err.(*excess); ok {
		p.Line, p.Column = much.line, 1
	}
	if !src.outside {
		return p
	}
	for _, importer := range order {
		by := s.sources[importer]
		for _, e := range s.graph.edges[importer] {
			if e.to == module && by != nil {
				text := fmt.Sprintf("%q is %s", e.spec, p.Text)
				if src.err == errUntrusted {
					text = fmt.Sprintf("%q %s", e.spec, p.Text)
				}
				p = Problem{File: importer, Text: text}
				if p.Line = by.lineOf(e.spec); p.Line > 0 {
					p.Column = 1
				}
				return p
			}
		}
	}
	return p
}
