package command

import (
	"slices"
	"strings"
)

// handedCode adds the files of commands in the words and variables of a unit that may run them:
// --to-command='cat x', GIT_PAGER='cat x'. It splits such a text roughly, because how the program
// parses it is not known.
func (r *fileReader) handedCode() {
	if r.unit.Kind == Piece || r.inner > 0 {
		return
	}
	var texts []string
	for _, a := range r.unit.Assigns {
		name, value, _ := strings.Cut(a.Raw, "=")
		if changesRun(name) {
			texts = append(texts, value)
			r.settingsIn(name, value)
		}
	}
	if mayRunWords(r.unit) {
		for _, w := range r.unit.Words[min(1, len(r.unit.Words)):] {
			if name, value, ok := assignment(w); ok {
				r.settingsIn(name, value.Value)
			}
			if w.Literal && (!distant(r.unit) || strings.Contains(w.Value, "Command")) {
				texts = append(texts, w.Value)
			}
		}
	}
	r.inner++
	if mayRunWords(r.unit) && !distant(r.unit) && len(r.unit.Words) > 2 && len(r.unit.Words) < maxLevel {
		if _, known := r.specOf(baseName(r.unit.Words[0].Value)); !known {
			r.run(r.unit.Words[1:])
		}
	}
	for _, text := range texts {
		if strings.ContainsAny(text, " \t") && len(text) <= maxHandedCode {
			r.roughly(text)
		}
	}
	r.inner--
}

// maxHandedCode is how long a text is in which commands are looked for.
const maxHandedCode = 4096

// mayRunWords reports whether a unit may run what its words say.
func mayRunWords(u Unit) bool {
	return slices.ContainsFunc(u.Uncertainties, func(d Uncertainty) bool { return d.Match == "" })
}

// distant reports whether the words of a unit are commands for another machine.
func distant(u Unit) bool {
	if len(u.Words) == 0 {
		return false
	}
	switch baseName(u.Words[0].Value) {
	case "ssh", "slogin", "autossh", "mosh", "docker", "podman", "kubectl", "oc":
		return true
	}
	return false
}

// roughly adds the files of possible commands in a text.
func (r *fileReader) roughly(text string) {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(";&|(){}=!:\"'`\n", c) }) {
		var words []Word
		for f := range strings.FieldsSeq(part) {
			words = append(words, Word{Raw: f, Value: f, Shape: f})
		}
		r.run(r.guessed(words))
	}
}

// run adds the files of a command that is known.
func (r *fileReader) run(words []Word) {
	if len(words) < 2 || !words[0].Literal {
		return
	}
	name := baseName(words[0].Value)
	if strings.HasPrefix(name, "-") { // -Ocat x
		name = name[min(2, len(name)):]
	}
	if _, ok := r.specOf(name); !ok && name != "dd" && name != "tar" && name != "cd" {
		r.run(words[1:]) // 1e cat x, shell cat x, -dm cat x
		return
	}
	why, dir := r.why, r.dir
	r.why = name
	r.commandFiles(r.why, words[1:])
	r.why, r.dir = why, dir
}

// settingsIn adds the file that a variable names and that a program reads when it starts.
func (r *fileReader) settingsIn(name, value string) {
	switch name {
	case "BASH_ENV", "ENV", "PYTHONSTARTUP", "LD_PRELOAD", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "RIPGREP_CONFIG_PATH", "MAKEFILES", "WGETRC",
		"INPUTRC", "R_PROFILE", "R_PROFILE_USER", "PHPRC", "OPENSSL_CONF":
	default:
		return
	}
	if value = strings.Trim(value, `'"`); !strings.ContainsAny(value, "$`'\"\\{") {
		r.add(Access{Kind: Read, Path: knownWord(value), Why: name})
	}
}

// unknownCommand adds the files among the words of a command that is not known, which may
// read them.
func (r *fileReader) unknownCommand(words []Word) {
	for _, w := range words[1:] {
		if (w.Literal || w.Glob) && !strings.HasPrefix(w.Value, "-") {
			r.add(Access{Kind: Read, Path: w, Maybe: true})
		}
	}
	if base := baseName(words[0].Value); words[0].Glob && !strings.ContainsAny(base, "*?[\\") {
		r.why = base
		r.commandFiles(base, words[1:])
	}
}

// globs adds the folders that patterns of a command list which prints its words.
func (r *fileReader) globs(args []Word) {
	if r.why != "echo" && r.why != "printf" {
		return
	}
	for _, w := range args {
		at := strings.IndexAny(w.Value, "*?[")
		if folder := strings.LastIndexByte(w.Value[:max(at, 0)], '/'); w.Glob && folder >= 0 {
			name := w.Value[:folder+1]
			r.add(Access{Kind: Visit, Path: Word{Raw: name, Value: name, Literal: true, Shape: name}})
		}
	}
}
