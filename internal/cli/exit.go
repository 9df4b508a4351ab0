package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/tool"
)

// The exit codes that correspond to no kind of failure.
const (
	exitOK       = 0
	exitFailed   = 1
	exitModel    = 5  // the model could not be asked
	exitLimit    = 6  // the model came to a limit
	exitRefused  = 7  // the model does not go on
	exitUsage    = 64 // the command line makes no sense
	exitInternal = 70 // a fault of helve itself
	exitCanceled = 130
)

// exitOf gives every kind of failure its exit code, which is never 0.
func exitOf(k tool.Kind) int {
	switch k {
	case tool.UnknownTool, tool.InvalidInput:
		return 2
	case tool.Denied, tool.Rejected:
		return 3
	case tool.Unattended:
		return 4
	case tool.Failed:
		return exitFailed
	case tool.Canceled:
		return exitCanceled
	}
	return exitInternal // also for an unknown kind
}

// exitCode gives an error of a command its exit code.
func (a *app) exitCode(err error) int {
	if s, ok := errors.AsType[*silent](err); ok {
		return s.code
	}
	if _, ok := errors.AsType[usageError](err); ok || !a.ran {
		return exitUsage
	}
	if _, ok := errors.AsType[*modelError](err); ok {
		return exitModel
	}
	return exitOf(tool.KindOf(err))
}

func hintOf(err error) string {
	e, ok := errors.AsType[*tool.Error](err)
	if ok && e.Code == "not-read" {
		return e.Hint + "\nHere that is 'helve call --session NAME read filePath=…', and then this call with the same --session NAME."
	}
	if ok {
		return e.Hint
	}
	if said := err.Error(); strings.Contains(said, "time: missing unit in duration") || strings.Contains(said, "time: invalid duration") {
		return "A time is given with its unit, as in 2s or 5m."
	}
	return ""
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `The exit code of helve says who has to act.

  0    it worked
  1    the tool tried and could not (failed); a check found something wrong;
       somebody works on the session already; whoever read the output is gone
  2    the tool does not exist (unknown_tool), or its arguments do not fit
       (invalid_input)
  3    a rule or a hook said no (denied), or a person did (rejected)
  4    a rule says ask, and there is nobody to ask (unattended); of 'helve run'
       with --strict only
  5    the model could not be asked, or its provider failed; there is no model
  6    the model came to a limit: of steps, of tokens, cost or time, or of the
       length of an answer
  7    the model refused to answer, or went in circles
  64   the command line makes no sense
  70   a fault of helve itself: a panic, a broken store (internal)
  130  the call or the turn was cancelled, or a call took longer than --timeout
       (canceled)

'helve call bash' ends with 0 when the command was run to its end, whatever its own
exit code: that is metadata.exit of what --json prints.

'helve run' and 'helve sessions resume' end with 0 when the model has said its
last word, whatever became of its calls.

'helve grep' and 'helve glob' end as other programs that search do: 0 something
was found, 1 nothing was, 2 for all that went wrong, 130 cancelled.

'helve lsp check' ends with 0 if there are no errors, 1 if there are, 2 if a file
could not be checked or language servers are off, 64 for a command line that
makes no sense, such as one without files, 130 cancelled.`,
	}
}
