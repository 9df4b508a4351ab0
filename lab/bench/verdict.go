package main

import (
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// ahead is how many times better than its peer helve was; false where there is
// no peer, or nothing to divide by.
func ahead(f proof.Figure, higher bool) (float64, bool) {
	if f.Peer == "" || f.Value == 0 || f.PeerValue == 0 {
		return 0, false
	}
	if higher || strings.HasSuffix(f.Unit, "a second") || strings.HasSuffix(f.Unit, "/s") {
		return f.Value / f.PeerValue, true
	}
	return f.PeerValue / f.Value, true
}

// judged is the number that the target of a wanted figure is about.
func (w wanted) judged(f proof.Figure) (float64, bool) {
	switch w.Judge {
	case "ahead":
		return ahead(f, w.Higher)
	case "share":
		if f.Peer == "" || f.PeerValue == 0 {
			return 0, false
		}
		return f.Value / f.PeerValue, true
	}
	return f.Value, true
}

// A verdict is how a figure stands to its target.
type verdict int

const (
	untold verdict = iota // not measured, or nothing is wanted
	met
	short
)

func (w wanted) verdict(f *proof.Figure) verdict {
	if f == nil || !w.targeted() {
		return untold
	}
	got, ok := w.judged(*f)
	switch {
	case !ok:
		return untold
	case w.Most != nil && got > *w.Most, w.Least != nil && got < *w.Least:
		return short
	}
	return met
}

// target is what is wanted, in words.
func (w wanted) target(unit string) string {
	if !w.targeted() {
		return ""
	}
	say := func(x float64) string { return words(x, unit) }
	switch w.Judge {
	case "ahead":
		say = func(x float64) string { return number(x) + " times ahead" }
	case "share":
		say = func(x float64) string { return number(x) + " times the other's" }
	}
	switch {
	case w.Most == nil:
		return "at least " + say(*w.Least)
	case w.Least == nil:
		if *w.Most == 0 {
			return "none"
		}
		return "at most " + say(*w.Most)
	}
	return say(*w.Least) + " to " + say(*w.Most)
}
