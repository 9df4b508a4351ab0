package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/helve-dev/helve/lab/internal/proof"
)

// A book is all that was measured, as docs/benchmarks.json keeps it.
type book struct {
	Parts []entry `json:"parts"`
}

// An entry is what a part has found when it last ran.
type entry struct {
	Name    string         `json:"name"`
	Date    string         `json:"date"` // in UTC, to the minute; or to the day where no more is known
	Machine string         `json:"machine"`
	Load    [2]string      `json:"load"` // processes that wanted to run, before and after
	Seconds float64        `json:"seconds"`
	Note    string         `json:"note,omitempty"`
	Failed  string         `json:"failed,omitempty"` // what did not hold, where a program said so and had figures all the same
	Figures []proof.Figure `json:"figures"`
}

// readBook reads the book; it is empty where there is none yet.
func readBook(path string) (*book, error) {
	var b book
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &b, nil
	}
	if err == nil {
		err = strictly(text, &b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &b, nil
}

// write writes it, a figure a line, so that a change is easy to read.
func (b *book) write(path string) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return err
	}
	text := bytes.ReplaceAll(out.Bytes(), []byte(`{"id":`), []byte("\n  {\"id\":"))
	text = bytes.ReplaceAll(text, []byte(`{"name":`), []byte("\n{\"name\":"))
	return os.WriteFile(path, text, 0o644)
}

// put replaces the entry of a part, and keeps all in the order of the plan.
func (b *book) put(e entry, p *plan) {
	b.Parts = slices.DeleteFunc(b.Parts, func(old entry) bool { return old.Name == e.Name })
	b.Parts = append(b.Parts, e)
	place := func(e entry) int {
		return slices.IndexFunc(p.Parts, func(part part) bool { return part.Name == e.Name })
	}
	slices.SortStableFunc(b.Parts, func(x, y entry) int { return place(x) - place(y) })
}

// find finds a figure, or nil.
func (b *book) find(id string) *proof.Figure {
	for _, e := range b.Parts {
		for _, f := range e.Figures {
			if f.ID == id {
				return &f
			}
		}
	}
	return nil
}
