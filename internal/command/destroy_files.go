package command

import (
	"slices"
	"strings"
)

// remove adds what rm and its kin remove.
func (d *destroyer) remove(args []Word) {
	valued := ""
	if d.why == "shred" {
		valued = "-n --iterations -s --size --random-source"
	}
	p := readArgs(args, valued, "")
	tree := p.hasOption("-r", "-R") || p.hasLong("--recursive", 3) || d.why == "rimraf" || d.why == "del-cli"
	l := Loss{Kind: Deleted, Paths: p.rest, Tree: tree}
	if tree && d.why == "rm" {
		l.Why = "rm -r"
	}
	if d.why == "shred" {
		l.Kind = Emptied
	}
	l.Unknown = len(p.rest) == 0 && d.unit.Inside != "" // xargs rm
	d.add(l)
}

// find adds what find removes itself or by a command: files with the names it tests for, if that is
// its only test.
func (d *destroyer) find(args []Word) {
	roots, tests := findRoots(args)
	why, name := "", ""
	args = tests
	for i := range args {
		switch v := args[i].Value; v {
		case "-delete":
			why = "find -delete"
		case "-exec", "-execdir", "-ok", "-okdir":
			if i+1 < len(args) && destructive(args[i+1:]) {
				why = "find " + v + " " + baseName(args[i+1].Value)
			}
		case "-name":
			if i+1 < len(args) && (args[i+1].Literal || args[i+1].Glob) && name == "" {
				name = args[i+1].Value
			}
		case "-o", "-or", ",", "!", "-not", "(", "-path", "-iname":
			name = "*" // several, or others
		}
	}
	if why != "" {
		if name == "*" {
			name = ""
		}
		d.add(Loss{Kind: Deleted, Why: why, Paths: roots, Tree: true, Name: name})
	}
}

// findRoots tells the folders that find starts in from what it asks.
func findRoots(args []Word) (roots, tests []Word) {
	n := 0
	for n < len(args) && (!findExpression(args[n]) || slices.Contains([]string{"-H", "-L", "-P"}, args[n].Value)) {
		n++
	}
	roots = slices.DeleteFunc(slices.Clone(args[:n]), func(w Word) bool { return len(w.Value) == 2 && w.Value[0] == '-' })
	if len(roots) == 0 {
		roots = []Word{knownWord(".")}
	}
	return roots, args[n:]
}

// destructive reports whether what find runs may destroy the files it finds.
func destructive(words []Word) bool {
	if !words[0].Literal {
		return true
	}
	switch baseName(words[0].Value) {
	case "rm", "unlink", "shred", "srm", "truncate", "sed", "perl", "sh", "bash", "dash", "zsh", "git", "env", "sudo", "xargs", "ruby", "busybox":
		return true
	}
	return false
}

// transfer adds what is written over when files are copied, moved or linked.
func (d *destroyer) transfer(args []Word) {
	name := strings.TrimPrefix(d.why, "g")
	if name == "rsync" {
		d.rsync(args)
		return
	}
	p := readArgs(args, "-t --target-directory -S --suffix -m --mode -o --owner -g --group --strip-program --backup-suffix", "")
	switch {
	case p.hasOption("-n") && name != "ln", p.hasLong("--no-clobber", 6),
		name == "ln" && !p.hasOption("-f") && !p.hasLong("--force", 4),
		name == "install" && (p.hasOption("-d") || p.hasLong("--directory", 4)):
		return
	}
	l := Loss{Kind: Replaced, From: p.rest, Move: name == "mv"}
	if to, ok := p.last("-t", "--target-directory"); ok {
		l.Paths = []Word{to}
	} else if n := len(p.rest); n > 1 {
		l.Paths, l.From = p.rest[n-1:], p.rest[:n-1]
	} else if name == "ln" && n == 1 {
		l.Paths = []Word{knownWord(".")}
	} else {
		l.Unknown = d.unit.Inside != "" && n > 0 // xargs cp x
	}
	d.add(l)
	if name == "ln" && len(l.Paths) > 0 { // a link to a folder may be replaced itself
		d.add(Loss{Kind: Deleted, Why: l.Why, Paths: l.Paths})
	}
}

// rsync adds the folder that it writes to.
func (d *destroyer) rsync(args []Word) {
	p := readArgs(args, "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from -M --remote-option -B -T --temp-dir "+
		"--compare-dest --copy-dest --link-dest --log-file --password-file --port --bwlimit --max-size --min-size --backup-dir --suffix --chmod --chown", "")
	if p.hasOption("-n", "--dry-run", "--list-only") {
		return
	}
	n := len(p.rest)
	if n < 2 {
		return
	}
	if host, _, remote := strings.Cut(p.rest[n-1].Value, ":"); remote && !strings.Contains(host, "/") {
		return
	}
	l := Loss{Kind: Deleted, Paths: p.rest[n-1:], Tree: true}
	for name := range p.options {
		if strings.HasPrefix(name, "--del") {
			l.Why = "rsync --delete"
		}
	}
	d.add(l)
	if p.hasOption("--remove-source-files") {
		d.add(Loss{Kind: Deleted, Paths: p.rest[:n-1], Tree: true})
	}
}

// overwrite adds the files that a command writes from their beginning.
func (d *destroyer) overwrite(args []Word) {
	l := Loss{Kind: Emptied}
	switch d.why {
	case "dd":
		for _, w := range args {
			if strings.HasPrefix(w.Value, "of=") {
				l.Paths = append(l.Paths, w.suffixFrom(len("of=")))
			}
		}
	case "tee":
		p := readArgs(args, "--output-error", "")
		if p.hasOption("-a") || p.hasLong("--append", 3) {
			return
		}
		l.Paths = p.rest
	case "truncate":
		l.Paths = readArgs(args, "-s --size -r --reference", "").rest
	case "sponge":
		p := readArgs(args, "", "")
		if p.hasOption("-a") {
			return
		}
		l.Paths = p.rest
	case "sort":
		p := readArgs(args, "-o --output -k --key -t --field-separator -S --buffer-size -T --temporary-directory", "")
		l.Paths = slices.Concat(p.options["-o"], p.options["--output"])
	case "curl":
		p := readArgs(args, "-o --output -H --header -d --data -X --request -u --user -A -e -b -c --cookie-jar -D --dump-header -F --form -T --url "+
			"--data-raw --data-binary -w --write-out -m --max-time --retry -x --proxy --connect-timeout --cacert --cert --key -K --config", "")
		l.Paths = slices.Concat(p.options["-o"], p.options["--output"], p.options["-D"], p.options["-c"])
	case "wget":
		p := readArgs(args, "-O --output-document -o --output-file -P -U -t -T -e -a -i", "")
		l.Paths = slices.Concat(p.options["-O"], p.options["--output-document"], p.options["-o"])
	}
	d.add(l)
}

// inPlace adds the files that are changed in their place.
func (d *destroyer) inPlace(args []Word) {
	var p arguments
	var edits, script bool // script: the first plain word is one
	switch d.why {
	case "sed", "gsed":
		p = readArgs(args, "-e --expression -f --file -l --line-length", "i")
		edits = p.hasOption("-i") || p.hasLong("--in-place", 4)
		script = !p.hasOption("-e", "--expression", "-f", "--file")
	case "perl", "ruby":
		p = readArgs(args, "-e -E -I -M -m -r", "iFC0x")
		edits = p.hasOption("-i")
		script = !p.hasOption("-e", "-E")
	default:
		p = readArgs(args, "-f --file -v --assign -F --field-separator -i --include -e --source", "")
		with, ok := p.last("-i", "--include")
		edits = ok && with.Value == "inplace"
		script = !p.hasOption("-f", "--file", "-e", "--source")
	}
	if !edits {
		return
	}
	files := p.rest
	if script && len(files) > 0 {
		files = files[1:]
	}
	l := Loss{Kind: Emptied, Why: d.why + " -i", Paths: files}
	l.Unknown = len(files) == 0 && d.unit.Inside != ""
	d.add(l)
}

// addUnpacked adds that files are written whose names only an archive or a patch has.
func (d *destroyer) addUnpacked(args []Word) {
	p := readArgs(args, "-C --directory -f --file -d -i -T -X", "")
	first := ""
	if len(args) > 0 {
		first = args[0].Value
	}
	if !d.unpacks(p, first) {
		return
	}
	names := []string{"-C", "--directory"}
	if d.why == "unzip" || d.why == "patch" {
		names = []string{"-d", "--directory"}
	}
	if dir, ok := p.last(names...); ok {
		d.dir = d.dir.joinWord(dir)
	}
	d.add(Loss{Kind: Replaced, Unknown: true})
}

// unpacks reports whether the command writes over files.
func (d *destroyer) unpacks(p arguments, first string) bool {
	switch d.why {
	case "tar", "gtar", "bsdtar":
		extracts := p.hasOption("-x") || p.hasLong("--extract", 5) || p.hasLong("--get", 5) || !strings.HasPrefix(first, "-") && strings.Contains(first, "x")
		return extracts && !p.hasOption("-k", "-O", "--keep-old-files", "--skip-old-files", "--to-stdout")
	case "unzip":
		return p.hasOption("-o") && !p.hasOption("-l", "-p", "-t", "-v", "-Z")
	case "patch":
		return !p.hasOption("--dry-run")
	case "cpio":
		return p.hasOption("-u", "--unconditional")
	}
	return strings.HasPrefix(first, "x") || strings.HasPrefix(first, "e")
}
