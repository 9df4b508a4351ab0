package custom

import (
	"cmp"
	"encoding/json"
	"errors"
	"github.com/helve-dev/helve/plugin"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// arrange makes the units: the plugins of the config that are in no config folder, then the config
// folders.
func (s *Set) arrange() []*unit {
	var loose, folders []*unit
	sources := map[string]*folderSource{}
	for _, f := range s.opt.Folders {
		path := filepath.Clean(f.Path)
		if sources[path] != nil {
			continue
		}
		src := &folderSource{lister: lister{root: path, own: !f.Project}}
		if s.runs != nil {
			src.programs = programsIn
		}
		sources[path] = src
		u := newUnit(s, src, f.Trusted)
		u.stamp = f.Stamp
		u.project = f.Project
		folders = append(folders, u)
	}
	seen := map[string]bool{}
	for _, p := range s.opt.Entries {
		path, name := where(p)
		key := path + "\x00" + name
		if seen[key] {
			continue
		}
		seen[key] = true
		if signsIn(name) {
			s.ignored = append(s.ignored, plugin.File{Path: name, Name: name, Kind: kindPlugin, Engine: embedded, State: plugin.NotLoaded, Notes: []string{
				"It only signs in to a provider, which helve does not let plugins do, so it is not loaded: give the provider a key in the config or the environment."}})
			continue
		}
		if src, rel := findFolder(sources, path); src != nil {
			src.listed = append(src.listed, userFile{name: rel, kind: kindPlugin, options: string(p.Options)})
			continue
		}
		loose = append(loose, newUnit(s, &packageSource{plugin: p, path: path, name: name}, p.Trusted))
	}
	return append(loose, folders...)
}

// signsIn reports whether a package is one that only signs in to providers, which helve has no use
// for.
func signsIn(name string) bool {
	switch name {
	case "opencode-copilot-auth", "opencode-anthropic-auth", "opencode-openai-codex-auth":
		return true
	}
	return false
}

// where reads an entry: the path of a file, or the name of a package.
func where(p plugin.Entry) (path, name string) {
	spec := p.Spec
	if strings.HasPrefix(spec, "file:") {
		if u, err := url.Parse(spec); err == nil && u.Path != "" {
			path := filepath.FromSlash(u.Path)
			if runtime.GOOS == "windows" {
				path = strings.TrimPrefix(path, `\`)
			}
			return filepath.Clean(path), ""
		}
		spec = strings.TrimPrefix(spec, "file:")
	}
	if filepath.IsAbs(spec) {
		return filepath.Clean(spec), ""
	}
	if pathlike(spec) {
		return filepath.Join(configRoot(p.Base, spec), filepath.FromSlash(spec)), ""
	}
	return "", packageName(spec)
}

// pathlike reports whether an entry can only be a path: it begins with a dot, or it names a script
// in a folder, which no package does.
func pathlike(spec string) bool {
	slashed := strings.ReplaceAll(spec, `\`, "/")
	return strings.HasPrefix(slashed, ".") || strings.Contains(slashed, "/") && slashed[0] != '@' && !strings.Contains(slashed, ":") && isScript(slashed)
}

// configRoot is the folder a path of the config begins at: that of its file, or the one around it
// where the path names that folder itself, as ".opencode/plugins/a.ts" in a file of .opencode does.
func configRoot(base, spec string) string {
	first, _, below := strings.Cut(strings.ReplaceAll(spec, `\`, "/"), "/")
	if below && len(first) > 2 && first[0] == '.' && first == filepath.Base(base) {
		return filepath.Dir(base)
	}
	return base
}

// packageName returns a package's name without its version. A package from git is named by its
// repository, which usually has the same name.
func packageName(spec string) string {
	spec = strings.TrimPrefix(spec, "npm:")
	if len(spec) > 0 {
		if at := strings.IndexByte(spec[1:], '@'); at >= 0 && !strings.Contains(spec[:at+1], ":") {
			return spec[:at+1]
		}
	}
	if strings.Contains(spec, ":") || spec != "" && spec[0] != '@' && strings.Count(spec, "/") == 1 {
		spec, _, _ = strings.Cut(spec, "#")
		spec = strings.TrimSuffix(strings.TrimSuffix(spec, "/"), ".git")
		return spec[strings.LastIndexAny(spec, "/:")+1:]
	}
	return spec
}

// findFolder finds the config folder a file is in, and its name there.
func findFolder(sources map[string]*folderSource, path string) (*folderSource, string) {
	if path == "" || !isScript(path) {
		return nil, ""
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if src := sources[dir]; src != nil {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return nil, ""
			}
			return src, filepath.ToSlash(rel)
		}
		if dir == filepath.Dir(dir) || filepath.Base(dir) == "node_modules" {
			return nil, ""
		}
	}
}

// A folderSource is a config folder with the plugins that the config names in it.
type folderSource struct {
	lister
	listed   []userFile
	programs func(root string) []userFile // nil if there are none
	ran      []userFile                   // what programs gave, and
	asked    time.Time                    // when
}

// programsPause is how long the list of programs is believed: whether a file can be run is not seen
// from its folder.
const programsPause = time.Second

func (f *folderSource) look() (string, []userFile) {
	if len(f.all)+len(f.listed)+len(f.ran) == 0 { // it may not be there at all
		if _, err := os.Stat(f.root); errors.Is(err, fs.ErrNotExist) {
			return f.root, nil
		}
	}
	found, changed := f.lister.look()
	if f.programs != nil && (changed || time.Since(f.asked) > programsPause) {
		f.ran, f.asked = f.programs(f.root), time.Now()
		for i, e := range f.ran {
			f.ran[i].problem = cmp.Or(e.problem, f.strange(e))
		}
	}
	if len(f.listed)+len(f.ran) == 0 {
		return f.root, found
	}
	merged := make([]userFile, 0, len(found)+len(f.listed))
	for _, e := range f.listed {
		if _, err := os.Stat(filepath.Join(f.root, filepath.FromSlash(e.name))); err != nil {
			e.problem = missingFile(filepath.Join(f.root, filepath.FromSlash(e.name)), err)
		} else {
			e.problem = f.strange(e)
		}
		merged = append(merged, e)
	}
	for _, e := range found {
		i := slices.IndexFunc(merged, func(l userFile) bool { return l.name == e.name })
		switch {
		case i < 0:
			merged = append(merged, e)
		case e.kind == kindTool:
			e.options, e.both = merged[i].options, true
			merged[i] = e
		}
	}
	return f.root, append(merged, f.ran...)
}

func missingFile(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return path + ": there is no such file, but the config lists it under \"plugin\": correct the path there or take it out"
	}
	return path + ": " + err.Error()
}

// A packageSource is a plugin of the config that is in no config folder: a file, or an npm package
// that is installed.
type packageSource struct {
	plugin plugin.Entry
	path   string // of a file or folder
	name   string // of a package
}

func (p *packageSource) look() (string, []userFile) {
	e := userFile{kind: kindPlugin, label: p.name, options: string(p.plugin.Options)}
	dir := p.path
	if dir == "" {
		if dir = p.installed(); dir == "" {
			e.problem = "the plugin " + p.plugin.Spec + " is not installed, and helve installs nothing by itself. " +
				howToInstall(p.plugin.Spec, p.plugin.Base)
			return p.plugin.Base, []userFile{e}
		}
	}
	st, err := os.Stat(dir)
	for _, ending := range []string{".ts", ".js"} {
		if err == nil {
			break
		}
		if other, failed := os.Stat(dir + ending); failed == nil {
			st, dir, err = other, dir+ending, nil
		}
	}
	switch {
	case err != nil:
		e.name, e.problem = filepath.Base(dir), missingFile(dir, err)
		return filepath.Dir(dir), []userFile{e}
	case !st.IsDir():
		e.name = filepath.Base(dir)
		return filepath.Dir(dir), []userFile{e}
	}
	if e.name = mainFile(dir); e.name == "" {
		e.name = "package.json"
		e.problem = dir + ": package.json names no file that is there: helve looks at \"exports\", \"module\" and \"main\""
	}
	return dir, []userFile{e}
}

// installed finds the folder of a package, in the node_modules of the config's folder and above.
func (p *packageSource) installed() string {
	if !validPackage(p.name) {
		return ""
	}
	rel := filepath.FromSlash(p.name)
	for dir := p.plugin.Base; dir != ""; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "node_modules", rel)
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			return path
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// validPackage reports whether a name is that of a package, and leads nowhere else.
func validPackage(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) > 2 || len(parts) == 2 != strings.HasPrefix(name, "@") {
		return false
	}
	for _, part := range parts {
		if part = strings.TrimPrefix(part, "@"); part == "" || part[0] == '.' || strings.ContainsAny(part, "\\:\x00") {
			return false
		}
	}
	return true
}

// maxManifest bounds how much of a package.json is read.
const maxManifest = 1 << 20

// mainFile finds the file of a package that is loaded, relative to it with slashes; there may be
// none.
func mainFile(dir string) string {
	var m struct {
		Exports json.RawMessage `json:"exports"`
		Module  string          `json:"module"`
		Main    string          `json:"main"`
	}
	if st, err := os.Stat(filepath.Join(dir, "package.json")); err == nil && st.Mode().IsRegular() && st.Size() <= maxManifest {
		if data, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil && json.Unmarshal(data, &m) != nil {
			m.Exports, m.Module, m.Main = nil, "", ""
		}
	}
	names := append(exported(m.Exports), m.Module, m.Main)
	for _, name := range append(names, "index.ts", "index.js") {
		if name == "" {
			continue
		}
		rel := filepath.Clean(filepath.FromSlash(name))
		if !filepath.IsLocal(rel) {
			continue
		}
		for _, try := range []string{rel, rel + ".js", rel + ".ts", filepath.Join(rel, "index.js"), filepath.Join(rel, "index.ts")} {
			if st, err := os.Stat(filepath.Join(dir, try)); err == nil && st.Mode().IsRegular() {
				return filepath.ToSlash(try)
			}
		}
	}
	return ""
}

// exported reads which files a package exports as a plugin, or as itself, best first.
func exported(raw json.RawMessage) []string {
	var paths map[string]json.RawMessage
	if json.Unmarshal(raw, &paths) != nil {
		return conditional(raw, 0)
	}
	if paths["./server"] == nil && paths["."] == nil {
		return conditional(raw, 0)
	}
	return append(conditional(paths["./server"], 0), conditional(paths["."], 0)...)
}

// conditional reads a target of exports: a file, a list, or an object of conditions.
func conditional(raw json.RawMessage, depth int) (all []string) {
	var one string
	var list []json.RawMessage
	var when map[string]json.RawMessage
	switch {
	case len(raw) == 0 || depth > 8:
	case json.Unmarshal(raw, &one) == nil:
		all = append(all, one)
	case json.Unmarshal(raw, &list) == nil:
		for _, r := range list {
			all = append(all, conditional(r, depth+1)...)
		}
	case json.Unmarshal(raw, &when) == nil:
		for _, condition := range []string{"bun", "import", "node", "module", "default", "require"} {
			all = append(all, conditional(when[condition], depth+1)...)
		}
	}
	return all
}

// names joins what plugins are called.
func names(some []userFile) string {
	var all []string
	for _, e := range some {
		all = append(all, e.settingsName())
	}
	return strings.Join(all, ", ")
}
