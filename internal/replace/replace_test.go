package replace

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"helve/internal/text"
)

// apply makes the edit; its error is errNone, errMany or as Find gives it.
func apply(content, old, new string, opt Options) (string, Match, error) {
	m, err := Find(content, old, opt)
	var missing *Missing
	var many *Many
	switch {
	case errors.As(err, &missing):
		return "", m, errNone
	case errors.As(err, &many):
		return "", m, errMany
	case err != nil:
		return "", m, err
	}
	edits := make([]text.Edit, len(m.Spans))
	for i, s := range m.Spans {
		edits[i] = text.Edit{Start: s.Start, End: s.End, New: new}
	}
	return text.Apply(content, edits), m, nil
}

// piece draws a short text of the pieces.
func piece(r *rand.Rand, pieces []string, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// The fast search must answer as the plain one, whatever it is given.
func TestSeedIsAsTheOracle(t *testing.T) {
	o := newOracle()
	r := rand.New(rand.NewPCG(1, 2))
	alphabets := [][]string{
		{"a", "b", " ", "\n"},
		{"a", "b", " ", "  ", "\t", "\n", "\n", "}"},
		{"foo", "bar", " ", "\t", "\n", "\n", "x = 1;", "\r", "\u00a0", "\ufeff", "\u2028"},
		{"a", `\`, `\n`, "\n", `\t`, "\t", `"`, `\"`, "$", "`", "'", `\\`},
		{"é", "🌍", "a", " ", "\n", "\u3000", "\u0085"},
		{"s\n", "e\n", "x\n", "y\n", "\n", "\n"},
		{"s\n", "e\n", "aaaa\n", "aaab\n", "  ccbb\n", "\n", " ", "🌍x\n"},
	}
	by, outcomes := map[string]int{}, map[string]int{}
	const rounds = 20000
	for range rounds {
		pieces := alphabets[r.IntN(len(alphabets))]
		content := piece(r, pieces, 24)
		old := piece(r, pieces, 8)
		if r.IntN(3) == 0 && content != "" { // quote a part and spoil it
			i := r.IntN(len(content))
			old = strings.ToValidUTF8(content[i:i+r.IntN(len(content)-i)+1], "")
			cut := []rune(old)
			if len(cut) > 0 {
				k := r.IntN(len(cut))
				old = string(cut[:k]) + piece(r, pieces, 2) + string(cut[k+r.IntN(2):])
			}
		}
		if old == "" {
			continue
		}
		all := r.IntN(4) == 0
		want, wantErr := o.replace(content, old, "<$&>", all)
		got, m, err := apply(content, old, "<$&>", Options{All: all, Profile: Seed})
		if got != want || err != wantErr {
			t.Fatalf("content %q\nold %q all %v\n got %q %v by %q\nwant %q %v", content, old, all, got, err, m.Strategy, want, wantErr)
		}
		by[m.Strategy]++
		switch err {
		case nil:
			outcomes["found"]++
		default:
			outcomes[err.Error()]++
		}
	}
	t.Logf("%v, by %v", outcomes, by)
	for _, name := range []string{simple, lineTrimmed, blockAnchor, whitespaceNormalized, escapeNormalized, trimmedBoundary} {
		if by[name] == 0 {
			t.Errorf("no case was decided by %s", name)
		}
	}
}

func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		pieces := []string{"a", "b", "c", "🌍", "é"}[:2+r.IntN(4)]
		most := []int{5, 70, 300}[r.IntN(3)]
		a, b := piece(r, pieces, most), piece(r, pieces, most)
		steps := maxSteps
		got, ok := distance(utf16Of(a), utf16Of(b), &steps)
		if want := plainDistance(a, b); !ok || got != want {
			t.Fatalf("distance of %q and %q is %d, want %d", a, b, got, want)
		}
	}
	steps := 10
	if _, ok := distance(utf16Of(strings.Repeat("a", 5000)), utf16Of(strings.Repeat("b", 5000)), &steps); ok || steps >= 0 {
		t.Error("the bound did not hold")
	}
}
