package files

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/helve-dev/helve/internal/disk"
)

// maxRead is how much of a project file is looked at.
const maxRead = 1 << 20

// projectDirs is where the signs that a project uses a formatter are searched.
type projectDirs struct{ dir, worktree string }

// folders returns the folders from dir up to the worktree, or dir alone if it lies outside.
func (p projectDirs) folders() []string {
	if !disk.Within(p.worktree, p.dir) {
		return []string{p.dir}
	}
	folders := []string{p.dir}
	for at := p.dir; at != p.worktree; {
		next := filepath.Dir(at)
		if next == at {
			break
		}
		at = next
		folders = append(folders, at)
	}
	return folders
}

// up returns the files with these names, nearest first.
func (p projectDirs) up(names ...string) (found []string) {
	for _, dir := range p.folders() {
		for _, name := range names {
			name = filepath.Join(dir, name)
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				found = append(found, name)
			}
		}
	}
	return found
}

// nodeTool returns a program in PATH that a package.json requires. A program inside the project
// does not count, because code of a clone must not run just because formatters are enabled. A
// configured command may name it.
func (p projectDirs) nodeTool(name string) string {
	for _, file := range p.up("package.json") {
		if needs(file, name) {
			return inPath(name)
		}
	}
	return ""
}

// inPath returns the program with a name in PATH, or "". One in the current folder does not count.
func inPath(name string) string {
	program, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return program
}

// needs reports whether a package.json or composer.json requires a package.
func needs(file, name string) bool {
	var doc struct {
		Dependencies    map[string]json.RawMessage `json:"dependencies"`
		DevDependencies map[string]json.RawMessage `json:"devDependencies"`
		Require         map[string]json.RawMessage `json:"require"`
		RequireDev      map[string]json.RawMessage `json:"require-dev"`
	}
	// A file with an unexpected part still says what the other parts say.
	_ = json.Unmarshal([]byte(read(file)), &doc)
	for _, part := range []map[string]json.RawMessage{doc.Dependencies, doc.DevDependencies, doc.Require, doc.RequireDev} {
		if _, ok := part[name]; ok {
			return true
		}
	}
	return false
}

// read returns the text of a file, or its start if it is large.
func read(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return ""
	}
	return string(text)
}
