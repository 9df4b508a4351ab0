package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/lspclient"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/lsp"
	"github.com/helve-dev/helve/tool"
)

// exitUnchecked is the exit code for a file that no language server has looked
// at.
const exitUnchecked = 2

// filesAtOnce is how many files are sent to the servers together. A report waits for a bounded
// number of answers, and a file may have several servers.
const filesAtOnce = 10

func (a *app) lspCheckCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check {FILE … | --changed}",
		Short: "Print what language servers find in files",
		Long: `Check starts the language servers of the files, waits for what they find, and
prints it, a line each:

  main.go:3:2: error: undefined: x (compiler)

Lines and columns are counted from 1, columns in UTF-16 units as editors do.

It ends with 0 if there are no errors, with 1 if there are, and with 2 if there
are none but a file could not be checked: its server is not installed, has
failed, or did not answer in time; also if language servers are off. Files that
no server is for are named and passed over. With 64 it ends if the command line
makes no sense: no file is named, or one that is not there.

--changed checks the files that differ from the last commit (git's HEAD) and
those that git does not know yet, --changed=COMMIT those that differ from
another commit. That there are none is no error.`,
		Example: `  helve lsp check main.go
  helve lsp check --json src/*.ts
  helve lsp check --changed
  helve lsp check --changed=origin/main --timeout 5m`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.timeout <= 0:
				return usagef("--timeout has to be more than 0")
			case f.changed != "" && len(args) > 0:
				return usagef("--changed finds the files itself, and %s is one too many; a commit is given as --changed=COMMIT", args[0])
			case f.changed == "" && c.Flags().Changed("changed"):
				return usagef("--changed= needs a commit, such as origin/main; --changed alone is the last one")
			case f.changed == "" && len(args) == 0:
				return usagef("missing: the files to check, or --changed")
			}
			return a.checkFiles(c.Context(), args, f)
		},
	}
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	c.Flags().DurationVar(&f.timeout, "timeout", 2*time.Minute, "how long to wait for all of it")
	c.Flags().StringVar(&f.changed, "changed", "", "check the files that differ from a `commit`, the last one if none is given")
	c.Flags().Lookup("changed").NoOptDefVal = headCommit
	return c
}

// headCommit is what git calls the last commit.
const headCommit = "HEAD"

type checkFlags struct {
	asJSON  bool
	timeout time.Duration
	changed string // the files that differ from this commit; "" for those that are named
}

// A checkedReport is what helve lsp check --json prints.
type checkedReport struct {
	Errors    int             `json:"errors"`
	Files     []checkedFile   `json:"files"`     // that a server has looked at
	Unchecked []uncheckedFile `json:"unchecked"` // by a server that should have
	Passed    []string        `json:"passed"`    // over, since no server is for them
}

type checkedFile struct {
	Path        string      `json:"path"`
	Diagnostics []diagnosis `json:"diagnostics"`
}

// An uncheckedFile is one that a server has not looked at. Another one may have.
type uncheckedFile struct {
	Path   string `json:"path"`
	Server string `json:"server,omitempty"`
	Why    string `json:"why"`
}

// A diagnosis is one thing that a server has found. Its place is counted from
// 1, and the end is not in it.
type diagnosis struct {
	Line      int             `json:"line"`
	Column    int             `json:"column"`
	EndLine   int             `json:"endLine"`
	EndColumn int             `json:"endColumn"`
	Severity  string          `json:"severity"`
	Message   string          `json:"message"`
	Source    string          `json:"source,omitempty"`
	Code      json.RawMessage `json:"code,omitempty"`
}

// severityWord returns the name of a severity. A diagnostic without one counts as the most severe.
func severityWord(severity int) string {
	switch severity {
	case 2:
		return "warning"
	case 3:
		return "information"
	case 4:
		return "hint"
	}
	return "error"
}

// checkFiles prints what language servers find in files.
func (a *app) checkFiles(ctx context.Context, args []string, f checkFlags) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	if f.changed != "" {
		changed, err := a.changedFiles(ctx, f.changed)
		if err != nil {
			return err
		}
		args = changed
	}
	files, shown, err := a.filesToCheck(args)
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	opt := a.languageOptions(s)
	if opt.LSP == nil {
		return &tool.Error{Kind: tool.InvalidInput, Code: "lsp-off", Err: errors.New("no file was checked"), Hint: howToSwitchOn}
	}
	opt.LSP.Wait = f.timeout
	rt, err := helve.Open(opt)
	if err != nil {
		return err
	}
	stop := a.progress("waiting for language servers")
	k := &fileCheck{rt: rt, shown: shown, project: []string{s.opt.Dir, s.opt.Worktree}, own: opt.LSP.Own, report: checkedReport{Files: []checkedFile{}, Unchecked: []uncheckedFile{}, Passed: []string{}}}
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	for some := range slices.Chunk(files, filesAtOnce) {
		err = errors.Join(err, k.checkFiles(limited, some))
	}
	cancel()
	stop()
	if err := errors.Join(err, rt.Close()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &silent{exitCanceled}
	}
	return a.printChecked(k.report, f.asJSON)
}

// filesToCheck are the files by their whole names, once each, and what each was
// called.
func (a *app) filesToCheck(args []string) (files []string, shown map[string]string, err error) {
	shown = map[string]string{}
	for _, arg := range args {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.workDir(), path)
		}
		path = filepath.Clean(path)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, nil, usagef("there is no file %s", path)
		case err != nil:
			return nil, nil, fmt.Errorf("looking at the files: %w", err)
		case info.IsDir():
			return nil, nil, usagef("%s is a folder: name the files in it", arg)
		}
		if _, twice := shown[path]; !twice {
			shown[path] = arg
			files = append(files, path)
		}
	}
	return files, shown, nil
}

// A fileCheck is one run of helve lsp check.
type fileCheck struct {
	rt     *helve.Runtime
	shown  map[string]string // what a file was called
	report checkedReport

	project []string // the folders that the project is in
	own     []lsp.Server
}

// checkFiles asks the servers about files. Of several files among which is one that no
// server is for, the halves are asked about by themselves.
func (k *fileCheck) checkFiles(ctx context.Context, files []string) error {
	if ctx.Err() != nil {
		for _, file := range files {
			k.missed(file, "", "the time was up before its turn; --timeout gives more")
		}
		return nil
	}
	report, err := k.rt.LSP().Diagnostics(ctx, slices.Clone(files)...)
	switch half := len(files) / 2; {
	case errors.Is(err, lspclient.ErrNone) && half > 0:
		return errors.Join(k.checkFiles(ctx, files[:half]), k.checkFiles(ctx, files[half:]))
	case errors.Is(err, lspclient.ErrNone) && !k.inProject(files[0]):
		k.missed(files[0], "", "it lies outside the project, where no server is started; --dir names another folder to work in")
	case errors.Is(err, lspclient.ErrNone):
		k.report.Passed = append(k.report.Passed, k.shown[files[0]])
	case err != nil:
		return err
	default:
		k.take(files, report)
	}
	return nil
}

// inProject reports whether a file is in the project, by its name or after following links.
func (k *fileCheck) inProject(file string) bool {
	names := []string{file}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		names = append(names, real)
	}
	for _, dir := range k.project {
		if dir == filepath.Dir(dir) {
			continue // there is no project: everything lies in the root of the disk
		}
		folders := []string{dir}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			folders = append(folders, real)
		}
		for _, folder := range folders {
			for _, name := range names {
				if disk.Within(folder, name) {
					return true
				}
			}
		}
	}
	return false
}

// take adds what the servers report about the requested files.
func (k *fileCheck) take(files []string, report lsp.Report) {
	told := map[string]bool{}
	for _, r := range report.Files {
		told[r.Path] = true
		f := checkedFile{Path: k.shown[r.Path], Diagnostics: []diagnosis{}}
		found := slices.SortedStableFunc(slices.Values(r.Diagnostics), func(a, b lsp.Diagnostic) int {
			from, to := a.Range.Start, b.Range.Start
			return cmp.Or(from.Line-to.Line, from.Character-to.Character)
		})
		for _, d := range found {
			one := diagnosis{
				Line: d.Range.Start.Line + 1, Column: d.Range.Start.Character + 1,
				EndLine: d.Range.End.Line + 1, EndColumn: d.Range.End.Character + 1,
				Severity: severityWord(d.Severity), Message: d.Message, Source: d.Source, Code: d.Code,
			}
			f.Diagnostics = append(f.Diagnostics, one)
			if one.Severity == "error" {
				k.report.Errors++
			}
		}
		k.report.Files = append(k.report.Files, f)
	}
	for _, p := range report.Pending {
		told[p.Path] = true
		why := p.Why
		if p.Failed {
			why = troubleOf(p.Server, cmp.Or(why, "It has failed before."), k.own) // the reason is printed once
		}
		k.missed(p.Path, p.Server, why)
	}
	for _, file := range files {
		if !told[file] {
			k.explain(file, report.Missing)
		}
	}
}

func (k *fileCheck) missed(file, server, why string) {
	k.report.Unchecked = append(k.report.Unchecked, uncheckedFile{k.shown[file], server, why})
}

// explain says why there are no diagnostics for a file: its servers are not installed, have failed
// before, or are silent.
func (k *fileCheck) explain(file string, missing []lsp.Pending) {
	var names []string
	why := ""
	for _, m := range missing {
		if m.Path == file {
			names, why = append(names, m.Server), m.Why
		}
	}
	switch len(names) {
	case 0:
		why := "no language server has said anything about it"
		for _, st := range k.rt.LSP().Status() { // the reason for a failure is printed once
			if st.Error != "" {
				why += fmt.Sprintf("; %s has failed, 'helve lsp log %s' has more", st.ID, st.ID)
			}
		}
		k.missed(file, "", why)
	case 1:
		k.missed(file, names[0], why)
	default:
		k.missed(file, "", fmt.Sprintf("none of its language servers is here (%s); 'helve lsp --all' says how to get one", joinNames(names)))
	}
}

// maxPassed is how many files are named that no server is for.
const maxPassed = 20

// printChecked prints the diagnostics, and returns an error with the exit code for them.
func (a *app) printChecked(r checkedReport, asJSON bool) error {
	if asJSON {
		if err := a.printJSON(r); err != nil {
			return err
		}
		return r.verdict()
	}
	for _, f := range r.Files {
		for _, d := range f.Diagnostics {
			line := fmt.Sprintf("%s:%d:%d: %s: %s", f.Path, d.Line, d.Column, d.Severity, strings.Join(strings.Fields(d.Message), " "))
			if d.Source != "" {
				line += " (" + d.Source + ")"
			}
			if _, err := io.WriteString(a.Stdout, text.VisibleLine(line)+"\n"); err != nil {
				return fmt.Errorf("writing what was found: %w", err)
			}
		}
	}
	for i, path := range r.Passed {
		if i == maxPassed {
			a.printNote(text.Count(len(r.Passed)-i, "more file", "more files") + " that no language server is for")
			break
		}
		a.printNote(path + ": no language server is for this file")
	}
	for _, u := range r.Unchecked {
		by := ""
		if u.Server != "" {
			by = " by " + u.Server
		}
		a.printNote(fmt.Sprintf("%s was not checked%s: %s", u.Path, by, text.VisibleLine(u.Why)))
	}
	a.printNote(fmt.Sprintf("files checked: %d, errors: %d", len(r.Files), r.Errors))
	return r.verdict()
}

// verdict is the exit code, as an error.
func (r checkedReport) verdict() error {
	switch {
	case r.Errors > 0:
		return &silent{exitFailed}
	case len(r.Unchecked) > 0:
		return &silent{exitUnchecked}
	}
	return nil
}
