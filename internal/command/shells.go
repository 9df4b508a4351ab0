package command

import "strings"

// shell reads the code that a shell runs.
func (c *collector) shell(unit int, in input) {
	words := c.r.units[unit].Words
	if otherShell(baseName(words[0].Value)) {
		c.addUncertainty(unit, Uncertainty{Why: "code for another shell"})
	}
	coded, fromInput, rest := c.shellOptions(unit, words)
	switch {
	case len(words) == 2 && (words[1].Shape == "--version" || words[1].Shape == "--help"):
	case coded:
		if len(rest) > 0 {
			c.handed(rest[1:], func() { c.codeWord(unit, rest[0], child) })
		}
	case len(rest) == 0 || fromInput:
		c.handed(append([]Word{words[0]}, rest...), func() { c.stdin(unit, in) })
	case !plainFile(rest[0]):
		c.addUncertainty(unit, Uncertainty{Why: "a script that is no plain file"})
		if stream(rest[0]) {
			c.nested(unit, in.text, child)
		}
	}
}

// shellOptions reads the options of a shell: whether it is given code, whether it reads its input,
// and which words follow.
func (c *collector) shellOptions(unit int, words []Word) (coded, fromInput bool, rest []Word) {
	name := programName(words[0].Value)
	long := strings.TrimPrefix(name, "r") == "bash" // until the first letters
	i := 1
	for ; i < len(words); i++ {
		s := words[i].Shape
		if s == "-" || s == "--" {
			i++
			break
		}
		if s == "" || s[0] != '-' && s[0] != '+' {
			break
		}
		switch {
		case strings.Contains(s, Unknown):
			c.addUncertainty(unit, Uncertainty{Why: "an option that is computed"})
		case strings.HasPrefix(s, "--"), long && longShellOption(s):
			i += c.shellOption(unit, words, i)
		default:
			long = false
			if strings.Trim(s[1:], shellLetters(name)) != "" || longShellOption(s) {
				c.addUncertainty(unit, Uncertainty{Why: "an option that is not known", Flag: s})
			}
			coded = coded || strings.Contains(s, "c") // bash takes +c for -c
			fromInput = fromInput || strings.Contains(s, "s")
			i += strings.Count(s, "o") + strings.Count(s, "O")
		}
	}
	return coded, fromInput, words[min(i, len(words)):]
}

// shellOption reads a long option of a shell, and returns how many words more
// than one it takes.
func (c *collector) shellOption(unit int, words []Word, i int) int {
	name, value, given := cutWord(words[i], "=")
	switch strings.TrimLeft(name, "-") {
	case "rcfile", "init-file", "init-command":
		c.addUncertainty(unit, Uncertainty{Why: "a file that the shell reads first", Flag: name})
		return 1
	case "command":
		if given {
			c.codeWord(unit, value, child)
		} else if i+1 < len(words) {
			c.codeWord(unit, words[i+1], child)
			return 1
		}
	}
	return 0
}

// longShellOption knows the long options of bash, which may have one dash as
// long as no letters stand before them.
func longShellOption(s string) bool {
	switch s {
	case "-debug", "-debugger", "-dump-po-strings", "-dump-strings", "-help", "-init-file", "-login", "-noediting", "-noprofile", "-norc", "-posix",
		"-pretty-print", "-protected", "-rcfile", "-restricted", "-verbose", "-version", "-wordexp":
		return true
	}
	return false
}

// shellLetters are the options of one letter that a shell has.
func shellLetters(name string) string {
	if name == "bash" || name == "rbash" || name == "sh" {
		return "abcefhiklmnoprstuvxBCDEHIOPTV"
	}
	return "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" // zsh has nearly all
}

// posixShell knows the shells whose code is read here.
func posixShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "rbash", "hush":
		return true
	}
	return false
}

// otherShell knows the shells whose code is like it in simple cases.
func otherShell(name string) bool {
	switch name {
	case "fish", "csh", "tcsh", "yash", "elvish", "xonsh", "osh", "ysh", "rksh", "pdksh", "lksh", "rzsh", "posh", "sash", "pwsh", "powershell", "nu", "murex", "ion", "es", "rc":
		return true
	}
	return false
}
