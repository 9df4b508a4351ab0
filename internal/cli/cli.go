// Package cli implements the command helve: each subcommand in the file of its subject, and
// setup.go, which turns the environment and the config files into the options of a runtime.
//
// Output for programs goes to standard output; everything else goes to standard error. Text that
// comes from files, models or other programs is never written to a terminal or into a prompt with
// characters that could hide or overwrite something. A command opens nothing that it does not need.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// Env is the environment of the command. Everything it takes from the process is here, so that a
// test can replace the process.
type Env struct {
	Args           []string // without the name of the program
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Dir            string // the current folder, absolute
	Self           string // the program, if it can be started again as the helper of commands
}

// Main runs the command and returns its exit code. When ctx ends, calls under
// way are cancelled.
func Main(ctx context.Context, env Env) int {
	a := &app{Env: env}
	root := a.root()
	root.SetArgs(env.Args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if _, said := errors.AsType[*silent](err); !said {
		a.errorln(shownError(err))
		if hint := hintOf(err); hint != "" {
			fmt.Fprintln(a.Stderr, safe(hint))
		}
		if a.exitCode(err) == exitUsage {
			path := root.Name()
			if c, _, ferr := root.Find(a.Args); ferr == nil {
				path = c.CommandPath()
			}
			fmt.Fprintf(a.Stderr, "Run '%s --help' for how it is used.\n", path)
		}
	}
	return a.exitCode(err)
}

// Tree returns the command with its subcommands, for documentation. It cannot be run.
func Tree() *cobra.Command { return new(app).root() }

// An app is one run of the command.
type app struct {
	Env
	dirFlag, dataFlag string
	noColor           bool
	ran               bool // the command line was understood
}

// A silent error has been printed already, or has nothing to print.
type silent struct{ code int }

func (s *silent) Error() string { return fmt.Sprintf("exit code %d", s.code) }

// A usageError is a command line that makes no sense.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

func (a *app) root() *cobra.Command {
	var asksVersion bool
	root := &cobra.Command{
		Use:   "helve",
		Short: "Run the tools of a coding agent, with permissions and a record of every call",
		Long: `helve runs the tools of a coding agent: it checks the arguments of a call,
asks for permission where the rules say so, runs the tool, and records what
happened.`,
		Example: `  helve call read filePath=README.md
  helve tools
  helve permission explain read .env`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.ran = true },
		RunE: func(c *cobra.Command, _ []string) error {
			if asksVersion {
				a.printVersion()
				return nil
			}
			if isTerminal(a.Stdout) {
				return a.whatRuns(c.Context())
			}
			return c.Help()
		},
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	f := root.PersistentFlags()
	f.StringVar(&a.dirFlag, "dir", "", "work in this `folder` instead of the current one")
	f.StringVar(&a.dataFlag, "data-dir", "", "keep records in this `folder` (or set HELVE_DATA_DIR)")
	f.BoolVar(&a.noColor, "no-color", false, "print without colours (or set NO_COLOR)")
	root.Flags().BoolVarP(&asksVersion, "version", "v", false, "print the version")
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		a.runCommand(), a.chatCommand(), a.serveCommand(), a.openCommand(),
		a.callCommand(), a.grepCommand(), a.globCommand(), a.toolsCommand(), a.pluginsCommand(), a.skillsCommand(), a.permissionCommand(),
		a.agentsCommand(), a.modelsCommand(),
		a.sessionsCommand(), a.callsCommand(), a.showCommand(), a.historyCommand(), a.undoCommand(), a.jobsCommand(), a.lspCommand(), a.mcpCommand(),
		a.configCommand(), a.trustCommand(), a.doctorCommand(), a.versionCommand(),
		exitCodesTopic(),
	)
	return root
}

// helpCommand shows the help of a command. The library's own takes a name that
// no command has for a reason to show all of it.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		Long:  "Help shows what a command does and takes, and so does --help behind the command.",
		Example: `  helve help call
  helve help exit-codes`,
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil {
				return usageError{err}
			}
			if len(rest) > 0 && of.HasSubCommands() {
				return usagef("unknown command %q for %q", rest[0], of.CommandPath())
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

func (a *app) errorln(message string) {
	fmt.Fprintf(a.Stderr, "%s %s\n", a.style(a.Stderr).Red("helve:"), safe(message))
}

// shownError formats an error for display. A rule in it that is meant to be copied stays valid
// JSON: invisible characters are escaped as in JSON.
func shownError(err error) string {
	message := err.Error()
	say := func(of error, plain string) { message = strings.ReplaceAll(message, of.Error(), plain) }
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "duration": "a time", "bool": "true or false"}[e.GetFlag().Value.Type()]
		if cause := e.Unwrap(); cause != nil && kind != "" {
			say(cause, "it is not "+kind)
		}
	}
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		say(e, fmt.Sprintf("%q is not a number", e.Num))
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		say(e, fmt.Sprintf("%s can not be %s", cmp.Or(e.Field, "the whole"), e.Value))
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		say(e, e.Path+": "+e.Err.Error())
	}
	u, ok := errors.AsType[*permission.UnattendedError](err)
	if !ok {
		return message
	}
	before, after, found := strings.Cut(message, u.Rule())
	if !found {
		return message
	}
	if text.HasHidden(before) || strings.ContainsAny(before, "\n\t") {
		before = text.VisibleLine(before)
	}
	return before + visibleJSON(u.Rule()) + after
}

// visibleJSON escapes invisible characters in JSON.
func visibleJSON(s string) string {
	var b strings.Builder
	blanks := 0
	for _, r := range s {
		switch {
		case r == ' ' && blanks > 0: // a single one can be seen
			b.WriteString(`\u0020`)
		case r > 0xffff && text.HasHidden(string(r)):
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		case text.HasHidden(string(r)):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		blanks++
		if r != ' ' {
			blanks = 0
		}
	}
	return b.String()
}

// printNote prints a notice that is not an error.
func (a *app) printNote(message string) {
	fmt.Fprintf(a.Stderr, "helve: %s\n", safe(message))
}

// workDir is the folder that the command works in.
func (a *app) workDir() string { return a.abs(a.dirFlag) }

func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.Dir, path)
}

// safe makes text fit for a terminal.
func safe(s string) string { return text.VisibleLines(s) }

// printJSON prints a value as indented JSON.
func (a *app) printJSON(v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	if err == nil {
		_, err = io.WriteString(a.Stdout, text.VisibleJSON(b.String()))
	}
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
