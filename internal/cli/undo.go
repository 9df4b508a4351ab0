package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/record"
)

// withFiles runs f on a runtime that is there for its history only.
func (a *app) withFiles(f func(*helve.Runtime) error) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	rt, err := helve.Open(a.options(s))
	if err != nil {
		return err
	}
	return errors.Join(f(rt), rt.Close())
}

func (a *app) historyCommand() *cobra.Command {
	var q record.ChangeQuery
	var asJSON bool
	c := &cobra.Command{
		Use:   "history [FILE]",
		Short: "List what tools changed on disk",
		Long: `History lists the changes that tools made to files of this project, the newest
first, with the id of each. With FILE, only those of that file, or of the files
in that folder. What was replaced is kept and can be put back with 'helve undo'.`,
		Example: `  helve history
  helve history src/main.go
  helve history --session ses_… --json`,
		Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				q.File = a.absIn(args[0])
			}
			return a.withFiles(func(rt *helve.Runtime) error {
				sets, err := rt.Records().Changes(c.Context(), q)
				if err != nil && len(sets) == 0 {
					return err
				}
				if err != nil {
					a.printNote(err.Error())
				}
				if asJSON {
					return a.printJSON(sets)
				}
				return a.printChanges(sets)
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&q.Session, "session", "", "of this session")
	fs.StringVar(&q.Call, "call", "", "of this call")
	fs.StringVar(&q.Message, "message", "", "of the calls of this message")
	fs.BoolVar(&q.AllProjects, "all", false, "of all projects")
	fs.IntVar(&q.Limit, "limit", 50, "list at most so many; 0 for all")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// absIn is a name as seen from the folder that the command works in.
func (a *app) absIn(name string) string {
	in := *a
	in.Dir = a.workDir()
	return in.abs(name)
}

// fromHere returns the name of a file relative to the working folder, or the whole path if it is
// elsewhere.
func (a *app) fromHere(file string) string {
	dir := a.workDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

func (a *app) printChanges(sets []record.ChangeSet) error {
	tw := columns(a.Stdout)
	for _, s := range sets {
		state := ""
		switch {
		case s.UndoneBy != "":
			state = "undone"
		case len(s.Undoes) > 0:
			state = "took back " + fmt.Sprint(len(s.Undoes))
		case slices.ContainsFunc(s.Files, func(f record.FileChange) bool { return !f.Kept }):
			state = "too large to be kept"
		}
		names := make([]string, 0, 3)
		for _, f := range s.Files {
			if len(names) == 3 {
				names = append(names, fmt.Sprintf("and %d more", len(s.Files)-3))
				break
			}
			names = append(names, kindMark(f.Kind)+" "+a.fromHere(f.File))
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", text.VisibleLine(s.ID), formatTime(s.Time.UnixMilli()), text.VisibleLine(s.Tool),
			text.VisibleLine(strings.Join(names, ", ")), state)
	}
	return tw.Flush()
}

func kindMark(kind string) string {
	switch kind {
	case "add":
		return "A"
	case "delete":
		return "D"
	}
	return "M"
}

type undoFlags struct {
	req    record.UndoRequest
	yes    bool
	asJSON bool
}

func (a *app) undoCommand() *cobra.Command {
	var f undoFlags
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Put back what tools changed on disk",
		Long: `Undo puts files back as they were: before the newest call whose changes were not
undone yet, before the change with the id that 'helve history' shows, or before what
a call or a message changed, or everything after a point.

What a plugin did on its own, while it heard an event, is passed over, unless it is
named or lies over what is undone.

It shows what it would do and asks. A file that somebody else has changed since
is reported and left as it is (exit code 1). An undo is a change itself: 'helve undo
ID' with the id of the undo brings back what it took away.`,
		Example: `  helve undo --dry-run
  helve undo
  helve undo --call call_…
  helve undo --to chg_… --yes`,
		Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.req.Sets = args
			}
			if len(f.req.Sets) == 0 && f.req.Call == "" && f.req.Message == "" && f.req.To == "" && !c.Flags().Changed("last") {
				f.req.Last = 1
			}
			if err := f.check(c); err != nil {
				return err
			}
			return a.withFiles(func(rt *helve.Runtime) error { return a.runUndo(c.Context(), rt, f) })
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.req.Call, "call", "", "what this call changed")
	fs.StringVar(&f.req.Message, "message", "", "what the calls of this message changed")
	fs.StringVar(&f.req.To, "to", "", "everything after this change, which itself stays")
	fs.IntVar(&f.req.Last, "last", 0, "what the newest `N` calls changed that was not undone yet")
	fs.StringVar(&f.req.Session, "session", "", "only what this session changed")
	fs.BoolVar(&f.req.Preview, "dry-run", false, "change nothing, show what would be done")
	fs.BoolVar(&f.yes, "yes", false, "do not ask")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	return c
}

// check refuses what makes no sense together.
func (f undoFlags) check(c *cobra.Command) error {
	given := 0
	for _, is := range []bool{len(f.req.Sets) > 0, f.req.Call != "", f.req.Message != "", f.req.To != "", f.req.Last != 0} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return usagef("give one of an id, --call, --message, --to and --last")
	case c.Flags().Changed("last") && f.req.Last < 1:
		return usagef("--last takes a number from 1 on")
	}
	return nil
}

func (a *app) runUndo(ctx context.Context, rt *helve.Runtime, f undoFlags) error {
	show := f.req
	show.Preview = true
	preview, err := rt.Records().Undo(ctx, show)
	if err != nil {
		return err
	}
	a.noteAll(preview.Problems)
	if f.req.Preview {
		return a.printUndo(a.Stdout, preview, f.asJSON)
	}
	if !f.yes {
		if err := a.printUndo(a.Stderr, preview, false); err != nil {
			return err
		}
		if err := a.confirm("Put these files back? [y/N] "); err != nil {
			return err
		}
	}
	// Only what was shown is undone, even if more has changed meanwhile.
	shown := record.UndoRequest{}
	for _, s := range preview.Sets {
		shown.Sets = append(shown.Sets, s.ID)
	}
	report, err := rt.Records().Undo(ctx, shown)
	if err != nil {
		return err
	}
	if f.asJSON || f.yes {
		err = a.printUndo(a.Stdout, report, f.asJSON)
	}
	if err == nil && report.ID != "" && !f.asJSON {
		a.printNote("done; 'helve undo " + report.ID + "' takes this back")
	}
	if err == nil && report.Conflicts() {
		a.printNote("some files were left as they are: undo what changed them later first, go back further with --to, or mend them by hand")
		return &silent{exitFailed}
	}
	return err
}

func (a *app) printUndo(w io.Writer, r *record.UndoReport, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	for _, s := range r.Sets {
		fmt.Fprintf(w, "%s  %s  %s\n", text.VisibleLine(s.ID), s.Time.Local().Format(time.DateTime), text.VisibleLine(s.Tool))
	}
	for _, f := range r.Files {
		line := f.Action + "  " + a.fromHere(f.File)
		if f.Reason != "" {
			line += "  (" + f.Reason + ")"
		}
		fmt.Fprintln(w, text.VisibleLine(line))
	}
	for _, f := range r.Files {
		if f.Diff != "" {
			fmt.Fprint(w, safe(f.Diff))
		}
	}
	return nil
}
