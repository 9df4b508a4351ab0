package replace

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/text"
)

// apply makes the edit; its error is errNone, errMany or as Find gives it.
func apply(content, old, new string, opt Options) (string, Match, error) {
	m, err := Find(content, old, opt)
	var edits []text.Edit
	if err == nil {
		edits, err = m.Edits(new)
	}
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

// Whatever the safe profile replaces the seed replaces, at as many places or
// more.
func TestSafeIsNeverLooser(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alphabets := [][]string{
		{"a", "b", " ", "\n", "\n"},
		{"foo", "bar", " ", "\t", "\n", "\n", "x = 1;", "'", "\""},
		{"f {\n", "}\n", "  a('x')\n", "  a(\"x\")\n", "\n", "  b\n", "    b\n"},
		{"a", `\`, `\n`, "\n", `\t`, "\t", `"`, `\"`},
	}
	loose := 0
	for range 20000 {
		pieces := alphabets[r.IntN(len(alphabets))]
		content := piece(r, pieces, 16)
		old := piece(r, pieces, 6)
		if content != "" && r.IntN(2) == 0 { // quote a part and spoil it
			i := r.IntN(len(content))
			old = content[i : i+r.IntN(len(content)-i)+1]
			k := r.IntN(len(old))
			old = old[:k] + piece(r, pieces, 1) + old[k:]
		}
		if old == "" {
			continue
		}
		all := r.IntN(2) == 0
		m, err := Find(content, old, Options{All: all})
		if err != nil {
			continue
		}
		if !m.Exact {
			loose++
		}
		seed, err := Find(content, old, Options{All: all, Profile: Seed})
		if err != nil || len(seed.Spans) < len(m.Spans) {
			t.Fatalf("content %q\nold %q all %v: %d places by %s, the seed has %d: %v", content, old, all, len(m.Spans), m.Strategy, len(seed.Spans), err)
		}
	}
	if loose < 500 {
		t.Errorf("only %d matches that were not exact", loose)
	}
}

// TestReindentedIsAsExact quotes lines of real files with another indentation
// than they have: what comes of the edit is what comes of it when they are
// quoted, and the new text is written, with their own.
func TestReindentedIsAsExact(t *testing.T) {
	files := sources(t)
	r := rand.New(rand.NewPCG(9, 10))
	done := 0
	for range 2000 {
		file := files[r.IntN(len(files))]
		at, ok := draw(r, file)
		if !ok {
			continue
		}
		quoted := file[at.Start:at.End]
		fresh := strings.Replace(quoted, wordsOf(quoted)[0], "changed", 1) + "\n" + indentOf(quoted) + "\tmore()"
		if r.IntN(2) == 0 {
			quoted, fresh = quoted+"\n", fresh+"\n"
		}
		want, m, err := apply(file, quoted, fresh, Options{})
		if err != nil || !m.Exact {
			continue
		}
		move := func(s string) string {
			lines := strings.Split(s, "\n")
			for i, line := range lines {
				if trim(line) != "" {
					lines[i] = "  " + line
				}
			}
			return strings.Join(lines, "\n")
		}
		if in := shared(indents(strings.Split(quoted, "\n"))); in != "" && allHave(strings.Split(fresh, "\n"), in) && r.IntN(2) == 0 {
			move = func(s string) string {
				lines := strings.Split(s, "\n")
				for i := range lines {
					lines[i] = strings.TrimPrefix(lines[i], in)
				}
				return strings.Join(lines, "\n")
			}
		}
		got, m, err := apply(file, move(quoted), move(fresh), Options{})
		if err != nil || m.Exact { // it is at several places then, or is a part of lines
			continue
		}
		if done++; got != want {
			t.Fatalf("by %s:\nquoted\n%s\nnew\n%s\ngot\n%s\nwant\n%s", m.Strategy, move(quoted), move(fresh), got, want)
		}
	}
	if done < 1000 {
		t.Errorf("only %d edits", done)
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
