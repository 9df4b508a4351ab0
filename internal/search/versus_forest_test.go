package search

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// What the forest has.
const (
	forestFiles   = 100_000
	forestFolders = 4_000
	forestRules   = 100
)

// A forester plants a tree with many ignore files. It always is the same tree.
type forester struct {
	*rand.Rand
	top string
}

// name is a name of a file or a folder: from so few that rules meet them.
func (f *forester) name(folder bool) string {
	if folder {
		return f.from("a", "b", "build", "cmd", "deep", "gen", "keep", "lib", "node_modules", "out", "pkg", "src", "test", "tmp", "vendor", ".cache", "x y", "Ü") +
			f.from("", "", "", "1", "2", "3")
	}
	return f.from("a", "b", "c", "keep", "main", "test", "x", "Makefile", "data", "secret", ".env", "#x", "!x", "x ") +
		f.from("", "", "1", "2", "3", "_test") + f.from(".go", ".go", ".go", ".txt", ".log", ".o", ".tmp", ".pb.go", ".md", "")
}

func (f *forester) from(list ...string) string { return list[f.IntN(len(list))] }

// rule is a line of an ignore file.
func (f *forester) rule() string {
	return f.from(
		"*.log", "!keep*.log", "*.o", "*.tmp", "!*.tmp", "/build", "build/", "!build/", "/out/", "node_modules/", "node_modules", "tmp*/",
		"**/gen/", "**/gen/**", "gen/**/*.go", "!gen/a.go", "/src/*.txt", "src/**/test", "!/src/keep.txt", "a/b", "/a/*/c.go", "*_test.go", "!main_test.go",
		"secret*", "!secret", ".env", "!.env*", "*.pb.go", "!a.pb.go", "*", "!*/", "!*.go", "# a remark", "", `\#x*`, `\!x*`, `x\ `, "x ", "data?", "[a-c].txt", "[!a-c].md",
		"vendor/**", "!vendor/keep", "/*.md", "lib", "!lib", "pkg/", "deep/**/deep", "cmd/*/", "Makefile", "Ü", ".cache/",
	)
}

// plant makes the forest.
func (f *forester) plant(t *testing.T) {
	folders := []string{""}
	known := map[string]bool{"": true}
	first := []string{"a", "src", "build", "node_modules"}
	for len(folders) < forestFolders {
		name := path.Join(folders[f.IntN(len(folders))], f.name(true))
		if len(first) > 0 {
			name, first = first[0], first[1:]
		}
		if !known[name] && len(name) < 200 {
			known[name] = true
			folders = append(folders, name)
			if err := os.MkdirAll(filepath.Join(f.top, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range forestFiles {
		dir := folders[f.IntN(len(folders))]
		name := path.Join(dir, f.name(false))
		if known[name] {
			name = path.Join(dir, fmt.Sprintf("f%d%s", i, f.from(".go", ".txt", ".log", ".o")))
		}
		known[name] = true
		text := fmt.Sprintf("package p%d\n\nfunc F%d() int { return %d } // %s\n", i%97, i, i*i%1009, f.from("TODO", "FIXME", "done", "é", ""))
		if err := os.WriteFile(filepath.Join(f.top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range forestRules {
		kind := []string{".gitignore", ".gitignore", ".gitignore", ".ignore", ".rgignore"}[i%5]
		dir := folders[0]
		if i >= 5 {
			dir = folders[f.IntN(len(folders))]
		}
		text := ""
		for range 1 + f.IntN(4) {
			rule := f.rule()
			if i < 5 && (rule == "*" || rule == "!*/") {
				continue // would leave nothing
			}
			text += rule + "\n"
		}
		if err := os.WriteFile(filepath.Join(f.top, dir, kind), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, dir := range []string{"", folders[f.IntN(50)+1], folders[f.IntN(len(folders))], folders[f.IntN(len(folders))]} {
		writeFile(t, filepath.Join(f.top, dir, ".git", "HEAD"), "ref: refs/heads/main\n")
		if i%2 == 0 {
			writeFile(t, filepath.Join(f.top, dir, ".git", "info", "exclude"), "data3*\n/lib1/\n")
		}
	}
}

// TestVersusForest compares file sets and lines in a tree of 100,000 files with
// 100 ignore files of every kind.
func TestVersusForest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	top := realDir(t)
	f := &forester{Rand: rand.New(rand.NewPCG(1, 2)), top: filepath.Join(top, "forest")}
	f.plant(t)
	excludes := filepath.Join(top, "settings", "git", "ignore")
	writeFile(t, excludes, "x3*\n!x3.go\n/Makefile2\n")
	base := asked{Options: Options{Dir: f.top, Exact: true, Hidden: true, Excludes: excludes}}
	all := engines(t)
	delete(all, "tree kept") // more of them take too long here
	delete(all, "portable")
	if raceDetector {
		delete(all, "nothing kept") // the first search of the other keeps nothing yet
	}
	names, lines, seed := once[[]string]{}, once[map[string]foliage]{}, maphash.MakeSeed()
	rivals(t, func(t *testing.T, rg rival) {
		for _, globs := range [][]string{nil, {"*.go"}, {"**/*_test.go"}, {"!*.go"}, {"src/**/*.{go,txt}"}, {"/a/**"}, {"*.log", "!keep*"}, {"main*", "!**/vendor/**"}} {
			a := base
			a.Globs = globs
			theirs := rg.names(t, a)
			if len(theirs) == 0 {
				t.Errorf("%q finds nothing: the comparison says nothing", globs)
			}
			for how, e := range all {
				own := names.get(fmt.Sprint(how, globs), func() []string { return ourNames(t, e, a) })
				if d := differ(theirs, own); d != "" {
					t.Errorf("globs %q, %s:\n%s", globs, how, d)
				}
			}
		}
		for _, s := range []struct{ pattern, sub, glob string }{
			{`TODO|FIXME`, "", ""}, {`func F\d*7\(`, "", ""}, {`return 1\d\d\b`, "", "*.go"}, {`zzqqxxnomatch`, "", ""}, {`é$`, "", ""},
			{`package p9\d`, "src", ""}, {`TODO`, "build", ""}, {`TODO`, "node_modules", ""},
		} {
			a := base
			a.Dir, a.pattern = filepath.Join(f.top, s.sub), s.pattern
			if s.glob != "" {
				a.Globs = []string{s.glob}
			}
			if !isDir(a.Dir) {
				t.Errorf("%s is not there", s.sub)
				continue
			}
			theirs := rg.leaves(t, a, seed)
			for how, e := range all {
				own := lines.get(fmt.Sprint(how, s), func() map[string]foliage { return ourLeaves(t, e, a, seed) })
				if d := differLeaves(theirs, own); d != "" {
					t.Errorf("%q in %q, %s:\n%s", s.pattern, s.sub, how, d)
				}
			}
		}
	})
}
