package command

import (
	"net/url"
	"path"
	"strings"
)

// address adds the file of a URL.
func (a *argReader) address(use string, w Word) {
	a.addressed(use, w)
	if use != "U" {
		return
	}
	if !w.Literal && !w.Glob { // a ? is a part of it
		a.add(Access{Kind: Write, Path: Word{Raw: w.Raw, Value: w.Value}})
		return
	}
	file, _, _ := strings.Cut(w.Value, "?")
	_, after, _ := strings.Cut(file, "://")
	base := "index.html"
	if strings.Contains(after, "/") && !strings.HasSuffix(file, "/") {
		base = path.Base(file)
	}
	a.add(Access{Kind: Write, Path: knownWord(base)})
}

// addressed adds the file that a URL is read from or sent to.
func (a *argReader) addressed(use string, w Word) {
	end := strings.IndexAny(w.Value+":", ":/")
	scheme := w.Value[:end]
	full := strings.HasPrefix(w.Value[end:], ":")
	at := Access{Kind: Read}
	switch {
	case a.why == "curl" && strings.ContainsAny(scheme, "{["): // it spreads lists by itself
		at.Path = Word{Raw: w.Raw, Value: w.Value, Shape: Unknown}
	case full && strings.EqualFold(scheme, "file"):
		at.Path = fileOf(w, end+1)
	case a.spec.is("page") && !full:
		at.Path, at.Maybe = w, true
	default:
		return
	}
	a.add(at)
	if use == "o" && strings.HasSuffix(at.Path.Value, "/") {
		a.addUse("F", at.Path)
	} else if use == "o" {
		a.add(Access{Kind: Write, Path: at.Path})
	}
}

// fileOf is the file of a URL, from a place in it on: of ///x and //host/x it
// is /x.
func fileOf(w Word, at int) Word {
	if strings.HasPrefix(w.Value[at:], "//") {
		at += len("//")
		at += max(strings.IndexAny(w.Value[at:], "/$`"), 0)
	}
	file := w.suffixFrom(at)
	if !file.Literal {
		return file
	}
	name, _, _ := strings.Cut(file.Value, "#")
	name, _, _ = strings.Cut(name, "?")
	if end := strings.IndexAny(name, "{["); end >= 0 { // it is spread
		return Word{Raw: file.Raw, Value: name, Shape: name[:end] + Unknown}
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return knownWord(name)
}

// mentioned adds the file that a text such as @file or name=@file names; s and
// S are for name=file.
func (a *argReader) mentioned(use string, w Word) {
	v := w.Value
	switch at := strings.Index(v, "=@"); {
	case use == "s" || use == "S":
		kind := Read
		if use == "S" {
			kind = Write
		}
		a.add(Access{Kind: kind, Path: w.suffixFrom(strings.IndexByte(v, '=') + 1)})
	case use == "k":
		if !strings.Contains(v, "=") {
			a.add(Access{Kind: Read, Path: w})
		}
	case strings.HasPrefix(v, "@"):
		a.add(Access{Kind: Read, Path: w.suffixFrom(1)})
	case at >= 0 || strings.Contains(v, "=<"):
		from := max(at, strings.Index(v, "=<")) + 2
		file := w.suffixFrom(from)
		if end := strings.IndexByte(file.Value, ';'); end >= 0 && file.Literal {
			file = knownWord(file.Value[:end])
		}
		a.add(Access{Kind: Read, Path: file})
	case strings.Contains(v, "@") && a.why == "curl" && !strings.ContainsAny(v, "=: "): // --data-urlencode name@file
		a.add(Access{Kind: Read, Path: w.suffixFrom(strings.IndexByte(v, '@') + 1), Maybe: true})
	}
}
