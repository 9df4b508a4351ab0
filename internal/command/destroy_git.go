package command

import (
	"slices"
	"strings"
)

// git adds what a git command discards.
func (d *destroyer) git(args []Word) {
	args, elsewhere := d.gitOptions(args)
	if len(args) == 0 || !args[0].Literal {
		return
	}
	sub := args[0].Value
	from := len(d.out)
	switch sub {
	case "checkout":
		d.gitCheckout(args[1:])
	case "restore", "rm", "mv", "checkout-index":
		d.gitFiles(sub, args[1:])
	case "worktree", "submodule":
		d.gitTrees(readArgs(args[1:], "", ""))
	case "clean":
		d.gitClean(args[1:])
	case "stash":
		d.gitStash(args[1:])
	default:
		if how, ok := discards(sub, readArgs(args[1:], "-c -C --create --force-create --orphan --conflict --prefix --index-output", "")); ok {
			d.add(Loss{Kind: Discarded, Why: "git " + sub + " " + how, Whole: true})
		} else if forgets(sub, readArgs(args[1:], "", "")) {
			d.add(Loss{Kind: Forgotten})
		}
	}
	for i := from; i < len(d.out); i++ {
		l := &d.out[i]
		l.Unknown = l.Unknown || elsewhere && l.Kind != Forgotten
		if !strings.HasPrefix(l.Why, "git ") {
			l.Why = "git " + sub
		}
	}
}

// gitOptions reads the options before the command of git. elsewhere says that
// it works on another worktree.
func (d *destroyer) gitOptions(args []Word) (rest []Word, elsewhere bool) {
	const valued = "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source"
	for len(args) > 0 && len(args[0].Value) > 1 && args[0].Value[0] == '-' {
		name, _, attached := strings.Cut(args[0].Value, "=")
		args = args[1:]
		elsewhere = elsewhere || name == "--git-dir" || name == "--work-tree"
		if attached || !slices.Contains(strings.Fields(valued), name) {
			continue
		}
		if len(args) == 0 {
			return nil, elsewhere
		}
		if name == "-C" {
			d.dir = d.dir.joinWord(args[0])
		}
		args = args[1:]
	}
	return args, elsewhere
}

// discards reports whether a command discards all changes, and by which option.
func discards(sub string, p arguments) (how string, ok bool) {
	options := ""
	switch sub {
	case "reset":
		options = "--hard --merge --keep"
	case "switch":
		options = "-f --force --discard-changes"
	case "merge", "rebase", "am", "cherry-pick", "revert":
		options = "--abort --skip"
	case "read-tree":
		if p.hasOption("-u") {
			options = "--reset"
		}
	}
	for how := range strings.FieldsSeq(options) {
		if p.hasOption(how) {
			return how, true
		}
	}
	return "", false
}

// forgets reports whether a command makes git forget what no file holds.
func forgets(sub string, p arguments) bool {
	first := ""
	if len(p.rest) > 0 {
		first = p.rest[0].Value
	}
	switch sub {
	case "branch":
		return p.hasOption("-D", "-M", "-C", "-f", "-d", "--delete", "--force")
	case "push":
		return p.hasOption("-f", "--force", "--force-with-lease", "--mirror", "--prune", "-d", "--delete") ||
			slices.ContainsFunc(p.rest, func(w Word) bool { return strings.HasPrefix(w.Value, "+") || strings.HasPrefix(w.Value, ":") })
	case "tag":
		return p.hasOption("-d", "-f", "--delete", "--force")
	case "update-ref":
		return p.hasOption("-d")
	case "reflog":
		return first == "expire" || first == "delete"
	case "gc":
		return p.hasOption("--prune")
	}
	return sub == "prune" || sub == "filter-branch" || sub == "filter-repo"
}

// gitFiles adds what the commands throw away that are given names of files.
func (d *destroyer) gitFiles(sub string, args []Word) {
	p := readArgs(args, "-s --source --conflict --pathspec-from-file --prefix --stage", "")
	listed := p.hasOption("--pathspec-from-file")
	n := len(p.rest)
	switch {
	case sub == "restore" && (p.hasOption("-W", "--worktree") || !p.hasOption("-S", "--staged")):
		d.specs(Loss{Kind: Discarded, Unknown: listed}, p.rest)
	case sub == "rm" && !p.hasOption("--cached", "-n", "--dry-run"):
		d.specs(Loss{Kind: Deleted, Tree: p.hasOption("-r"), Unknown: listed}, p.rest)
	case sub == "mv" && n > 1 && p.hasOption("-f", "--force"):
		d.add(Loss{Kind: Replaced, Paths: p.rest[n-1:], From: p.rest[:n-1], Move: true})
	case sub == "checkout-index" && p.hasOption("-f", "--force") && (n > 0 || p.hasOption("-a", "--all")):
		d.specs(Loss{Kind: Discarded}, p.rest)
	}
}

// gitTrees adds the folders that git removes with what it has checked out
// there.
func (d *destroyer) gitTrees(p arguments) {
	if len(p.rest) == 0 {
		return
	}
	switch how := p.rest[0].Value; {
	case how == "remove", how == "deinit", how == "update" && p.hasOption("-f", "--force"):
		d.add(Loss{Kind: Deleted, Paths: p.rest[1:], Tree: true, Unknown: len(p.rest) == 1})
	}
}

// gitCheckout tells what is thrown away from switching to a branch: without --
// a word may be either, and as a file it counts if there is one.
func (d *destroyer) gitCheckout(args []Word) {
	p := readArgs(args, "-b -B --orphan --conflict --pathspec-from-file", "")
	if p.hasOption("-f", "--force") && p.behind < 1 {
		d.add(Loss{Kind: Discarded, Why: "git checkout -f", Whole: true})
	}
	paths := p.rest
	if p.behind >= 0 {
		paths = p.rest[len(p.rest)-p.behind:]
	}
	l := Loss{Kind: Discarded, Unknown: p.hasOption("--pathspec-from-file")}
	if len(paths) > 0 || l.Unknown {
		d.specs(l, paths)
	}
}

func (d *destroyer) gitClean(args []Word) {
	p := readArgs(args, "-e --exclude", "")
	if p.hasOption("-n", "--dry-run") {
		return
	}
	l := Loss{Kind: Cleaned, Ignored: p.hasOption("-x", "-X"), Only: p.hasOption("-X")}
	if len(p.rest) == 0 { // it stays in the folder it runs in
		l.Paths = []Word{knownWord(".")}
		d.add(l)
		return
	}
	d.specs(l, p.rest)
}

func (d *destroyer) gitStash(args []Word) {
	sub := "push"
	if len(args) > 0 && !strings.HasPrefix(args[0].Value, "-") {
		sub, args = args[0].Value, args[1:]
	}
	switch sub {
	case "drop", "clear":
		d.add(Loss{Kind: Forgotten, Why: "git stash " + sub})
	case "push", "save":
		p := readArgs(args, "-m --message --pathspec-from-file", "")
		paths := p.rest
		if sub == "save" {
			paths = nil
		}
		d.specs(Loss{Kind: Discarded}, paths)
		if all := p.hasOption("-a", "--all"); all || p.hasOption("-u", "--include-untracked") {
			d.specs(Loss{Kind: Cleaned, Ignored: all}, paths)
		}
	}
}

// specs adds the files that git pathspecs match. For one with wildcards, the folder where it starts
// counts, with everything below.
func (d *destroyer) specs(l Loss, specs []Word) {
	if len(specs) == 0 {
		l.Whole = l.Kind != Deleted
		d.add(l)
		return
	}
	var names, folders []Word
	for _, w := range specs {
		switch {
		case !w.Literal:
			names = append(names, w)
		case strings.HasPrefix(w.Value, ":"): // magic
			top := l
			top.Whole = true
			if l.Kind == Deleted {
				top.Kind = Discarded
			}
			d.add(top)
		case strings.ContainsAny(w.Value, "*?["):
			head := w.Value[:strings.IndexAny(w.Value, "*?[")]
			folder := "."
			if at := strings.LastIndexByte(head, '/'); at > 0 {
				folder = head[:at]
			}
			folders = append(folders, knownWord(folder))
		default:
			names = append(names, w)
		}
	}
	if len(names) > 0 {
		l.Paths = names
		d.add(l)
	}
	if len(folders) > 0 {
		l.Paths, l.Tree = folders, true
		d.add(l)
	}
}
