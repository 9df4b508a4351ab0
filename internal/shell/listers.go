package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// listing reports whether a statement prints names or numbers that it does not
// make itself.
func (c *collector) listing(s *syntax.Stmt, f flags) bool {
	for _, r := range s.Redirs {
		if r.Hdoc != nil || r.Op == syntax.WordHdoc || r.Op == syntax.RdrIn && !plainFile(c.word(r.Word)) {
			return false
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return c.listing(cmd.X, f) && c.listing(cmd.Y, f)
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && len(cmd.Assigns) == 0 && c.lister(cmd, f)
	}
	return false
}

// maxFunctions is among how many functions the name of a command is looked for.
const maxFunctions = 64

// lister is listing for a simple command.
func (c *collector) lister(cmd *syntax.CallExpr, f flags) bool {
	words := make([]string, len(cmd.Args))
	for i, a := range cmd.Args {
		w, guess := readWord(c.src, a, c.r.known)
		if i > 0 && (substituted(w) || f.match(w.Shape, false) != "" || f.match(guess, false) != "") {
			return false
		}
		words[i] = w.Shape
	}
	if len(c.r.functions) > maxFunctions || slices.Contains(c.r.functions, words[0]) {
		return false
	}
	never, ok := makesText(words)
	return ok && !slices.ContainsFunc(words[1:], func(w string) bool {
		return slices.ContainsFunc(strings.Fields(never), func(head string) bool { return strings.HasPrefix(w, head) })
	})
}

// makesText knows commands that print names or numbers. The words that begin so
// make them print other text.
func makesText(words []string) (never string, ok bool) {
	switch words[0] {
	case "ls", "cat", "head", "tail", "sort", "uniq", "wc", "pwd", "id", "nproc", "whoami", "hostname", "uname", "which", "realpath", "mktemp", "getconf", "true", ":", "du":
		return "", true
	case "cd":
		return "-", true
	case "echo":
		return "", !slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "-\\"+Unknown) })
	case "grep", "egrep", "fgrep", "cut", "pkg-config", "pkgconf":
		return "--label --out --define", true
	case "find", "fd":
		return "-printf -fprintf -exec -ok -x -X --exec --format", true
	case "seq":
		return "-", true
	case "basename", "dirname":
		return "-", !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "/-") })
	case "rg":
		return "-r --replace", slices.Contains(words, "-l") || slices.Contains(words, "--files")
	case "git":
		return "--format --pretty --src --dst --line --output -n",
			isSub(words, "ls-files ls-tree diff merge-base rev-parse rev-list describe branch tag symbolic-ref write-tree hash-object status")
	case "command", "go", "brew", "npm", "cargo", "python3-config", "llvm-config":
		return "-f", isSub(words, "-v list env root bin prefix --prefix --cflags --libs --ldflags --includes")
	case "date":
		return "", !slices.ContainsFunc(words[1:], freeDate)
	case "awk":
		return "", len(words) == 2 && plainPrint(words[1])
	}
	return "", false
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
	return !strings.HasPrefix(w, "+%") || strings.ContainsAny(w, " \t\n") || strings.Contains(w, "%n") || strings.Contains(w, "%t")
}

// plainPrint reports whether a program of awk prints a field, and no more.
func plainPrint(program string) bool {
	field, ok := strings.CutPrefix(strings.ReplaceAll(program, " ", ""), "{print$")
	return ok && strings.Trim(strings.TrimSuffix(field, "}"), "0123456789NF") == ""
}
