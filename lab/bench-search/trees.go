package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// form is the number of the way trees are made; a tree of another form is made anew.
const form = 4

// A tree is a folder to search, and what is known about it.
type tree struct {
	Name    string
	Form    int
	Seed    uint64
	Source  string // what it was made from
	Files   int    // that a search sees
	Folders int
	Ignored int // files that it does not
	Bytes   int64
	Recent  []string // changed within the last three hours

	dir string
}

// openTree makes a tree, or takes the one that was made before.
func openTree(s *settings, name string, log io.Writer) (*tree, error) {
	if err := os.MkdirAll(s.trees, 0o755); err != nil {
		return nil, err
	}
	note := filepath.Join(s.trees, name+".json")
	old := &tree{dir: filepath.Join(s.trees, name)}
	text, err := os.ReadFile(note)
	if err == nil && json.Unmarshal(text, old) == nil && old.Form == form && old.Seed == s.seed && old.Source == runtime.Version() {
		fmt.Fprintf(log, "%s: %d files in %d folders, %d MB\n", name, old.Files, old.Folders, old.Bytes>>20)
		return old, old.refresh()
	}
	if err := errors.Join(os.RemoveAll(note), os.RemoveAll(old.dir)); err != nil {
		return nil, err
	}
	m := &maker{
		tree: &tree{Name: name, Form: form, Seed: s.seed, Source: runtime.Version(), dir: old.dir},
		rand: rand.New(rand.NewPCG(s.seed, uint64(len(name)))), log: log, start: time.Now(),
	}
	if err := m.make(); err != nil {
		return nil, err
	}
	text, err = json.MarshalIndent(m.tree, "", "\t")
	if err != nil {
		return nil, err
	}
	return m.tree, os.WriteFile(note, text, 0o644)
}

// refresh gives the recent files times within the last three hours again, the
// same order among them as ever.
func (t *tree) refresh() error {
	now := time.Now()
	for i, name := range t.Recent {
		when := now.Add(-3 * time.Hour * time.Duration(i+1) / time.Duration(len(t.Recent)+1))
		if err := os.Chtimes(filepath.Join(t.dir, name), when, when); err != nil {
			return err
		}
	}
	return nil
}

// A maker makes a tree.
type maker struct {
	tree  *tree
	rand  *rand.Rand
	log   io.Writer
	start time.Time
	names []string // of the files that a search sees
}

func (m *maker) make() error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("finding Go's source: %w", err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	recent, modules := 0, 0
	switch m.tree.Name {
	case "small":
		recent, modules = 8, 20
		err = m.pick(src)
	case "medium":
		recent, modules = 150, 500
		err = m.copy(src)
	case "huge":
		recent, modules = 300, 2000
		err = m.assemble(src)
	default:
		err = errors.New("the trees are small, medium and huge")
	}
	if err != nil {
		return err
	}
	if err := m.repository(modules); err != nil {
		return err
	}
	if err := m.date(recent); err != nil {
		return err
	}
	m.progress("%d files in %d folders, %d MB, %d ignored", m.tree.Files, m.tree.Folders, m.tree.Bytes>>20, m.tree.Ignored)
	return nil
}

func (m *maker) progress(format string, args ...any) {
	fmt.Fprintf(m.log, "%s: %s (%.1fs)\n", m.tree.Name, fmt.Sprintf(format, args...), time.Since(m.start).Seconds())
}

// write makes a file of the tree.
func (m *maker) write(name string, text []byte) error {
	path := filepath.Join(m.tree.dir, filepath.FromSlash(name))
	err := os.WriteFile(path, text, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
	}
	return err
}

// add makes a file that a search sees.
func (m *maker) add(name string, text []byte) error {
	m.names = append(m.names, name)
	m.tree.Files++
	m.tree.Bytes += int64(len(text))
	if m.tree.Files%20000 == 0 {
		m.progress("%d files", m.tree.Files)
	}
	return m.write(name, text)
}

// pick takes 49 Go files of a few packages, tests among them, about 0.9 MB.
func (m *maker) pick(src string) error {
	for _, from := range []struct {
		glob string
		most int
	}{{"internal/poll/fd_[pu]*.go", 10}, {"net/http/[cfhr]*.go", 20}, {"net/http/server.go", 1}, {"bufio/*.go", 5}, {"context/*.go", 7}, {"errors/*.go", 5}, {"path/*.go", 4}} {
		paths, err := filepath.Glob(filepath.Join(src, from.glob))
		if err != nil {
			return err
		}
		for _, path := range paths[:min(len(paths), from.most)] {
			name, err := filepath.Rel(src, path)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := m.add(filepath.ToSlash(name), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// copy takes everything.
func (m *maker) copy(src string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return m.add(filepath.ToSlash(name), text)
	})
}

// repository makes the tree one of git's, with ignored modules in it.
func (m *maker) repository(modules int) error {
	for name, text := range map[string]string{
		".git/HEAD":         "ref: refs/heads/main\n",
		".git/config":       "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".git/info/exclude": "# what only this copy ignores\n*.orig\n",
		".git/objects/":     "", ".git/refs/heads/": "",
	} {
		if err := m.entry(name, text); err != nil {
			return err
		}
	}
	if err := m.add(".gitignore", []byte("node_modules/\n*.log\n/out/\n.DS_Store\n")); err != nil {
		return err
	}
	text := []byte("'use strict'\nmodule.exports = function ServeHTTP () { return runtime_pollWait } // TODO\n")
	for i := range modules {
		name := fmt.Sprintf("node_modules/module-%d/lib/file-%d.js", i/10, i)
		if err := m.write(name, text); err != nil {
			return err
		}
		m.tree.Ignored++
	}
	return nil
}

func (m *maker) entry(name, text string) error {
	if text == "" {
		return os.MkdirAll(filepath.Join(m.tree.dir, name), 0o755)
	}
	return m.write(name, []byte(text))
}

// date gives every file a time of its own, some of them within the last hours:
// where no two files are of the same time, every flow must show the same lines.
func (m *maker) date(recent int) error {
	folders := map[string]bool{}
	month := time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second)
	for i, rank := range m.rand.Perm(len(m.names)) {
		name := m.names[i]
		for dir := filepath.Dir(name); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
		if rank < recent {
			m.tree.Recent = append(m.tree.Recent, name)
			continue
		}
		when := month.Add(-time.Duration(rank) * 17 * time.Second)
		if err := os.Chtimes(filepath.Join(m.tree.dir, name), when, when); err != nil {
			return err
		}
	}
	m.tree.Folders = len(folders)
	return m.tree.refresh()
}
