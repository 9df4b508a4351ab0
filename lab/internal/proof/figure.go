package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
)

// A Figure is one number that was measured, and what a peer did in the same run.
type Figure struct {
	ID    string  `json:"id"`    // small words with dots, from the general to the special: "mcp.read.p50"
	Value float64 `json:"value"` // helve's
	Unit  string  `json:"unit"`  // "ms", "µs", "s", "MiB", "KiB", "a second", "times", "%", or empty for a count
	// Peer is whom helve was measured beside, with the version, and PeerValue
	// what came of it, in the same unit. Empty where there is nobody.
	Peer      string  `json:"peer,omitempty"`
	PeerValue float64 `json:"peerValue,omitempty"`
	Note      string  `json:"note,omitempty"` // what a reader has to know of this run, in a sentence
}

// A Sheet collects the figures of a run.
type Sheet struct {
	figures []Figure
}

// Add adds a figure.
func (s *Sheet) Add(f Figure) { s.figures = append(s.figures, f) }

// Figures are all that were added, in that order.
func (s *Sheet) Figures() []Figure { return s.figures }

// WriteFile writes the figures, a JSON object a line. With no path it does nothing.
func (s *Sheet) WriteFile(path string) error {
	if path == "" {
		return nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, f := range s.figures {
		if err := f.check(); err != nil {
			return err
		}
		if err := enc.Encode(f); err != nil {
			return fmt.Errorf("figure %s: %w", f.ID, err)
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// ReadFile reads what WriteFile has written.
func ReadFile(path string) ([]Figure, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []Figure
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		var f Figure
		if err := dec.Decode(&f); err != nil {
			return nil, fmt.Errorf("%s: %w in %s", path, err, bytes.TrimSpace(line))
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, f)
	}
	return all, nil
}

func (f Figure) check() error {
	if !regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`).MatchString(f.ID) {
		return fmt.Errorf("figure %q: an id is small words with dots between them", f.ID)
	}
	if f.Peer == "" && f.PeerValue != 0 {
		return errors.New("figure " + f.ID + " has a peer's value and no peer")
	}
	return nil
}
