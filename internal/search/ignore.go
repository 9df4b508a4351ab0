package search

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// maxRules is how many rules of one ignore file are used.
	maxRules = 50_000
	// maxFileWork bounds the cost, in instructions, of the rules of one ignore file that are tried
	// one by one for a name. Further rules are ignored.
	maxFileWork = 16 << 10
	// maxStock bounds the memory of the rules of all ignore files of a scope. Further files are
	// ignored.
	maxStock = 32 << 20
	// maxGlobs is how many globs a caller may give, and maxGlobText how many
	// bytes they may have together.
	maxGlobs    = 2048
	maxGlobText = 128 << 10
)

var errTooManyGlobs = errors.New("more than 2048 globs, or more than 128 KiB of them")

// A verdict is the result of matching a name against rules.
type verdict uint8

const (
	unnamed verdict = iota // nothing: no rule matches
	ignored                // leave it out
	kept                   // keep it, whatever weaker rules say
)

// rules are the compiled lines of one ignore file, or the globs of a caller. The last rule that
// matches decides. Rules that are a plain name, a plain path or *.ext are looked up in a table, so
// that only the others are tried one by one.
type rules struct {
	list  []rule
	exact map[string]int32 // path → the last rule of that path, plus one
	base  map[string]int32 // name → the last rule of that name, plus one
	ext   map[string]int32 // extension → the last rule of *.ext, plus one
	rest  []int32          // the other rules
	plain int              // how many rules are not negated
	work  int              // what the other rules cost for a name, in instructions
	cost  int              // about how many bytes all of it takes
	cut   bool             // there were more rules than hold
}

// A rule is one line.
type rule struct {
	negated bool
	dirOnly bool
	before  int32 // the last earlier rule of the same look-up, plus one
	glob    *glob // of the rules that are not looked up
}

// parseRules parses an ignore file. Invalid lines are left out, and so are those beyond a limit.
func parseRules(text string) *rules {
	r := &rules{}
	text = strings.TrimPrefix(text, "\ufeff")
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == last {
			continue // said again it means the same
		}
		if len(r.list) < maxRules && r.work < maxFileWork {
			last = line
			_ = r.add(line, gitDialect)
		} else if _, _, ok := cutLine(line); ok {
			r.cut = true
			break
		}
	}
	if len(r.list) == 0 {
		return nil
	}
	return r
}

// A stock holds the ignore files that were read for a scope, each text once. It bounds their
// memory, wherever in the tree they are.
type stock struct {
	mu    sync.Mutex
	cost  int
	known map[[sha256.Size]byte]*rules
}

// fileCost is what a file costs that has no rules.
const fileCost = 128

// readRules parses an ignore file, unless one with the same text was parsed already. When the
// memory is used up, only such files have rules.
func (k *stock) readRules(text string) (*rules, error) {
	sum := sha256.Sum256([]byte(text))
	k.mu.Lock()
	r, ok := k.known[sum]
	full := k.cost >= maxStock
	k.mu.Unlock()
	switch {
	case ok:
		return r, nil
	case full:
		return nil, errTooMuch
	}
	r = parseRules(text)
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, ok := k.known[sum]; ok { // another goroutine was faster
		return other, nil
	}
	if k.cost >= maxStock {
		return nil, errTooMuch
	}
	if k.known == nil {
		k.known = map[[sha256.Size]byte]*rules{}
	}
	k.known[sum] = r
	k.cost += r.memory()
	return r, nil
}

// evict drops files that are no longer in use, if memory is short.
func (k *stock) evict(used iter.Seq[*rules]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cost < maxStock/2 {
		return
	}
	live := map[*rules]bool{}
	for r := range used {
		live[r] = true
	}
	k.cost = 0
	for sum, r := range k.known {
		if r == nil || !live[r] {
			delete(k.known, sum)
		} else {
			k.cost += r.memory()
		}
	}
}

// memory is about how many bytes a file takes.
func (r *rules) memory() int {
	if r == nil {
		return fileCost
	}
	return fileCost + r.cost
}

// parseGlobs reads what a caller gave as globs, which may not be wrong.
func parseGlobs(globs []string) (*rules, error) {
	size := 0
	for _, g := range globs {
		size += len(g)
	}
	if len(globs) > maxGlobs || size > maxGlobText {
		return nil, fmt.Errorf("%w: %w", ErrGlob, errTooManyGlobs)
	}
	r := &rules{}
	for _, g := range globs {
		if err := r.add(g, globDialect); err != nil {
			return nil, fmt.Errorf("%w %.100q: %w", ErrGlob, g, err)
		}
	}
	if len(r.list) == 0 {
		return nil, nil
	}
	return r, nil
}

// add reads a line: a comment, a blank, or a rule.
func (r *rules) add(line string, d dialect) error {
	next, text, ok := cutLine(line)
	if !ok {
		return nil
	}
	g, err := compileGlob(text, d)
	if err != nil {
		return err
	}
	id := int32(len(r.list) + 1)
	r.cost += ruleCost + len(g.text)
	switch key := g.text; {
	case g.shape == shapeExact:
		next.before = r.behind(r.exact[key], next.dirOnly)
		r.exact = put(r.exact, key, id)
	case g.shape == shapeBase:
		next.before = r.behind(r.base[key], next.dirOnly)
		r.base = put(r.base, key, id)
	case g.shape == shapeSuffix && strings.LastIndexByte(key, '.') == 0:
		next.before = r.behind(r.ext[key], next.dirOnly)
		r.ext = put(r.ext, key, id)
	default:
		next.glob = &g
		r.rest = append(r.rest, id-1)
		r.work += g.prog.matchCost()
		r.cost += g.prog.memory()
	}
	if !next.negated {
		r.plain++
	}
	r.list = append(r.list, next)
	return nil
}

// cutLine takes a line apart, unless it is no rule. The text is a glob for a
// whole path.
func cutLine(line string) (next rule, text string, ok bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, "", false
	}
	line = trimLine(line)
	if line == "" {
		return rule{}, "", false
	}
	anchored := false
	if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
		line = line[1:]
	} else {
		line, next.negated = strings.CutPrefix(line, "!")
		line, anchored = strings.CutPrefix(line, "/")
	}
	if line, next.dirOnly = strings.CutSuffix(line, "/"); next.dirOnly {
		line = strings.TrimSuffix(line, `\`)
	}
	// A name without a slash matches at any depth. A slash anywhere but at the end anchors the rule
	// to the folder of its file.
	if !anchored && !strings.Contains(line, "/") && line != "**" {
		line = "**/" + line
	}
	// The pattern matches the contents of the folder and not the folder.
	if strings.HasSuffix(line, "/**") {
		line += "/*"
	}
	return next, line, true
}

// trimLine takes blanks off the end of a line, up to one that is escaped.
func trimLine(line string) string {
	cut := strings.TrimRightFunc(line, unicode.IsSpace)
	slashes := len(cut) - len(strings.TrimRight(cut, `\`))
	if slashes%2 == 1 && len(cut) < len(line) {
		_, size := utf8.DecodeRuneInString(line[len(cut):])
		return line[:len(cut)+size]
	}
	return cut
}

// ruleCost is roughly the size of a rule in bytes, with its table entry.
const ruleCost = 112

// behind returns the earlier rule with the same key that still matters after the rule id: none if
// that one applies to files and folders, otherwise the last that applies to files too. So a look-up
// takes two steps at most.
func (r *rules) behind(id int32, dirOnly bool) int32 {
	switch {
	case !dirOnly || id == 0:
		return 0
	case r.list[id-1].dirOnly:
		return r.list[id-1].before
	}
	return id
}

func put(m map[string]int32, key string, id int32) map[string]int32 {
	if m == nil {
		m = map[string]int32{}
	}
	m[key] = id
	return m
}

// match matches a path relative to the rules' folder. Its last component begins at base.
func (r *rules) match(m *machine, path []byte, base int, isDir bool) verdict {
	if r == nil {
		return unnamed
	}
	best := int32(0)
	if r.base != nil {
		best = r.last(r.base[string(path[base:])], best, isDir)
	}
	if r.ext != nil {
		if dot := bytes.LastIndexByte(path[base:], '.'); dot >= 0 {
			best = r.last(r.ext[string(path[base+dot:])], best, isDir)
		}
	}
	if r.exact != nil {
		best = r.last(r.exact[string(path)], best, isDir)
	}
	for i := len(r.rest) - 1; i >= 0 && r.rest[i] >= best; i-- {
		at := r.rest[i]
		if rule := &r.list[at]; (!rule.dirOnly || isDir) && rule.glob.match(m, path, base) {
			best = at + 1
			break
		}
	}
	switch {
	case best == 0:
		return unnamed
	case r.list[best-1].negated:
		return kept
	}
	return ignored
}

// last follows the rules of one key back to the first that applies to this kind of entry, as long
// as it is later than the best so far.
func (r *rules) last(id, best int32, isDir bool) int32 {
	for id > best {
		if rule := &r.list[id-1]; !rule.dirOnly || isDir {
			return id
		}
		id = r.list[id-1].before
	}
	return best
}
