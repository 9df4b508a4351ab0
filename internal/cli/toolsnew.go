package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

func (a *app) toolsNewCommand() *cobra.Command {
	var lang string
	var global bool
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a tool of your own to begin with, and a test of it",
		Long: `New writes an example tool that works, and a test beside it, into the config
folder of the project, or with --global into yours. It overwrites nothing. It
says what to do next.`,
		Example: `  helve tools new weather
  helve tools new weather --lang py
  helve tools new weather --lang sh --global`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("give one name, as in 'helve tools new weather'")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.newTool(c.Context(), args[0], lang, global)
		},
	}
	c.Flags().StringVar(&lang, "lang", "ts", "the `language`: "+strings.Join(scaffoldLanguages(), ", "))
	c.Flags().BoolVar(&global, "global", false, "for all your projects")
	_ = c.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions(scaffoldLanguages(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return c
}

// newTool writes an example, and prints what to do next.
func (a *app) newTool(ctx context.Context, name, lang string, global bool) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	folder, guarded, err := s.toolFolder(global)
	if err != nil {
		return err
	}
	known, err := a.specs(ctx, &toolsFlags{all: true, builtin: true, quiet: true})
	if err != nil {
		return err
	}
	files, err := writeScaffold(folder, name, lang)
	if err != nil {
		return usageError{err}
	}
	for _, f := range files {
		fmt.Fprintf(a.Stdout, "wrote %s\n", safe(f))
	}
	if slices.ContainsFunc(known, func(s tool.Spec) bool { return s.Name == name }) {
		a.printNote(fmt.Sprintf("helve has a tool called %s, and yours takes its place", name))
	}
	next := scaffoldNext(folder, name, lang)
	if guarded {
		next = slices.Insert(next, len(next)-1, "helve trust") // what is built is trusted with the rest
	}
	fmt.Fprintln(a.Stdout, "\nNext:")
	for _, line := range next {
		fmt.Fprintf(a.Stdout, "  %s\n", safe(line))
	}
	return nil
}

// toolFolder is the config folder that a new tool goes into, and whether it
// has to be trusted: the user's own, or the nearest of the project.
func (s *setup) toolFolder(global bool) (folder string, guarded bool, err error) {
	if global {
		base := s.opt.Env("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) {
			if s.opt.Home == "" {
				return "", false, errors.New("no folder of yours is known: set HOME")
			}
			base = filepath.Join(s.opt.Home, ".config")
		}
		return filepath.Join(base, "helve"), false, nil
	}
	for _, f := range s.there() {
		if f.Guarded {
			return f.Path, true, nil
		}
	}
	return filepath.Join(s.opt.Dir, ".opencode"), s.opt.Home == "" || s.opt.Dir != filepath.Clean(s.opt.Home), nil
}

func (a *app) toolsTestCommand() *cobra.Command {
	var f callFlags
	c := &cobra.Command{
		Use:   "test [NAME]",
		Short: "Run the tests of your own tools; exit 1 if one fails",
		Long: `Test makes the calls in NAME.test.json, which stands beside the tool, and holds
what comes against what is wanted. Without a name it is every such file in your
config folders. The calls are ordinary ones: rules are asked, and a person at the
terminal is. A folder that is not trusted is not tested.

A test is {"cases": [{"args": {…}, "output": "…"}]}. In place of "output" there
may be "contains", or "error" where the call has to fail; "name" says what it is
about, and "tool" which one is called, where a file has several.`,
		Example: `  helve tools test
  helve tools test weather
  helve tools test --no-input --timeout 10s`,
		Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return a.testTools(c.Context(), &f, name)
		},
	}
	c.Flags().StringVar(&f.agent, "agent", "", "call as this agent, under its rules")
	c.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "give up a call after this long")
	c.Flags().BoolVar(&f.noInput, "no-input", false, "ask nobody: what has to be asked for fails")
	a.completeFlags(c)
	return c
}

// A toolTest is a file with cases.
type toolTest struct {
	path, folder string // where it is, and the config folder
	tool         string // that it is for, unless a case says otherwise
}

func (a *app) testTools(ctx context.Context, f *callFlags, name string) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg, voiding(s.cfg)...)
	if err := s.checkReady(f.agent); err != nil {
		return err
	}
	tests := s.toolTests(name)
	if len(tests) == 0 {
		if name == "" {
			return usagef("there are no tests: write NAME.test.json beside a tool, or begin with 'helve tools new NAME'")
		}
		return usagef("there is no %s beside a tool of yours; 'helve tools test --help' says how to write one", caseFileName(name))
	}
	opt := a.options(s)
	opt.MCP.Servers, opt.Unattended = nil, f.noInput || !a.attended()
	rt, err := helve.Open(opt)
	if err != nil {
		return err
	}
	defer rt.Close()
	stop := a.progress("loading")
	rt.Gather(ctx)
	stop()
	r := &toolTester{app: a, rt: rt, flags: f, own: sources(rt.Plugins().Files())}
	for _, t := range tests {
		r.file(ctx, t)
	}
	fmt.Fprintf(a.Stdout, "%d passed, %d failed\n", r.passed, r.failed)
	if r.failed > 0 {
		return &silent{exitFailed}
	}
	return ctx.Err()
}

// toolTests are the files with cases in the config folders, all or of one tool.
func (s *setup) toolTests(name string) (tests []toolTest) {
	for _, f := range s.cfg.Folders {
		for _, sub := range []string{"tool", "tools"} {
			entries, err := os.ReadDir(filepath.Join(f.Path, sub))
			if err != nil {
				continue // most folders have none; an unreadable file is reported as a problem of its tools
			}
			for _, e := range entries {
				of, ok := strings.CutSuffix(e.Name(), caseFileName(""))
				if ok && of != "" && (name == "" || of == name) {
					tests = append(tests, toolTest{path: filepath.Join(f.Path, sub, e.Name()), folder: f.Path, tool: of})
				}
			}
		}
	}
	return tests
}

// A toolTester runs tests and counts.
type toolTester struct {
	app            *app
	rt             *helve.Runtime
	flags          *callFlags
	own            map[string]plugin.File
	passed, failed int
}

func (r *toolTester) reportFailure(about string, err error) {
	r.failed++
	st := r.app.style(r.app.Stdout)
	fmt.Fprintf(r.app.Stdout, "%s  %s\n", st.Red("FAIL"), text.VisibleLine(about))
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(r.app.Stdout, "      %s\n", text.VisibleLine(strings.TrimSuffix(line, "\n")))
	}
}

// file runs the cases of one file. They may only call the tools beside them: otherwise the tests of
// an untrusted project could call any tool.
func (r *toolTester) file(ctx context.Context, t toolTest) {
	data, err := readBounded(t.path)
	if err != nil {
		r.reportFailure(t.path, err)
		return
	}
	cases, err := readToolCases(data)
	if err != nil {
		r.reportFailure(t.path, err)
		return
	}
	if err := r.unready(t); err != nil {
		r.reportFailure(t.path, err)
		return
	}
	for _, c := range cases {
		name := c.Tool
		if name == "" {
			name = t.tool
		}
		about := name + ": " + c.String()
		if err := r.checkTool(t, name); err != nil {
			r.reportFailure(about, err)
			continue
		}
		began := time.Now()
		res, err := r.app.callWithPrompts(ctx, r.rt, r.flags, tool.Call{ID: r.rt.NewID("call"), Agent: r.flags.agent, Tool: name, Input: c.Args})
		output := ""
		if err == nil {
			output = res.Output
		}
		if err := c.Check(output, err); err != nil {
			r.reportFailure(about, err)
			continue
		}
		r.passed++
		st := r.app.style(r.app.Stdout)
		fmt.Fprintf(r.app.Stdout, "%s    %s (%d ms)\n", st.Green("ok"), text.VisibleLine(about), time.Since(began).Milliseconds())
	}
}

// unready says why nothing of a file can be tested.
func (r *toolTester) unready(t toolTest) error {
	for _, f := range r.rt.Plugins().Files() {
		base, _, _ := strings.Cut(filepath.Base(f.Path), ".")
		if f.Folder != t.folder || base != t.tool {
			continue
		}
		if f.State == "ready" {
			return nil
		}
		return errors.New(cmp.Or(f.Problem, "it is "+string(f.State)))
	}
	if next := scaffoldNext(t.folder, t.tool, "go"); hasSource(t) {
		return fmt.Errorf("it is not built; run\n%s", next[0])
	}
	return nil
}

// hasSource reports whether a tool has to be built.
func hasSource(t toolTest) bool {
	info, err := os.Stat(filepath.Join(t.folder, "tool-src", t.tool))
	return err == nil && info.IsDir()
}

// checkTool says why a case cannot be run.
func (r *toolTester) checkTool(t toolTest, name string) error {
	from, ok := r.own[name]
	switch {
	case ok && from.Folder == t.folder:
		return nil
	case ok:
		return fmt.Errorf("%s takes its place", from.Path)
	}
	return fmt.Errorf("no file beside the test has a tool called %s", name)
}

// maxCasesFile bounds a file with cases.
const maxCasesFile = 4 << 20

// readBounded reads a file of bounded size.
func readBounded(path string) ([]byte, error) {
	data, err := disk.ReadSmall(path, maxCasesFile)
	switch {
	case errors.Is(err, disk.ErrNotRegular) || errors.Is(err, disk.ErrTooLarge):
		return nil, fmt.Errorf("the test is not a file, or has more than %d MiB", maxCasesFile>>20)
	case err != nil:
		return nil, fmt.Errorf("reading the test: %w", err)
	}
	return data, nil
}
