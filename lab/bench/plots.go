package main

import (
	"fmt"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// summary is the first table: helve beside what people would use instead.
func (pg *page) summary() string {
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

// ratios draws how many times ahead helve is in every row of the summary.
func (pg *page) ratios(name, title string) string {
	var rows []ratioRow
	for _, w := range pg.plan.Wanted {
		f := pg.find(w.ID)
		if w.Subject == "" || f == nil {
			continue
		}
		if x, ok := ahead(*f, w.Higher); ok {
			peer, _, _ := strings.Cut(f.Peer, ",")
			rows = append(rows, ratioRow{plain(w.Subject), x, words(f.Value, f.Unit) + ", " + peer + " " + words(f.PeerValue, f.Unit)})
		}
	}
	return pg.picture(name, title, drawRatios(title, rows), len(rows))
}

// pairs draws helve's value and the peer's of some figures of one unit, each
// given as "words=id".
func (pg *page) pairs(name, title string, figures ...string) (string, error) {
	var rows []pairRow
	for _, text := range figures {
		label, id, ok := cutLast(text, "=")
		if !ok {
			return "", fmt.Errorf("%q is not a label and a figure", text)
		}
		if f := pg.find(id); f != nil && f.Value > 0 {
			rows = append(rows, pairOf(label, f))
		}
	}
	return pg.picture(name, title, drawPairs(title, rows), len(rows)), nil
}

func pairOf(label string, f *proof.Figure) pairRow {
	peer, _, _ := strings.Cut(f.Peer, ",") // how it was driven is said beside the picture
	return pairRow{label, f.Value, f.PeerValue, words(f.Value, f.Unit), words(f.PeerValue, f.Unit), peer}
}

// picture keeps a picture and gives the Markdown that shows it.
func (pg *page) picture(name, title, svg string, rows int) string {
	if rows == 0 {
		return "(No picture yet: " + notMeasured + ".)"
	}
	pg.plots[name+".svg"] = svg
	return fmt.Sprintf("![%s](plots/%s.svg)", title, name)
}
