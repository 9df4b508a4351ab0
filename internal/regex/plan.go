package regex

import "math/bits"

const (
	width   = 3        // places of a sequence that are looked at first
	nearby  = 32       // places from the start of a sequence that are considered for it
	dense   = 1.0 / 16 // hits per byte above which a filter does not help
	seldom  = 1.0 / 64 // share of a byte that is worth leaping for
	perByte = 0.07     // what a byte costs the pair kernel, in ns
	perMore = 0.03     // what it costs the Teddy kernel more
	perHit  = 6.0      // what a place that has to be looked at costs
)

// A scanWindow is the positions in all sequences to check first.
type scanWindow struct {
	at    [width]int // unused ones repeat the last
	n     int        // how many are in use; 0 when a sequence is empty
	reach int        // the largest of them
	rate  float64    // the share of positions that pass, as far as is known
}

// A scanPlan is what there is to know before a way is chosen.
type scanPlan struct {
	alts     []Sequence
	window   scanWindow
	hit      float64 // the share of positions at which an alternative stands
	pair     pair    // when there is one alternative
	pairRate float64 // 1 when there is no pair
	rareByte byte
	rareAt   int // -1 when the one alternative has no set of one byte
	rareRate float64
}

// A pair is two positions of one sequence whose sets can be tested by fixing some bits: the two
// cases of a letter differ in one bit only.
type pair struct {
	value [2]byte
	loose [2]byte // bits set in both, the text and the value, before comparing
	at    [2]int
}

func newPlan(alternatives []Sequence) scanPlan {
	p := scanPlan{alts: alternatives, pairRate: 1, rareAt: -1, rareRate: 1}
	shares := make([][]float64, len(alternatives))
	short := nearby
	for i, s := range alternatives {
		short = min(short, len(s))
		shares[i] = make([]float64, min(len(s), nearby))
		hit := 1.0
		for k := range shares[i] {
			shares[i][k] = s[k].Share()
			hit *= shares[i][k]
		}
		p.hit += hit
	}
	p.window = newWindow(shares, short)
	if len(alternatives) == 1 && short > 0 {
		p.planOne(shares[0])
	}
	return p
}

// newWindow takes the places one after another, each time the one that leaves
// the fewest hits.
func newWindow(shares [][]float64, short int) (w scanWindow) {
	left := make([]float64, len(shares))
	for i := range left {
		left[i] = 1
	}
	for w.n < min(width, short) {
		best, at := 0.0, -1
		for k := range short {
			if w.uses(k) {
				continue
			}
			sum := 0.0
			for i := range shares {
				sum += left[i] * shares[i][k]
			}
			if at < 0 || sum < best {
				best, at = sum, k
			}
		}
		for i := range shares {
			left[i] *= shares[i][at]
		}
		w.at[w.n], w.rate = at, best
		w.reach = max(w.reach, at)
		w.n++
	}
	for k := w.n; k < width && w.n > 0; k++ {
		w.at[k] = w.at[w.n-1]
	}
	return w
}

func (w *scanWindow) uses(k int) bool {
	for _, at := range w.at[:w.n] {
		if at == k {
			return true
		}
	}
	return false
}

// planOne looks for the rarest byte and the rarest pair of the one sequence.
func (p *scanPlan) planOne(shares []float64) {
	s := p.alts[0]
	first, second := -1, -1
	for k := range shares {
		if s[k].Len() == 1 && shares[k] < p.rareRate {
			p.rareByte, p.rareAt, p.rareRate = s[k].smallest(), k, shares[k]
		}
		if _, _, ok := s[k].cube(); !ok {
			continue
		}
		switch {
		case first < 0 || shares[k] < shares[first]:
			first, second = k, first
		case second < 0 || shares[k] < shares[second]:
			second = k
		}
	}
	if second < 0 {
		return
	}
	p.pairRate = shares[first] * shares[second]
	p.pair.at = [2]int{first, second}
	for i, k := range p.pair.at {
		p.pair.value[i], p.pair.loose[i], _ = s[k].cube()
	}
}

// pairs reports whether the pair is better than the window of three.
func (p *scanPlan) pairs() bool {
	return p.pairRate < 1 && perHit*p.pairRate <= perMore+perHit*p.window.rate
}

// rare reports whether the rarest byte is worth leaping for.
func (p *scanPlan) rare() bool { return p.rareAt >= 0 && p.rareRate < seldom }

// cube reports whether the set is all bytes that agree with value outside the
// bits of loose. Value has those bits set.
func (s *Set) cube() (value, loose byte, ok bool) {
	n := 0
	or, and := byte(0), byte(0xff)
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			b := byte(w<<6 | bits.TrailingZeros64(word))
			or, and = or|b, and&b
			n++
		}
	}
	loose = or &^ and
	return or, loose, n > 0 && n == 1<<bits.OnesCount8(loose)
}

// Cost estimates, from how often bytes occur in source text, what a [Scanner] of the alternatives
// costs for each byte it passes over (look, roughly in ns with vector instructions) and at which
// share of all positions it finds one (hit). Both are 1 if it cannot scan at all.
func Cost(alternatives []Sequence) (look, hit float64) {
	p := newPlan(alternatives)
	if len(alternatives) == 0 || p.window.n == 0 || p.window.rate > dense {
		return 1, 1
	}
	look = perByte + perMore + perHit*p.window.rate
	if p.pairs() {
		look = perByte + perHit*p.pairRate
	}
	return look, min(1, p.hit)
}
