package command

import "strings"

// recalls reports whether a command may enable the history of bash, or its expansion of !! and the
// like. What a line runs can then not be told from its text.
func recalls(name string, words []Word) bool {
	switch {
	case name == "set":
		on, _ := recallOptions(words, "H")
		return on
	case name == "shopt":
		return mentions(words, Unknown) || historyName(words[1:]...)
	case posixShell(name):
		on, coded := recallOptions(words, "H")
		interactive, _ := recallOptions(words, "i") // it does so too, but not in the code of -c
		return on || interactive && !coded
	}
	return false
}

// recallOptions reads options as set and bash take them: whether one of them
// is a letter or names the history, and whether there is a c.
func recallOptions(words []Word, letter string) (on, coded bool) {
	for i := 1; i < len(words); i++ {
		s := words[i].Shape
		switch {
		case strings.IndexAny(s, "-+"+Unknown) != 0 || s == "-" || s == "--":
			return on, coded
		case strings.Contains(s, Unknown):
			return on || baseName(words[0].Value) == "set", coded // a shell with such an option is asked about anyway
		case strings.HasPrefix(s, "--"): // a long option of bash
			continue
		}
		named := min(strings.Count(s, "o")+strings.Count(s, "O"), len(words)-i-1)
		on = on || mentions(words[i:i+1+named], Unknown) // it may be several words
		if s[0] == '-' {
			on = on || strings.Contains(s, letter) || historyName(words[i+1:i+1+named]...)
			coded = coded || strings.Contains(s, "c")
		}
		i += named
	}
	return on, coded
}

// historyName reports whether one of some words names an option about the
// history.
func historyName(words ...Word) bool {
	for _, w := range words {
		if w.Shape == "history" || w.Shape == "histexpand" {
			return true
		}
	}
	return false
}
