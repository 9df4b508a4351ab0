package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A call is the work that one Load or Call asked for.
type call struct {
	id       int32
	ctx      context.Context // the caller's
	owner    any
	lasting  bool
	nested   bool
	begin    func() error
	onlyOnce bool // ends when begin has returned: a load

	forNow, forLater context.Context // what the host gets
	cancel           context.CancelCauseFunc
	unlink           []func() bool

	requests map[int32]*hostRequest
	ended    bool
	kept     bool // ended well, and what it set up goes on
	result   Data
	err      error
	done     chan struct{}
}

// isOver reports whether nothing may be asked for the call any more.
func (c *call) isOver() bool { return c.ended && !c.kept }

type (
	ownerKey  struct{}
	lastKey   struct{}
	insideKey struct{}
)

// inside marks the contexts that were given to a host, for a call.
type inside struct {
	vm  *VM
	now bool
}

// WithOwner returns a context for calls of an owner. Calls of different owners never overlap in one
// VM, so that what a script keeps waiting for one is not answered with the rights of the other.
func WithOwner[K comparable](ctx context.Context, owner K) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// Lasting marks calls that set something up: their timers and requests continue after the call has
// returned without error, until the VM is closed. [VM.Load] is always like that.
func Lasting(ctx context.Context) context.Context { return context.WithValue(ctx, lastKey{}, true) }

// Code is a script: its source, or what [Compile] made of it.
type Code struct {
	Source   string
	Bytecode []byte
}

// Load evaluates a script under a name for stack traces. It does not wait for promises.
func (v *VM) Load(ctx context.Context, name string, code Code) error {
	c := v.newCall(Lasting(ctx))
	c.onlyOnce = true
	c.begin = func() error {
		script, err := v.read(name, code)
		if err != nil {
			return err
		}
		done, err := v.engine.run(script)
		v.engine.free(done)
		return err
	}
	_, err := v.run(c)
	return err
}

// read defines a function of a script. Its time is not counted: it cannot be stopped, but it does
// end.
func (v *VM) read(name string, code Code) (value, error) {
	left := v.pauseClock()
	defer func() { v.allow(left) }()
	if code.Bytecode == nil {
		return v.engine.evaluate(name, code.Source, compileOnly)
	}
	plain, err := unseal(code.Bytecode)
	if err != nil {
		return undefined(), err
	}
	return v.engine.readBytecode(plain)
}

// Call calls a global function with the JSON value and, if there are any, the bytes (as an
// ArrayBuffer), waits for the promise it may return, and returns the result: JSON, or bytes if it
// is an ArrayBuffer or a typed array. What the function throws is a [*Thrown]; other errors are the
// context's or the VM's.
func (v *VM) Call(ctx context.Context, function string, arg Data) (Data, error) {
	c := v.newCall(ctx)
	c.begin = func() error {
		e := v.engine
		raw := undefined()
		if arg.Raw != nil {
			raw = e.buffer(arg.Raw)
		}
		none, err := e.callFunction(e.invoke, e.newInt(c.id), e.newString([]byte(function)), e.newString(valid(arg.JSON)), raw)
		e.free(none)
		return err
	}
	return v.run(c)
}

func (v *VM) newCall(ctx context.Context) *call {
	c := &call{ctx: ctx, owner: ctx.Value(ownerKey{}), requests: map[int32]*hostRequest{}, done: make(chan struct{})}
	_, c.lasting = ctx.Value(lastKey{}).(bool)
	if in, ok := ctx.Value(insideKey{}).(inside); ok && in.vm == v {
		c.nested = true
	}
	return c
}

// link makes the contexts of the host.
func (v *VM) link(c *call) {
	var ctx context.Context
	if c.lasting {
		ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(c.ctx))
		c.unlink = append(c.unlink, context.AfterFunc(c.ctx, func() { c.cancel(context.Cause(c.ctx)) }))
	} else {
		ctx, c.cancel = context.WithCancelCause(c.ctx)
	}
	c.unlink = append(c.unlink, context.AfterFunc(v.life, func() { c.cancel(context.Cause(v.life)) }))
	c.forNow = context.WithValue(ctx, insideKey{}, inside{vm: v, now: true})
	c.forLater = context.WithValue(ctx, insideKey{}, inside{vm: v})
}

// run sees a call through, for the caller.
func (v *VM) run(c *call) (Data, error) {
	if in, ok := c.ctx.Value(insideKey{}).(inside); ok && in.vm == v && in.now {
		return Data{}, ErrBusy
	}
	if !v.post(func() { v.arrive(c) }) {
		return Data{}, v.why()
	}
	select {
	case <-c.done:
	case <-v.dead:
		return v.deadAnswer(c)
	case <-c.ctx.Done():
		v.post(func() { v.withdraw(c) })
		if !v.awaits(grace, c.done, v.dead) { // the engine is held up by another call's question, or does not react
			return Data{}, context.Cause(c.ctx)
		}
		return v.deadAnswer(c)
	}
	return c.result, c.err
}

// deadAnswer is the result of a call when the VM is dead: its own if there is one.
func (v *VM) deadAnswer(c *call) (Data, error) {
	select {
	case <-c.done:
		return c.result, c.err
	default:
		return Data{}, v.why()
	}
}

// arrive lets a call in, or has it wait.
func (v *VM) arrive(c *call) {
	if c.ctx.Err() != nil {
		v.end(c, Data{}, context.Cause(c.ctx))
		return
	}
	if c.nested {
		v.start(c)
		return
	}
	v.waiting = append(v.waiting, c)
}

// startCalls starts the calls whose turn it is.
func (v *VM) startCalls() {
	for len(v.waiting) > 0 && !v.over.Load() {
		c := v.waiting[0]
		for _, other := range v.calls {
			if other.owner != c.owner {
				return
			}
		}
		v.waiting[0] = nil
		v.waiting = v.waiting[1:]
		v.start(c)
	}
}

func (v *VM) start(c *call) {
	v.last++
	c.id = v.last
	v.calls[c.id] = c
	v.began.Add(1)
	v.link(c)
	v.runCall(c, c.begin)
	if c.onlyOnce {
		v.end(c, Data{}, nil)
		v.settleKept(c)
	}
}

// settleKept lets go of a call that ended well and waits for nothing any more.
func (v *VM) settleKept(c *call) {
	if c.kept && len(c.requests) == 0 {
		v.release(c)
	}
}

// withdraw ends a call whose context has ended. It notifies scripts that wait for that first.
func (v *VM) withdraw(c *call) {
	if c.ended {
		return
	}
	v.waiting = slices.DeleteFunc(v.waiting, func(w *call) bool { return w == c })
	if c.cancel != nil { // it has begun
		v.telling = true // so that its context does not stop it
		v.runCall(c, func() error { return v.notifyEnd(c) })
		v.telling = false
	}
	v.end(c, Data{}, context.Cause(c.ctx))
}

// notifyEnd settles the promise by which a script learns that its call ends.
func (v *VM) notifyEnd(c *call) error {
	for _, r := range c.requests {
		if !r.told {
			continue
		}
		v.remove(r)
		if err := v.resolve(r, Data{}, nil); err != nil {
			return err
		}
	}
	return nil
}

// hostFinish is called by boot.js with the outcome of a call.
func (v *VM) hostFinish(args []value) value {
	e := v.engine
	id, ok := e.toNumber(args[0])
	if !ok {
		return exception()
	}
	text, ok := e.toText(args[2])
	if !ok {
		return exception()
	}
	raw, ok := e.toBytes(args[3])
	if !ok {
		return exception()
	}
	c := v.calls[int32(id)]
	switch {
	case c == nil:
	case e.truthy(args[1]):
		v.end(c, Data{JSON: text, Raw: raw}, nil)
	default:
		v.end(c, Data{}, parseThrown(text))
	}
	return undefined()
}

// end closes a call; the first end counts.
func (v *VM) end(c *call, result Data, err error) {
	if c.ended {
		return
	}
	starved := v.ranOut(err)
	switch {
	case starved:
		err = fmt.Errorf("%w: %w", ErrLost, ErrMemory)
	case err != nil && c.ctx.Err() != nil: // whatever the script made of it
		err = context.Cause(c.ctx)
	}
	c.ended, c.result, c.err = true, result, err
	c.kept = c.lasting && err == nil
	delete(v.calls, c.id)
	var dropped []*hostRequest
	switch {
	case c.cancel == nil: // it never began
	case c.kept:
		c.unlink[0]() // from the caller's context
	default:
		dropped = v.release(c)
	}
	v.account()
	close(c.done) // before the engine is used again, which may be its end
	v.freePromises(dropped...)
	if starved {
		v.die(ErrLost)
	}
}

// ranOut reports whether an error means that the engine is out of memory. The engine throws null if
// it has no memory for an error either.
func (v *VM) ranOut(err error) bool {
	t, ok := errors.AsType[*Thrown](err)
	return ok && v.engine.arena.starved && (t.Name == "InternalError" && t.Message == "out of memory" || t.Name == "" && t.Message == "null")
}

// release drops all that a call still waits for.
func (v *VM) release(c *call) []*hostRequest {
	dropped := slices.Collect(maps.Values(c.requests))
	for _, r := range dropped {
		v.remove(r)
	}
	c.kept = false
	c.cancel(context.Canceled)
	for _, f := range c.unlink {
		f()
	}
	return dropped
}

// Thrown is what a script threw.
type Thrown struct {
	Name    string          `json:"name"`
	Message string          `json:"message"`
	Stack   string          `json:"stack"`
	Code    string          `json:"code"`
	Data    json.RawMessage `json:"data"` // the other properties of the error, as far as they are JSON
}

// Error is the name and the message, as scripts print them.
func (t *Thrown) Error() string {
	switch {
	case t.Name == "":
		return t.Message
	case t.Message == "":
		return t.Name
	}
	return t.Name + ": " + t.Message
}

// parseThrown parses boot.js's description of an error.
func parseThrown(text []byte) error {
	var t Thrown
	if err := json.Unmarshal(text, &t); err != nil {
		return errors.New("a script threw something that can not be described")
	}
	return &t
}
