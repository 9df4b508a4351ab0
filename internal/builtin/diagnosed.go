package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/tool"
)

// How much of the diagnostics is shown.
const (
	shownErrors = 20      // of one file
	shownOthers = 5       // other files
	shownBytes  = 2 << 10 // of one message
	toldBytes   = 64 << 10
)

// errorSeverity is the protocol's number for an error.
const errorSeverity = 1

// pretty returns a diagnostic on one line, with its position counted as editors do.
func pretty(d lsp.Diagnostic) string {
	severity := "ERROR"
	switch d.Severity {
	case 2:
		severity = "WARN"
	case 3:
		severity = "INFO"
	case 4:
		severity = "HINT"
	}
	message, cut := text.Cut(harmlessMessage(d.Message), shownBytes)
	if cut {
		message += "…"
	}
	return fmt.Sprintf("%s [%d:%d] %s", severity, d.Range.Start.Line+1, d.Range.Start.Character+1, message)
}

// diagnosticsBlock returns the first diagnostics of a file and how many more there are, the new
// ones first.
func diagnosticsBlock(path string, list []lsp.Diagnostic) string {
	return markedDiagnostics(path, list, "")
}

// markedDiagnostics returns a block in which old diagnostics are marked.
func markedDiagnostics(path string, list []lsp.Diagnostic, mark string) string {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b lsp.Diagnostic) int {
		switch {
		case a.Old == b.Old:
			return 0
		case a.Old:
			return 1
		}
		return -1
	})
	var b strings.Builder
	fmt.Fprintf(&b, "<diagnostics file=\"%s\">\n", text.VisibleLine(path))
	for _, d := range list[:min(len(list), shownErrors)] {
		b.WriteString(pretty(d))
		if d.Old {
			b.WriteString(mark)
		}
		b.WriteString("\n")
	}
	if more := len(list) - shownErrors; more > 0 {
		fmt.Fprintf(&b, "... and %d more\n", more)
	}
	b.WriteString("</diagnostics>")
	return b.String()
}

// errorsOf returns the diagnostics that are errors.
func errorsOf(list []lsp.Diagnostic) []lsp.Diagnostic {
	return slices.DeleteFunc(slices.Clone(list), func(d lsp.Diagnostic) bool { return d.Severity != errorSeverity })
}

// A checkup is what language servers report about changed files.
type checkup struct {
	notes    []string       // for the result's text
	metadata map[string]any // what was found, by file
	pending  []string       // servers that are still at work
}

// A changedFile is a file that a call has changed, with the heading for its errors.
type changedFile struct {
	path    files.Path
	heading string
	hidden  bool // who calls may not see what it holds
}

// diagnosticsBaseline returns what the servers know before a change of files.
func (e editor) diagnosticsBaseline(ctx context.Context, changes ...files.Change) lspclient.Baseline {
	if e.languages == nil {
		return nil
	}
	var files []string
	for _, ch := range changes {
		files = append(files, ch.Path.String())
	}
	return e.languages.Before(ctx, files...)
}

// diagnosed asks the language servers for diagnostics of changed files. The change is already made,
// so no error fails it. near is one of the files; others says that errors in further files count
// too.
func (e editor) diagnosed(ctx context.Context, c *tool.Call, before lspclient.Baseline, near files.Path, changed []changedFile, others bool) checkup {
	out := checkup{metadata: map[string]any{}}
	if e.languages == nil {
		return out
	}
	q := lspclient.Question{Before: before}
	for _, f := range changed {
		if !f.hidden && e.languages.Has(f.path.String()) {
			q.Files = append(q.Files, f.path.String())
		}
	}
	q.Others = others && len(q.Files) > 0
	report := e.languages.Check(ctx, q)
	told := &otherFiles{left: toldBytes, metadata: out.metadata}
	for _, f := range changed {
		for _, r := range report.Files {
			if r.Path != f.path.String() {
				continue
			}
			r.Diagnostics = e.discreet(c, near, r.Diagnostics)
			told.add(r)
			if errs := errorsOf(r.Diagnostics); len(errs) > 0 {
				// Where there are old and new errors, the old ones are marked: they may not be the caller's.
				mark := ""
				if slices.ContainsFunc(errs, func(d lsp.Diagnostic) bool { return !d.Old }) {
					mark = " (there before this change)"
				}
				out.notes = append(out.notes, f.heading+"\n"+markedDiagnostics(r.Path, errs, mark))
			}
		}
	}
	out.notes = append(out.notes, e.elsewhere(c, near, report.Others, told)...)
	for _, r := range report.Known {
		if e.files.MayRead(c, e.files.Beside(near, r.Path)) {
			r.Diagnostics = e.discreet(c, near, r.Diagnostics)
			told.add(r)
		}
	}
	working, failed := atWork(report.Pending)
	out.notes = append(out.notes, waiting(working)...)
	out.notes = append(out.notes, failures(failed, len(q.Files))...)
	out.pending = serversOf(working)
	return out
}

// elsewhere returns the errors of other files that the caller may read.
func (e editor) elsewhere(c *tool.Call, near files.Path, others []lsp.FileReport, told *otherFiles) (notes []string) {
	for _, r := range others {
		path := e.files.Beside(near, r.Path)
		if !e.files.MayRead(c, path) {
			continue
		}
		r.Diagnostics = e.discreet(c, near, r.Diagnostics)
		told.add(r)
		if len(notes) < shownOthers {
			notes = append(notes, "LSP errors detected in other files:\n"+diagnosticsBlock(r.Path, errorsOf(r.Diagnostics)))
		}
	}
	return notes
}

// otherFiles adds the diagnostics of other files to the metadata, unchanged, up to a limit.
type otherFiles struct {
	left     int
	metadata map[string]any
}

func (t *otherFiles) add(r lsp.FileReport) {
	if t.left -= len(r.Path); t.left < 0 {
		return
	}
	list := []json.RawMessage{}
	for _, d := range r.Diagnostics {
		if t.left -= len(d.Raw); t.left < 0 {
			break
		}
		list = append(list, d.Raw)
	}
	t.metadata[r.Path] = list
}

// atWork tells servers that will say something later from those that will not.
func atWork(pending []lsp.Pending) (working, failed []lsp.Pending) {
	for _, p := range pending {
		if p.Failed {
			failed = append(failed, p)
		} else {
			working = append(working, p)
		}
	}
	return working, failed
}

// failures says which servers cannot look at the files that were changed, and
// why.
func failures(failed []lsp.Pending, files int) (notes []string) {
	what := "this file"
	if files > 1 {
		what = "these files"
	}
	for _, p := range failed {
		if p.Why == "" { // it was told before
			continue
		}
		note := couldNotCheck(p, what)
		if !slices.Contains(notes, note) && len(notes) < shownOthers {
			notes = append(notes, note)
		}
	}
	return notes
}

// couldNotCheck says why a server has not looked at something, and where there
// is more about it.
func couldNotCheck(p lsp.Pending, what string) string {
	return fmt.Sprintf("%s could not check %s: %s %s", p.Server, what, sentenced{errors.New(text.VisibleLine(p.Why))}, seeLog(p.Server))
}

// seeLog says where to read what a server has printed.
func seeLog(server string) string { return fmt.Sprintf("'helve lsp log %s' shows more.", server) }

// waiting says which servers have not said anything about the new text yet.
func waiting(pending []lsp.Pending) (notes []string) {
	var lines []string
	for _, p := range pending {
		line := fmt.Sprintf("%s: %s", p.Server, text.VisibleLine(p.Why))
		if !slices.Contains(lines, line) && len(lines) < shownOthers {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []string{"Diagnostics are pending; the change was made. What is found is told with a later change.\n" + strings.Join(lines, "\n")}
}

func serversOf(pending []lsp.Pending) (names []string) {
	for _, p := range pending {
		if !slices.Contains(names, p.Server) {
			names = append(names, p.Server)
		}
	}
	return names
}

// into puts what was found into the metadata of a result.
func (k checkup) into(metadata map[string]any) map[string]any {
	metadata["diagnostics"] = k.metadata
	if len(k.pending) > 0 {
		metadata["pending"] = k.pending
	}
	return metadata
}

// headingOwn announces the errors of the one file that was changed.
const headingOwn = "LSP errors detected in this file, please fix:"
