package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// What the huge tree is made up to.
const (
	hugeFiles   = 100_000
	hugeFolders = 12_000
	hugeBytes   = 500 << 20
	hugeRules   = 100 // ignore files
	hugeRare    = 12  // lines that the rare patterns match
)

// A stock is text to make files from.
type stock struct {
	files   []stockFile
	folders []string // names of folders
	words   []string // that names are made of
}

type stockFile struct {
	name string
	text []byte
}

// assemble makes a tree of pieces of the source: real text, cut at lines, with
// some of the names in it changed from folder to folder, in folders that branch
// as those of large projects do.
func (m *maker) assemble(src string) error {
	st, err := readStock(src)
	if err != nil {
		return err
	}
	folders := m.branch(st.folders)
	m.progress("%d texts to make it from", len(st.files))
	for i := range hugeFiles - hugeRules - 1 {
		// What is left, spread over what is left: the sizes fall as they may.
		mean := float64(hugeBytes-m.tree.Bytes) / float64(hugeFiles-i)
		size := int(mean * math.Exp(m.rand.NormFloat64()*1.2-0.6))
		from := st.files[m.rand.IntN(len(st.files))]
		at := m.rand.IntN(len(folders))
		text := slices.Clip(m.cut(from.text, max(size, 40)))
		for len(text) < size { // not even the whole file is enough
			text = append(text, m.cut(st.files[m.rand.IntN(len(st.files))].text, size-len(text))...)
		}
		text = vary(text, st.words, uint64(at)<<20|m.tree.Seed)
		if i%(hugeFiles/hugeRare) == 77 {
			text = append(text, "// A naïve way, behind the façade of runtime_pollWait.\n"...)
		}
		if err := m.add(m.nameIn(folders[at], from.name), text); err != nil {
			return err
		}
	}
	return m.rules(folders)
}

// readStock reads the text files of the source.
func readStock(src string) (*stock, error) {
	st := &stock{}
	seen := map[string]bool{}
	count := map[string]int{}
	for _, name := range []string{"node_modules", "gen", "bin", "cache", "target", "dist", "out"} {
		seen[name] = true // the ignore files name these
	}
	err := filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && !seen[d.Name()] {
			seen[d.Name()] = true
			st.folders = append(st.folders, d.Name())
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !isStock(text) {
			return err
		}
		st.files = append(st.files, stockFile{d.Name(), text})
		countWords(text[:min(len(text), 2000)], count)
		return nil
	})
	st.words = middling(count)
	if err == nil && (len(st.files) < 100 || len(st.words) < 100) {
		err = fmt.Errorf("%s holds too little to make a tree from", src)
	}
	return st, err
}

// middling are the words that are neither rare nor everywhere, and in no query.
func middling(count map[string]int) (words []string) {
	for word, n := range count {
		if n > 50 && n < 2000 && word != "todo" && word != "deprecated" {
			words = append(words, strings.ToUpper(word[:1])+word[1:])
		}
	}
	slices.Sort(words)
	return words
}

// isStock reports whether a file is text, neither tiny nor a giant, and without
// the word that is to be rare.
func isStock(text []byte) bool {
	return len(text) >= 200 && len(text) <= 400<<10 && bytes.IndexByte(text, 0) < 0 && utf8.Valid(text) &&
		!bytes.Contains(text, []byte("runtime_pollWait"))
}

func countWords(text []byte, count map[string]int) {
	for word := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(word) >= 4 && len(word) <= 9 {
			count[word]++
		}
	}
}

// branch grows the folders: a new one goes into any that is not too deep.
func (m *maker) branch(names []string) []string {
	folders := []string{"."}
	taken := map[string]bool{}
	for len(folders) < hugeFolders {
		in := folders[m.rand.IntN(len(folders))]
		name := path.Join(in, names[m.rand.IntN(len(names))])
		if strings.Count(name, "/") > 8 || taken[name] {
			continue
		}
		taken[name] = true
		folders = append(folders, name)
	}
	return folders
}

// nameIn is a name for a file that is not taken yet. Some Go files become
// files of other languages, so that a glob divides the tree.
func (m *maker) nameIn(folder, name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if n := m.rand.IntN(20); ext == ".go" && n < 9 {
		ext = [...]string{".rs", ".rs", ".rs", ".ts", ".ts", ".py", ".c", ".yaml", ".java"}[n]
	}
	test := ""
	if s, ok := strings.CutSuffix(stem, "_test"); ok {
		stem, test = s, "_test"
	}
	return path.Join(folder, fmt.Sprintf("%s_%d%s%s", stem, len(m.names), test, ext))
}

// cut takes about size bytes of whole lines, mostly from the start.
func (m *maker) cut(text []byte, size int) []byte {
	if m.rand.IntN(10) < 3 && len(text) > size {
		from := m.rand.IntN(len(text) - size)
		text = text[from+bytes.IndexByte(text[from:], '\n')+1:]
	}
	if len(text) <= size {
		return text
	}
	if end := bytes.IndexByte(text[size:], '\n'); end >= 0 {
		return text[:size+end+1]
	}
	return text
}

// vary changes some of the names in a text that are made of several words, the
// same ones in the same way for one key.
func vary(text []byte, words []string, key uint64) []byte {
	out := make([]byte, 0, len(text)+len(text)/16)
	for i := 0; i < len(text); {
		start := i
		inner := false
		for i < len(text) && isName(text[i]) {
			inner = inner || i > start && (text[i] == '_' || text[i] >= 'A' && text[i] <= 'Z' && text[i-1] >= 'a')
			i++
		}
		name := text[start:i]
		if h := hash(name, key); inner && len(name) >= 6 && h%3 == 0 {
			out = append(out, name[:len(name)*2/3]...)
			out = append(out, words[h/3%uint64(len(words))]...)
		} else {
			out = append(out, name...)
		}
		for i < len(text) && !isName(text[i]) {
			out = append(out, text[i])
			i++
		}
	}
	return out
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func hash(b []byte, key uint64) uint64 {
	h := key*0x9e3779b97f4a7c15 ^ 14695981039346656037
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h ^ h>>29
}

// rules puts ignore files into some folders, and files that they name.
func (m *maker) rules(folders []string) error {
	forms := []string{
		"*.o\n*.tmp\n", "/gen/\n!gen/keep.txt\n", "# made here\n*.pb.go\n!api.pb.go\n/bin\n", "_obj/\n*.[568]\n*.out\n",
		"**/cache/**\nsecret_*\n", "*.class\n*.iml\n.idea/\ntarget/\n", "coverage.*\n/dist\n*.py[co]\n__pycache__/\n",
	}
	made := []string{"made.o", "gen/x.txt", "made.pb.go", "_obj/x.go", "sub/cache/x.txt", "target/x.rs", "dist/x.js"}
	for i, at := range m.rand.Perm(len(folders) - 1)[:hugeRules] {
		dir := folders[at+1]
		if err := m.add(path.Join(dir, ".gitignore"), []byte(forms[i%len(forms)])); err != nil {
			return err
		}
		m.tree.Ignored++
		if err := m.write(path.Join(dir, made[i%len(made)]), []byte("func ServeHTTP() // TODO runtime_pollWait\n")); err != nil {
			return err
		}
	}
	return nil
}
