package command

import "strings"

// maxInner limits how many nested commands are read that are not units of their own.
const maxInner = 2

// carried adds the files of a command that a package runner runs, and of those that a wrapper with
// unknown options may run: then each of its words may be the command.
func (r *fileReader) carried(words []Word) {
	if r.inner == maxInner || len(words) < 2 || !words[0].Literal {
		return
	}
	name := baseName(words[0].Value)
	shapes := shapesOf(words)
	shapes[0] = name
	var starts []int
	if w, ok := wrapperOf(name); ok {
		if len(w.unwrap(words).uncertainties) > 0 {
			for i := 1; i < min(len(words), maxLevel); i++ {
				starts = append(starts, i)
			}
		}
	} else if n := runner(shapes); n > 0 && n < len(words) {
		for _, at := range carriedAt(name, shapes[n:]) {
			starts = append(starts, n+at)
		}
	}
	why, dir := r.why, r.dir
	r.inner++
	for _, at := range starts {
		if at >= len(words) || !words[at].Literal {
			continue
		}
		r.why = baseName(words[at].Value)
		r.commandFiles(r.why, words[at+1:])
		r.dir = dir
		r.carried(words[at:])
	}
	r.inner--
	r.why = why
}

// guessed returns the words of a text that could not be parsed, as bash may split them. It adds the
// files of its redirections.
func (r *fileReader) guessed(words []Word) (out []Word) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		op := strings.TrimLeft(w.Value, "0123456789&")
		rest := strings.TrimLeft(op, "<>&|")
		if op == "" || op == rest || w.Value != w.Raw {
			w.Literal = !strings.ContainsAny(w.Raw, "$`*?[{<>")
			out = append(out, w)
			continue
		}
		if rest == "" && i+1 < len(words) {
			i++
			rest = words[i].Value
		}
		kind := Write
		if op[0] == '<' {
			kind = Read
		}
		if r.inner > 0 && !strings.ContainsAny(rest, "/~") {
			continue // in code of another kind it is a comparison
		}
		if !strings.ContainsAny(rest, "$`*?[{") && !digits(rest) {
			r.add(Access{Kind: kind, Path: knownWord(rest), Why: op[:1]})
		}
	}
	return out
}
