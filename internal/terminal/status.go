package terminal

import (
	"io"
	"strings"
)

// A Status is what stands below everything else on a terminal for as long as
// it holds: what goes on at the moment. Whoever prints something else erases
// it first.
type Status struct {
	w    io.Writer
	rows int
}

// NewStatus returns a status that shows nothing yet.
func NewStatus(w io.Writer) *Status { return &Status{w: w} }

// Show replaces what is shown. Every line has to fit into a row.
func (s *Status) Show(lines ...string) {
	_, _ = io.WriteString(s.w, s.erasing()+strings.Join(lines, "\n")) // a terminal that is gone shows nothing
	s.rows = len(lines)
}

// Erase takes it off the screen. The cursor stands where it stood before.
func (s *Status) Erase() {
	if s.rows > 0 {
		_, _ = io.WriteString(s.w, s.erasing())
		s.rows = 0
	}
}

func (s *Status) erasing() string {
	if s.rows == 0 {
		return ""
	}
	return "\r" + upwards(s.rows-1) + "\x1b[J"
}

// Spinner is the picture of something that goes on, at the n-th step.
func Spinner(n int) string {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	return string(frames[n%len(frames)])
}
