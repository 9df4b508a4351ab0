package shell

import "strings"

// doubts returns what a unit by itself leaves unclear: it sets a variable that
// changes what runs, or has an option that runs a program.
func doubts(u Unit) []Doubt {
	out := assignDoubts(u)
	if len(u.Words) == 0 || !u.Words[0].Literal && u.Kind != Piece {
		return out
	}
	name := programName(u.Words[0].Value)
	switch name {
	case "export", "declare", "typeset", "local", "readonly", "nameref":
		return append(out, declareDoubts(u.Words)...)
	case "sed", "gsed", "ssed":
		return append(out, sedDoubts(u.Words)...)
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return append(out, awkDoubts(u.Words)...)
	case "git":
		return append(out, gitDoubts(u.Words)...)
	case "find", "gfind", "bfs":
		return append(out, findDoubts(u.Words)...)
	}
	if posixShell(name) {
		out = append(out, keywordDoubts(u.Words)...)
	}
	out = append(out, builtinDoubts(name, u.Words)...)
	if word, ok := runningWord(name, u.Words); ok {
		out = append(out, Doubt{Why: name + " runs another program because of " + word, Flag: word})
	}
	if words, ok := keepsSetting(name, u.Words); ok {
		out = append(out, Doubt{Why: name + " keeps a setting that may run a program: " + words, Flag: words})
	}
	if f, ok := flagsOf(name); ok {
		out = append(out, f.find(name, u.Words)...)
	}
	return out
}

// builtinDoubts are the doubts about commands of the shell that set variables.
func builtinDoubts(name string, words []Word) []Doubt {
	switch name {
	case "read":
		s := grammar{short: "a:d:i:n:N:p:t:u:ersE"}.scan(words)
		names := s.rest(words)
		if o, ok := s.get("a"); ok {
			names = append(names, o.value)
		}
		return varDoubts(words[0], names...)
	case "mapfile", "readarray":
		return varDoubts(words[0], grammar{short: "d:n:O:s:u:C:c:t"}.scan(words).rest(words)...)
	case "printf":
		return printfDoubts(words)
	case "wait":
		if o, ok := (grammar{short: "p:fn"}).scan(words).get("p"); ok {
			return varDoubts(words[0], o.value)
		}
	case "getopts":
		if len(words) > 2 {
			return varDoubts(words[0], words[2])
		}
	case "let":
		return indexDoubts(words)
	case "unset":
		return append(indexDoubts(words), unsetDoubts(words)...)
	case "set", "shopt":
		return keywordDoubts(words)
	case "test", "[":
		return testDoubts(words)
	}
	return nil
}

// indexDoubts are the doubts about unset and let, which evaluate an index.
func indexDoubts(words []Word) []Doubt {
	var out []Doubt
	for _, w := range words[1:] {
		let := words[0].Value == "let" && hidesCode(w.Raw) && !strings.Contains(w.Raw, "'")
		if let || hidesCode(w.Shape) || openIndex(w.Shape) {
			out = append(out, nameDoubts(w)...)
		}
	}
	return out
}

// printfDoubts are the doubts about printf -v.
func printfDoubts(words []Word) []Doubt {
	if o, ok := (grammar{short: "v:"}).scan(words).get("v"); ok {
		return varDoubts(words[0], o.value)
	}
	name, ok := printfName(words)
	switch {
	case ok && hidesCode(name.Shape):
		return nameDoubts(name)
	case ok:
		return sets(bareName(name.Shape))
	}
	return nil
}

// printfName is the variable that printf puts its text into, also where a word
// that is not known may be the option.
func printfName(words []Word) (name Word, ok bool) {
	if o, ok := (grammar{short: "v:"}).scan(words).get("v"); ok {
		return o.value, true
	}
	if len(words) > 2 && !words[1].Literal && strings.IndexAny(words[1].Shape, "-"+Unknown) == 0 {
		return words[2], true
	}
	return Word{}, false
}

// testDoubts are the doubts about test -v, which evaluates an index. A word
// that is not known may be the option.
func testDoubts(words []Word) []Doubt {
	var out []Doubt
	for i, w := range words {
		switch {
		case hidesCode(w.Shape):
			out = append(out, Doubt{Why: "an index that may hold code"})
		case (w.Shape == "-v" || w.Shape == "-R") && i+1 < len(words) && !words[i+1].Literal:
			out = append(out, nameDoubts(words[i+1])...)
		}
	}
	return out
}
