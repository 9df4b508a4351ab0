package cli

import (
	"io"
	"os"
	"text/tabwriter"

	"github.com/helve-dev/helve/internal/terminal"
	"golang.org/x/term"
)

// isTerminal reports whether a stream of the process is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// attended reports whether a person can be asked: one who sees the prompt and can type an answer.
func (a *app) attended() bool { return isTerminal(a.Stdin) && isTerminal(a.Stderr) }

// forgetter returns a function that discards what was typed on a terminal and not read yet; nil for
// other streams.
func forgetter(stream any) func() {
	if !isTerminal(stream) {
		return nil
	}
	f := stream.(*os.File)
	return func() { flushInput(f.Fd()) }
}

// width returns the number of columns of a terminal; 0 if unknown.
func width(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	columns, _, _ := term.GetSize(int(f.Fd())) // 0 where it is not known
	return columns
}

// style returns the text style for w.
func (a *app) style(w io.Writer) terminal.Style {
	return terminal.Style{On: !a.noColor && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb" && isTerminal(w)}
}

// columns aligns cells that are separated by tabs.
func columns(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
}
