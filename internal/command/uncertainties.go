package command

import "strings"

// uncertainties returns those of a unit by itself: it sets a variable that changes what runs, or
// has an option that runs a program.
func uncertainties(u Unit) []Uncertainty {
	out := assignUncertainties(u)
	if len(u.Words) == 0 || !u.Words[0].Literal && u.Kind != Piece {
		return out
	}
	name := programName(u.Words[0].Value)
	switch name {
	case "export", "declare", "typeset", "local", "readonly", "nameref":
		return append(out, declareUncertainties(u.Words)...)
	case "sed", "gsed", "ssed":
		return append(out, sedUncertainties(u.Words)...)
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return append(out, awkUncertainties(u.Words)...)
	case "git":
		return append(out, gitUncertainties(u.Words)...)
	case "find", "gfind", "bfs":
		return append(out, findUncertainties(u.Words)...)
	}
	if posixShell(name) {
		out = append(out, keywordUncertainties(u.Words)...)
	}
	out = append(out, builtinUncertainties(name, u.Words)...)
	if word, ok := runningWord(name, u.Words); ok {
		out = append(out, Uncertainty{Why: name + " runs another program because of " + word, Flag: word})
	}
	if words, ok := keepsSetting(name, u.Words); ok {
		out = append(out, Uncertainty{Why: name + " keeps a setting that may run a program: " + words, Flag: words})
	}
	if f, ok := flagsOf(name); ok {
		out = append(out, f.find(name, u.Words)...)
	}
	return out
}

// builtinUncertainties are the uncertainties about commands of the shell that set variables.
func builtinUncertainties(name string, words []Word) []Uncertainty {
	switch name {
	case "read":
		s := grammar{short: "a:d:i:n:N:p:t:u:ersE"}.scan(words)
		names := s.operands(words)
		if o, ok := s.get("a"); ok {
			names = append(names, o.value)
		}
		return varUncertainties(words[0], names...)
	case "mapfile", "readarray":
		return varUncertainties(words[0], grammar{short: "d:n:O:s:u:C:c:t"}.scan(words).operands(words)...)
	case "printf":
		return printfUncertainties(words)
	case "wait":
		if o, ok := (grammar{short: "p:fn"}).scan(words).get("p"); ok {
			return varUncertainties(words[0], o.value)
		}
	case "getopts":
		if len(words) > 2 {
			return varUncertainties(words[0], words[2])
		}
	case "let":
		return indexUncertainties(words)
	case "unset":
		return append(indexUncertainties(words), unsetUncertainties(words)...)
	case "set", "shopt":
		return keywordUncertainties(words)
	case "test", "[":
		return testUncertainties(words)
	}
	return nil
}

// indexUncertainties are the uncertainties about unset and let, which evaluate an index.
func indexUncertainties(words []Word) []Uncertainty {
	var out []Uncertainty
	for _, w := range words[1:] {
		let := words[0].Value == "let" && hidesCode(w.Raw) && !strings.Contains(w.Raw, "'")
		if let || hidesCode(w.Shape) || openIndex(w.Shape) {
			out = append(out, nameUncertainties(w)...)
		}
	}
	return out
}

// printfUncertainties are the uncertainties about printf -v.
func printfUncertainties(words []Word) []Uncertainty {
	if o, ok := (grammar{short: "v:"}).scan(words).get("v"); ok {
		return varUncertainties(words[0], o.value)
	}
	name, ok := printfName(words)
	switch {
	case ok && hidesCode(name.Shape):
		return nameUncertainties(name)
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

// testUncertainties are the uncertainties about test -v, which evaluates an index. A word
// that is not known may be the option.
func testUncertainties(words []Word) []Uncertainty {
	var out []Uncertainty
	for i, w := range words {
		switch {
		case hidesCode(w.Shape):
			out = append(out, Uncertainty{Why: "an index that may hold code"})
		case (w.Shape == "-v" || w.Shape == "-R") && i+1 < len(words) && !words[i+1].Literal:
			out = append(out, nameUncertainties(words[i+1])...)
		}
	}
	return out
}
