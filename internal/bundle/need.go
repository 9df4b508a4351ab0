package bundle

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// markers are the globals an embedded engine does not have. Each stands in
// the program under another name of the same length, which the compiler puts
// where the global is meant and nowhere else, so finding the name finds the
// uses; then the names are put right again.
func markers() map[string]string {
	return map[string]string{
		"WebAssembly":            "W$$$ssembly",
		"globalThis.WebAssembly": "globalThis$WebAssembly",
		"Worker":                 "W$rk$r",
		"globalThis.Worker":      "globalThis$Worker",
		"Bun.serve":              "Bun$serve",
		"Bun.listen":             "Bun$listen",
		"Bun.connect":            "Bun$connect",
		"Bun.udpSocket":          "Bun$udpSocket",
		"process.dlopen":         "process$dlopen",
	}
}

// lacking names what an import needs that no engine of ours gives, unless the
// caller has a module of that name.
func lacking(spec string) string {
	name, prefixed := strings.CutPrefix(spec, "node:")
	switch {
	case prefixed:
		return spec
	case spec == "bun" || strings.HasPrefix(spec, "bun:"):
		return spec
	case builtin(name):
		return "node:" + name
	case strings.HasSuffix(spec, ".node"):
		return "native add-on " + filepath.Base(spec)
	case strings.HasSuffix(spec, ".wasm"):
		return "WebAssembly"
	}
	switch spec {
	case "bindings", "node-gyp-build", "node-gyp-build-optional-packages", "node-pre-gyp", "@mapbox/node-pre-gyp", "ffi-napi", "koffi":
		return "native add-on by " + spec
	}
	return ""
}

// builtin reports whether Node has a module of a name that needs no prefix.
func builtin(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
		"diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net",
		"os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream", "string_decoder",
		"sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib":
	default:
		return false
	}
	switch name {
	case top, "assert/strict", "dns/promises", "fs/promises", "inspector/promises", "path/posix", "path/win32",
		"readline/promises", "stream/consumers", "stream/promises", "stream/web", "timers/promises", "util/types":
		return true
	}
	return false // "events/" is the package of that name
}

// needs finds what the modules of the program use that an engine does not
// have, by module, and takes the markers out of the program.
func (s *buildSession) needs() map[string][]Need {
	found := map[string][]Need{}
	for module, edges := range s.graph.edges {
		src := s.sources[module]
		if src == nil {
			continue
		}
		for _, e := range edges {
			if name, ok := strings.CutPrefix(e.to, spaceNeed+":"); ok {
				found[module] = append(found[module], Need{API: name, File: module, Line: src.lineOf(e.spec)})
			}
			if e.spec == "bun" {
				found[module] = append(found[module], src.fromBun(module)...)
			}
		}
	}
	s.findGlobals(found)
	s.aliased(found)
	s.servers(found)
	s.natives(found)
	s.code = strings.ReplaceAll(s.code, exportsMarker, exportsName)
	for module, list := range found {
		slices.SortFunc(list, func(a, b Need) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.API, b.API)) })
		found[module] = slices.Compact(list)
	}
	return found
}

// fromBun finds the servers a file imports by name from Bun's own module.
func (s *sourceFile) fromBun(path string) (needs []Need) {
	for _, at := range regexp.MustCompile(`import\s*\{([^}]*)\}\s*from\s*["']bun["']`).FindAllStringSubmatchIndex(s.text, -1) {
		for name := range strings.FieldsFuncSeq(s.text[at[2]:at[3]], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			switch name {
			case "serve", "listen", "connect", "udpSocket":
				needs = append(needs, Need{API: "Bun." + name, File: path, Line: strings.Count(s.text[:at[0]], "\n") + 1})
			}
		}
	}
	return needs
}

// findGlobals finds the uses of globals.
func (s *buildSession) findGlobals(found map[string][]Need) {
	for name, marker := range markers() {
		if !strings.Contains(s.code, marker) {
			continue
		}
		api := strings.TrimPrefix(name, "globalThis.")
		guarded := map[string]bool{}
		var uses []Need
		s.each(marker, func(at int, file string, line int) {
			before := strings.TrimRight(s.code[max(0, at-16):at], " (")
			if strings.HasSuffix(before, "typeof") {
				guarded[file] = true
			} else if !identifier(s.code, at, len(marker)) {
				uses = append(uses, Need{API: api, File: file, Line: line})
			}
		})
		for _, u := range uses {
			if s.sources[u.File] != nil {
				u.Guarded = guarded[u.File]
				found[u.File] = append(found[u.File], u)
			}
		}
		s.code = strings.ReplaceAll(s.code, marker, name)
	}
}

// aliased finds calls of Bun's servers by another name of the global object,
// as in g.Bun.serve(…). A typeof before them guards nothing: an embedded engine
// has functions there that say what is missing.
func (s *buildSession) aliased(found map[string][]Need) {
	call := regexp.MustCompile(`^(?:\?\.|\.)(serve|listen|connect|udpSocket)\s*(?:\?\.)?\(`)
	s.each(".Bun", func(at int, file string, line int) {
		rest := s.code[at+len(".Bun"):]
		if use := call.FindStringSubmatch(rest[:min(len(rest), 64)]); use != nil && s.sources[file] != nil {
			found[file] = append(found[file], Need{API: "Bun." + use[1], File: file, Line: line})
		}
	})
}

// identifier reports whether the text at a place is only a part of a name.
func identifier(code string, at, size int) bool {
	part := func(c byte) bool {
		return c == '$' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	return at > 0 && (part(code[at-1]) || code[at-1] == '.' && !strings.HasSuffix(code[:at], "...")) || at+size < len(code) && part(code[at+size])
}

// each calls f for every place in the program a text stands at, with the line
// of the file it comes from.
func (s *buildSession) each(text string, f func(at int, file string, line int)) {
	line, start := 1, 0
	for at := 0; ; at += len(text) {
		next := strings.Index(s.code[at:], text)
		if next < 0 {
			return
		}
		at += next
		line += strings.Count(s.code[start:at], "\n")
		start = at
		column := at - (strings.LastIndexByte(s.code[:at], '\n') + 1)
		file, fileLine, _ := s.table.lookup(line, column)
		f(at, file, fileLine)
	}
}

// servers finds files that listen: calls of createServer in a file that
// imports a module for connections, or a request for such a module's server.
func (s *buildSession) servers(found map[string][]Need) {
	s.each("createServer", func(at int, file string, line int) {
		if s.sources[file] == nil || identifier(s.code, at, len("createServer")) && s.code[max(0, at-1)] != '.' {
			return
		}
		for _, e := range s.graph.edges[file] {
			name := strings.TrimPrefix(e.spec, "node:")
			switch name {
			case "http", "https", "http2", "net", "tls":
				found[file] = append(found[file], Need{API: name + ".createServer", File: file, Line: line})
				return
			}
		}
	})
}

// natives finds packages that say they are compiled for the machine, which
// may load their code by a name that is computed.
func (s *buildSession) natives(found map[string][]Need) {
	known := map[string]string{}
	for path, src := range s.sources {
		home := packageHome(path)
		if home == "" || src.err != nil {
			continue
		}
		api, ok := known[home]
		if !ok {
			api = nativePackage(home)
			known[home] = api
		}
		if api != "" {
			found[path] = append(found[path], Need{API: api, File: filepath.Join(home, "package.json")})
		}
	}
}

// packageHome is the folder of the installed package a file belongs to, empty
// for other files.
func packageHome(path string) string {
	const folder = "/node_modules/"
	slashed := filepath.ToSlash(path)
	at := strings.LastIndex(slashed, folder)
	if at < 0 {
		return ""
	}
	head, rest := path[:at+len(folder)], slashed[at+len(folder):]
	return filepath.Join(head, filepath.FromSlash(packageOf(rest)))
}

// nativePackage names the add-on of a package that is one.
func nativePackage(home string) string {
	src := readSource(filepath.Join(home, "package.json"), 1<<20)
	if src.err != nil {
		return ""
	}
	var p struct {
		Name         string
		Gypfile      bool
		Binary, Napi json.RawMessage
	}
	if json.Unmarshal([]byte(src.text), &p) != nil {
		return ""
	}
	_, err := os.Stat(filepath.Join(home, "binding.gyp"))
	if p.Gypfile || len(p.Binary) > 0 || len(p.Napi) > 0 || err == nil {
		return "native add-on of " + p.Name
	}
	return ""
}
