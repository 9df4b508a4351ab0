package command

import "strings"

// A nameFilter says which files of folders a search leaves out.
type nameFilter struct {
	only, except, shut []string
	lifted             bool
	count              int
}

// maxPatterns and maxPattern limit the number and the length of patterns, because each is matched
// against every name in a folder.
const maxPatterns, maxPattern = 64, 256

// heeds reports whether a pattern can be matched against names.
func (f *nameFilter) heeds(w Word) bool {
	f.count++
	return f.count <= maxPatterns && len(w.Value) <= maxPattern && (w.Literal || w.Glob)
}

func (f *nameFilter) add(use string, w Word) {
	pattern := w.Value
	known := f.heeds(w)
	not, negated := strings.CutPrefix(pattern, "!")
	path := strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	if !known || path || use == "n" {
		f.lifted = f.lifted || use != "x" && use != "X" && !negated
		return
	}
	switch use {
	case "x":
		f.except = append(f.except, pattern)
	case "X":
		f.shut = append(f.shut, strings.TrimSuffix(pattern, "/"))
	case "t":
		names := strings.Fields(fileType(pattern))
		f.only, f.lifted = append(f.only, names...), f.lifted || names == nil
	default:
		if !negated || use == "i" {
			f.only = append(f.only, pattern)
			return
		}
		not, folder := strings.CutSuffix(not, "/")
		f.shut = append(f.shut, not)
		if !folder {
			f.except = append(f.except, not)
		}
	}
}

// addNamePattern adds a pattern about whole names, p for those that are meant and P for
// those that are not. It is about the last part of names too if it begins with
// a star and is plain otherwise.
func (f *nameFilter) addNamePattern(use string, w Word) {
	end, ok := strings.CutPrefix(w.Value, "*")
	ok = ok && f.heeds(w) && w.Literal && !strings.ContainsAny(end, "*?[\\/")
	switch {
	case ok && use == "p":
		f.only = append(f.only, w.Value)
	case ok:
		f.except = append(f.except, w.Value)
	case use == "p":
		f.lifted = true
	}
}

// apply narrows what an access reaches. It does not combine patterns that include files with others
// that exclude some: which of them counts depends on their order.
func (f *nameFilter) apply(a *Access) {
	if !a.Deep {
		return
	}
	a.Shut = f.shut
	switch {
	case f.lifted:
		a.Shut = nil
	case f.only == nil:
		a.Except = f.except
	default:
		a.Only, a.Shut = f.only, nil
	}
}

// fileType gives the names of a type of files of rg, for the commonest.
func fileType(name string) string {
	switch name {
	case "c":
		return "*.[chH] *.[chH].in *.cats"
	case "cpp":
		return "*.[ChH] *.cc *.[ch]pp *.[ch]xx *.hh *.inl *.[ChH].in *.cc.in *.[ch]pp.in *.[ch]xx.in *.hh.in"
	case "css":
		return "*.css *.scss"
	case "go":
		return "*.go"
	case "java":
		return "*.java *.jsp *.jspx *.properties"
	case "js":
		return "*.js *.jsx *.vue *.cjs *.mjs"
	case "md", "markdown":
		return "*.markdown *.md *.mdown *.mdwn *.mkd *.mkdn *.mdx"
	case "py", "python":
		return "*.py *.pyi"
	case "rust":
		return "*.rs"
	case "ts", "typescript":
		return "*.ts *.tsx *.cts *.mts"
	}
	return ""
}
