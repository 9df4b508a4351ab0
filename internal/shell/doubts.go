package shell

import (
	"slices"
	"strings"
)

// doubts returns what a unit by itself leaves unclear: it sets a variable that
// changes what runs, or has an option that runs a program.
func doubts(u Unit) []Doubt {
	out := assignDoubts(u)
	if len(u.Words) == 0 || !u.Words[0].Literal && u.Kind != Piece {
		return out
	}
	name := baseName(u.Words[0].Value)
	switch name {
	case "export", "declare", "typeset", "local", "readonly", "nameref":
		return append(out, declareDoubts(u.Words)...)
	case "sed", "gsed", "ssed":
		return append(out, sedDoubts(u.Words)...)
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return append(out, awkDoubts(u.Words)...)
	case "git":
		return append(out, gitDoubts(u.Words)...)
	}
	if posixShell(name) {
		out = append(out, keywordDoubts(u.Words)...)
	}
	out = append(out, builtinDoubts(name, u.Words)...)
	if f, ok := flagsOf(name); ok {
		out = append(out, f.find(name, u.Words)...)
	}
	return out
}

// builtinDoubts are the doubts about commands of the shell that set variables.
func builtinDoubts(name string, words []Word) []Doubt {
	switch name {
	case "read":
		s := grammar{short: "a:d:i:n:N:p:t:u:ersE"}.scan(words)
		names := s.rest(words)
		if o, ok := s.get("a"); ok {
			names = append(names, o.value)
		}
		return varDoubts(words[0], names...)
	case "mapfile", "readarray":
		return varDoubts(words[0], grammar{short: "d:n:O:s:u:C:c:t"}.scan(words).rest(words)...)
	case "printf":
		return printfDoubts(words)
	case "wait":
		if o, ok := (grammar{short: "p:fn"}).scan(words).get("p"); ok {
			return varDoubts(words[0], o.value)
		}
	case "getopts":
		if len(words) > 2 {
			return varDoubts(words[0], words[2])
		}
	case "let":
		return indexDoubts(words)
	case "unset":
		return append(indexDoubts(words), unsetDoubts(words)...)
	case "set", "shopt":
		return keywordDoubts(words)
	case "test", "[":
		return testDoubts(words)
	}
	return nil
}

// indexDoubts are the doubts about unset and let, which evaluate an index.
func indexDoubts(words []Word) []Doubt {
	var out []Doubt
	for _, w := range words[1:] {
		let := words[0].Value == "let" && hidesCode(w.Raw) && !strings.Contains(w.Raw, "'")
		if let || hidesCode(w.Shape) || openIndex(w.Shape) {
			out = append(out, nameDoubts(w)...)
		}
	}
	return out
}

// printfDoubts are the doubts about printf -v.
func printfDoubts(words []Word) []Doubt {
	if o, ok := (grammar{short: "v:"}).scan(words).get("v"); ok {
		return varDoubts(words[0], o.value)
	}
	name, ok := printfName(words)
	switch {
	case ok && hidesCode(name.Shape):
		return nameDoubts(name)
	case ok:
		return sets(bareName(name.Shape))
	}
	return nil
}

// printfName is the variable that printf puts its text into, also where a word
// that is not known may be the option.
func printfName(words []Word) (name Word, ok bool) {
	if o, ok := (grammar{short: "v:"}).scan(words).get("v"); ok {
		return o.value, true
	}
	if len(words) > 2 && !words[1].Literal && strings.IndexAny(words[1].Shape, "-"+Unknown) == 0 {
		return words[2], true
	}
	return Word{}, false
}

// testDoubts are the doubts about test -v, which evaluates an index. A word
// that is not known may be the option.
func testDoubts(words []Word) []Doubt {
	var out []Doubt
	for i, w := range words {
		switch {
		case hidesCode(w.Shape):
			out = append(out, Doubt{Why: "an index that may hold code"})
		case (w.Shape == "-v" || w.Shape == "-R") && i+1 < len(words) && !words[i+1].Literal:
			out = append(out, nameDoubts(words[i+1])...)
		}
	}
	return out
}

// flags are the options of a command that make it run a program.
type flags struct {
	runs  string // the options, separated by spaces: -x, --long, or -long
	takes string // the one-letter options that take a value, which ends a row of letters
	exact string // long options that are no short form of one that runs a program
	plus  bool   // a word that begins with + is one
	old   bool   // letters may stand in the first word without a dash
	lone  bool   // one-letter options do not stand together
}

// flagsOf knows the commands that have such options. git, sed and awk are read
// in ways of their own.
func flagsOf(name string) (flags, bool) {
	for _, table := range []func(string) (flags, bool){toolFlags, netFlags, editorFlags, buildFlags} {
		if f, ok := table(name); ok {
			return f, true
		}
	}
	return flags{}, false
}

func toolFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "rg":
		f = flags{runs: "--pre --hostname-bin -z --search-zip", takes: "ABCEefgjmMrtTd", exact: "--pretty --pre-glob"}
	case "tar", "gtar", "bsdtar":
		f = flags{
			runs:  "--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script --rmt-command --rsh-command",
			takes: "bCfgHKLNTVX", old: true,
		}
	case "sort", "gsort":
		f = flags{runs: "--compress-program", takes: "kotST"}
	case "zip":
		f = flags{runs: "-TT --unzip-command", lone: true}
	case "cpio":
		f = flags{runs: "--rsh-command", takes: "CDEFHIMORW"}
	case "install", "ginstall":
		f = flags{runs: "--strip-program", takes: "gmoStZ", exact: "--strip"}
	case "ar", "ranlib", "nm", "gcc-ar", "gcc-ranlib", "gcc-nm", "objdump", "size", "strip", "objcopy":
		f = flags{runs: "--plugin -plugin", lone: true}
	case "ld", "ld.bfd", "ld.gold", "ld.lld", "gold", "lld", "mold":
		f = flags{runs: "--plugin -plugin --load-pass-plugin", lone: true}
	case "enable":
		f = flags{runs: "-f"}
	case "hash":
		f = flags{runs: "-p"}
	default:
		return f, false
	}
	return f, true
}

func netFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "rsync":
		f = flags{runs: "-e --rsh --rsync-path", takes: "BMfT@"}
	case "ssh", "scp", "sftp", "slogin", "autossh", "mosh":
		f = flags{runs: "-o -F -S --ssh --client --server", takes: "BbcDEeIiJLlmOpQRWwPX"}
		if name == "ssh" || name == "slogin" || name == "autossh" {
			f.runs = "-o -F"
		}
	case "wget":
		f = flags{runs: "--use-askpass -e --execute --config", takes: "oaiBtOQTwPUl"}
	case "tcpdump":
		f = flags{runs: "-z", takes: "BcCEFGijmMrsTVwWy"}
	case "openssl":
		f = flags{runs: "-engine -provider -provider-path", lone: true}
	case "nc", "ncat", "netcat", "nc.openbsd", "nc.traditional":
		f = flags{runs: "-e -c --exec --sh-exec --lua-exec", takes: "gGiIMmOoPpqsTVWwXx"}
	case "dpkg":
		f = flags{runs: "--pre-invoke --post-invoke --status-logger", lone: true}
	case "xterm", "uxterm", "rxvt", "urxvt", "konsole", "alacritty", "terminator", "xfce4-terminal", "gnome-terminal":
		f = flags{runs: "-e -x --command --execute", lone: true}
	case "nmap":
		f = flags{runs: "--script", lone: true}
	default:
		return f, false
	}
	return f, true
}

func editorFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "man":
		f = flags{runs: "-P --pager -H --html -C --config-file", takes: "LmMSerEpRs"}
	case "vi", "vim", "nvim", "view", "ex", "gvim", "vimdiff", "rvim", "rview", "mvim", "evim":
		f = flags{runs: "-c --cmd -S -s -u -U", plus: true, takes: "TtrdPiwW"}
	case "emacs", "emacsclient":
		f = flags{runs: "--eval -eval --execute -f --funcall -l --load --script -e --batch -batch"}
	case "gdb", "lldb":
		f = flags{runs: "-ex -iex -x -ix --eval-command --init-eval-command --command --init-command -o -O -s -S --one-line --source", lone: true}
	default:
		return f, false
	}
	return f, true
}

func buildFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "go":
		f = flags{runs: "-exec -toolexec -vettool -overlay -modfile", lone: true}
	case "cargo":
		f = flags{runs: "--config", lone: true}
	case "make", "gmake":
		f = flags{runs: "--eval -E", takes: "CfIoWlj"}
	case "gcc", "g++", "cc", "c++", "clang", "clang++":
		f = flags{runs: "-wrapper -fplugin -fpass-plugin -specs --specs -B", lone: true}
	case "npm", "pnpm", "yarn":
		f = flags{runs: "--script-shell --node-options", lone: true}
	default:
		return f, false
	}
	return f, true
}

// find returns a doubt for each of the options that a command has.
func (f flags) find(name string, words []Word) []Doubt {
	var out []Doubt
	for i, w := range words[1:] {
		if w.Shape == "--" {
			break
		}
		if opt := f.match(w.Shape, i == 0); opt != "" {
			out = append(out, Doubt{Why: name + " runs a program because of " + opt, Flag: opt})
		}
	}
	return out
}

// match returns the option that a word is, or has among its letters.
func (f flags) match(shape string, first bool) string {
	switch {
	case f.plus && len(shape) > 1 && shape[0] == '+' && strings.Trim(shape[1:], "0123456789") != "":
		return "+"
	case f.old && first && shape != "" && shape[0] != '-':
		return f.letter(shape, true)
	case len(shape) < 2 || shape[0] != '-':
		return ""
	case shape[1] == '-':
		return f.longMatch(shape)
	case f.lone:
		return f.loneMatch(shape)
	}
	return f.letter(shape[1:], false)
}

// loneMatch finds an option with one dash, alone in its word.
func (f flags) loneMatch(shape string) string {
	given, _, _ := strings.Cut(shape, "=")
	for r := range strings.FieldsSeq(f.runs) {
		if r == given || len(r) == 2 && strings.HasPrefix(shape, r) {
			return r
		}
	}
	return ""
}

// longMatch finds a long option, which may be shortened.
func (f flags) longMatch(shape string) string {
	given, _, _ := strings.Cut(shape, "=")
	if slices.Contains(strings.Fields(f.exact), given) {
		return ""
	}
	for r := range strings.FieldsSeq(f.runs) {
		switch {
		case r == given, len(given) > 3 && strings.HasPrefix(r, given):
			return r
		case f.lone && len(r) > 2 && "-"+r == given: // go takes --exec for -exec
			return r
		}
	}
	return ""
}

// letter finds a one-letter option among others. In the old way of writing
// them, values stand in words of their own.
func (f flags) letter(row string, old bool) string {
	for k := range len(row) {
		opt := "-" + row[k:k+1]
		if slices.Contains(strings.Fields(f.runs), opt) {
			return opt
		}
		if !old && strings.IndexByte(f.takes, row[k]) >= 0 {
			return ""
		}
	}
	return ""
}
