package command

import "strings"

// further adds the files of a value that is more than a name.
func (a *argReader) further(use string, w Word) {
	switch use {
	case "K":
		a.settings(w)
	case "a":
		if at := strings.IndexByte(w.Value, '='); at >= 0 {
			a.add(Access{Kind: Write, Path: w.suffixFrom(at + 1)})
		}
	case "h":
		if !w.Literal {
			a.add(Access{Kind: Write, Path: w.hazy()})
			return
		}
		for word := range strings.SplitSeq(w.Value, ",") {
			a.hand(word)
		}
	}
}

// settings adds a file with options of curl. Those that it is given on its input
// may name any.
func (a *argReader) settings(w Word) {
	a.add(Access{Kind: Read, Path: w})
	if w.Value == "-" || w.Value == "/dev/stdin" || strings.HasPrefix(w.Value, "/dev/fd/") || strings.HasPrefix(w.Raw, "<(") {
		a.add(Access{Kind: Read})
		a.add(Access{Kind: Write})
	}
}

// hand adds the file in a word that a compiler passes to the preprocessor, the assembler or the
// linker.
func (a *argReader) hand(word string) {
	last := a.handed
	a.handed = word
	if !strings.HasPrefix(word, "-") {
		a.handedFile(last, word)
		return
	}
	if option, file, ok := strings.Cut(word, "="); ok {
		a.handedFile(option, file)
	} else if strings.HasPrefix(word, "-o") || strings.HasPrefix(word, "-T") {
		a.handedFile(word[:2], word[2:])
	}
}

func (a *argReader) handedFile(option, file string) {
	if file == "" {
		return
	}
	switch option = "-" + strings.TrimLeft(option, "-"); option {
	case "-MD", "-MMD", "-MF", "-Map", "-o", "-output", "-dependency-file", "-out-implib":
		a.add(Access{Kind: Write, Path: knownWord(file)})
	case "-include", "-imacros", "-T", "-script", "-version-script", "-dynamic-list":
		a.add(Access{Kind: Read, Path: knownWord(file)})
	default:
		if strings.HasPrefix(option, "-a") && strings.Trim(option, "-acdghilmns") == "" {
			a.add(Access{Kind: Write, Path: knownWord(file)})
		}
	}
}

// temporary adds the folder that the line tells mktemp to take.
func (r *fileReader) temporary() {
	for _, a := range r.unit.Assigns {
		value, ok := strings.CutPrefix(a.Raw, "TMPDIR=")
		switch {
		case !ok:
		case strings.ContainsAny(value, "$`'\"\\(){}<>*?[~"):
			r.add(Access{Kind: Write})
		default:
			r.add(Access{Kind: Write, Path: knownWord(value).asFolder(), Into: []Word{knownWord("new")}})
		}
	}
}
