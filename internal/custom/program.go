package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/helve-dev/helve/internal/bundle"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/script"
)

// An opening is the first message to a process.
type opening struct {
	Limit   int               `json:"limit"` // of a frame, in bytes
	Dir     string            `json:"dir"`
	Root    string            `json:"root"`
	Files   []string          `json:"files"`
	Sources map[string]string `json:"sources"` // our own modules

	Program    string              `json:"program,omitempty"` // for node
	ProgramDir string              `json:"programDir,omitempty"`
	Packages   map[string][]string `json:"packages,omitempty"` // by file, those without which it cannot be loaded
}

// opening gathers it. Bun reads the files itself, node gets a program made of them.
func (w *Worker) opening(ctx context.Context) (*opening, error) {
	o := &opening{Limit: w.opt.frame, Dir: w.opt.Dir, Root: w.folder.Root, Files: w.folder.Files, Sources: map[string]string{}}
	for _, name := range []string{"driver", "zod", "helve:schema", "opencode/plugin"} {
		text, ok := script.Source(name)
		if !ok {
			return nil, fmt.Errorf("the module %s is missing", name)
		}
		o.Sources[name] = text
	}
	var err error
	switch {
	case w.runtime.Name == "bun":
	case w.folder.Bundle != nil:
		o.Program, o.ProgramDir, err = w.folder.Bundle(ctx)
	default:
		o.ProgramDir = w.folder.Root
		o.Program, o.Packages, err = buildProgram(w.folder)
	}
	if err != nil {
		return nil, fmt.Errorf("making a program for node of the files of %s: %w", w.folder.Root, err)
	}
	return o, nil
}

// buildProgram bundles the files of a folder into one program, so that they share the modules they
// import. Packages are not bundled, as they may have native parts. A file that cannot be compiled
// throws its error when it is loaded.
func buildProgram(f WorkerFolder) (code string, packages map[string][]string, err error) {
	built := compile(f, f.Files, nil)
	if len(built.Errors) > 0 { // find the files that are wrong, and leave them out
		var good []string
		bad := map[string]string{}
		for _, file := range f.Files {
			if alone := compile(f, []string{file}, nil); len(alone.Errors) > 0 {
				bad[file] = complaint(alone.Errors)
			} else {
				good = append(good, file)
			}
		}
		built = compile(f, good, bad)
	}
	if len(built.Errors) > 0 {
		return "", nil, errors.New(complaint(built.Errors))
	}
	packages, err = needed(built.Metafile, f.Files)
	if err != nil {
		return "", nil, err
	}
	return string(built.OutputFiles[0].Contents), packages, nil
}

// complaint formats the compiler's errors, a line each, with their positions.
func complaint(all []api.Message) string {
	var lines []string
	for _, m := range all {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d:%d: ", m.Location.File, m.Location.Line, m.Location.Column+1)
		}
		lines = append(lines, where+m.Text)
	}
	return strings.Join(lines, "\n")
}

// Placeholders for what differs from file to file; see prepare.
const (
	metaName     = "$helve$meta"
	dirnameName  = "$helve$dirname"
	filenameName = "$helve$filename"
	entryName    = "helve-entry.js"
)

// compile compiles files together with stubs that throw the errors of broken ones.
func compile(f WorkerFolder, files []string, bad map[string]string) api.BuildResult {
	var entry strings.Builder
	entry.WriteString("exports.bring = (name) => import(name);\nexports.files = [\n")
	for _, file := range files {
		fmt.Fprintf(&entry, "{file: %s, load: () => import(%s).then((exports) => ({exports}), (error) => ({error}))},\n", quote(file), quote(specifier(file)))
	}
	for file, text := range bad {
		fmt.Fprintf(&entry, "{file: %s, load: async () => ({error: new SyntaxError(%s)})},\n", quote(file), quote(text))
	}
	entry.WriteString("];\n")
	return api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: entry.String(), ResolveDir: f.Root, Sourcefile: entryName, Loader: api.LoaderJS},
		Bundle: true, Format: api.FormatCommonJS, Platform: api.PlatformNode, Packages: api.PackagesExternal,
		Engines: []api.Engine{{Name: api.EngineNode, Version: "20"}}, AbsWorkingDir: f.Root, Outfile: filepath.Join(f.Root, "helve-program.cjs"),
		Sourcemap: api.SourceMapInline, SourcesContent: api.SourcesContentExclude, KeepNames: true, Metafile: true, LogLevel: api.LogLevelSilent,
		Loader:  map[string]api.Loader{".md": api.LoaderText, ".txt": api.LoaderText},
		Define:  map[string]string{"import.meta": metaName, "__dirname": dirnameName, "__filename": filenameName},
		Plugins: []api.Plugin{reader(f)},
	})
}

func specifier(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return "./" + file
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always has a JSON form
		panic(err)
	}
	return string(quoted)
}

// packageSpace is the namespace of packages that are imported by statements, and asked marks the
// query that resolves one.
const (
	packageSpace = "package"
	workerAsked  = "asked"
)

// imported stands for a package that is imported by a statement. For a default import the compiler
// takes a module itself as its default export if package.json has "type": "module". This follows
// Bun instead: the default export of an ES module, or of what was compiled from one, if there is
// one, otherwise the whole module.
const imported = `export * from PACKAGE;
const all = require(PACKAGE);
const modern = require("node:util").types.isModuleNamespaceObject(all);
export default modern || all?.__esModule && "default" in all ? all.default : all;
`

// reader reads files for the compiler, which runs outside the sandbox: only what belongs to the
// folder. Modules of Bun become ones that throw.
func reader(f WorkerFolder) api.Plugin {
	return api.Plugin{Name: "helve", Setup: func(b api.PluginBuild) {
		roots := readableRoots(f)
		b.OnResolve(api.OnResolveOptions{Filter: `^bun(:.*)?$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: a.Path, Namespace: "absent"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "absent"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text := "throw new Error(" + quote("the module "+a.Path+" is a part of Bun, and node runs these files: install bun") + ");"
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
		b.OnResolve(api.OnResolveOptions{Filter: `^[^./]`, Namespace: "file"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.Kind != api.ResolveJSImportStatement || a.PluginData == workerAsked {
				return api.OnResolveResult{}, nil
			}
			found := b.Resolve(a.Path, api.ResolveOptions{Importer: a.Importer, Namespace: a.Namespace, ResolveDir: a.ResolveDir, Kind: a.Kind, PluginData: workerAsked})
			if len(found.Errors) > 0 || !found.External {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: found.Path, Namespace: packageSpace}, nil
		})
		b.OnResolve(api.OnResolveOptions{Filter: `.*`, Namespace: packageSpace}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: packageSpace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text := strings.ReplaceAll(imported, "PACKAGE", quote(a.Path))
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "file"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			loader := bundle.LoaderOf(a.Path)
			if loader == api.LoaderNone {
				return api.OnLoadResult{}, fmt.Errorf("%s is of a kind that can not be imported", filepath.Base(a.Path))
			}
			text, err := readFile(a.Path, roots)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			if loader != api.LoaderJSON && loader != api.LoaderText {
				text = addPrelude(text, a.Path)
			}
			return api.OnLoadResult{Contents: &text, Loader: loader, ResolveDir: filepath.Dir(a.Path)}, nil
		})
	}}
}

// readableRoots returns the folders whose files may become part of the program, by their real
// names: the folder itself, the configured ones, and those of files that are links.
func readableRoots(f WorkerFolder) (roots []string) {
	for _, dir := range append([]string{f.Root}, f.Also...) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			roots = append(roots, real)
		}
	}
	for _, file := range f.Files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(f.Root, filepath.FromSlash(file))
		}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			roots = append(roots, filepath.Dir(real))
		}
	}
	return roots
}

// maxSource bounds a file of a program.
const maxSource = 16 << 20

func readFile(path string, roots []string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(roots, func(root string) bool { return disk.Within(root, real) }) {
		return "", fmt.Errorf("%s is outside of the folder of the tools: move it there, or name its folder in the config key custom.also", real)
	}
	if st, err := os.Stat(real); err != nil || !st.Mode().IsRegular() { // a pipe would keep the open waiting
		return "", fmt.Errorf("%s is not a file that can be read", real)
	}
	file, err := os.Open(real)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSource+1))
	if err == nil && len(data) > maxSource {
		err = fmt.Errorf("%s is longer than %d MiB", real, maxSource>>20)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), err
}

// addPrelude defines import.meta, __dirname and __filename for a script, of which the program has
// only one at most. They are declared on its first line, so that line numbers stay the same. A
// source map comment is made an ordinary comment, because the compiler would read the map.
func addPrelude(text, path string) string {
	if strings.HasPrefix(text, "#!") {
		text = "//" + text
	}
	text = regexp.MustCompile(`((?://|/\*)\s*[#@]\s*sourceMappingURL)=`).ReplaceAllString(text, "$1:")
	var own []string
	if strings.Contains(text, "import") && strings.Contains(text, "meta") {
		place := quote((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String())
		dir, file := quote(filepath.Dir(path)), quote(path)
		own = append(own, fmt.Sprintf("%s = { url: %s, dir: %s, dirname: %s, path: %s, filename: %s, file: %s, main: false }",
			metaName, place, dir, dir, file, file, quote(filepath.Base(path))))
	}
	if strings.Contains(text, "__dirname") {
		own = append(own, dirnameName+" = "+quote(filepath.Dir(path)))
	}
	if strings.Contains(text, "__filename") {
		own = append(own, filenameName+" = "+quote(path))
	}
	if len(own) == 0 {
		return text
	}
	return "var " + strings.Join(own, ", ") + "; " + text
}

// needed finds the packages that each file imports by statements, directly or through its imports,
// from the compiler's metadata.
func needed(account string, files []string) (map[string][]string, error) {
	var told struct {
		Inputs map[string]struct {
			Imports []struct {
				Path     string `json:"path"`
				Kind     string `json:"kind"`
				External bool   `json:"external"`
				Original string `json:"original"`
			} `json:"imports"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(account), &told); err != nil {
		return nil, fmt.Errorf("the compiler's account: %w", err)
	}
	inputs := map[string]string{}
	for _, i := range told.Inputs[entryName].Imports {
		inputs[i.Original] = i.Path
	}
	packages := map[string][]string{}
	for _, file := range files {
		seen := map[string]bool{}
		var follow func(input string)
		follow = func(input string) {
			if seen[input] {
				return
			}
			seen[input] = true
			for _, i := range told.Inputs[input].Imports {
				switch {
				case strings.HasPrefix(i.Path, "<"), i.Kind != "import-statement" && i.Kind != "require-call": // "<runtime>" is the compiler's own
				case i.External && i.Kind == "import-statement" && strings.HasPrefix(input, packageSpace+":") && !slices.Contains(packages[file], i.Path): // elsewhere it is one of types, which are gone
					packages[file] = append(packages[file], i.Path)
				case !i.External:
					follow(i.Path)
				}
			}
		}
		if input, ok := inputs[specifier(file)]; ok {
			follow(input)
		}
	}
	return packages, nil
}
