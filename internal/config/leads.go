package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mayImport reports whether a file can import others, or redirect imports.
func mayImport(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json":
		return true
	}
	return false
}

// importable reports whether a file can be imported.
func importable(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".txt":
		return true
	}
	return mayImport(path)
}

// maxLead limits the name of an imported file.
const maxLead = 1000

// importCandidates returns the texts in a script that may be names of imported files: all quoted
// texts that begin like a path. Wrong guesses only mean that more files are checked.
func importCandidates(script []byte) (all []string) {
	src := unescaped(script)
	for i := 0; i+1 < len(src); i++ {
		quote := src[i]
		if quote != '"' && quote != '\'' && quote != '`' || src[i+1] != '.' && src[i+1] != '/' && !strings.HasPrefix(src[i+1:], "file:") {
			continue
		}
		rest := src[i+1 : min(len(src), i+1+maxLead)]
		end := strings.IndexAny(rest, string(quote)+"\n")
		if end < 0 {
			continue
		}
		lead, computed, _ := strings.Cut(rest[:end], "${")
		if computed != "" { // any file of that folder
			lead = lead[:strings.LastIndexByte(lead, '/')+1]
		}
		lead, _, _ = strings.Cut(lead, "?")
		lead, _, _ = strings.Cut(lead, "#")
		if lead != "" {
			all = append(all, strings.TrimPrefix(lead, "file://"))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unescaped resolves the escapes in a script, so that no name can be hidden.
func unescaped(script []byte) string {
	src := string(script)
	if !strings.Contains(src, `\`) {
		return src
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(src, `\`)
		b.WriteString(before)
		if !found || after == "" {
			return b.String()
		}
		digits, rest := "", after
		switch {
		case after[0] == 'x' && len(after) >= 3:
			digits, rest = after[1:3], after[3:]
		case strings.HasPrefix(after, "u{"):
			digits, _, _ = strings.Cut(after[2:min(len(after), 12)], "}")
			rest = after[min(len(after), 3+len(digits)):]
		case after[0] == 'u' && len(after) >= 5:
			digits, rest = after[1:5], after[5:]
		case after[0] == '\n':
			src = after[1:]
			continue
		}
		if code, err := strconv.ParseUint(digits, 16, 32); err == nil {
			b.WriteRune(rune(code))
			src = rest
			continue
		}
		b.WriteByte(after[0])
		src = after[1:]
	}
}

// endings are the file name endings that imports may leave out.
func endings() []string {
	return []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"}
}

// places returns the files that an import may refer to from a folder, including missing ones: one
// that is added later changes what runs.
func places(dir, lead string) []string {
	path := absFrom(dir, filepath.FromSlash(lead))
	all := []string{path}
	for _, ending := range endings() {
		all = append(all, path+ending)
	}
	switch ending := filepath.Ext(path); ending {
	case ".js", ".jsx", ".mjs", ".cjs": // stands for the script it is made of
		stem := strings.TrimSuffix(path, ending)
		all = append(all, stem+".ts", stem+".tsx", stem+".mts", stem+".cts")
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return all
	}
	if lead == "." || lead == ".." { // mostly no names of folders at all
		for _, ending := range endings() {
			all = append(all, filepath.Join(path, "index"+ending))
		}
		return append(all, filepath.Join(path, "package.json"))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return all
	}
	for _, e := range entries {
		if importable(e.Name()) && !e.IsDir() {
			all = append(all, filepath.Join(path, e.Name()))
		}
	}
	return all
}
