package lspclient

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// withTSServer tells the server which TypeScript to use. Otherwise the server takes the project's
// own, trusted or not.
func withTSServer(l *launch, s Server, root string, p environment) error {
	file, err := typescript(l.argv[0], s, root, p)
	if err != nil {
		return err
	}
	if file != "" {
		l.init = options(map[string]any{"tsserver": map[string]any{"path": file}})
	}
	return nil
}

// withTSDK does the same for servers that want its folder.
func withTSDK(l *launch, s Server, root string, p environment) error {
	file, err := typescript(l.argv[0], s, root, p)
	if err != nil {
		return err
	}
	if file != "" {
		l.init = options(map[string]any{"typescript": map[string]any{"tsdk": filepath.Dir(file)}})
	}
	return nil
}

// typescript returns the tsserver.js that is to be used: the project's where
// that is trusted, otherwise the one that is installed beside the server or
// that tsc on the PATH belongs to. A server that the config brings may do
// without any.
func typescript(program string, s Server, root string, p environment) (string, error) {
	const server = "lib/tsserver.js"
	inProject := ""
	for _, folder := range []string{"node_modules/typescript/", ".yarn/sdks/typescript/"} {
		if file, ok := p.upwards(root, folder+server); ok && inProject == "" {
			inProject = file
		}
	}
	if inProject != "" && p.trusted {
		return inProject, nil
	}
	if file := p.beside(program, "node_modules/typescript/"+server); file != "" {
		return file, nil
	}
	if tsc, err := p.find("tsc"); err == nil {
		if file := p.beside(tsc, server); file != "" {
			return file, nil
		}
		if file := p.beside(tsc, "node_modules/typescript/"+server); file != "" {
			return file, nil
		}
	}
	switch {
	case inProject != "":
		return "", s.untrusted(fmt.Sprintf("The only TypeScript for the language server %s lies in the project (%s)", s.Name, inProject))
	case s.own:
		return "", nil
	}
	return "", &Missing{s.Name, fmt.Sprintf("The language server %s needs TypeScript (lib/tsserver.js), which was not found: npm install typescript in the project, or npm install -g typescript.", s.Name)}
}

// beside looks for a file that was installed with a program: in the folders
// above where the program really lies, then above where it was found.
func (p environment) beside(program, name string) string {
	for _, from := range []string{actual(program), program} {
		for dir := filepath.Dir(from); ; dir = filepath.Dir(dir) {
			if file := filepath.Join(dir, filepath.FromSlash(name)); exists(file) && p.mayRun(file) {
				return file
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return ""
}

// withESLint gives the server the settings that an editor would, and wants
// ESLint in the project: that is the one that the server loads.
func withESLint(l *launch, s Server, root string, p environment) error {
	if _, ok := p.upwards(root, "node_modules/eslint/package.json"); !ok && !s.own {
		return &Missing{s.Name, "The project has no ESLint: npm install --save-dev eslint, or set lsp.eslint.disabled in the config."}
	}
	on := map[string]any{"enable": true}
	l.init = options(map[string]any{
		"validate":         "on",
		"run":              "onType",
		"nodePath":         nil,
		"quiet":            false,
		"format":           false,
		"onIgnoredFiles":   "off",
		"options":          map[string]any{},
		"experimental":     map[string]any{},
		"problems":         map[string]any{"shortenToSingleLine": false},
		"codeActionOnSave": map[string]any{"enable": false, "mode": "all"},
		"codeAction": map[string]any{
			"disableRuleComment": map[string]any{"enable": true, "location": "separateLine"},
			"showDocumentation":  on,
		},
		"rulesCustomizations": []any{},
		"workingDirectory":    map[string]any{"mode": "location"},
		"workspaceFolder":     map[string]any{"uri": uriOf(root), "name": filepath.Base(root)},
	})
	return nil
}

// olderOxlint takes the server that versions of oxlint brought along before
// oxlint was one itself.
func olderOxlint(l *launch, s Server, _ string, p environment) error {
	if s.own || len(l.argv) != 2 {
		return nil
	}
	older := filepath.Join(filepath.Dir(l.argv[0]), "oxc_language_server"+filepath.Ext(l.argv[0]))
	if exists(older) && p.mayRun(older) {
		l.argv = []string{older}
	}
	return nil
}

// withPython tells the server which Python has the packages of the project.
func withPython(l *launch, _ Server, root string, p environment) error {
	for _, dir := range p.environments(root) {
		if python := filepath.Join(dir, programsOf("python")); exists(python) {
			l.init = options(map[string]any{"pythonPath": python, "python": map[string]any{"pythonPath": python}})
			return nil
		}
	}
	// Reading the packages runs nothing of them.
	if paths := packagesOf(root); len(paths) > 0 {
		l.init = options(map[string]any{"python": map[string]any{"analysis": map[string]any{"extraPaths": paths}}})
	}
	return nil
}

// packagesOf returns where the virtual environments of a project keep their
// packages.
func packagesOf(root string) (paths []string) {
	for _, dir := range []string{".venv", "venv"} {
		for _, inside := range []string{"lib/python3*/site-packages", "Lib/site-packages"} {
			found, _ := filepath.Glob(filepath.Join(globEscape(root), dir, filepath.FromSlash(inside))) // the pattern is a good one
			paths = append(paths, found...)
		}
	}
	return paths
}

// globEscape makes a path a pattern that only it matches.
func globEscape(path string) string {
	if runtime.GOOS == "windows" { // nothing is escaped there, and these are in no name
		return path
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// environments returns the virtual environments of Python that may be used.
func (p environment) environments(root string) (dirs []string) {
	if dir := p.env("VIRTUAL_ENV"); filepath.IsAbs(dir) && p.mayRun(dir) {
		dirs = append(dirs, dir)
	}
	if p.trusted {
		dirs = append(dirs, filepath.Join(root, ".venv"), filepath.Join(root, "venv"))
	}
	return dirs
}

// programsOf returns the folder of programs in a virtual environment.
func programsOf(name string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join("Scripts", name+".exe")
	}
	return filepath.Join("bin", name)
}

// noIndexElsewhere keeps the server of C from writing its index through a link
// of a project that is not trusted.
func noIndexElsewhere(l *launch, s Server, root string, p environment) error {
	if p.trusted || s.own {
		return nil
	}
	for _, dir := range []string{".cache", ".cache/clangd", ".cache/clangd/index"} {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(dir)))
		if err == nil && !info.IsDir() {
			l.argv = slices.DeleteFunc(l.argv, func(arg string) bool { return arg == "--background-index" })
		}
	}
	return nil
}

// withJava wants a Java, and keeps what the server knows about a root in the
// cache of the user.
func withJava(l *launch, s Server, root string, p environment) error {
	if s.own {
		return nil
	}
	home := p.env("JAVA_HOME")
	if home == "" || !exists(filepath.Join(home, programsOfJava())) {
		if _, err := p.find("java"); err != nil {
			return &Missing{s.Name, "The language server jdtls needs Java 21 or later, which is not on the PATH: install it, or set JAVA_HOME."}
		}
	}
	if data := p.cache(s.Name, root); data != "" {
		l.argv = append(l.argv, "-data", data)
	}
	return nil
}

func programsOfJava() string {
	if runtime.GOOS == "windows" {
		return filepath.Join("bin", "java.exe")
	}
	return filepath.Join("bin", "java")
}
