package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const notMeasured = "not measured"

// A verdict is how a figure stands to its target.
type verdict int

const (
	untold verdict = iota // not measured, or nothing is wanted
	met
	short
)

func (v verdict) String() string { return [...]string{"", "met", "**short**"}[v] }

// ahead is how many times better than its peer helve was; 0 where there is no
// peer, or nothing to divide by.
func (w wanted) ahead(f *proof.Figure) float64 {
	switch {
	case f == nil || f.Peer == "" || f.Value == 0 || f.PeerValue == 0:
		return 0
	case w.Higher || strings.HasSuffix(f.Unit, "a second"):
		return f.Value / f.PeerValue
	}
	return f.PeerValue / f.Value
}

func (w wanted) verdict(f *proof.Figure) verdict {
	if f == nil || !w.targeted() {
		return untold
	}
	got := f.Value
	switch {
	case w.Judge != "" && (f.Peer == "" || f.PeerValue == 0):
		return untold
	case w.Judge == "ahead":
		got = w.ahead(f)
	case w.Judge == "share":
		got = f.Value / f.PeerValue
	}
	if w.Most != nil && got > *w.Most || w.Least != nil && got < *w.Least {
		return short
	}
	return met
}

// target is what is wanted, in words.
func (w wanted) target(unit string) string {
	say := func(x float64) string {
		switch w.Judge {
		case "ahead":
			return number(x) + " times ahead"
		case "share":
			return number(x) + " times the other's"
		}
		return words(x, unit)
	}
	switch {
	case !w.targeted():
		return "–"
	case w.Most == nil:
		return "at least " + say(*w.Least)
	case *w.Most == 0:
		return "none"
	case w.Least == nil:
		return "at most " + say(*w.Most)
	}
	return say(*w.Least) + " to " + say(*w.Most)
}

// A page is docs/benchmarks.md while it is made.
type page struct {
	plan *plan
	book *book
	used map[string]bool // figures that stand somewhere
}

// render makes the page from the data alone, and tells which figures it shows.
func render(p *plan, b *book) (text string, used map[string]bool, err error) {
	s := &page{p, b, map[string]bool{}}
	t, err := template.New("page.md").Funcs(template.FuncMap{
		"v": s.value, "p": func(id string) string { return s.peer(id, false, notMeasured) },
		"t":    s.ahead,
		"list": func(words ...string) []string { return words }, "queries": queries,
		"table": s.table, "part": s.part, "summary": s.summary, "machine": s.machine, "versions": s.versions, "counts": s.counts,
	}).Parse(pageText)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	err = t.Execute(&out, nil)
	return out.String(), s.used, err
}

// renderFiles writes the page.
func renderFiles(p *plan, dir string) error {
	b, err := readBook(filepath.Join(dir, bookFile))
	if err != nil {
		return err
	}
	text, _, err := render(p, b)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, pageFile), []byte(text), 0o644)
}

func (s *page) find(id string) *proof.Figure {
	s.used[id] = true
	return s.book.find(id)
}

func (s *page) value(id string) string {
	if f := s.find(id); f != nil {
		return words(f.Value, f.Unit)
	}
	return notMeasured
}

// peer is what a peer did, with its name where that is wanted.
func (s *page) peer(id string, named bool, none string) string {
	f := s.find(id)
	switch {
	case f == nil || f.Peer == "":
		return none
	case named:
		return words(f.PeerValue, f.Unit) + ", " + f.Peer
	}
	return words(f.PeerValue, f.Unit)
}

func (s *page) ahead(id string) string {
	if x := s.plan.wantedOf(id).ahead(s.find(id)); x > 0 {
		return times(x)
	}
	return "–"
}

// table lists the wanted figures of a name, with the columns that some of them
// fill, and why the short ones are.
func (s *page) table(name string) (string, error) {
	rows := [][]string{{"what", "helve", "beside", "times ahead", "target", "", "note"}}
	var why []string
	shown := [7]bool{true, true}
	for _, w := range s.plan.Wanted {
		if w.Table != name {
			continue
		}
		f, unit, note := s.find(w.ID), w.Unit, ""
		if f != nil {
			unit, note = f.Unit, f.Note
		}
		beside, goal := f != nil && f.Peer != "", w.targeted()
		for i, on := range []bool{beside, beside, goal, goal, note != ""} {
			shown[i+2] = shown[i+2] || on
		}
		rows = append(rows, []string{w.What, s.value(w.ID), s.peer(w.ID, true, "–"), s.ahead(w.ID), w.target(unit), w.verdict(f).String(), note})
		if w.verdict(f) == short {
			reason := cmp.Or(w.Short, "Why is not known yet.")
			if i := slices.IndexFunc(why, func(line string) bool { return strings.HasSuffix(line, ". "+reason) }); i >= 0 {
				why[i] = strings.TrimSuffix(why[i], ". "+reason) + "; " + w.What + ". " + reason
			} else {
				why = append(why, "- **Short:** "+w.What+". "+reason)
			}
		}
	}
	if len(rows) == 1 {
		return "", fmt.Errorf("no figure is wanted in the table %q", name)
	}
	var out strings.Builder
	for i, row := range rows {
		var cells []string
		for k, cell := range row {
			if shown[k] {
				cells = append(cells, cell)
			}
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			fmt.Fprintf(&out, "|%s\n", strings.Repeat("---|", len(cells)))
		}
	}
	if len(why) > 0 {
		fmt.Fprintf(&out, "\n%s\n", strings.Join(why, "\n"))
	}
	return out.String(), nil
}

// part says when, where and by which command a part was measured.
func (s *page) part(name string) (string, error) {
	if !slices.ContainsFunc(s.plan.Parts, func(p part) bool { return p.Name == name }) {
		return "", fmt.Errorf("there is no part %q", name)
	}
	line := "`make bench PART=" + name + "`: "
	i := slices.IndexFunc(s.book.Parts, func(e entry) bool { return e.Name == name })
	if i < 0 {
		return line + notMeasured + " yet.", nil
	}
	e := s.book.Parts[i]
	line += "measured " + e.Date
	if e.Machine != s.machine() {
		line += " on " + e.Machine
	}
	if e.Seconds > 0 {
		line += fmt.Sprintf(", in %s", words(e.Seconds, "s"))
	}
	if e.Load[0] != "" {
		line += fmt.Sprintf(", load %s before and %s after", e.Load[0], e.Load[1])
	}
	line += "."
	if e.Note != "" {
		line += " " + e.Note
	}
	if e.Failed != "" {
		line += " **Something did not hold:** " + strings.Join(strings.Fields(e.Failed), " ")
	}
	return line, nil
}

// machine is that of most parts.
func (s *page) machine() (most string) {
	count := map[string]int{}
	for _, e := range s.book.Parts {
		if count[e.Machine]++; count[e.Machine] > count[most] {
			most = e.Machine
		}
	}
	return cmp.Or(most, "no machine yet")
}

// versions are the peers whose version is known.
func (s *page) versions() string {
	var all []string
	version := regexp.MustCompile(`\d\.\d`)
	for _, e := range s.book.Parts {
		for _, f := range e.Figures {
			if name, _, _ := strings.Cut(f.Peer, ","); version.MatchString(name) { // after it is how it was driven
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// counts say how many targets are met, by whose they are.
func (s *page) counts() string {
	var whose, lines []string
	n := map[string]*[3]int{}
	for _, w := range s.plan.Wanted {
		if !w.targeted() {
			continue
		}
		if n[w.From] == nil {
			n[w.From] = new([3]int)
			whose = append(whose, w.From)
		}
		n[w.From][w.verdict(s.find(w.ID))]++
	}
	for _, from := range whose {
		c := n[from]
		line := fmt.Sprintf("- %s: %d of %d met, %d short", strings.ToUpper(from[:1])+from[1:], c[met], c[untold]+c[met]+c[short], c[short])
		if c[untold] > 0 {
			line += fmt.Sprintf(", %d not measured yet", c[untold])
		}
		lines = append(lines, line+".")
	}
	return strings.Join(lines, "\n")
}

// summary is the first table: helve beside what people would use instead.
func (s *page) summary() string {
	out := "| | helve | instead | times ahead |\n|---|---|---|---|\n"
	for _, w := range s.plan.Wanted {
		if w.Subject != "" {
			out += fmt.Sprintf("| %s | %s | %s | %s |\n", w.Subject, s.value(w.ID), s.peer(w.ID, true, notMeasured), s.ahead(w.ID))
		}
	}
	return out
}
