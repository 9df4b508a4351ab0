package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Data is what crosses between Go and scripts: JSON text and, beside it, bytes. JSON that is empty
// means null.
type Data struct {
	JSON []byte
	Raw  []byte
}

// A Host performs the operations that scripts request. ctx belongs to the call that the script
// works for, and ends with it. A panic of the host becomes the error of that one request.
type Host interface {
	// Now performs an operation on the engine's goroutine: nothing else of this VM runs meanwhile,
	// and its time does not count for the script. It must not use the VM.
	Now(ctx context.Context, op string, arg Data) (Data, error)
	// Later performs an operation on a goroutine of its own; the result settles a promise.
	Later(ctx context.Context, op string, arg Data) (Data, error)
}

// A Failure is an error of a [Host] as scripts see it: an Error with these fields as properties,
// like those of Node. Any other error is one with a message only.
type Failure struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Errno   int    `json:"errno,omitempty"`
	Syscall string `json:"syscall,omitempty"`
	Path    string `json:"path,omitempty"`
	Dest    string `json:"dest,omitempty"`
	// Data may hold further properties.
	Data json.RawMessage `json:"data,omitempty"`
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// refusal is a failure as boot.js reads it.
func refusal(err error) []byte {
	told, ok := errors.AsType[*Failure](err)
	switch {
	case ok:
		copied := *told
		told = &copied
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		told = &Failure{Name: "AbortError", Message: "The operation was aborted", Code: "ABORT_ERR"}
	default:
		told = &Failure{Message: err.Error()}
	}
	if told.Name == "" {
		told.Name = "Error"
	}
	text, err := json.Marshal(told)
	if err != nil { // Data was no JSON
		told.Data = nil
		text, _ = json.Marshal(told) // strings and a number
	}
	return text
}

// maxRequests bounds what a VM may wait for at once.
const maxRequests = 10_000

// A hostRequest is an operation requested with __later that is not finished.
type hostRequest struct {
	id     int32
	call   *call
	key    float64
	keyed  bool
	told   bool // settles when the call is cancelled
	timer  *time.Timer
	cancel context.CancelFunc
}

// readRequest reads the arguments of a request; if ok is false an exception is pending.
func (v *VM) readRequest(op, arg, raw value) (name string, d Data, ok bool) {
	text, ok := v.engine.toText(op)
	if !ok {
		return "", d, false
	}
	if d.JSON, ok = v.engine.toText(arg); !ok {
		return "", d, false
	}
	d.Raw, ok = v.engine.toBytes(raw)
	return string(text), d, ok
}

// now is __now.
func (v *VM) now(args []value) value {
	c := v.current
	op, arg, ok := v.readRequest(args[0], args[1], args[2])
	if !ok {
		return exception()
	}
	if c == nil || c.isOver() {
		return v.engine.throw(v.engine.newString(refusal(errOver)))
	}
	left := v.pauseClock()
	answer, err := v.guard(op, func() (Data, error) { return v.opts.Host.Now(c.forNow, op, arg) })
	v.allow(left)
	v.engine.hurry() // what happened meanwhile may stop the script
	if err != nil {
		return v.engine.throw(v.engine.newString(refusal(err)))
	}
	return v.hostValue(answer)
}

var errOver = errors.New("the call this belongs to has ended")

// later is __later; boot.js gives it the number of the request first.
func (v *VM) later(args []value) value {
	e, c := v.engine, v.current
	id, ok := e.toNumber(args[0])
	if !ok {
		return exception()
	}
	op, arg, ok := v.readRequest(args[1], args[2], args[3])
	if !ok {
		return exception()
	}
	r := &hostRequest{id: int32(id), call: c}
	if tagOf(args[4]) != tagOf(undefined()) {
		r.keyed = true
		if r.key, ok = e.toNumber(args[4]); !ok {
			return exception()
		}
	}
	if c == nil || c.isOver() {
		return undefined() // no call is left to settle it for
	}
	if err := v.beginRequest(r, op, arg); err != nil {
		return e.throw(e.newString(refusal(err)))
	}
	return undefined()
}

// beginRequest begins a request.
func (v *VM) beginRequest(r *hostRequest, op string, arg Data) error {
	if len(v.requests) >= maxRequests {
		return &Failure{Message: "too many requests at once", Code: "EAGAIN"}
	}
	if _, taken := v.keys[r.key]; taken && r.keyed {
		return &Failure{Name: "TypeError", Message: "the key of a request is in use"}
	}
	switch op {
	case "timer":
		d, err := delay(arg.JSON)
		if err != nil {
			return err
		}
		r.timer = time.AfterFunc(d, func() { v.post(func() { v.settleRequest(r, Data{}, nil) }) })
	case "cancelled":
		r.told = true
	default:
		ctx, cancel := context.WithCancel(r.call.forLater)
		r.cancel = cancel
		v.hosts.Go(func() {
			var answer Data
			err := errNoAnswer
			defer func() { v.post(func() { v.settleRequest(r, answer, err) }) }()
			answer, err = v.guard(op, func() (Data, error) { return v.opts.Host.Later(ctx, op, arg) })
		})
	}
	v.requests[r.id] = r
	r.call.requests[r.id] = r
	if r.keyed {
		v.keys[r.key] = r
	}
	return nil
}

var errNoAnswer = errors.New("the host gave no answer")

// delay reads how long a timer takes.
func delay(arg []byte) (time.Duration, error) {
	var asked struct {
		Ms float64 `json:"ms"`
	}
	if err := json.Unmarshal(arg, &asked); err != nil {
		return 0, &Failure{Name: "TypeError", Message: "a timer takes {ms}"}
	}
	const longest = float64(1<<31 - 1)
	return time.Duration(min(max(asked.Ms, 0), longest) * float64(time.Millisecond)), nil
}

// hostDrop is __drop.
func (v *VM) hostDrop(args []value) value {
	key, ok := v.engine.toNumber(args[0])
	if !ok {
		return exception()
	}
	if r := v.keys[key]; r != nil {
		v.remove(r)
		v.freePromises(r)
	}
	return undefined()
}

// remove takes a request out of the books and ends what it waits for.
func (v *VM) remove(r *hostRequest) {
	delete(v.requests, r.id)
	delete(r.call.requests, r.id)
	if r.keyed {
		delete(v.keys, r.key)
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.cancel != nil {
		r.cancel()
	}
}

// freePromises frees the promises of requests.
func (v *VM) freePromises(dropped ...*hostRequest) {
	for _, r := range dropped {
		none, err := v.engine.callFunction(v.engine.forget, v.engine.newInt(r.id))
		v.engine.free(none)
		v.freeThrown(err)
	}
}

// settleRequest settles the promise of a request. It is an entry into JavaScript, as part of the
// call that made the request.
func (v *VM) settleRequest(r *hostRequest, answer Data, err error) {
	if v.requests[r.id] != r {
		return // taken back
	}
	if c := r.call; !c.ended && !v.telling && c.ctx.Err() != nil {
		v.withdraw(c)
		return
	}
	v.remove(r)
	v.runCall(r.call, func() error { return v.resolve(r, answer, err) })
}

// resolve settles the promise of a request, within an entry.
func (v *VM) resolve(r *hostRequest, answer Data, err error) error {
	e := v.engine
	var good int32
	var with value
	if err == nil {
		good, with = 1, v.hostValue(answer)
	} else {
		with = e.newString(refusal(err))
	}
	if _, err := e.result(with); err != nil {
		return err
	}
	none, err := e.callFunction(e.settle, e.newInt(r.id), e.newInt(good), with)
	e.free(none)
	return err
}

// hostValue converts a host's result for a script.
func (v *VM) hostValue(d Data) value {
	text := v.engine.newString(valid(d.JSON))
	if d.Raw == nil || tagOf(text) == tagOf(exception()) {
		return text
	}
	buffer := v.engine.buffer(d.Raw)
	if tagOf(buffer) == tagOf(exception()) {
		v.engine.free(text)
		return buffer
	}
	return v.engine.pair(text, buffer)
}

// valid is JSON text that the engine can take.
func valid(text []byte) []byte {
	if len(text) == 0 {
		return []byte("null")
	}
	return toValid(text)
}

// guard makes an error of a panic.
func (v *VM) guard(op string, f func() (Data, error)) (d Data, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.log.Error("script host panicked", "op", op, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			d, err = Data{}, fmt.Errorf("%s: the host failed: %v", op, p)
		}
	}()
	return f()
}
