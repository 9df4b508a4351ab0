package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits for a config folder.
const (
	maxFolder      = 64 << 20
	maxFolderFiles = 20000
	maxFolderDepth = 32
)

// loadFolder loads a config folder: its files, its agents and, if it is trusted, the folder itself
// as a place for tools and plugins.
func (l *loader) loadFolder(p location) {
	if l.seen[p.path] {
		return
	}
	info, err := os.Stat(p.path)
	if err != nil && absent(err) && p.named == "" {
		if p.awaited {
			l.cfg.Folders = append(l.cfg.Folders, Folder{Path: p.path, Guarded: p.guarded, Trusted: !p.guarded, Missing: true})
		}
		return
	}
	l.seen[p.path] = true
	in := &input{path: p.path, kind: p.kind, guarded: p.guarded, trusted: !p.guarded}
	switch {
	case err != nil && absent(err):
		l.addProblem(in, 0, Problem{Message: "does not exist (named by " + p.named + ")", Severity: Warning})
		return
	case err != nil:
		l.unreadable(in, p, err)
		return
	case !info.IsDir():
		return
	}
	if p.kind != ofUser { // those were read with the global files
		for _, name := range configNames(".jsonc", ".json") {
			l.loadFile(location{path: filepath.Join(p.path, name), kind: p.kind, guarded: p.guarded})
		}
	}
	docs, err := l.readFolder(in)
	if err != nil {
		l.unreadable(in, p, err)
		return
	}
	f := Folder{Path: in.path, Guarded: in.guarded, Trusted: in.trusted}
	if n := len(l.cfg.Sources); n > 0 && l.cfg.Sources[n-1].Path == in.path {
		f.Changed = l.cfg.Sources[n-1].Changed
	}
	l.cfg.Folders = append(l.cfg.Folders, f)
	if in.trusted {
		l.cfg.Dirs = append(l.cfg.Dirs, in.path)
	}
	for _, d := range docs {
		l.document(in, d)
	}
}

// A document is a markdown file that describes an agent.
type document struct {
	rel  string
	data []byte
	err  error // why it cannot be read
}

// readFolder reads the agents of a folder and, if it belongs to the project, finds out whether it
// is trusted. Nothing is read twice: what is used is what was hashed.
func (l *loader) readFolder(in *input) ([]document, error) {
	var docs []document
	keep := func(rel string, data []byte) {
		if _, _, ok := agentName(rel); ok {
			docs = append(docs, document{rel: rel, data: data})
		}
	}
	lose := func(rel string, err error) { docs = append(docs, document{rel: rel, err: err}) }
	w := walker{root: in.path, keep: keep, lose: lose}
	if !in.guarded {
		return docs, w.agents()
	}
	entries, err := os.ReadDir(in.path)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return ownWay(e.Name()) || !e.IsDir() && stray(e.Name()) })
	if len(entries) == 0 {
		return nil, nil
	}
	hash := ""
	if l.needsHash(in.path) {
		w.list = l.hashAll
		if hash, err = w.hashFiles(); err != nil {
			l.addProblem(in, 0, Problem{Message: "cannot be trusted: " + plainError(err), Severity: Error})
			hash = ""
		}
		in.files = w.listed
	}
	l.addSource(in, hash)
	if !in.trusted {
		for _, e := range entries {
			if usable(e.Name()) {
				l.cfg.Withheld = append(l.cfg.Withheld, Withheld{
					File: filepath.Join(in.path, e.Name()), Key: e.Name(), Why: "the folder is not trusted",
				})
			}
		}
	}
	if hash == "" {
		docs = nil
		w = walker{root: in.path, keep: keep, lose: lose}
		err = w.agents()
	}
	return docs, err
}

// ownWay reports whether an entry of a config folder is not part of its hash: config files have
// their own, plans are written during work, and installed packages are named by hashed files.
func ownWay(name string) bool {
	return name == "node_modules" || name == "plans" || name == ".git" ||
		slices.Contains(configNames(".jsonc", ".json"), name)
}

// stray reports whether a file, by its path in a config folder, is not part of the folder's hash
// because it changes during work and is never code: logs, notes of package managers, files of file
// managers. In the folders of tools every file counts, because any of them may be a program, and so
// does every file that a script imports.
func stray(rel string) bool {
	dir, name := path.Split(rel)
	if dir = strings.ToLower(dir); dir == "tool/" || dir == "tools/" {
		return false
	}
	switch name {
	case "bun.lock", "bun.lockb", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", ".gitignore", ".DS_Store", "Thumbs.db":
		return true
	}
	return strings.HasSuffix(name, ".log")
}

// usable reports whether others load things from a name in a trusted config folder. Skills are read
// without trust, but marked.
func usable(name string) bool {
	switch strings.TrimSuffix(name, "s") {
	case "tool", "plugin", "agent", "mode", "command", "hook":
		return true
	}
	return false
}

// agentName returns the name of the agent that a file of a config folder describes; mode is set for
// the old kind.
func agentName(rel string) (name string, mode, ok bool) {
	first, rest, found := strings.Cut(rel, "/")
	name, md := strings.CutSuffix(rest, ".md")
	if !found || !md || path.Base(name) == "" || name == "" {
		return "", false, false
	}
	switch first {
	case "agent", "agents":
		return name, false, true
	case "mode", "modes":
		return name, true, !strings.Contains(name, "/")
	}
	return "", false, false
}

// A walker reads a folder in order of names and follows links.
type walker struct {
	root  string
	keep  func(rel string, data []byte)
	lose  func(rel string, err error) // called for an agent's file that cannot be read, where only agents are
	every bool                        // all files, not only agents
	link  func(rel, leads string)     // called for links with no contents; may be nil
	files int
	bytes int64
	above []fs.FileInfo // the folders on the way down, to see a loop

	imports map[string]bool // where the imports of scripts may lead, relative to root
	list    bool            // list the files
	listed  []TrustFile
}

// agents reads the agent files only.
func (w *walker) agents() error {
	for _, name := range []string{"agent", "agents", "mode", "modes"} {
		if err := w.walkDir(name); err != nil && !absent(err) {
			return err
		}
	}
	return nil
}

// hashFiles hashes every file by name and contents.
func (w *walker) hashFiles() (string, error) {
	h, keep := sha256.New(), w.keep
	w.every, w.imports = true, map[string]bool{}
	w.keep = func(rel string, data []byte) {
		hashPart(h, "file")
		hashPart(h, rel)
		hashPart(h, string(data))
		if w.isExecutableTool(rel) {
			hashPart(h, "executable")
		}
		w.learn(rel, data)
		keep(rel, data)
	}
	w.link = func(rel, leads string) {
		hashPart(h, "link")
		hashPart(h, rel)
		hashPart(h, leads)
	}
	if err := w.walkDir(""); err != nil {
		return "", err
	}
	// Scripts import files that the walk leaves out.
	done := map[string]bool{}
	for len(done) < len(w.imports) {
		for _, rel := range slices.Sorted(maps.Keys(w.imports)) {
			if done[rel] {
				continue
			}
			done[rel] = true
			if err := w.readFile(rel); err != nil && !absent(err) && !errors.Is(err, errNotRegular) {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isExecutableTool reports whether a file is a tool because it is executable, which is then part of
// what is trusted.
func (w *walker) isExecutableTool(rel string) bool {
	if folder, _, ok := strings.Cut(rel, "/"); !ok || folder != "tool" && folder != "tools" {
		return false
	}
	info, err := os.Stat(filepath.Join(w.root, filepath.FromSlash(rel)))
	return err == nil && info.Mode()&0o111 != 0
}

// learn records a hashed file and its imports.
func (w *walker) learn(rel string, data []byte) {
	if w.list {
		half, _ := shortHash(data)
		w.listed = append(w.listed, TrustFile{Path: rel, Size: int64(len(data)), Hash: half})
	}
	if !mayImport(rel) || path.Ext(rel) == "" {
		return
	}
	for _, lead := range importCandidates(data) {
		for _, to := range places(filepath.Dir(filepath.Join(w.root, filepath.FromSlash(rel))), lead) {
			if to, err := filepath.Rel(w.root, to); err == nil && filepath.IsLocal(to) && leftOut(filepath.ToSlash(to)) {
				w.imports[filepath.ToSlash(to)] = true
			}
		}
	}
}

// leftOut reports whether a path is not part of the walk. The loaders of packages check those
// themselves.
func leftOut(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	return first != "node_modules" && (ownWay(first) || stray(rel))
}

func (w *walker) walkDir(rel string) error {
	full := filepath.Join(w.root, filepath.FromSlash(rel))
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return nil
	}
	if slices.ContainsFunc(w.above, func(up fs.FileInfo) bool { return os.SameFile(up, info) }) {
		w.reportLink(rel, "up") // a link back up holds nothing new
		return nil
	}
	if len(w.above) >= maxFolderDepth {
		return fmt.Errorf("%s: deeper than %d folders", rel, maxFolderDepth)
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	w.above = append(w.above, info)
	defer func() { w.above = w.above[:len(w.above)-1] }()
	for _, e := range entries {
		if rel == "" && ownWay(e.Name()) && (!IsSharedSkills(w.root) || e.Name() == "node_modules" || e.Name() == ".git") {
			continue
		}
		if err := w.walkEntry(path.Join(rel, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) reportLink(rel, leads string) {
	if w.link != nil {
		w.link(rel, leads)
	}
}

func (w *walker) walkEntry(rel string, e fs.DirEntry) error {
	if w.files++; w.files > maxFolderFiles {
		return fmt.Errorf("more than %d files", maxFolderFiles)
	}
	full := filepath.Join(w.root, filepath.FromSlash(rel))
	isDir := e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := os.Stat(full)
		switch {
		case err != nil && absent(err):
			w.reportLink(rel, "nowhere")
			return nil
		case err != nil && w.lose != nil && !w.every:
			if _, _, ok := agentName(rel); ok {
				w.lose(rel, err)
			}
			return nil
		case err != nil:
			return err
		}
		isDir = info.IsDir()
	}
	if isDir {
		return w.walkDir(rel)
	}
	if _, _, ok := agentName(rel); !ok && !w.every || stray(rel) {
		return nil
	}
	err := w.readFile(rel)
	switch {
	case err != nil && w.lose != nil && !w.every:
		w.lose(rel, err)
	case err != nil:
		return fmt.Errorf("%s: %s", rel, plainError(err))
	}
	return nil
}

// readFile reads one file.
func (w *walker) readFile(rel string) error {
	data, err := readRegular(filepath.Join(w.root, filepath.FromSlash(rel)), maxFolder-w.bytes)
	switch {
	case errors.Is(err, errTooBig):
		return fmt.Errorf("more than %d MiB in all", maxFolder>>20)
	case err != nil:
		return err
	}
	w.bytes += int64(len(data))
	w.keep(rel, data)
	return nil
}
