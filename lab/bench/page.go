package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/helve-dev/helve/lab/internal/proof"
)

const (
	notMeasured = "not measured"
	unexplained = "Why is not known yet."
)

// A sheet is the page of figures while it is made.
type sheet struct {
	plan *plan
	book *book
	used map[string]bool // figures that stand somewhere
}

// render makes the page from the data alone, and tells which figures it shows.
func render(p *plan, b *book) (text string, used map[string]bool, err error) {
	pg := &sheet{plan: p, book: b, used: map[string]bool{}}
	t, err := template.New("page.md").Option("missingkey=error").Funcs(template.FuncMap{
		"v": pg.value, "p": pg.peerValue, "t": pg.times, "peer": pg.peer, "list": func(s ...string) []string { return s }, "queries": queries,
		"table": pg.table, "part": pg.part, "summary": pg.summary, "machines": pg.machines, "versions": pg.versions, "counts": pg.counts,
	}).Parse(pageText)
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	err = t.Execute(&out, nil)
	return out.String(), pg.used, err
}

// renderFiles writes the page.
func renderFiles(p *plan, dir string) error {
	b, err := readBook(filepath.Join(dir, bookFile))
	if err != nil {
		return err
	}
	b.beside(p)
	text, _, err := render(p, b)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, pageFile), []byte(text), 0o644)
}

func (pg *sheet) find(id string) *proof.Figure {
	pg.used[id] = true
	f, _ := pg.book.find(id)
	return f
}

func (pg *sheet) value(id string) string {
	if f := pg.find(id); f != nil {
		return words(f.Value, f.Unit)
	}
	return notMeasured
}

func (pg *sheet) peerValue(id string) string {
	if f := pg.find(id); f != nil && f.Peer != "" {
		return words(f.PeerValue, f.Unit)
	}
	return notMeasured
}

func (pg *sheet) peer(id string) string {
	if f := pg.find(id); f != nil && f.Peer != "" {
		return f.Peer
	}
	return notMeasured
}

func (pg *sheet) times(id string) string {
	if f := pg.find(id); f != nil {
		if x, ok := ahead(*f, pg.higher(id)); ok {
			return times(x)
		}
	}
	return "–"
}

func (pg *sheet) higher(id string) bool {
	return slices.ContainsFunc(pg.plan.Wanted, func(w wanted) bool { return w.ID == id && w.Higher })
}

func mark(v verdict) string { return [...]string{"", "met", "**short**"}[v] }

// table lists the wanted figures of a name, and why the short ones are.
func (pg *sheet) table(name string) (string, error) {
	var rows []wanted
	for _, w := range pg.plan.Wanted {
		if w.Table == name {
			rows = append(rows, w)
		}
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("no figure is wanted in the table %q", name)
	}
	var beside, goal, notes bool
	for _, w := range rows {
		f := pg.find(w.ID)
		goal = goal || w.targeted()
		beside = beside || f != nil && f.Peer != ""
		notes = notes || f != nil && f.Note != ""
	}
	var out strings.Builder
	columns := []string{"what", "helve"}
	for _, c := range []struct {
		on    bool
		names []string
	}{{beside, []string{"beside", "times ahead"}}, {goal, []string{"target", ""}}, {notes, []string{"note"}}} {
		if c.on {
			columns = append(columns, c.names...)
		}
	}
	fmt.Fprintf(&out, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, w := range rows {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(pg.row(w, beside, goal, notes), " | "))
	}
	return out.String() + pg.reasons(rows), nil
}

func (pg *sheet) row(w wanted, beside, goal, notes bool) []string {
	f := pg.find(w.ID)
	row := []string{w.What, pg.value(w.ID)}
	if beside {
		other := "–"
		if f != nil && f.Peer != "" {
			other = words(f.PeerValue, f.Unit) + ", " + f.Peer
		}
		row = append(row, other, pg.times(w.ID))
	}
	if goal {
		unit := w.Unit
		if f != nil {
			unit = f.Unit
		}
		row = append(row, cmp.Or(w.target(unit), "–"), mark(w.verdict(f)))
	}
	if notes && f != nil {
		row = append(row, f.Note)
	} else if notes {
		row = append(row, "")
	}
	return row
}

// reasons say of every figure that is short why it is.
func (pg *sheet) reasons(rows []wanted) string {
	var out strings.Builder
	said := map[string]bool{}
	for _, w := range rows {
		why := cmp.Or(w.Short, unexplained)
		if w.verdict(pg.find(w.ID)) != short || said[why] {
			continue
		}
		said[why] = true
		var all []string
		for _, o := range rows {
			if cmp.Or(o.Short, unexplained) == why && o.verdict(pg.find(o.ID)) == short && !slices.Contains(all, o.What) {
				all = append(all, o.What)
			}
		}
		fmt.Fprintf(&out, "- **Short:** %s. %s\n", strings.Join(all, "; "), why)
	}
	if out.Len() > 0 {
		return "\n" + out.String()
	}
	return ""
}

// part says when, where and by which command something was measured.
func (pg *sheet) part(names ...string) (string, error) {
	var out []string
	for _, name := range names {
		if !slices.ContainsFunc(pg.plan.Parts, func(p part) bool { return p.Name == name }) {
			return "", fmt.Errorf("there is no part %q", name)
		}
		line := "`make bench PART=" + name + "`: "
		e := pg.book.part(name)
		if e == nil {
			out = append(out, line+notMeasured+" yet.")
			continue
		}
		line += "measured " + e.Date
		if e.Machine != pg.commonest() {
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
		out = append(out, line)
	}
	return strings.Join(out, "\n"), nil
}

// commonest is the machine of most parts.
func (pg *sheet) commonest() string {
	count := map[string]int{}
	for _, e := range pg.book.Parts {
		count[e.Machine]++
	}
	names := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(names, func(x, y string) int { return count[y] - count[x] })
	if len(names) == 0 {
		return "no machine yet"
	}
	return names[0]
}

func (pg *sheet) machines() string {
	line := "Measured on " + pg.commonest()
	for _, e := range pg.book.Parts {
		if e.Machine != pg.commonest() {
			return line + ", where a part says no other"
		}
	}
	return line
}

// versions are the peers whose version is known.
func (pg *sheet) versions() string {
	var all []string
	version := regexp.MustCompile(`\d\.\d`)
	for _, e := range pg.book.Parts {
		for _, name := range e.Versions {
			if name, _, _ := strings.Cut(name, ","); version.MatchString(name) { // after it is how it was driven
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// counts say how many targets are met, by whose they are.
func (pg *sheet) counts() string {
	var whose []string
	n := map[string]*[3]int{}
	for _, w := range pg.plan.Wanted {
		if !w.targeted() {
			continue
		}
		if n[w.From] == nil {
			n[w.From] = new([3]int)
			whose = append(whose, w.From)
		}
		n[w.From][w.verdict(pg.find(w.ID))]++
	}
	var lines []string
	for _, from := range whose {
		c := n[from]
		line := fmt.Sprintf("%s: %d of %d met, %d short", from, c[met], c[untold]+c[met]+c[short], c[short])
		if c[untold] > 0 {
			line += fmt.Sprintf(", %d not measured yet", c[untold])
		}
		lines = append(lines, "- "+strings.ToUpper(line[:1])+line[1:]+".")
	}
	return strings.Join(lines, "\n")
}

// summary is the first table: helve beside what people would use instead.
func (pg *sheet) summary() string {
	out := "| | helve | instead | times ahead |\n|---|---|---|---|\n"
	for _, w := range pg.plan.Wanted {
		if w.Subject == "" {
			continue
		}
		other := notMeasured
		if f := pg.find(w.ID); f != nil && f.Peer != "" {
			other = words(f.PeerValue, f.Unit) + ", " + f.Peer
		}
		out += fmt.Sprintf("| %s | %s | %s | %s |\n", w.Subject, pg.value(w.ID), other, pg.times(w.ID))
	}
	return out
}
