package cli

import (
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
)

// isTerminal reports whether a stream of the process is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// attended reports whether a person can be asked: one who sees the prompt and
// can type an answer.
func (a *app) attended() bool { return isTerminal(a.Stdin) && isTerminal(a.Stderr) }

// forgetter returns a function that throws away what was typed on a terminal
// and not read yet; nil for a stream that is none.
func forgetter(stream any) func() {
	if !isTerminal(stream) {
		return nil
	}
	f := stream.(*os.File)
	return func() { flushInput(f.Fd()) }
}

// A style colours text, or leaves it as it is.
type style struct{ on bool }

// style returns how text for w may look.
func (a *app) style(w io.Writer) style {
	return style{!a.noColor && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb" && isTerminal(w)}
}

func (s style) paint(code, text string) string {
	if !s.on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) bold(text string) string   { return s.paint("1", text) }

// cutLine returns the first line of s and what follows it.
func cutLine(s string) (line, rest string, more bool) { return strings.Cut(s, "\n") }

// columns aligns cells that are separated by tabs.
func columns(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
}
