package shell

import "strings"

// git adds the files of a command of git.
func (r *fileReader) git(args []Word) {
	top := argReader{fileReader: r, spec: parseSpec(
		"stop whole -C=d -c=- --git-dir=v --work-tree=E --namespace=- --super-prefix=- --config-env=- --attr-source=-",
	)}
	top.split(args)
	for _, w := range top.target { // seen from where all the -C lead
		r.dir = r.dir.or(r.dir.below(w))
	}
	if len(top.plain) == 0 || !top.plain[0].Literal {
		return
	}
	sub := top.plain[0].Value
	if sub == "stash" {
		r.stash(top.plain[1:])
	} else if spec, ok := r.reach.spec("git " + sub); ok {
		r.table(spec, top.plain[1:])
	}
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
	for r.begin(); r.again(); {
		a := argReader{fileReader: r, deep: true, spec: parseSpec(
			"-m=- --message=- -u:u --include-untracked:u -a:a --all:a --pathspec-from-file=L",
		)}
		a.split(args)
		if sub == "push" {
			for _, w := range a.plain {
				a.use("w", w)
			}
		}
		if sub != "push" || len(a.plain) == 0 {
			r.anywhere()
		}
		if a.effects != "" {
			r.add(Access{Kind: Read, Path: known("."), Deep: true, Fresh: !strings.Contains(a.effects, "a")})
		}
	}
}
