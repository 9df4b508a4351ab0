package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
)

// Limits for the files that one config file names.
const (
	maxNamed      = 200
	maxHookFiles  = 16
	maxHookWords  = 500
	maxNamedBytes = 64 << 20
)

// A TrustFile is a file whose contents are trusted with a source: one of a config folder, or one
// that a config file runs.
type TrustFile struct {
	Path  string `json:"path"` // seen from the folder of the source, with slashes; absolute where it is elsewhere
	Size  int64  `json:"size"`
	Hash  string `json:"sha256"`          // its first half
	State string `json:"state,omitempty"` // new, changed or gone against what was trusted; "" also where that is not known
}

// shortHash returns the hash of a file as trust files store it. Half of it is enough, because it
// only shows which file has changed.
func shortHash(data []byte) (half, whole string) {
	all := sha256.Sum256(data)
	whole = hex.EncodeToString(all[:])
	return whole[:len(whole)/2], whole
}

// commandFiles are the files of the project that a config file runs: the user trusts their
// contents, not their names.
type commandFiles struct {
	l     *loader
	dir   string // of the config file
	seen  map[string]bool
	files map[string]namedFile // by absolute path
	bytes int64
}

type namedFile struct {
	TrustFile
	whole string // its whole hash
}

// cover adds the files that a config file names to its hash.
func (l *loader) cover(h hash.Hash, root *node, in *input) error {
	n := &commandFiles{l: l, dir: in.dir, seen: map[string]bool{in.path: true}, files: map[string]namedFile{}}
	if err := n.plugins(root.get("plugin"), in); err != nil {
		return err
	}
	if in.helve {
		before := len(n.files)
		for _, list := range []string{"before", "after", "event"} {
			if err := n.hooks(root.get("hooks").get(list), in); err != nil {
				return err
			}
		}
		if len(n.files)-before > maxHookFiles {
			return fmt.Errorf("its hooks name more than %d files", maxHookFiles)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(n.files)) {
		f := n.files[path]
		hashPart(h, "named")
		hashPart(h, f.Path)
		hashPart(h, f.whole)
		in.files = append(in.files, f.TrustFile)
	}
	return nil
}

// plugins covers the files that a list of plugins names.
func (n *commandFiles) plugins(list *node, in *input) error {
	if list == nil {
		return nil
	}
	for _, e := range list.elems {
		if e.kind == 'a' && len(e.elems) > 0 {
			e = e.elems[0]
		}
		spec, err := n.l.expandReferences(e.text, in)
		if err != nil {
			continue // the setting is left out then
		}
		path, ok := PluginPath(spec, in.dir)
		if !ok || !n.inProject(path) || n.l.folderHashes(path) {
			continue
		}
		if err := n.plugin(path); err != nil {
			return fmt.Errorf("the plugin %s: %w", shorten(spec), err)
		}
	}
	return nil
}

// PluginPath returns the path of the file or folder that an entry of plugin names, or false if it
// names a package.
func PluginPath(spec, dir string) (path string, ok bool) {
	if strings.HasPrefix(spec, "file:") {
		if u, err := url.Parse(spec); err == nil && u.Path != "" {
			path := filepath.FromSlash(u.Path)
			if runtime.GOOS == "windows" {
				path = strings.TrimPrefix(path, `\`)
			}
			return filepath.Clean(path), true
		}
		spec = strings.TrimPrefix(spec, "file:")
	}
	slashed := strings.ReplaceAll(spec, `\`, "/")
	first, _, below := strings.Cut(slashed, "/")
	script := strings.HasSuffix(spec, ".ts") || strings.HasSuffix(spec, ".js")
	switch {
	case filepath.IsAbs(spec):
		return filepath.Clean(spec), true
	case below && len(first) > 2 && first[0] == '.' && first == filepath.Base(dir): // ".opencode/plugins/a.ts" in a file of .opencode
		return filepath.Join(filepath.Dir(dir), filepath.FromSlash(spec)), true
	case strings.HasPrefix(slashed, "."), below && script && first[0] != '@' && !strings.Contains(slashed, ":"):
		return filepath.Join(dir, filepath.FromSlash(spec)), true
	}
	return "", false
}

// plugin covers a plugin: the file and what it imports, or all of a folder.
func (n *commandFiles) plugin(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return n.tree(path)
	}
	for _, ending := range []string{"", ".ts", ".js"} {
		if err := n.addScript(path + ending); err != nil {
			return err
		}
	}
	// These can map names of packages to files of the project.
	for dir := filepath.Dir(path); n.inProject(dir); dir = filepath.Dir(dir) {
		for _, name := range []string{"tsconfig.json", "jsconfig.json", "package.json"} {
			if err := n.settings(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil
}

// settings covers a file that can redirect imports, if it does.
func (n *commandFiles) settings(path string) error {
	data, err := readRegular(path, maxFile)
	if err != nil || n.seen[path] {
		return nil // what cannot be read leads nowhere
	}
	for _, key := range []string{`"paths"`, `"baseUrl"`, `"extends"`, `"imports"`} {
		if strings.Contains(string(data), key) {
			return n.addScript(path)
		}
	}
	return nil
}

// addScript covers a file and the existing files that it may import.
func (n *commandFiles) addScript(path string) error {
	for todo := []string{path}; len(todo) > 0; todo = todo[1:] {
		data, err := n.add(todo[0])
		if err != nil {
			return err
		}
		if data == nil || !mayImport(todo[0]) {
			continue
		}
		for _, lead := range importCandidates(data) {
			todo = append(todo, places(filepath.Dir(todo[0]), lead)...)
			if len(todo) > maxNamed*50 {
				return fmt.Errorf("it may import more files than can be looked at")
			}
		}
	}
	return nil
}

// tree covers the importable files below a folder, except installed packages.
func (n *commandFiles) tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git"):
			return fs.SkipDir
		case e.IsDir() || !importable(path):
			return nil
		}
		return n.addScript(path)
	})
}

// hooks covers the files that the commands of hooks name.
func (n *commandFiles) hooks(list *node, in *input) error {
	if list == nil {
		return nil
	}
	for _, e := range list.elems {
		command := e.get("command")
		if command == nil {
			continue
		}
		parts := command.elems
		if command.kind == 's' {
			parts = []*node{command}
		}
		var words []string
		for _, part := range parts {
			if word, err := n.l.expandReferences(part.text, in); err == nil {
				words = append(words, word)
			}
		}
		if command.kind == 's' && len(words) > 0 {
			words = lineWords(words[0])
		} else {
			words = programWords(words)
		}
		if err := n.addWords(words); err != nil {
			return fmt.Errorf("a hook: %w", err)
		}
	}
	return nil
}

// HookPrograms returns the words of a hook's command that name what runs.
func HookPrograms(h HookCommand) []string {
	if h.Line != "" {
		return lineWords(h.Line)
	}
	return programWords(h.Command)
}

// lineWords returns the words of a shell line that name what runs.
func lineWords(line string) (out []string) {
	for _, command := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|()`\n", r) }) {
		command, _, _ = strings.Cut(command, ">") // what is written to is no program
		command, _, _ = strings.Cut(command, "<")
		out = append(out, programWords(strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r'\"", r) }))...)
	}
	return out
}

// programWords returns the words of a command that name what runs: the program, and the script of
// an interpreter.
func programWords(words []string) (out []string) {
	for i, word := range words {
		switch {
		case word == "env" || word == "exec" || word == "." || word == "source" || strings.Contains(word, "=") && !strings.Contains(word, "/"):
			continue
		case strings.HasPrefix(word, "-"):
			continue
		}
		out = append(out, word)
		if i+1 == len(words) || !interpreter(word) {
			return out
		}
	}
	return out
}

// interpreter reports whether a program runs the file that its first argument
// names.
func interpreter(program string) bool {
	name := strings.TrimRight(filepath.Base(program), "0123456789.")
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "python", "node", "bun", "deno", "ruby", "perl", "php", "lua", "npx", "uv", "run", "timeout", "nice":
		return true
	}
	return false
}

// addWords covers the files that words name. A command runs in the working directory and a program
// is searched beside the config file, so both places are checked.
func (n *commandFiles) addWords(words []string) error {
	if len(words) > maxHookWords {
		return fmt.Errorf("its command has more than %d words", maxHookWords)
	}
	for _, word := range words {
		if strings.HasPrefix(word, "$") { // a folder, most likely the project's
			_, word, _ = strings.Cut(word, "/")
		}
		if word == "" || strings.ContainsRune(word, 0) {
			continue
		}
		for _, dir := range []string{n.dir, n.l.opt.Dir} {
			if _, err := n.add(n.l.from(dir, word)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add covers one file, if it is a regular file of the project, and returns its content if it was
// not covered before.
func (n *commandFiles) add(path string) ([]byte, error) {
	if n.seen[path] {
		return nil, nil
	}
	n.seen[path] = true
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || !n.inProject(path) {
		return nil, nil
	}
	name := path
	if rel, err := filepath.Rel(n.dir, path); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	if len(n.files) >= maxNamed {
		return nil, fmt.Errorf("more than %d files belong to it", maxNamed)
	}
	data, err := readRegular(path, maxNamedBytes-n.bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, plainError(err))
	}
	n.bytes += int64(len(data))
	half, whole := shortHash(data)
	n.files[path] = namedFile{TrustFile{Path: name, Size: int64(len(data)), Hash: half}, whole}
	return data, nil
}

// inProject reports whether a path is in the project, by its name or by its real path.
func (n *commandFiles) inProject(path string) bool {
	root := n.l.opt.Worktree
	if filepath.Dir(root) == root { // no worktree: not the whole disk
		root = n.l.opt.Dir
	}
	if disk.Within(root, path) || disk.Within(n.dir, path) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if from, err := filepath.EvalSymlinks(root); err == nil {
		root = from
	}
	return disk.Within(root, real)
}

// folderHashes reports whether a path is in a config folder of the project and part of that
// folder's hash.
func (l *loader) folderHashes(path string) bool {
	for dir, below := filepath.Dir(path), filepath.Base(path); ; dir, below = filepath.Dir(dir), filepath.Base(dir) {
		if l.ofProject(dir) {
			return !ownWay(below)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// TrustedFile reports whether a config file of the project is trusted now, together with the files
// that it names.
func TrustedFile(opt Options, path string) bool {
	l, err := newLoader(opt)
	if err != nil {
		return false
	}
	path = filepath.Clean(path)
	if !l.needsHash(path) {
		return false
	}
	data, err := readRegular(path, maxFile)
	if err != nil {
		return false
	}
	in := &input{path: path, dir: filepath.Dir(path), guarded: true, helve: helveFile(path), data: data}
	root, _, err := parse(in)
	if err != nil {
		return false
	}
	hash, err := l.hashInput(data, root, in)
	if err != nil {
		return false
	}
	trusted, _ := l.trusted(path, hash)
	return trusted
}

// helveFile reports whether helve's own keys are allowed in a file.
func helveFile(path string) bool { return strings.HasPrefix(filepath.Base(path), "helve.") }
