package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A maker makes a tree to search.
type maker struct {
	dir   string
	rand  *rand.Rand
	files int
}

// write makes a file with a time of its own: where no two files are of the same
// time, every flow must show the same lines.
func (m *maker) write(name string, text []byte) error {
	full := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(full, text, 0o644); err != nil {
		return err
	}
	m.files++
	age := time.Duration(uint64(m.files)*2654435761%(1<<20)) * 17 * time.Second // odd, so no two are alike
	when := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age)
	return os.Chtimes(full, when, when)
}

// makeTree makes a tree of Go's source: "small" has 50 files of it, "medium" all
// of them, and "huge" 100,000 that are made of pieces of them. Each is a
// repository with modules that are ignored.
func makeTree(src, dir, name string, quick bool) (err error) {
	m := &maker{dir: dir, rand: rand.New(rand.NewPCG(1, uint64(len(name))))}
	modules := 20
	switch {
	case name == "small" || quick:
		for _, from := range []struct {
			glob string
			most int
		}{{"internal/poll/fd_[pu]*.go", 10}, {"net/http/[cfhr]*.go", 20}, {"net/http/server.go", 1}, {"bufio/*.go", 5}, {"context/*.go", 7}, {"errors/*.go", 5}, {"path/*.go", 4}} {
			paths, _ := filepath.Glob(filepath.Join(src, from.glob)) // the patterns are good
			for _, file := range paths[:min(len(paths), from.most)] {
				rel, _ := filepath.Rel(src, file) // it is below
				text, failed := os.ReadFile(file)
				err = errors.Join(err, failed, m.write(rel, text))
			}
		}
	case name == "medium":
		modules = 500
		err = texts(src, func(rel string, text []byte) error { return m.write(rel, text) })
	default:
		modules = 2000
		err = m.assemble(src)
	}
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".git/info/exclude": "*.orig\n", ".git/objects/x": "", ".git/refs/heads/x": "", ".gitignore": "node_modules/\n*.log\n/out/\n.DS_Store\n",
	} {
		err = errors.Join(err, m.write(name, []byte(text)))
	}
	for i := range modules {
		text := "'use strict'\nmodule.exports = function ServeHTTP () { return runtime_pollWait } // TODO\n"
		err = errors.Join(err, m.write(fmt.Sprintf("node_modules/module-%d/lib/file-%d.js", i/10, i), []byte(text)))
	}
	return err
}

// texts are all files below a folder.
func texts(src string, each func(rel string, text []byte) error) error {
	return filepath.WalkDir(src, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(src, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return each(filepath.ToSlash(rel), text)
	})
}

// assemble makes a tree of pieces of the source: real text, cut at lines, in
// folders that branch as those of large projects do, some of which have ignore
// files. Twelve lines have what is rare.
func (m *maker) assemble(src string) error {
	const files, folders, size, rules, rare = 100_000, 12_000, 500 << 20, 100, 12
	type piece struct {
		name string
		text []byte
	}
	var stock []piece
	names := map[string]bool{}
	err := texts(src, func(rel string, text []byte) error {
		if len(text) >= 200 && len(text) <= 400<<10 && utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 && !bytes.Contains(text, []byte("runtime_pollWait")) {
			stock = append(stock, piece{path.Base(rel), text})
			names[path.Base(path.Dir(rel))] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, ignored := range []string{"node_modules", "gen", "bin", "cache", "target", "dist", "out"} {
		delete(names, ignored)
	}
	words := slices.Sorted(maps.Keys(names))
	dirs := []string{"."}
	for len(dirs) < folders { // a new one goes into any that is not too deep
		if dir := path.Join(dirs[m.rand.IntN(len(dirs))], fmt.Sprint(words[m.rand.IntN(len(words))], len(dirs)%100)); strings.Count(dir, "/") <= 8 {
			dirs = append(dirs, dir)
		}
	}
	written := 0
	for i := range files {
		// What is left, spread over what is left: the sizes fall as they may.
		most := max(40, int(float64(size-written)/float64(files-i)*math.Exp(m.rand.NormFloat64()*1.2-0.6)))
		from := stock[m.rand.IntN(len(stock))]
		text := bytes.Clone(cut(from.text, most))
		for len(text) < most { // not even the whole file is enough
			text = append(text, cut(stock[m.rand.IntN(len(stock))].text, most-len(text))...)
		}
		if i%(files/rare) == 77 {
			text = append(text, "// A naïve way, behind the façade of runtime_pollWait.\n"...)
		}
		ext := path.Ext(from.name)
		stem, test := strings.CutSuffix(strings.TrimSuffix(from.name, ext), "_test")
		if n := m.rand.IntN(20); ext == ".go" && n < 9 { // so that a glob divides the tree
			ext = [...]string{".rs", ".rs", ".rs", ".ts", ".ts", ".py", ".c", ".yaml", ".java"}[n]
		}
		if stem = fmt.Sprint(stem, "_", i); test {
			stem += "_test"
		}
		written += len(text)
		if err := m.write(path.Join(dirs[m.rand.IntN(len(dirs))], stem+ext), text); err != nil {
			return err
		}
	}
	for i := range rules {
		dir := dirs[1+i*(folders-1)/rules]
		err := errors.Join(m.write(path.Join(dir, ".gitignore"), []byte("*.o\n/gen/\n!gen/keep.txt\n*.pb.go\n**/cache/**\ntarget/\n")),
			m.write(path.Join(dir, "gen/made.o"), []byte("func ServeHTTP() // TODO runtime_pollWait\n")))
		if err != nil {
			return err
		}
	}
	return nil
}

// cut takes about size bytes of whole lines.
func cut(text []byte, size int) []byte {
	if len(text) <= size {
		return text
	}
	if end := bytes.IndexByte(text[size:], '\n'); end >= 0 {
		return text[:size+end+1]
	}
	return text
}
