package command

import (
	"slices"
	"strings"
)

// git adds the files of a command of git.
func (r *fileReader) git(args []Word) {
	top := argReader{fileReader: r, spec: parseSpec(
		"stop whole -C=d -c=- --git-dir=G --work-tree=E --namespace=- --super-prefix=- --config-env=- --attr-source=-",
	)}
	top.split(args)
	for _, w := range top.target { // seen from where all the -C lead
		r.dir = r.dir.or(r.dir.joinWord(w))
	}
	if len(top.plain) == 0 || !top.plain[0].Literal {
		return
	}
	r.away = r.away || slices.ContainsFunc(r.unit.Assigns, func(a Assign) bool { return strings.HasPrefix(a.Name, "GIT_") })
	sub := top.plain[0].Value
	if sub == "stash" {
		r.stash(top.plain[1:])
	} else if spec, ok := r.reach.spec("git " + sub); ok {
		r.table(spec, top.plain[1:])
	}
	r.reach.stale = r.reach.stale || switches(sub, top.plain[1:])
}

// switches reports whether a command of git may change what it ignores and
// knows, other than by a file that it is given.
func switches(sub string, args []Word) bool {
	switch sub {
	case "init", "clone", "merge", "pull", "rebase", "cherry-pick", "revert", "am", "apply", "read-tree", "submodule", "worktree", "config":
		return true
	case "stash":
		return len(args) > 0 && slices.Contains([]string{"pop", "apply", "branch"}, args[0].Value)
	case "reset":
		return slices.ContainsFunc(args, func(w Word) bool { return strings.HasPrefix(w.Value, "--") && len(w.Value) > 2 })
	case "checkout", "switch":
		return commits(args) > 0
	}
	return false
}

// commits is how many arguments of git checkout may be commits: no options, nor
// names of new branches.
func commits(args []Word) (n int) {
	for _, w := range args {
		switch w.Value {
		case "--":
			return n
		case "-b", "-B", "-c", "-C", "--orphan", "--create":
			n--
		default:
			if w.Value == "-" || !strings.HasPrefix(w.Value, "-") {
				n++
			}
		}
	}
	return n
}

// stash adds what git stash takes away or puts back: the files it is given, or
// all of the tree.
func (r *fileReader) stash(args []Word) {
	sub := "push"
	if len(args) > 0 && !strings.HasPrefix(args[0].Value, "-") {
		sub, args = args[0].Value, args[1:]
	}
	switch sub {
	case "list", "show", "drop", "clear", "create", "store", "export", "import":
		return
	}
	for r.resetWays(); r.nextWay(); {
		a := argReader{fileReader: r, deep: true, spec: parseSpec(
			"-m=- --message=- -u:u --include-untracked:u -a:a --all:a --pathspec-from-file=L",
		)}
		a.split(args)
		if sub == "push" {
			for _, w := range a.plain {
				a.addUse("w", w)
			}
		}
		if sub != "push" || len(a.plain) == 0 {
			r.anywhere()
		}
		if a.effects != "" {
			r.add(Access{Kind: Read, Path: knownWord("."), Deep: true, Fresh: !strings.Contains(a.effects, "a")})
		}
	}
}
