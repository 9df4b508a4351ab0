package command

import (
	"slices"
	"strings"
)

// history adds the file that a line makes the history of the shell, which is then read and may be
// written.
func (r *fileReader) history() {
	words := make([]string, 0, len(r.unit.Assigns))
	for _, a := range r.unit.Assigns {
		words = append(words, a.Raw)
	}
	if r.unit.Kind == Declaration {
		for _, w := range r.unit.Words {
			words = append(words, w.Raw)
		}
	}
	for _, raw := range words {
		value, ok := strings.CutPrefix(raw, "HISTFILE=")
		if !ok {
			continue
		}
		file := knownWord(value)
		if bare := strings.Trim(value, `'"`); strings.ContainsAny(bare, "'\"$`\\{") {
			file = Word{Raw: value, Value: value, Shape: Unknown}
		} else if bare != value {
			file = Word{Raw: value, Value: bare, Literal: true}
		}
		r.add(Access{Kind: Read, Path: file, Why: "HISTFILE"})
		r.add(Access{Kind: Write, Path: file, Why: "HISTFILE"})
	}
}

// sqlite adds the files of the commands that sqlite3 is handed.
func (r *fileReader) sqlite() {
	texts, _ := sqliteTexts(r.unit.Words)
	for _, w := range texts {
		r.sqliteText(w.Value)
	}
	r.sqliteText(r.unit.Input)
}

// sqliteTexts returns the words that a sqlite3 command runs: all but the first, and those of
// options. reads says that it also reads commands from its input.
func sqliteTexts(words []Word) (all []Word, reads bool) {
	plain := 0
	for i := 1; i < len(words); i++ {
		switch s := words[i].Shape; {
		case s == "-cmd", s == "--cmd", s == "-c", s == "-s": // the last two of duckdb
			if i++; i < len(words) {
				all = append(all, words[i])
			}
		case s == "-init", s == "--init", s == "-separator", s == "-nullvalue", s == "-newline", s == "-vfs":
			i++
		case len(s) > 1 && s[0] == '-' && !strings.HasPrefix(s, "-- "):
		default:
			if plain++; plain > 1 {
				all = append(all, words[i])
			}
		}
	}
	return all, plain < 2
}

// sqliteText adds the files of one text.
func (r *fileReader) sqliteText(text string) {
	var sql strings.Builder
	for line := range strings.Lines(text) {
		name, args := dotCommand(line)
		switch {
		case name == "":
			sql.WriteString(line)
		case len(args) > 0 && !strings.HasPrefix(args[0], "|"):
			r.dotFiles(name, args)
		}
	}
	r.sql(sql.String())
}

// dotFiles adds the files of one command of sqlite3's own.
func (r *fileReader) dotFiles(name string, args []string) {
	last := knownWord(args[len(args)-1])
	switch name {
	case "backup", "save", "clone", "log", "once", "output", "testcase", "trace", "iotrace", "session":
		r.add(Access{Kind: Write, Path: last})
	case "import": // options and a table stand around the file
		r.add(Access{Kind: Read, Path: Word{Value: strings.Join(args, " "), Shape: Unknown}})
		r.mention(Read, args[:len(args)-1])
	case "read", "restore", "load":
		r.add(Access{Kind: Read, Path: last})
	case "open":
		r.add(Access{Kind: Read, Path: last})
		r.add(Access{Kind: Write, Path: last})
	case "archive":
		r.mention(Read, args)
		r.mention(Write, args)
	case "cd":
		r.add(Access{Kind: Visit, Path: last})
		r.dir = r.dir.joinWord(last)
	}
}

// sql adds the files that a text of SQL reaches. Any quoted text may be the name of one.
func (r *fileReader) sql(text string) {
	lower := strings.ToLower(text)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(lower, part) })
	}
	attached := has("attach")
	names := quotedTexts(text)
	if attached || has("readfile", "fsdir", "filename", "zipfile") || r.why == "duckdb" && len(names) > 0 {
		r.add(Access{Kind: Read})
		r.mention(Read, names)
	}
	if attached || has("writefile") || has("vacuum") && has("into") || r.why == "duckdb" && has("copy", "export") {
		r.add(Access{Kind: Write})
		r.mention(Write, names)
	}
}

// dotCommand splits a sqlite3 dot command, whose name may be abbreviated. For other text the name
// is empty.
func dotCommand(line string) (name string, args []string) {
	line, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), ".")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return "", nil
	}
	for i, w := range words[1:] {
		words[i+1] = strings.Trim(w, `'"`)
	}
	const all = "archive backup clone edit excel import load log once open output read restore save shell system testcase trace www"
	for full := range strings.FieldsSeq(all) {
		if strings.HasPrefix(full, words[0]) && (len(words[0]) > 1 || full[0] != 'e') {
			return full, words[1:]
		}
	}
	return words[0], words[1:]
}
