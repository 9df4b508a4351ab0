package command

import (
	"slices"
	"strings"
)

// quotedTexts are the texts between quotes in a piece of code.
func quotedTexts(code string) (all []string) {
	for {
		at := strings.IndexAny(code, `'"`)
		if at < 0 {
			return all
		}
		text, rest, ok := strings.Cut(code[at+1:], code[at:at+1])
		if !ok {
			return all
		}
		if text != "" {
			all = append(all, text)
		}
		code = rest
	}
}

// mention adds files by the names that code has for them.
func (r *fileReader) mention(kind AccessKind, names []string) {
	for _, name := range names {
		if !strings.HasPrefix(name, "-") {
			r.add(Access{Kind: kind, Path: knownWord(name)})
		}
	}
}

// programTexts returns the code that a program runs: its words, and the part of its input that is
// in the line.
func (r *fileReader) programTexts() []string {
	all := wordValues(r.unit.Words[1:])
	if r.unit.Input != "" {
		all = append(all, r.unit.Input)
	}
	return all
}

// clientFiles adds the files of commands that a client of a database is handed.
func (r *fileReader) clientFiles(commands map[string]AccessKind) {
	for _, text := range r.programTexts() {
		for line := range strings.Lines(text) {
			r.clientLine(line, commands)
		}
	}
}

func (r *fileReader) clientLine(line string, commands map[string]AccessKind) {
	words := strings.FieldsFunc(strings.NewReplacer("(", " ( ", ";", " ; ").Replace(line), func(c rune) bool { return strings.ContainsRune(" \t\n", c) })
	for i, w := range words {
		kind, ok := commands[strings.ToLower(w)]
		if !ok {
			kind, ok = commands[w]
		}
		for i++; ok && i < len(words) && words[i] == "("; {
			i++
		}
		if !ok || i >= len(words) {
			continue
		}
		if name := strings.Trim(words[i], `'",)`); name != "" && !strings.HasPrefix(name, "|") {
			r.add(Access{Kind: kind, Path: knownWord(name), Maybe: kind == Read})
		}
	}
}

// psqlFiles are the words before the name of a file in what psql runs. Behind
// from and to stands a table, or a file.
func psqlFiles() map[string]AccessKind {
	return map[string]AccessKind{
		`\i`: Read, `\ir`: Read, `\include`: Read, `\include_relative`: Read, `\lo_import`: Read, `\cd`: Visit, "from": Read, `\e`: Read, `\edit`: Read,
		"pg_read_file": Read, "pg_read_binary_file": Read, "pg_ls_dir": Read, "lo_import": Read,
		`\o`: Write, `\out`: Write, `\w`: Write, `\write`: Write, `\g`: Write, `\gx`: Write, `\s`: Write, "to": Write,
	}
}

// mysqlFiles are the words before the name of a file in what mysql runs.
func mysqlFiles() map[string]AccessKind {
	return map[string]AccessKind{
		"source": Read, `\.`: Read, "infile": Read, "load_file": Read, "tee": Write, `\T`: Write, "outfile": Write, "dumpfile": Write,
	}
}

// awkReads returns the files that an awk program may open by itself: any string in it may name one.
// args are its words.
func awkReads(program string, args []Word) (files []string) {
	if !awkOpens(program) {
		return nil
	}
	files = quotedTexts(program)
	for _, w := range args {
		if _, value, ok := strings.Cut(w.Value, "="); ok && w.Literal && w.Value != program {
			files = append(files, value)
		}
	}
	return files
}

// awkOpens reports whether an awk program reads files that are not among its
// arguments.
func awkOpens(program string) bool {
	if strings.Contains(program, "@include") || strings.Contains(program, "@load") {
		return true
	}
	for rest := program; ; {
		var found bool
		if _, rest, found = strings.Cut(rest, "getline"); !found {
			break
		}
		if strings.HasPrefix(strings.TrimLeft(rest, letters+" \t$[]\"(),"), "<") {
			return true
		}
	}
	p := awkProgram{s: program}
	for rest := program; ; {
		at := strings.Index(rest, "ARGV")
		if at < 0 {
			return false
		}
		rest = rest[at+len("ARGV"):]
		p.i = len(program) - len(rest)
		if p.rewrites(p.i - len("ARGV")) {
			return true
		}
	}
}

// inPlace reports whether gawk changes the files that it is given.
func inPlace(args []Word) bool {
	return slices.ContainsFunc(args, func(w Word) bool { return strings.HasSuffix(w.Value, "inplace") })
}

// loads adds the files that a program of jq or yq names, if it loads any.
func (r *fileReader) loads(verbs ...string) {
	for _, w := range r.unit.Words[1:] {
		for _, verb := range verbs {
			if w.Literal && strings.Contains(w.Value, verb) {
				r.mention(Read, quotedTexts(w.Value))
				break
			}
		}
	}
}

// addresses adds the files among the addresses of socat.
func (r *fileReader) addresses() {
	for _, w := range r.unit.Words[1:] {
		for address := range strings.SplitSeq(w.Value, "!!") {
			kind, name, ok := strings.Cut(address, ":")
			switch strings.ToLower(kind) {
			case "file", "open", "gopen", "create", "creat", "pipe", "unix-listen", "unix-connect":
			default:
				if ok = strings.Contains(kind, "/"); ok {
					name = address
				}
			}
			if name, _, _ = strings.Cut(name, ","); ok && name != "" {
				r.add(Access{Kind: Read, Path: knownWord(name)})
				r.add(Access{Kind: Write, Path: knownWord(name)})
			}
		}
	}
}

// behind adds the files whose names stand in words behind one of some marks.
func (r *fileReader) behind(marks string, args []Word) {
	for _, w := range args {
		if at := strings.LastIndexAny(w.Value, marks); at >= 0 && w.Literal {
			r.add(Access{Kind: Read, Path: w.suffixFrom(at + 1), Maybe: true})
		}
	}
}

// transferred adds the destination of a transfer from another machine: the last word after the
// verb, if it is local.
func (r *fileReader) transferred(args []Word) {
	at := slices.IndexFunc(args, func(w Word) bool {
		return slices.Contains(strings.Fields("cp sync mv rsync copy copyto move moveto get clone checkout co export"), w.Value)
	})
	if at < 0 || len(args) < at+3 {
		return
	}
	last := args[len(args)-1]
	host, _, remote := strings.Cut(last.Value, ":")
	if !strings.HasPrefix(last.Value, "-") && (!remote || strings.Contains(host, "/")) {
		r.add(Access{Kind: Write, Path: last})
	}
}

// received adds that files with names which are not known come from another
// machine, into the folder that stands last or where the command runs.
func (r *fileReader) received(name string, args []Word) {
	deep := slices.ContainsFunc(args, func(w Word) bool {
		short := len(w.Value) > 1 && w.Value[0] == '-' && w.Value[1] != '-'
		return short && strings.ContainsAny(w.Value, "ram") || w.Value == "--recursive" || w.Value == "--archive" || w.Value == "--mirror"
	})
	away := func(w Word) bool {
		host, _, remote := strings.Cut(w.Value, ":")
		return remote && !strings.Contains(host, "/") && !isOption(host)
	}
	if !deep || name != "wget" && (away(args[len(args)-1]) || !slices.ContainsFunc(args, away)) {
		return
	}
	before := r.dir
	if last := args[len(args)-1]; name != "wget" && !isOption(last.Value) {
		r.dir = r.dir.joinWord(last)
	}
	r.add(Access{Kind: Write})
	r.dir = before
}

// container adds the files of this machine that a container is given or that are copied into it and
// out of it.
func (r *fileReader) container(args []Word) {
	at := slices.IndexFunc(args, func(w Word) bool {
		return slices.Contains([]string{"run", "create", "build", "cp", "compose"}, w.Value)
	})
	if at < 0 {
		return
	}
	sub, args := args[at].Value, args[at+1:]
	for i, w := range args {
		var next Word
		if i+1 < len(args) {
			next = args[i+1]
		}
		name, _, attached := strings.Cut(w.Value, "=")
		if attached {
			next = w.suffixFrom(len(name) + 1)
		}
		switch {
		case (sub == "run" || sub == "create") && (name == "-v" || name == "--volume" || name == "--mount"):
			r.mounted(next)
		case (sub == "build" || sub == "compose") && (name == "-f" || name == "--file" || name == "--project-directory"):
			r.add(Access{Kind: Read, Path: next, Maybe: true})
		case sub == "build" && i+1 == len(args):
			r.add(Access{Kind: Read, Path: w, Maybe: true})
		case sub == "cp" && !strings.HasPrefix(name, "-") && !strings.Contains(name, ":"):
			kind := Read
			if i+1 == len(args) {
				kind = Write
			}
			r.add(Access{Kind: kind, Path: w})
		}
	}
}

// mounted adds a folder of this machine that a container can read and change. A source without a
// slash is the name of a volume.
func (r *fileReader) mounted(w Word) {
	for part := range strings.SplitSeq(w.Value, ",") {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case ok && (key == "src" || key == "source"):
		case ok || part == "readonly":
			continue
		default:
			value, _, _ = strings.Cut(part, ":")
		}
		if !strings.ContainsAny(value, "/~.$") {
			continue
		}
		file := Word{Raw: value, Value: value, Literal: true, Shape: value}
		if !w.Literal {
			raw, _, _ := strings.Cut(w.Raw[max(0, strings.Index(w.Raw, value)):], ":")
			file = Word{Raw: raw, Value: value, Shape: Unknown}
		}
		r.add(Access{Kind: Visit, Path: file})
	}
}
