package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A book is all that was measured, as docs/benchmarks.json keeps it.
type book struct {
	Parts []entry `json:"parts"`
}

// An entry is what a part has found when it last ran.
type entry struct {
	Name     string         `json:"name"`
	Date     string         `json:"date"` // in UTC, to the minute; or to the day where no more is known
	Machine  string         `json:"machine"`
	Load     [2]string      `json:"load"` // processes that wanted to run, before and after
	Seconds  float64        `json:"seconds"`
	Versions []string       `json:"versions,omitempty"` // of those beside whom helve was measured
	Note     string         `json:"note,omitempty"`
	Failed   string         `json:"failed,omitempty"` // what did not hold, where a program said so and had figures all the same
	Figures  []proof.Figure `json:"figures"`
}

// readBook reads the book; it is empty where there is none yet.
func readBook(path string) (*book, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &book{}, nil
	}
	if err != nil {
		return nil, err
	}
	var b book
	if err := strictly(text, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &b, nil
}

// write writes it, a figure a line, so that a change is easy to read.
func (b *book) write(path string) error {
	text, err := b.text()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func (b *book) text() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("{\"parts\": [")
	for i, e := range b.Parts {
		if i > 0 {
			out.WriteByte(',')
		}
		figures := e.Figures
		e.Figures = []proof.Figure{}
		head, err := plainJSON(e)
		if err != nil {
			return nil, err
		}
		out.WriteString("\n" + strings.TrimSuffix(head, "]}"))
		for j, f := range figures {
			line, err := plainJSON(f)
			if err != nil {
				return nil, fmt.Errorf("figure %s: %w", f.ID, err)
			}
			if j > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n  " + line)
		}
		out.WriteString("\n]}")
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

func plainJSON(v any) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSpace(out.String()), err
}

// put replaces the entry of a part, and keeps all in the order of the plan.
func (b *book) put(e entry, p *plan) {
	b.Parts = slices.DeleteFunc(b.Parts, func(old entry) bool { return old.Name == e.Name })
	b.Parts = append(b.Parts, e)
	place := func(e entry) int {
		at := slices.IndexFunc(p.Parts, func(part part) bool { return part.Name == e.Name })
		if at < 0 {
			return len(p.Parts)
		}
		return at
	}
	slices.SortStableFunc(b.Parts, func(x, y entry) int { return place(x) - place(y) })
}

// part finds the entry of a part.
func (b *book) part(name string) *entry {
	for i := range b.Parts {
		if b.Parts[i].Name == name {
			return &b.Parts[i]
		}
	}
	return nil
}

// find finds a figure and the entry it stands in.
func (b *book) find(id string) (*proof.Figure, *entry) {
	for i := range b.Parts {
		for j := range b.Parts[i].Figures {
			if b.Parts[i].Figures[j].ID == id {
				return &b.Parts[i].Figures[j], &b.Parts[i]
			}
		}
	}
	return nil, nil
}

// versionsOf are the peers that figures name, each once.
func versionsOf(figures []proof.Figure) (all []string) {
	for _, f := range figures {
		if f.Peer != "" {
			all = append(all, f.Peer)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// beside gives figures the peers of others, where the plan says so.
func (b *book) beside(p *plan) {
	for _, w := range p.Wanted {
		if w.PeerOf == "" {
			continue
		}
		f, _ := b.find(w.ID)
		other, _ := b.find(w.PeerOf)
		if f != nil && other != nil && f.Peer == "" && f.Unit == other.Unit {
			f.Peer, f.PeerValue = other.Peer, other.PeerValue
		}
	}
}
