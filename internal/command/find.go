package command

import (
	"slices"
	"strings"
)

// maxAgain is how many words of find are read a second time, in all.
const maxAgain = 4 << 10

// find adds what find runs, and rm for -delete. What looks like one of its options may be the
// argument of another: unless that is certain not to be the case, words are read both ways.
func (c *collector) find(unit int, words []Word) {
	for i := 1; i < len(words); i++ {
		switch words[i].Shape {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(words) && words[end].Shape != ";" && !(words[end].Shape == "+" && words[end-1].Shape == "{}") {
				end++
			}
			before := c.cwd
			if strings.HasSuffix(words[i].Shape, "dir") {
				c.cwd = workDirs{lost: true}
			}
			c.payload(unit, fillHole(words[i+1:end], "{}"), input{})
			c.cwd = before
			if predicate(words[:i]) && !slices.ContainsFunc(words[i:end], func(w Word) bool { return strings.HasPrefix(w.Shape, Unknown) }) {
				i = end
			} else if c.r.again += end - i; c.r.again > maxAgain {
				c.addUncertainty(unit, Uncertainty{Why: "words of find that may be commands, too many to be read"})
				return
			}
		case "-delete":
			n := *c
			n.inside = c.r.units[unit].Text
			n.add(Unit{Text: "rm", Words: []Word{literalWord("rm"), {Shape: Unknown, Split: true}}}, nil)
		}
	}
}

// predicate reports whether what stands behind some words of find surely is an
// option or an operator, and not the argument of one before.
func predicate(before []Word) bool {
	last := before[len(before)-1]
	switch {
	case strings.HasPrefix(last.Shape, Unknown):
		return false
	case len(before) > 2 && before[len(before)-2].Shape == "-fprintf":
		return false
	case strings.HasPrefix(last.Shape, "-"):
		return slices.Contains(strings.Fields("-o -a -or -and -not -print -print0 -ls -prune -quit -true -false -empty -depth -d -daystart -mount -xdev -follow "+
			"-executable -readable -writable -noleaf -nouser -nogroup -delete -H -L -P"), last.Shape)
	}
	return true
}

// findUncertainties are the uncertainties about words of find that may be an option which runs
// a program: they begin with a dash and go on computed.
func findUncertainties(words []Word) []Uncertainty {
	f := flags{runs: "-exec -execdir -ok -okdir -delete", lone: true}
	for i, w := range words[1:] {
		if f.may(w) && !measures(words[i].Shape) {
			return []Uncertainty{{Why: "find may run a program because of an option that is computed"}}
		}
	}
	return nil
}

// measures knows the options of find whose argument may begin with a dash.
func measures(option string) bool {
	switch option {
	case "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-size", "-perm", "-links", "-inum", "-used", "-uid", "-gid":
		return true
	}
	return false
}
