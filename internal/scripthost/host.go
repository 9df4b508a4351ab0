package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// A Host serves the scripts of one engine. It owns what they have opened, and closes it in Close.
type Host struct {
	opt  plugins.Services
	ops  map[string]operation
	born time.Time
	// temp is the folder that scripts have for themselves.
	temp temporary
	// shut are the files that may not be read, under any name.
	shut shut
	net  *network

	mu      sync.Mutex
	closers []func() error
}

// An operation serves one request.
type operation func(ctx context.Context, arg script.Data) (script.Data, error)

// New returns a host. It opens nothing.
func New(opt plugins.Services) *Host {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Host{opt: opt, ops: map[string]operation{}, born: time.Now()}
	w.onClose(w.temp.remove)
	for _, some := range []map[string]operation{
		w.machineOps(), w.toolOps(), w.networkOps(), w.sqliteOps(), w.fileOps(), w.changeOps(), w.descriptorOps(), w.programOps(),
	} {
		maps.Copy(w.ops, some)
	}
	for name, do := range CryptoOperations() {
		w.ops[name] = do
	}
	return w
}

// onClose registers a function for Close, which calls them in reverse order.
func (w *Host) onClose(end func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closers = append(w.closers, end)
}

// Now performs an operation on the calling goroutine.
func (w *Host) Now(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	do := w.ops[op]
	if do == nil {
		return script.Data{}, &script.Failure{Message: "no such operation: " + op, Code: "ENOSYS"}
	}
	return do(ctx, arg)
}

// Later performs an operation on a goroutine of its own.
func (w *Host) Later(ctx context.Context, op string, arg script.Data) (script.Data, error) {
	return w.Now(ctx, op, arg)
}

// Close lets go of everything scripts have opened, and ends their programs.
// A second time does nothing.
func (w *Host) Close() error {
	w.mu.Lock()
	closers := w.closers
	w.closers = nil
	w.mu.Unlock()
	var errs []error
	for _, end := range slices.Backward(closers) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

type workKey struct{}

// A work is what a script is running for.
type work struct {
	call *tool.Call
	name string

	end context.CancelCauseFunc // ends the work before its time; nil where nothing can

	mu   sync.Mutex
	last error // the last refusal
}

// For returns a context whose scripts work for a call, with the name of the tool or plugin that
// permission requests show.
func For(ctx context.Context, c *tool.Call, name string) context.Context {
	return Ending(ctx, nil, c, name)
}

// Ending is [For] for work that a script may end by itself, as by process.exit:
// end is then called with an [*Exit].
func Ending(ctx context.Context, end context.CancelCauseFunc, c *tool.Call, name string) context.Context {
	return context.WithValue(plugins.WithScript(ctx, name), workKey{}, &work{call: c, name: name, end: end})
}

// An Exit is how a script ended that asked for the end of its process.
type Exit struct{ Code int }

// Error says what the script did.
func (e *Exit) Error() string { return fmt.Sprintf("process.exit(%d) was called", e.Code) }

// exit ends the call of the script that requests it, and nothing else. While files are loaded it
// ends nothing: the error that the script throws is enough.
func exit(_ context.Context, by *work, a struct{ Code int }) (any, error) {
	if by.end != nil {
		time.AfterFunc(exitPause, func() { by.end(&Exit{Code: a.Code}) })
	}
	return nil, nil
}

// exitPause is how long the error thrown by process.exit has to end the call by itself, which
// reports its position.
const exitPause = 20 * time.Millisecond

// RefusedIn gives the last request that was refused to the scripts that run
// under the context, nil where none was: a call whose script fails without
// having caught the refusal has failed by it.
func RefusedIn(ctx context.Context) error {
	by, err := worker(ctx)
	if err != nil {
		return nil
	}
	by.mu.Lock()
	defer by.mu.Unlock()
	return by.last
}

// errNobody is the error for a script that works for no call. It is an error of the program, never
// of a script.
var errNobody = errors.New("a script asked for something while it worked for nobody")

// worker returns the call that the script works for.
func worker(ctx context.Context) (*work, error) {
	if by, ok := ctx.Value(workKey{}).(*work); ok {
		return by, nil
	}
	return nil, errNobody
}

// Ask asks for permission, in the name of the tool.
func (b *work) Ask(ctx context.Context, reqs ...permission.Request) error {
	err := refusalError(b.call.Ask(ctx, saying(reqs, "tool", b.name)...))
	if no, ok := errors.AsType[*Refusal](err); ok {
		b.mu.Lock()
		b.last = no.Err
		b.mu.Unlock()
	}
	return err
}

// saying adds a detail to requests.
func saying(reqs []permission.Request, key string, value any) []permission.Request {
	out := slices.Clone(reqs)
	for i := range out {
		out[i].Metadata = maps.Clone(out[i].Metadata)
		if out[i].Metadata == nil {
			out[i].Metadata = map[string]any{}
		}
		out[i].Metadata[key] = value
	}
	return out
}

// by returns the author of a change, for the history.
func (b *work) by() files.By {
	c := b.call
	return files.By{Session: c.Session, Message: c.Message, Call: c.ID, Tool: b.name, Agent: c.Agent, Dir: c.Dir}
}

// Allowed decides without asking.
func (b *work) Allowed(req permission.Request) bool { return b.call.Allowed(req) }

// Filter returns which files the rules allow for a permission.
func (b *work) Filter(name string) (passes func(names ...string) bool, key string) {
	return b.call.Filter(name)
}

// refusalError converts a refusal for scripts: an error with the code EACCES and the sentence that
// a model is shown.
func refusalError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Refusal{Err: err}
}

// A Refusal is a request that the rules, or a person, did not allow. Scripts see it as an error
// with the code EACCES; the caller can unwrap its cause.
type Refusal struct{ Err error }

// Error is the cause's.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap is the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// op makes an operation of a function that takes and gives JSON values.
func op[A any](do func(ctx context.Context, by *work, a A) (any, error)) operation {
	return func(ctx context.Context, arg script.Data) (script.Data, error) {
		var a A
		by, err := read(ctx, arg, &a)
		if err != nil {
			return script.Data{}, err
		}
		value, err := do(ctx, by, a)
		if err != nil {
			return script.Data{}, failure(err)
		}
		return encodeAnswer(value)
	}
}

// read reads the argument of a request, and finds out who asks.
func read(ctx context.Context, arg script.Data, into any) (*work, error) {
	if len(arg.JSON) > 0 {
		if err := json.Unmarshal(arg.JSON, into); err != nil {
			return nil, fmt.Errorf("a request of a script can not be read: %w", err)
		}
	}
	return worker(ctx)
}

func encodeAnswer(value any) (script.Data, error) {
	text, err := json.Marshal(value)
	return script.Data{JSON: text}, err
}

// failure converts an error for scripts. A refusal of the rules has the code EACCES and a syscall,
// so that the modules keep its text. A system error has a code only, and the modules make its text.
func failure(err error) error {
	var told *script.Failure
	var no *Refusal
	switch {
	case errors.As(err, &told):
		return told
	case errors.As(err, &no):
		return &script.Failure{Name: "Error", Message: no.Error(), Code: "EACCES", Errno: -13, Syscall: "permission"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if code := errnoName(err); code != "" {
		return &script.Failure{Message: err.Error(), Code: code}
	}
	return err
}
