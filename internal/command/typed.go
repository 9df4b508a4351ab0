package command

import (
	"slices"
	"strings"
)

// typed reads the input of programs that read commands from it.
func (c *collector) typed(unit int, name string, in input) {
	runs := func(string) bool { return true }
	switch name {
	case "gdb", "lldb", "vi", "vim", "nvim", "view", "gvim", "rvim", "rview", "vimdiff":
		if hasAny(c.r.units[unit].Words, "-") { // it is the text to be edited
			return
		}
	case "psql", "mysql", "mariadb":
		c.r.units[unit].Input = in.text
		c.scripted(unit, c.r.units[unit].Words)
		runs = func(line string) bool { return clientRuns(name, line) }
	case "dc", "ftp", "sftp", "lftp", "telnet":
		runs = func(line string) bool { return strings.Contains(line, "!") }
	default:
		return
	}
	if !in.fullyKnown() && name != "dc" { // most that is computed is for it
		c.addUncertainty(unit, Uncertainty{Why: "commands from its input"})
	}
	for line := range strings.Lines(in.text) {
		if !runs(line) {
			continue
		}
		c.addUncertainty(unit, Uncertainty{Why: name + " may run a program because of its input"})
		for _, mark := range []string{"!", "shell ", "system "} {
			if _, code, ok := strings.Cut(line, mark); ok {
				c.nested(unit, code, child)
			}
		}
	}
}

// scripted adds an uncertainty if a program runs a file that a command of the line writes.
func (c *collector) scripted(unit int, words []Word) {
	if slices.ContainsFunc(words, func(w Word) bool { return strings.HasPrefix(w.Raw, "<(") || strings.Contains(w.Raw, "=<(") }) {
		c.addUncertainty(unit, Uncertainty{Why: "a script that is no plain file"})
	}
}

// editorFiles reads the files of ed: what a command prints is one too.
func (c *collector) editorFiles(unit int, words []Word) {
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Shape, "!") {
			c.codeWord(unit, glued(w, 1), child)
		}
	}
}

// makefile reads make, whose makefile may be its input: it is then in the line, or nobody has seen
// it.
func (c *collector) makefile(unit int, words []Word, in input) {
	s := grammar{
		short: "C:f:I:o:W:E:O::j::l::bmBdehiknpqrRsStvwL",
		long: "file: makefile: directory: include-dir: old-file: new-file: what-if: assume-old: assume-new: eval: jobs:: load-average:: output-sync:: debug:: trace " +
			"always-make keep-going silent quiet dry-run just-print recon question touch no-builtin-rules no-builtin-variables print-directory no-print-directory no-keep-going stop environment-overrides ignore-errors check-symlink-times max-load:: shuffle:: warn-undefined-variables print-data-base version help",
		anywhere: true,
	}.scan(words)
	c.strange(unit, scanned{strange: s.strange})
	for _, o := range s.options {
		if (o.name == "f" || o.name == "file" || o.name == "makefile") && !plainFile(o.value) && o.value.Literal && !(stream(o.value) && in.file) {
			c.addUncertainty(unit, Uncertainty{Why: "a makefile that is no plain file"})
		}
	}
}

// sqliteCode reads the commands that sqlite3 is handed which run a program.
func (c *collector) sqliteCode(unit int, words []Word, in input) {
	texts, reads := sqliteTexts(words)
	for _, w := range texts {
		if strings.HasPrefix(w.Shape, Unknown) || strings.HasPrefix(w.Shape, "."+Unknown) {
			c.addUncertainty(unit, Uncertainty{Why: "a command of sqlite3 that is computed"})
		}
		c.sqliteLines(unit, w.Value)
	}
	if !reads {
		return
	}
	if !in.fullyKnown() {
		c.addUncertainty(unit, Uncertainty{Why: "commands from its input"})
	}
	c.r.units[unit].Input = in.text
	c.sqliteLines(unit, in.text)
	for line := range strings.Lines(in.text) {
		if name, args := dotCommand(line); len(args) > 0 && slices.Contains([]string{"backup", "save", "clone", "log", "once", "output", "import", "read", "restore", "open"}, name) {
			c.addUncertainty(unit, Uncertainty{Why: "sqlite3 reaches another file"})
		}
	}
}

func (c *collector) sqliteLines(unit int, text string) {
	if edits(strings.ToLower(text)) {
		c.addUncertainty(unit, Uncertainty{Why: "SQL that runs a program"})
	}
	for line := range strings.Lines(text) {
		if first, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(first, ".") && strings.ContainsAny(first, "\"'\\") {
			c.addUncertainty(unit, Uncertainty{Why: "a command of sqlite3 whose name is quoted"})
		}
		name, args := dotCommand(line)
		rest := strings.Join(args, " ")
		switch name {
		case "":
			if strings.Contains(strings.ToLower(line), "load_extension") {
				c.addUncertainty(unit, Uncertainty{Why: "SQL that runs a program"})
			}
		case "shell", "system":
			c.nested(unit, rest, child)
		case "archive", "edit", "excel", "load", "www":
			c.addUncertainty(unit, Uncertainty{Why: "sqlite3 runs a program because of ." + name})
		default:
			if at := strings.IndexByte(rest, '|'); at >= 0 && name != "mode" && name != "separator" {
				c.nested(unit, rest[at+1:], child)
			}
		}
	}
}

// edits reports whether a text of SQL calls edit: between it and the bracket
// there may be quotes, blanks and comments.
func edits(text string) bool {
	for {
		_, rest, ok := strings.Cut(text, "edit")
		if !ok {
			return false
		}
		text = rest
		for _, head := range []string{"(", "/*", "--"} {
			if strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n\f\"]`"), head) {
				return true
			}
		}
	}
}

// editorInput reads the commands that a line editor gets on its input.
func (c *collector) editorInput(unit int, in input) {
	if in.file {
		return
	}
	if !in.exact {
		c.addUncertainty(unit, Uncertainty{Why: "commands from its input"})
	}
	for line := range strings.Lines(in.text) {
		if at := strings.IndexByte(line, '!'); at >= 0 {
			c.nested(unit, line[at+1:], child)
			c.addUncertainty(unit, Uncertainty{Why: "an editor that may run a command"})
		}
		if reachesFile(line) {
			c.addUncertainty(unit, Uncertainty{Why: "an editor that may reach another file"})
		}
	}
}

// reachesFile reports whether a line may be a command of ed with the name of a
// file: w x, 1,$w x, r x, e x.
func reachesFile(line string) bool {
	words := strings.Fields(line)
	if len(words) < 2 {
		return false
	}
	command := words[0][len(words[0])-1:]
	head := strings.TrimRight(words[0], "eErwWfq")
	return strings.Contains("eErwWf", command) && (head == "" || strings.IndexByte("0123456789.,;$%/?+-", head[len(head)-1]) >= 0) && len(words[0])-len(head) <= 2
}
