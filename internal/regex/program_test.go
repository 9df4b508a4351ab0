package regex

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSides compares the sides the exact matcher reads from a line with those
// the automaton learns byte by byte.
func TestSides(t *testing.T) {
	p := mustCompile(t, `\b`, Options{}).prog
	for _, line := range split(oddText()) {
		st := newStepper(p)
		from, to := st.newStand(), st.newStand()
		for i := range len(line) {
			to.reset()
			at := st.look(from, to, line[i])
			if want := p.sideBefore([]byte(line), i+1); at.before != want {
				t.Errorf("%q: before %d stands %d, want %d", line, i+1, at.before, want)
			}
			if want := p.sideAfter([]byte(line), i); at.known != 0 && at.known != want {
				t.Errorf("%q: after %d stands %d, want %d", line, i, at.known, want)
			}
			from, to = to, from
		}
	}
}

func TestParts(t *testing.T) {
	p := mustCompile(t, `[a-f]x[bc]`, Options{}).prog
	var got []byteRange
	for b := 0; b < 256; b++ {
		if part := p.byteClass(byte(b)); len(got) == 0 || got[len(got)-1] != part {
			got = append(got, part)
		}
	}
	want := []byteRange{{0, 9}, {10, 10}, {11, 'a' - 1}, {'a', 'a'}, {'b', 'c'}, {'d', 'f'}, {'g', 'w'}, {'x', 'x'}, {'y', 0x7F}, {0x80, 0xFF}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(byteRange{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnchored(t *testing.T) {
	for pattern, want := range map[string]bool{
		`^a`: true, `a`: false, `^a|b`: false, `^a|^b`: true, `(^|x)a`: false, `\b^a`: true, `a^`: false, `\Aa`: true, `(^a)?`: false, `(?:^){0,1}a`: false, `^`: true,
	} {
		if got := mustCompile(t, pattern, Options{}).prog.anchored; got != want {
			t.Errorf("%q: %v, want %v", pattern, got, want)
		}
	}
}

// TestEncode keeps stands whole on their way through the kept states.
func TestEncode(t *testing.T) {
	st := newStepper(mustCompile(t, `.{200}x`, Options{}).prog)
	a, b := st.newStand(), st.newStand()
	for _, pc := range []int{0, 1, 5, 63, 64, 150} {
		a.plain[pc>>6] |= 1 << (pc & 63)
	}
	a.extra = []extra{newExtra(0, 3, sideAll, sideEdge), newExtra(2, 0, sideWord, sideAll), newExtra(1<<17, 60000, 1, 2)}
	a.word, a.last, a.slack = 300, sideWord, 2
	b.decode(string(a.encode(nil)))
	if diff := cmp.Diff(a, b, cmp.AllowUnexported(stand{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
