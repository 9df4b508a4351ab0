package command

import (
	"slices"
	"strings"
)

// gitGlobals are the options of git before its subcommand.
func gitGlobals() grammar {
	return grammar{
		short: "C:c:pPvh",
		long: "git-dir: work-tree: namespace: exec-path:: config-env: super-prefix: attr-source: list-cmds: paginate no-pager bare no-replace-objects " +
			"no-optional-locks no-lazy-fetch literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-advice html-path man-path info-path version help",
	}
}

// gitCommand splits a git command into its global options and the words from
// its subcommand on.
func gitCommand(words []Word) (scanned, []Word) {
	s := gitGlobals().scan(words)
	return s, s.operands(words)
}

// gitUncertainties are the uncertainties about a git command.
func gitUncertainties(words []Word) []Uncertainty {
	s, rest := gitCommand(words)
	out := scanned{strange: s.strange}.uncertainties("git")
	for _, o := range s.options {
		switch {
		case o.name == "c":
			out = append(out, gitRuns("-c"))
		case o.name == "config-env", o.name == "exec-path" && o.given:
			out = append(out, gitRuns("--"+o.name))
		}
	}
	if len(rest) == 0 {
		return out
	}
	if slices.ContainsFunc(rest[1:], func(w Word) bool { return strings.HasPrefix(w.Shape, "ext::") || strings.Contains(w.Shape, "=ext::") }) {
		out = append(out, gitRuns("ext::"))
	}
	sub := rest[0].Shape
	out = append(out, gitFlags(sub).find("git "+sub, rest)...)
	switch sub {
	case "config":
		if gitSets(rest) {
			out = append(out, gitRuns(sub))
		}
	case "bisect":
		if len(rest) > 1 && bisects(rest[1:]) {
			out = append(out, gitRuns("bisect "+rest[1].Shape))
		}
	case "filter-branch", "for-each-repo", "remote-ext", "remote-fd", "merge-index", "shell", "hook":
		out = append(out, gitRuns(sub))
	}
	if strings.Contains(sub, "/") { // git a/b runs the program git-a/b of the folder that it runs in
		out = append(out, gitRuns(sub))
	}
	return out
}

// bisects reports whether the words behind git bisect name a command.
func bisects(rest []Word) bool {
	switch rest[0].Shape {
	case "run":
		return true
	case "view", "visualize":
		return len(rest) > 1 && !strings.HasPrefix(rest[1].Shape, "-")
	}
	return false
}

func gitRuns(flag string) Uncertainty {
	return Uncertainty{Why: "git may run a program because of " + flag, Flag: flag}
}

// gitFlags are the options of a subcommand that run a program.
func gitFlags(sub string) flags {
	f := flags{
		runs:  "--ext-diff --textconv --upload-pack --receive-pack --exec",
		exact: "--text",
		takes: "SGCnMLUmFABCefbtu",
		plain: "-p -q -v -s -i -w -l -E -F -P -a -c -h -r -z --oneline --stat --cached --staged --name-only --name-status --all --quiet --follow --graph --patch",
		count: true,
	}
	switch sub {
	case "archive", "fetch-pack", "send-pack":
		f.count = false
	case "grep":
		f.count = false
		f.runs += " -O --open-files-in-pager"
		f.takes = "ABCefm"
		f.plain += " -n -o -I"
	case "clone":
		f.runs += " -u -c --config --template"
		f.exact = ""
		f.takes, f.count = "obj", false
		f.plain = "-q -v -l -n -s"
	case "init":
		f.runs += " --template"
	case "difftool", "mergetool":
		f.runs += " -x --extcmd"
	case "rebase":
		f.runs = "--ext-diff --textconv" // --exec is read as code
		f.takes, f.count = "CSxX", false
	case "push", "fetch", "pull", "ls-remote":
		f.takes, f.exact, f.count = "ojs", "", false
		f.plain = "-q -v -a -p -t -f -n -k"
	case "send-email":
		f.runs += " --sendmail-cmd --smtp-server"
	case "instaweb", "web--browse":
		f.runs += " -d --httpd -b --browser -t --tool"
	case "daemon":
		f.runs += " --access-hook"
	}
	return f
}

// gitSets reports whether git config changes something.
func gitSets(rest []Word) bool {
	plain := 0
	for _, w := range rest[1:] {
		s := w.Shape
		switch {
		case plain > 0: // options end at the first other word
			plain++
		case s == "-l", strings.HasPrefix(s, "--get"), s == "--list":
			return false
		case s == "get", s == "list":
			return false
		case s == "-e", s == "--edit", s == "edit":
			return true
		case s == "--type" || s == "-f" || s == "--file" || s == "--blob" || s == "--default":
			plain-- // its value is a word of its own
		case strings.HasPrefix(s, "-"):
		default:
			plain++
		}
	}
	return plain != 1 || strings.Contains(rest[len(rest)-1].Shape, Unknown)
}

// gitCode reads the code that git is handed.
func (c *collector) gitCode(unit int, words []Word) {
	_, rest := gitCommand(words)
	if len(rest) < 2 {
		return
	}
	switch rest[0].Shape {
	case "rebase":
		s := grammar{
			short: "x:s:X:C:S::imqvnfr::kp",
			long: "exec: onto: strategy: strategy-option: whitespace: gpg-sign:: empty: rebase-merges:: interactive continue abort skip quit " +
				"edit-todo autosquash autostash root",
			anywhere: true,
		}.scan(rest)
		s.strange = slices.DeleteFunc(s.strange, func(o string) bool { return strings.HasPrefix(o, "--") }) // there are many, and none hides another
		c.strange(unit, scanned{strange: s.strange})
		for _, o := range s.options {
			if o.name == "x" || o.name == "exec" {
				c.codeWord(unit, o.value, child)
			}
		}
	case "submodule":
		c.foreach(unit, rest)
	case "bisect":
		if rest[1].Shape == "run" {
			c.payload(unit, rest[2:], input{})
		}
	case "remote-ext":
		c.payload(unit, rest[min(2, len(rest)):], input{})
	case "merge-index":
		c.payload(unit, (grammar{short: "oq"}).scan(rest).operands(rest), input{file: true})
	case "filter-branch":
		for i, w := range rest[:len(rest)-1] {
			if strings.HasSuffix(w.Shape, "-filter") {
				c.codeWord(unit, rest[i+1], child)
			}
		}
	}
}

// foreach reads the code of git submodule foreach.
func (c *collector) foreach(unit int, words []Word) {
	i := slices.IndexFunc(words, func(w Word) bool { return w.Shape == "foreach" })
	if i < 0 {
		return
	}
	i++
	for i < len(words) && strings.HasPrefix(words[i].Shape, "-") {
		i++
	}
	c.inSubshell(func() {
		c.cwd = workDirs{lost: true}
		c.codes(unit, words[i:], child)
	})
}
