package replace

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What the nearest text may be at most.
const (
	nearLines = 60
	nearBytes = 8 << 10
)

// findNearest looks for the text nearest to the quoted one.
func (f *search) findNearest() *Missing {
	m := &Missing{content: f.content, old: f.old, profile: f.opt.Profile}
	old := f.old
	if numbered(old) {
		var b strings.Builder
		for line := range strings.Lines(old) {
			b.WriteString(unnumber(line))
		}
		old = b.String()
	}
	if trim(old) == "" || trim(f.content) == "" {
		return m
	}
	if old != f.old { // the search is for what was meant
		f = newSearch(f.content, old, f.opt)
	}
	n := near{search: f}
	b, told := n.byLines()
	if told < tells {
		if by, ok := n.byLetters(); ok {
			b, told = by, tells
		}
	}
	if told == 0 {
		return m
	}
	n.setBlock(m, b)
	return m
}

// A near is the search for the text nearest to old.
type near struct {
	*search
	letters *letters
}

// tells is how much must speak for a block found by its lines to be believed:
// a line that is at two places.
const tells = 0.5

// height is how many lines the quoted text has.
func (n *near) height() int { return len(n.indexLines().oid) }

// What of repeated lines is looked at. The rest tells nothing about the place.
const (
	mostHere  = 50 // places in the content of one line
	mostThere = 4  // places in the quoted text of one line
)

// byLines finds the block by the lines both texts have: each place of such a
// line says where the block would begin, and the rarer the line the more that
// counts. Then lines beside the block that were also quoted are taken in.
func (n *near) byLines() (b block, told float64) {
	votes, pairs := n.votes()
	best, at := 0.0, 0
	for start, v := range votes {
		for d := -2; d <= 2; d++ { // a line more or less moves the rest
			if d != 0 {
				v += votes[start+d] / 2
			}
		}
		if v > best || v == best && start < at {
			best, at = v, start
		}
	}
	if best == 0 {
		return block{}, 0
	}
	height, last := n.height(), n.indexLines().c.len()-1
	reach := 2 + height/4
	b = block{max(at, 0), min(at+height-1, last)}
	first, end := -1, -1
	for k, p := range pairs {
		if p.first-p.last >= at-reach && p.first-p.last <= at+reach {
			if first < 0 {
				first = k
			}
			end = k
		}
	}
	if first >= 0 {
		b.first = max(pairs[first].first-pairs[first].last, 0)
		b.last = min(pairs[end].first+height-1-pairs[end].last, last)
	}
	b.last = max(b.first, b.last)
	return b, best
}

// votes counts for every line of the content how much says that the quoted
// text begins there. The pairs are the lines that say so: first is the line of
// the content, last that of the quoted text.
func (n *near) votes() (map[int]float64, []block) {
	p := n.indexLines()
	there := map[int32][]int{}
	for j, id := range p.oid {
		if id >= 0 && len(there[id]) < mostThere {
			there[id] = append(there[id], j)
		}
	}
	here := map[int32]int{}
	for _, id := range p.cid {
		if there[id] != nil {
			here[id]++
		}
	}
	votes, pairs := map[int]float64{}, []block{}
	used := map[int32]int{}
	for i, id := range p.cid {
		if id < 0 || there[id] == nil || used[id] >= mostHere {
			continue
		}
		used[id]++
		line := trim(p.c.lineAt(i))
		if line == "" {
			continue
		}
		weight := 1 / float64(here[id]*len(there[id]))
		if !hasWord(line) {
			weight /= 16
		}
		for _, j := range there[id] {
			votes[i-j] += weight
			pairs = append(pairs, block{i, j})
		}
	}
	return votes, pairs
}

// setBlock puts the block into m, cut to what may be shown and then widened until
// its text is unique.
func (n *near) setBlock(m *Missing, b block) {
	t := n.indexLines().c
	s := t.span(b.first, b.last)
	most := max(nearLines, n.height()+n.height()/4+2)
	if b.last-b.first+1 > most || s.End-s.Start > nearBytes {
		whole := b
		b.last = min(b.last, b.first+most-1)
		for b.last > b.first && int(t.start[b.last+1]-t.start[b.first]) > nearBytes {
			b.last--
		}
		if b.last < whole.last {
			m.cut = whole.last - whole.first + 1
		}
		s = t.span(b.first, b.last)
	}
	if s.End-s.Start > nearBytes {
		m.part = true
		s = n.nearestPart(s)
	} else {
		s = n.widen(b)
	}
	m.Text = n.content[s.Start:s.End]
	m.Start, m.End = n.lineOf(s.Start), n.lineOf(s.End)
	m.Similarity = similarity(trim(n.old), trim(m.Text))
	n.difference(m, s)
}

// widen adds lines around the block, twice as many each time, until its text
// is unique or would be too long.
func (n *near) widen(b block) Span {
	t := n.indexLines().c
	s := t.span(b.first, b.last)
	for step := 1; n.elsewhere(s); step *= 2 {
		wide := block{max(b.first-step, 0), min(b.last+step, t.len()-1)}
		w := t.span(wide.first, wide.last)
		if w.End-w.Start > nearBytes || w == s {
			break
		}
		s = w
	}
	return s
}

// nearestPart finds in a line too long to show the part that is nearest.
func (n *near) nearestPart(s Span) Span {
	line := n.content[s.Start:s.End]
	g := n.grams()
	size := min(len(n.old)+len(n.old)/4+16, nearBytes)
	type hit struct {
		end  int32
		gram int16
	}
	var hits []hit
	here := make([]float64, len(g.weight))
	g.each(line, func(number int16, end int) {
		here[number]++
		hits = append(hits, hit{int32(end), number})
	})
	best, at, have, out := 0.0, 0, 0.0, 0
	for _, h := range hits {
		have += 1 / here[h.gram]
		for ; int(h.end-hits[out].end) > size-3; out++ {
			have -= 1 / here[hits[out].gram]
		}
		if have > best {
			best, at = have, max(int(h.end)+1-size, 0)
		}
	}
	p := n.round(Span{s.Start + at, min(s.Start+at+size, s.End)}, s)
	for step := 32; n.elsewhere(p); step *= 2 {
		w := n.round(Span{max(p.Start-step, s.Start), min(p.End+step, s.End)}, s)
		if w.End-w.Start > nearBytes || w == p {
			break
		}
		p = w
	}
	return p
}

// round moves the ends of p, inside s, off the inside of characters.
func (n *near) round(p, s Span) Span {
	for p.Start > s.Start && !utf8.RuneStart(n.content[p.Start]) {
		p.Start--
	}
	for p.End < s.End && !utf8.RuneStart(n.content[p.End]) {
		p.End++
	}
	return p
}

// letters are the runs of three bytes the quoted text has, upper and lower
// case being equal, and what each tells. Runs with a blank are left out: they
// are everywhere.
type letters struct {
	grams  []uint32
	slots  []int16 // by hash: the number of a run, -1 for none; the next ones where it is taken
	weight []float64
}

const (
	mostLetters = 4096
	slotBits    = 14
)

func (n *near) grams() *letters {
	if n.letters != nil {
		return n.letters
	}
	g := &letters{slots: make([]int16, 1<<slotBits)}
	for i := range g.slots {
		g.slots[i] = -1
	}
	gram, have := uint32(0), 0
	for i := 0; i < len(n.old) && len(g.grams) < mostLetters; i++ {
		if gram, have = nextGram(gram, have, n.old[i]); have < 3 {
			continue
		}
		if slot, known := g.slot(gram); !known {
			g.slots[slot] = int16(len(g.grams))
			g.grams = append(g.grams, gram)
		}
	}
	g.weight = make([]float64, len(g.grams))
	n.letters = g
	return g
}

// nextGram adds a byte to a run of which have bytes are there.
func nextGram(gram uint32, have int, c byte) (uint32, int) {
	if c <= ' ' {
		return 0, 0
	}
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return (gram<<8 | uint32(c)) & 0xffffff, min(have+1, 3)
}

// slot returns where the run is or would be.
func (g *letters) slot(gram uint32) (slot uint32, known bool) {
	for slot = gram * 0x9e3779b1 >> (32 - slotBits); ; slot = (slot + 1) % (1 << slotBits) {
		switch k := g.slots[slot]; {
		case k < 0:
			return slot, false
		case g.grams[k] == gram:
			return slot, true
		}
	}
}

// each calls found with the number of every run of letters in s that was
// quoted, and the offset of its last byte.
func (g *letters) each(s string, found func(number int16, end int)) {
	gram, have := uint32(0), 0
	for i := range len(s) {
		if gram, have = nextGram(gram, have, s[i]); have < 3 {
			continue
		}
		if slot, known := g.slot(gram); known {
			found(g.slots[slot], i)
		}
	}
}

// byLetters finds the block by the runs of letters both texts have. It is for
// quoted texts of which no line is in the content.
func (n *near) byLetters() (block, bool) {
	g := n.grams()
	if len(g.grams) == 0 {
		return block{}, false
	}
	t := n.indexLines().c
	score := n.lineScores()
	height := min(n.height(), t.len())
	type ranked struct {
		block
		score float64
	}
	var best []ranked
	sum := 0.0
	for i := range score {
		sum += score[i]
		if i >= height {
			sum -= score[i-height]
		}
		if i < height-1 || sum <= 0 {
			continue
		}
		r := ranked{block{i - height + 1, i}, sum}
		const some = 8
		if len(best) == some && sum <= best[some-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, r, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
		for at < len(best) && best[at].score == sum {
			at++
		}
		best = slices.Insert(best, at, r)[:min(len(best)+1, some)]
	}
	top, at := 0.0, block{}
	for _, r := range best {
		s := t.span(r.first, r.last)
		text := n.content[s.Start:s.End]
		v := n.covered(text)
		if v < 0.25 {
			continue
		}
		if v += similarity(trim(n.old), trim(text)); v > top {
			top, at = v, r.block
		}
	}
	return at, top > 0
}

// lineScores says of every line how much it has of the quoted text's letters,
// rare ones counting more. Each run counts once a line.
func (n *near) lineScores() []float64 {
	g, t := n.grams(), n.indexLines().c
	seen := make([]int32, len(g.weight)) // the line a run was last seen in
	for i := range t.len() {
		g.each(t.lineAt(i), func(number int16, _ int) {
			if seen[number] != int32(i+1) {
				seen[number] = int32(i + 1)
				g.weight[number]++
			}
		})
	}
	clear(seen)
	score := make([]float64, t.len())
	for i := range score {
		g.each(t.lineAt(i), func(number int16, _ int) {
			if seen[number] != int32(i+1) {
				seen[number] = int32(i + 1)
				score[i] += 1 / g.weight[number]
			}
		})
	}
	return score
}

// covered is which part of the quoted text's letters a text has.
func (n *near) covered(text string) float64 {
	g := n.grams()
	have := make([]bool, len(g.weight))
	count := 0
	g.each(text, func(number int16, _ int) {
		if !have[number] {
			have[number] = true
			count++
		}
	})
	return float64(count) / float64(max(len(have), 1))
}

// difference finds where the text at s first differs from the quoted one. That
// may begin inside the first line, so the place is taken from which on most is
// equal.
func (n *near) difference(m *Missing, s Span) {
	const mostStarts = 4096
	line, _, _ := strings.Cut(m.Text, "\n")
	best, at := -1, 0
	for i := 0; i <= min(len(line), mostStarts); i++ {
		if i < len(line) && !utf8.RuneStart(line[i]) {
			continue
		}
		if k := common(m.Text[i:], n.old); k > best {
			best, at = k, i
		}
		if best > len(line)-i {
			break
		}
	}
	best = common(n.content[s.Start+at:], n.old) // it may go on past the text shown
	if best == len(n.old) {
		return // it is there, but for the line numbers
	}
	offset := s.Start + at + best
	m.Quoted = naming(n.old[best:])
	m.There = naming(n.content[offset:])
	row := n.indexLines().c.lineOf(offset)
	m.Line = row + 1
	m.Column = utf8.RuneCountInString(n.content[n.indexLines().c.start[row]:offset]) + 1
}

// common returns how many bytes two texts begin with alike, in whole
// characters.
func common(a, b string) int {
	k := 0
	for k < len(a) && k < len(b) && a[k] == b[k] {
		k++
	}
	for k > 0 && (k < len(a) && !utf8.RuneStart(a[k]) || k < len(b) && !utf8.RuneStart(b[k])) {
		k--
	}
	return k
}
