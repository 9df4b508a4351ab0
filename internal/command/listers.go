package command

import (
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxStages limits the statements of a pipe that are read.
const maxStages = 16

// listing reports whether a statement prints only names or numbers that it does not make itself.
func (c *collector) listing(s *syntax.Stmt, f flags) bool {
	return lists{c, f}.stmt(s, 0, false)
}

// A lists recognizes commands that print names, none of which can be one of some options.
type lists struct {
	c *collector
	f flags
}

// stmt is listing for a statement; fed says that what it reads is such a list.
func (l lists) stmt(s *syntax.Stmt, depth int, fed bool) bool {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn, syntax.RdrInOut:
			return false
		case syntax.RdrIn:
			if w := l.c.parseWord(r.Word); !plainFile(w) || l.c.r.wrote(w.Value) {
				return false
			}
			fed = true
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return depth < maxStages && l.stmt(cmd.X, depth+1, fed) && l.stmt(cmd.Y, depth+1, fed || piped(cmd))
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && len(cmd.Assigns) == 0 && l.call(cmd, fed)
	}
	return false
}

// maxFunctions is among how many functions the name of a command is looked for.
const maxFunctions = 64

// call is listing for a simple command.
func (l lists) call(cmd *syntax.CallExpr, fed bool) bool {
	words, ok := l.commandWords(cmd)
	switch {
	case !ok || l.c.defined(words[0]):
		return false
	case words[0] == "echo" || words[0] == "printf":
		return l.says(cmd.Args[1:])
	case words[0] == "xargs" && fed:
		for len(words) > 1 && (words[0] == "xargs" || words[0] == "-0" || words[0] == "-r") {
			words = words[1:]
		}
	}
	return (fed || !awaits(words)) && printsNames(words)
}

// commandWords are the words of a command, unless it may print one that the line makes.
func (l lists) commandWords(cmd *syntax.CallExpr) (words []string, ok bool) {
	words = make([]string, len(cmd.Args))
	for i, a := range cmd.Args {
		w, guess := readWord(l.c.src, a, l.c.r.known)
		if substituted(w) || strings.Contains(w.Raw, "<(") || w.Literal && l.c.r.wrote(w.Value) {
			return nil, false
		}
		if i > 0 && !passes(words) && (l.f.match(w.Shape, false) != "" || l.f.match(guess, false) != "") {
			return nil, false
		}
		words[i] = w.Shape
	}
	return words, true
}

// passes knows commands that print none of their own words.
func passes(words []string) bool {
	switch words[0] {
	case "cat", "head", "tail", "sort", "uniq", "cut", "wc", "grep", "egrep", "fgrep", "rg", "awk", "comm", "jq", "find", "fd":
		return true
	}
	return words[0] == "git" && words[1] != "" && words[1] != "rev-parse"
}

const (
	maxGiven     = 8   // among how many values of variables echo is held against
	maxGivenSize = 256 // how long they may be
)

// says reports whether echo or printf prints plain words, or what variables hold
// that were given none of the options.
func (l lists) says(args []*syntax.Word) bool {
	if len(l.c.r.values) > maxGiven {
		return false
	}
	given := slices.ContainsFunc(l.c.r.values, func(s string) bool { return len(s) > maxGivenSize || l.f.inText(s) })
	for i, a := range args {
		w := l.c.parseWord(a)
		if i == 0 && w.Value == `%s\n` {
			continue
		}
		if strings.ContainsAny(w.Shape, "-%\\") || !w.Literal && (given || l.c.suspicious(a.Parts, l.f) || strings.Contains(w.Raw, "$(") || strings.Contains(w.Raw, "`")) {
			return false
		}
	}
	return true
}

// printsNames reports whether a command of some words prints names or numbers.
func printsNames(words []string) bool {
	if slices.ContainsFunc(words[1:], stream0) || !searches(words[0]) && slices.ContainsFunc(words[1:], holdsOption) {
		return false
	}
	never, ok := makesText(words)
	return ok && !slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.ContainsFunc(strings.Fields(never), func(head string) bool { return matchesOption(w, head) })
	})
}

// defined reports whether the line may have a function of a name.
func (c *collector) defined(name string) bool {
	return len(c.r.functions) > maxFunctions || slices.Contains(c.r.functions, name)
}

// matchesOption reports whether a word is an option, which may be shortened, or begins
// with it.
func matchesOption(w, head string) bool {
	given, _, _ := strings.Cut(w, "=")
	return strings.HasPrefix(w, head) || len(given) > 2 && strings.HasPrefix(given, "--") && strings.HasPrefix(head, given)
}

// stream0 reports whether a word is the input of the process.
func stream0(w string) bool {
	return w == "-" || strings.HasPrefix(w, "/dev/") || strings.HasPrefix(w, "/proc/")
}

// searches knows commands whose arguments are patterns or programs.
func searches(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "awk":
		return true
	}
	return false
}

// holdsOption reports whether a word may print an option from its middle: there
// is a blank in it, or a dash where a word of the output may begin.
func holdsOption(w string) bool {
	if strings.ContainsAny(w, " \t\n") {
		return true
	}
	for i := 1; i < len(w); i++ {
		if w[i] == '-' && strings.IndexByte("=/+", w[i-1]) >= 0 {
			return true
		}
	}
	return false
}

// awaits reports whether a command reads its input, for it has no file.
func awaits(words []string) bool {
	files := 0
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			files++
		}
	}
	switch words[0] {
	case "cat", "head", "tail", "sort", "uniq", "cut":
		return files == 0
	case "grep", "egrep", "fgrep":
		return files < 2 && !slices.ContainsFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "rR")
		})
	case "awk", "jq":
		return files < 2
	}
	return false
}

// writes notes the files that a statement writes, unless these are lists of
// names.
func (c *collector) writes(s, from *syntax.Stmt) {
	names := sync.OnceValue(func() bool { return lists{c: c}.stmt(s, 0, from != nil && c.listing(from, flags{})) })
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
		default:
			continue
		}
		if !names() {
			c.r.writes(c.parseWord(r.Word).Shape)
		}
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 1 && call.Args[0].Lit() == "tee" {
		for _, w := range call.Args[1:] {
			c.r.writes(c.parseWord(w).Shape)
		}
	}
}

func (r *reading) writes(file string) {
	if r.written == nil {
		r.written = map[string]bool{}
	}
	r.written[path.Clean(file)] = true
}

// wrote reports whether the line writes a file.
func (r *reading) wrote(file string) bool { return len(r.written) > 0 && r.written[path.Clean(file)] }

// makesText knows commands that print names or numbers. The words that begin so
// make them print other text.
func makesText(words []string) (never string, ok bool) {
	switch words[0] {
	case "ls", "cat", "head", "tail", "sort", "uniq", "wc", "pwd", "id", "nproc", "whoami", "hostname", "uname", "which", "realpath", "mktemp", "getconf", "true", ":", "du":
		return "", true
	case "cd":
		return "-", true
	case "grep", "egrep", "fgrep", "cut", "comm", "pkg-config", "pkgconf":
		return "--label --out --define", true
	case "find", "fd":
		return "-printf -fprintf -exec -ok -x -X --exec --format", true
	case "seq":
		return "-", true
	case "basename", "dirname":
		return "-", !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "/-") })
	case "rg":
		return "-r --replace", slices.ContainsFunc(words, func(w string) bool { return w == "-l" || w == "--files" || w == "--files-with-matches" })
	case "git":
		return gitNames(words)
	case "command", "go", "brew", "npm", "cargo", "python3-config", "llvm-config":
		return "-f", isSub(words, "-v list env root bin prefix --prefix --cflags --libs --ldflags --includes")
	}
	return picksText(words)
}

// picksText is makesText for commands with a format or a program of their own.
func picksText(words []string) (never string, ok bool) {
	switch words[0] {
	case "date":
		return "", !slices.ContainsFunc(words[1:], freeDate)
	case "awk":
		return "-", len(words) > 1 && plainPrint(words[1]) && !slices.ContainsFunc(words[2:], func(w string) bool { return strings.Contains(w, "=") })
	case "jq":
		return "--", plainPath(words[1:])
	}
	return "", false
}

// gitNames is makesText for git.
func gitNames(words []string) (never string, ok bool) {
	if isSub(words, "grep") {
		return "-O --open -h", slices.ContainsFunc(words, func(w string) bool { return w == "-l" || w == "-lz" || w == "--name-only" })
	}
	return "--format --pretty --src --dst --line --output --default -n",
		isSub(words, "config ls-files ls-tree diff merge-base rev-parse rev-list describe branch tag symbolic-ref write-tree hash-object status")
}

// isSub reports whether the first argument is one of some words.
func isSub(words []string, of string) bool {
	return len(words) > 1 && slices.Contains(strings.Fields(of), words[1])
}

// freeDate reports whether a word is a format of date that begins with text, or
// makes several words.
func freeDate(w string) bool {
	if !strings.HasPrefix(w, "+") {
		return false
	}
	return !strings.HasPrefix(w, "+%") || strings.Contains(w, "Z") || strings.ContainsAny(w, " \t\n") || strings.Contains(w, "%n") || strings.Contains(w, "%t")
}

// plainPath reports whether a program of jq picks something out of a file, and
// makes nothing.
func plainPath(words []string) bool {
	for len(words) > 0 && (words[0] == "-r" || words[0] == "-e") {
		words = words[1:]
	}
	return len(words) > 0 && strings.HasPrefix(words[0], ".") && strings.Trim(words[0], ".[]?_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" &&
		!slices.ContainsFunc(words[1:], isOption)
}

// plainPrint reports whether a program of awk prints a field, and no more.
func plainPrint(program string) bool {
	field, ok := strings.CutPrefix(strings.ReplaceAll(program, " ", ""), "{print$")
	return ok && strings.Trim(strings.TrimSuffix(field, "}"), "0123456789NF") == ""
}
