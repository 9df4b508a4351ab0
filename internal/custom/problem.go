package custom

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/internal/scripthost"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/tool"
)

// errLate ends what takes too long to load or to run.
var errLate = errors.New("it took too long")

// maxProblem bounds the text of a script in a problem or error.
const maxProblem = 8 << 10

// engineProblem words what ended an engine, or the loading of a file.
func (u *unit) engineProblem(err error) string {
	opt := u.set.opt
	switch {
	case errors.Is(err, script.ErrMemory):
		return fmt.Sprintf("it used more than %d MiB of memory. Let it do less at a time, or allow more by \"custom\": {\"memory\": …}", opt.Memory>>20)
	case errors.Is(err, script.ErrTurn):
		return fmt.Sprintf("it ran for %v without waiting for anything and was stopped. Look for a loop that does not end", u.set.turn())
	case errors.Is(err, errLate), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it was not loaded within %v. Look for something it waits for, or allow more by \"custom\": {\"load_timeout\": …}", opt.LoadTimeout)
	}
	return err.Error()
}

// why puts the file before a problem.
func (b *build) why(en userFile, problem string) string {
	if needs := b.needs(en); len(needs) > 0 {
		problem = "it uses " + strings.Join(needs, ", ") + ", which the embedded engine does not have: " + problem
	}
	return filepath.Join(b.root, filepath.FromSlash(en.name)) + ": " + problem
}

// locateFault puts the place before what a script threw.
func (e *engine) locateFault(en userFile, f *script.Fault) string {
	at := e.unit.path(e.build.root, en)
	if f.File != "" {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	said, _ := text.Cut(f.Error(), maxProblem)
	return at + ": " + said
}

// howToInstall says what to do about a missing package.
func howToInstall(name, dir string) string {
	return fmt.Sprintf("Install it: run 'npm install %s' or 'bun add %s' in %s", name, name, dir)
}

// toolError words the error of a call for the model.
func (u *unit) toolError(id string, err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := errors.AsType[*script.Fault](err); ok {
		return scriptError(id, fault)
	}
	opt := u.set.opt
	fail := func(code, format string, args ...any) error {
		e := tool.Fail(code, format, args...)
		e.Tool = id
		return e
	}
	switch {
	case errors.Is(err, script.ErrMemory):
		return fail("script-memory", "The tool %s used more than %d MiB of memory and was stopped. Ask it for less at a time.", id, opt.Memory>>20)
	case errors.Is(err, script.ErrTurn):
		return fail("script-endless", "The tool %s ran for %v without waiting for anything and was stopped. Call it with something smaller, or mend the loop in its file.", id, u.set.turn())
	case errors.Is(err, script.ErrStopped):
		return fail("script-stopped", "The tool %s was stopped together with another call of the same file, which did not end. Call it again.", id)
	case errors.Is(err, script.ErrLost):
		return fail("script-lost", "The engine of the tool %s was lost by another call in it. Call it again.", id)
	case errors.Is(err, ErrWorkerGone):
		return fail("worker-gone", "The tool %s did not come to an end: %w. Call it again; if it fails again, its file has to be mended.", id, err)
	case errors.Is(err, errNoEngine):
		return fail("script-engine", "The tool %s can not be run: %w.", id, err)
	case errors.Is(err, script.ErrClosed), errors.Is(err, ErrWorkerClosed), errors.Is(err, errClosed):
		return fail("script-closed", "The tool %s was stopped because helve ends.", id)
	}
	return err
}

// scriptError formats what a tool threw, as the reference implementation does: the message, and
// below it what a program printed or what caused it.
func scriptError(id string, f *script.Fault) error {
	said, _ := text.Cut(f.Message, maxProblem)
	switch {
	case said == "":
		said = f.Error()
	case f.Name == "" && f.Stack == "" && said == "null": // what the engine throws when nothing is left for an error, too
		said = "The script threw null, which says nothing. If it has no such throw, it had no memory or stack left: ask it for less at a time."
	}
	e := &tool.Error{Tool: id, Kind: tool.Failed, Code: "script-error", Err: errors.New(said)}
	if more, _ := text.Cut(f.More(), maxProblem); more != "" {
		e.Err = fmt.Errorf("%w\n%s", e.Err, more)
	}
	if f.File != "" {
		e.Hint = fmt.Sprintf("It was thrown at %s:%d:%d.", f.File, f.Line, f.Column)
	}
	switch {
	case f.Code == "ERR_PROCESS_EXIT":
		exit := exited(id, f.Message)
		exit.Hint = e.Hint
		return exit
	case strings.HasPrefix(f.Message, "The "+id+" tool was called with invalid arguments: "):
		e.Kind = tool.InvalidInput
	}
	return e
}

// exited is the error of a tool that wanted to end its process.
func exited(id, how string) *tool.Error {
	e := tool.Fail("script-exit", "The tool %s ended by %s instead of returning a result. Let it return or throw instead.", id, strings.TrimSuffix(how, " was called"))
	e.Tool = id
	return e
}

// refusedOr gives what the rules refused the script, if that is what its call failed by: then it
// keeps its kind.
func refusedOr(ctx context.Context, err error) error {
	refused := scripthost.RefusedIn(ctx)
	failed, ok := errors.AsType[*tool.Error](err)
	if refused == nil || !ok || failed.Code != "script-error" || !strings.Contains(failed.Error(), refused.Error()) {
		return err
	}
	return refused
}
