package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed plan.json
var planText []byte

//go:embed wanted.json
var wantedText []byte

//go:embed page.md
var pageText string

// A plan is what is measured, how, and what is wanted of it.
type plan struct {
	Peers  map[string]peer
	Parts  []part
	Wanted []wanted `json:"-"`
}

// A peer is a program of others, and how it comes here.
type peer struct {
	Script  []string // prints where it is; or else
	Program string   // is looked for on the PATH
	Version []string // arguments that make it tell its version; none where it cannot
	Strip   string   // what to leave out of the line it tells
}

// A part is measured by itself, by its steps or by the function of this program
// that has its name, and has an entry of its own in the book.
type part struct {
	Name    string
	What    string  // in a sentence
	Minutes float64 // on a quiet machine
	Needs   []string
	Steps   []step
}

// is says whether a name means the part: its own, or that of the group before
// the dash.
func (p part) is(name string) bool {
	group, _, _ := strings.Cut(p.Name, "-")
	return name == p.Name || name == group
}

// A step is one program that is run: one of ours that writes its figures, or
// the go command with benchmarks or tests whose lines are read. In what it is
// given, ${NAME} stands for where a peer is and ${NAME.version} for its version.
type step struct {
	Program string // a package of ours with --figures
	Bench   string // or benchmarks by this pattern
	Test    string // or tests by this pattern
	Package string // of benchmarks and tests
	Args    []string
	Env     map[string]string
	Takes   []take
}

// A take makes a figure out of what benchmarks or tests print.
type take struct {
	ID   string
	Unit string

	From   string // the benchmark; * stands for a part of its name, and then the highest counts
	Metric string // ns/op where there is none

	Peer       string
	PeerFrom   string
	PeerMetric string

	Line  string // of a test: a pattern with one group, the number
	Count bool   // or how many lines the pattern fits

	Note string
}

// A wanted figure is one that belongs on the page, and what it should be.
type wanted struct {
	ID    string
	What  string
	Part  string
	Table string
	Unit  string // where it was not measured
	// Judge is what the target is about: nothing for the value, "ahead" for how
	// many times better than the peer helve is, "share" for helve's part of the
	// peer's value.
	Judge       string
	Most, Least *float64
	From        string // whose target it is
	Short       string // why it is missed, where it is
	Subject     string // in the first table, where it stands there
	Higher      bool   // more is better
}

func loadPlan() (*plan, error) {
	var p plan
	if err := strictly(planText, &p); err != nil {
		return nil, fmt.Errorf("plan.json: %w", err)
	}
	if err := strictly(wantedText, &p.Wanted); err != nil {
		return nil, fmt.Errorf("wanted.json: %w", err)
	}
	return &p, nil
}

func strictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// wantedOf is what is wanted of a figure.
func (p *plan) wantedOf(id string) (none wanted) {
	for _, w := range p.Wanted {
		if w.ID == id {
			return w
		}
	}
	return none
}

func (w wanted) targeted() bool { return w.Most != nil || w.Least != nil }
