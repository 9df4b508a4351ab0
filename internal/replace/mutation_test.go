package replace

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/text"
)

// sources reads the texts of the module, the larger ones first cut to size.
func sources(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || strings.HasPrefix(name, ".") && name != ".." && path != "../.." {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".mod":
		default:
			return nil
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // others may be at work beside the test
			return nil
		}
		if err != nil {
			return err
		}
		if s := strings.ReplaceAll(string(b), "\r\n", "\n"); strings.Count(s, "\n") >= 20 {
			out = append(out, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A slip is a way to misquote lines. It returns the quoted text, the file it
// is in, and false if it does not apply.
type slip struct {
	name   string
	blanks bool // only whitespace is wrong
	spoil  func(r *rand.Rand, file string, at Span) (quoted, changed string, ok bool)
}

// eachLine changes every line of what is quoted.
func eachLine(change func(line string) string) func(*rand.Rand, string, Span) (string, string, bool) {
	return func(_ *rand.Rand, file string, at Span) (string, string, bool) {
		old := file[at.Start:at.End]
		lines := strings.Split(old, "\n")
		for i := range lines {
			lines[i] = change(lines[i])
		}
		quoted := strings.Join(lines, "\n")
		return quoted, file, quoted != old
	}
}

// oneLine changes one line that has words in it.
func oneLine(change func(r *rand.Rand, line string) string) func(*rand.Rand, string, Span) (string, string, bool) {
	return func(r *rand.Rand, file string, at Span) (string, string, bool) {
		lines := strings.Split(file[at.Start:at.End], "\n")
		for range 10 {
			i := r.IntN(len(lines))
			if !hasWord(lines[i]) {
				continue
			}
			lines[i] = change(r, lines[i])
			quoted := strings.Join(lines, "\n")
			return quoted, file, quoted != file[at.Start:at.End]
		}
		return "", "", false
	}
}

// noIndent drops the blanks at the ends of all lines.
func noIndent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = trim(lines[i])
	}
	return strings.Join(lines, "\n") + "\n"
}

func indentOf(line string) string { return line[:len(line)-len(trimLeft(line))] }

func slips() []slip {
	return []slip{
		{"tabs to spaces", true, eachLine(func(l string) string {
			in := indentOf(l)
			return strings.ReplaceAll(in, "\t", "    ") + l[len(in):]
		})},
		{"spaces to tabs", true, eachLine(func(l string) string {
			in := indentOf(l)
			return strings.ReplaceAll(in, "  ", "\t") + l[len(in):]
		})},
		{"no indentation", true, eachLine(trimLeft)},
		{"more indentation", true, eachLine(func(l string) string {
			if l == "" {
				return l
			}
			return "  " + l
		})},
		{"trailing blanks", true, eachLine(func(l string) string { return l + "  " })},
		{"blanks inside", true, eachLine(func(l string) string {
			in := indentOf(l)
			return in + strings.ReplaceAll(l[len(in):], " ", "  ")
		})},
		{"blank lines around", true, func(_ *rand.Rand, file string, at Span) (string, string, bool) {
			return "\n" + file[at.Start:at.End] + "\n\n", file, true
		}},
		{"quotes", false, eachLine(func(l string) string { return strings.NewReplacer(`"`, "'", "`", `"`).Replace(l) })},
		{"curly quotes", false, eachLine(func(l string) string { return strings.NewReplacer(`"`, "”", "'", "’").Replace(l) })},
		{"semicolons", false, eachLine(func(l string) string { return strings.ReplaceAll(l, ")", ");") })},
		{"stale word", false, oneLine(func(r *rand.Rand, l string) string {
			words := wordsOf(l)
			return strings.Replace(l, words[r.IntN(len(words))], "stale", 1)
		})},
		{"stale digit", false, oneLine(func(_ *rand.Rand, l string) string {
			for i := range l {
				if l[i] >= '0' && l[i] <= '9' {
					return l[:i] + string('0'+(l[i]-'0'+1)%10) + l[i+1:]
				}
			}
			return l
		})},
		{"stale operator", false, oneLine(func(_ *rand.Rand, l string) string {
			return strings.NewReplacer("==", "!=", "!=", "==", "+", "-", "&&", "||", "<", ">").Replace(l)
		})},
		{"line left out", false, func(r *rand.Rand, file string, at Span) (string, string, bool) {
			lines := strings.Split(file[at.Start:at.End], "\n")
			if len(lines) < 3 {
				return "", "", false
			}
			i := 1 + r.IntN(len(lines)-2)
			return strings.Join(append(lines[:i:i], lines[i+1:]...), "\n"), file, trim(lines[i]) != ""
		}},
		{"line made up", false, func(r *rand.Rand, file string, at Span) (string, string, bool) {
			lines := strings.Split(file[at.Start:at.End], "\n")
			i := 1 + r.IntN(len(lines))
			return strings.Join(append(lines[:i:i], append([]string{"\tmadeUp(line)"}, lines[i:]...)...), "\n"), file, true
		}},
		{"middle made up", false, middle("\t// something different", "\tdone := compute(all)")},
		{"elided", false, middle("\t// ... existing code ...")},
		{"elided plainly", false, middle("...")},
		{"twice in the file", true, func(_ *rand.Rand, file string, at Span) (string, string, bool) {
			old := file[at.Start:at.End]
			lines := strings.Split(old, "\n")
			for i := range lines {
				lines[i] = " " + lines[i] + " "
			}
			return strings.Join(lines, "\n"), file + "\n\t" + old + "\n", true
		}},
		{"twice, one stale", false, func(r *rand.Rand, file string, at Span) (string, string, bool) {
			quoted, _, ok := oneLine(func(r *rand.Rand, l string) string { return strings.Replace(l, wordsOf(l)[0], "stale", 1) })(r, file, at)
			return quoted, file + "\n" + file[at.Start:at.End] + "\n", ok
		}},
	}
}

// middle puts other lines between the first and the last.
func middle(with ...string) func(*rand.Rand, string, Span) (string, string, bool) {
	return func(_ *rand.Rand, file string, at Span) (string, string, bool) {
		lines := strings.Split(file[at.Start:at.End], "\n")
		if len(lines) < 4 {
			return "", "", false
		}
		out := append([]string{lines[0]}, with...)
		return strings.Join(append(out, lines[len(lines)-1]), "\n"), file, true
	}
}

// draw picks lines of a file that are unique in it and begin and end with one
// that is not blank, as a quote does.
func draw(r *rand.Rand, file string) (Span, bool) {
	t := newTable(file)
	for range 20 {
		i := r.IntN(t.len() - 1)
		j := min(i+r.IntN(14), t.len()-2)
		s := t.span(i, j)
		if trim(t.lineAt(i)) != "" && trim(t.lineAt(j)) != "" && hasWord(file[s.Start:s.End]) && strings.Count(file, file[s.Start:s.End]) == 1 {
			return s, true
		}
	}
	return Span{}, false
}

// A tally counts what became of the slips of one kind.
type tally struct{ tried, applied, missed, near, retried, many int }

// TestMutations misquotes lines of real files in the ways models do. No edit
// may land in a wrong place or take a line that was not quoted.
func TestMutations(t *testing.T) {
	files := sources(t)
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	r := rand.New(rand.NewPCG(7, 11))
	var blank, total tally
	for _, s := range slips() {
		var c tally
		for range 10000 {
			if c.tried == 120 {
				break
			}
			file := files[r.IntN(len(files))]
			at, ok := draw(r, file)
			if !ok {
				continue
			}
			quoted, changed, ok := s.spoil(r, file, at)
			if !ok || strings.Contains(changed, quoted) || !s.blanks && strings.Contains(noIndent(changed), noIndent(quoted)) {
				continue // that text is there, so the slip shows nowhere
			}
			c.tried++
			judge(t, &c, changed, quoted, at)
		}
		if s.name == "twice in the file" && c.applied > 0 {
			t.Errorf("%d of the texts that are twice in the file were replaced", c.applied)
		}
		t.Logf("%-20s %3d tried, %3d applied, %3d missed (%d shown the place, %d found by the text shown), %3d several", s.name, c.tried, c.applied, c.missed, c.near, c.retried, c.many)
		total.add(c)
		if s.blanks && s.name != "twice in the file" {
			blank.add(c)
		}
	}
	t.Logf("total: %+v; only blanks wrong: %+v", total, blank)
	if total.tried < 1000 {
		t.Errorf("only %d edits were tried", total.tried)
	}
	if blank.applied*100 < blank.tried*85 {
		t.Errorf("of %d edits with only blanks wrong %d were applied", blank.tried, blank.applied)
	}
	if total.near*100 < total.missed*90 {
		t.Errorf("of %d misses %d were shown the place meant", total.missed, total.near)
	}
	if total.retried*100 < total.missed*90 {
		t.Errorf("of %d misses the text shown was found %d times", total.missed, total.retried)
	}
}

func (c *tally) add(o tally) {
	c.tried += o.tried
	c.applied += o.applied
	c.missed += o.missed
	c.many += o.many
	c.near += o.near
	c.retried += o.retried
}

// judge looks for the quoted text and counts what becomes of it. The place
// meant is at, give or take blanks.
func judge(t *testing.T, c *tally, file, quoted string, at Span) {
	t.Helper()
	m, err := Find(file, quoted, Options{})
	var missing *Missing
	var many *Many
	switch {
	case errors.As(err, &missing):
		c.missed++
		if f := newSearch(file, quoted, Options{}); missing.Start <= f.lineOf(at.End) && missing.End >= f.lineOf(at.Start) {
			c.near++
		}
		if again, err := Find(file, missing.Text, Options{}); err == nil && again.Exact && again.Strategy == simple && len(again.Spans) == 1 {
			c.retried++
		}
		return
	case errors.As(err, &many):
		c.many++
		return
	case err != nil:
		t.Errorf("%q: %v", quoted, err)
		return
	}
	c.applied++
	const mark = "\x00"
	s := m.Spans[0]
	got := text.Apply(file, []text.Edit{{Start: s.Start, End: s.End, New: mark}})
	before, after, _ := strings.Cut(got, mark)
	if trim(before) != trim(file[:at.Start]) || trim(after) != trim(file[at.End:]) {
		t.Errorf("%s: quoted\n%s\nmeant\n%s\nfound\n%s", m.Strategy, quoted, file[at.Start:at.End], file[s.Start:s.End])
	}
}
