package script

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

//go:embed boot.js
var bootScript string

// A value is a reference to something in the engine. It is freed exactly once.
type value = lib.TJSValue

// A native is a Go function that scripts can call. What it throws, it throws with [engine.throw].
type native = func(args []value) value

// An engine is one JavaScript runtime. All of it belongs to one goroutine.
type engine struct {
	tls     *libc.TLS
	arena   *arena
	rt, ctx uintptr
	words   uintptr // space for a few out parameters and arguments

	// What the engine calls; it holds only the addresses.
	natives []func(*libc.TLS, uintptr, value, int32, uintptr) value
	poll    func(*libc.TLS, uintptr, uintptr) int32
	reject  func(*libc.TLS, uintptr, value, value, int32, uintptr)

	invoke, settle, forget, describe value // functions of boot.js

	vital          []uintptr
	mu             sync.Mutex
	seized, closed bool
}

const (
	wordSize  = unsafe.Sizeof(uintptr(0))
	valueSize = unsafe.Sizeof(*new(value))
	maxArgs   = 7

	compileOnly = lib.MJS_EVAL_FLAG_COMPILE_ONLY
)

// engineOptions configure an engine.
type engineOptions struct {
	memory   int64
	stack    int
	given    func() bool // the engine was given up
	stop     func() bool // asked now and then while scripts run
	rejected func(promise, reason value, handled bool)
}

var errNoEngine = errors.New("the JavaScript engine could not be made")

func newEngine(o engineOptions) (*engine, error) {
	e := &engine{tls: libc.NewTLS(), arena: newArena(o.memory, o.given)}
	table := e.tls.Alloc(int(unsafe.Sizeof(lib.TJSMallocFunctions{})))
	*pointer[lib.TJSMallocFunctions](table) = e.arena.functions()
	e.rt = lib.XJS_NewRuntime2(e.tls, table, 0)
	e.tls.Free(int(unsafe.Sizeof(lib.TJSMallocFunctions{})))
	if e.rt != 0 {
		e.ctx = lib.XJS_NewContext(e.tls, e.rt)
	}
	words, err := e.arena.heap.UintptrCalloc(int(maxArgs*valueSize + 4*wordSize))
	if e.ctx == 0 || err != nil {
		e.close()
		return nil, errNoEngine
	}
	e.words = words
	e.findVital()
	if o.stack > 0 {
		lib.XJS_SetMaxStackSize(e.tls, e.rt, lib.Tsize_t(o.stack))
	}
	e.poll = func(*libc.TLS, uintptr, uintptr) int32 {
		if o.stop() {
			return 1
		}
		return 0
	}
	lib.XJS_SetInterruptHandler(e.tls, e.rt, address(&e.poll), 0)
	e.reject = func(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, _ uintptr) {
		o.rejected(promise, reason, handled != 0)
	}
	lib.XJS_SetHostPromiseRejectionTracker(e.tls, e.rt, address(&e.reject), 0)
	return e, nil
}

// boot runs boot.js, which is given the natives.
func (e *engine) boot(natives ...native) error {
	made, err := e.evaluate("vm", bootScript, 0)
	if err != nil {
		return err
	}
	defer e.free(made)
	args := []value{lib.XJS_GetGlobalObject(e.tls, e.ctx)}
	for _, n := range natives {
		args = append(args, e.function(n))
	}
	parts, err := e.callFunction(made, args...)
	if err != nil {
		return err
	}
	defer e.free(parts)
	for i, to := range []*value{&e.invoke, &e.settle, &e.forget, &e.describe} {
		*to = lib.XJS_GetPropertyUint32(e.tls, e.ctx, parts, lib.Tuint32_t(i))
	}
	return nil
}

// close releases all memory. Objects are not freed one by one.
func (e *engine) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.seized {
		e.protect(true)
	}
	e.tls.Close()
	// Only an unmap can fail, and there is nothing more to be done about it.
	_ = e.arena.heap.Close()
}

// poke is hurry from any goroutine. A poke can get lost, since the engine counts without looking at
// others: poke again.
func (e *engine) poke() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed && !e.seized {
		atomic.StoreInt32(&pointer[lib.TJSContext](e.ctx).Finterrupt_counter, 0)
	}
}

// seize stops an engine that runs a built-in function which never asks whether it should stop: it
// takes its most used memory away, so that its goroutine faults, which unwinds it. The engine can
// only be closed then. It may be called from any goroutine.
func (e *engine) seize() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.seized {
		return
	}
	e.seized = true
	e.protect(false)
}

func (e *engine) protect(reachable bool) {
	for _, p := range e.vital {
		protect(p, reachable)
	}
}

// findVital records the memory that the engine accesses constantly: its own state, and the object
// at the end of all prototype chains.
func (e *engine) findVital() {
	e.vital = []uintptr{e.rt, e.ctx}
	protos := pointer[lib.TJSContext](e.ctx).Fclass_proto
	root := uintptr(pointerOf(*pointer[value](protos + lib.EJS_CLASS_OBJECT*valueSize)))
	e.vital = append(e.vital, root, pointer[lib.TJSObject](root).Fshape)
}

// A raised is a value that a script threw; its receiver frees it.
type raised struct{ thrown value }

func (*raised) Error() string { return "a script threw" }

func (e *engine) result(v value) (value, error) {
	if tagOf(v) == lib.EJS_TAG_EXCEPTION {
		return undefined(), &raised{lib.XJS_GetException(e.tls, e.ctx)}
	}
	return v, nil
}

func (e *engine) free(v value) { lib.XFreeValue(e.tls, e.ctx, v) }

func (e *engine) dup(v value) value { return lib.XDupValue(e.tls, e.ctx, v) }

func (e *engine) evaluate(name, source string, flags int32) (value, error) {
	text, file := e.arena.copyIn([]byte(source)), e.arena.copyIn([]byte(name))
	defer e.arena.freeCopy(text)
	defer e.arena.freeCopy(file)
	return e.result(lib.XJS_Eval(e.tls, e.ctx, text, lib.Tsize_t(len(source)), file, lib.MJS_EVAL_TYPE_GLOBAL|flags))
}

func (e *engine) readBytecode(code []byte) (value, error) {
	p := e.arena.copyIn(code)
	defer e.arena.freeCopy(p)
	return e.result(lib.XJS_ReadObject(e.tls, e.ctx, p, lib.Tsize_t(len(code)), lib.MJS_READ_OBJ_BYTECODE))
}

// run runs a script that was read, and frees it.
func (e *engine) run(script value) (value, error) {
	return e.result(lib.XJS_EvalFunction(e.tls, e.ctx, script))
}

func (e *engine) compile(name, source string) ([]byte, error) {
	f, err := e.evaluate(name, source, compileOnly)
	if err != nil {
		return nil, err
	}
	defer e.free(f)
	p := lib.XJS_WriteObject(e.tls, e.ctx, e.words, f, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		_, err := e.result(exception())
		return nil, err
	}
	defer lib.Xjs_free(e.tls, e.ctx, p)
	return copyOut(p, int(*pointer[lib.Tsize_t](e.words))), nil
}

// callFunction calls a function and frees the arguments.
func (e *engine) callFunction(f value, args ...value) (value, error) {
	if len(args) > maxArgs {
		return undefined(), fmt.Errorf("call with %d arguments", len(args))
	}
	// A script may call Go, which calls into the engine again: each call has its own copy.
	argv := e.tls.Alloc(int(maxArgs * valueSize))
	defer e.tls.Free(int(maxArgs * valueSize))
	copy(unsafe.Slice(pointer[value](argv), maxArgs), args)
	v := lib.XJS_Call(e.tls, e.ctx, f, undefined(), int32(len(args)), argv)
	for _, a := range args {
		e.free(a)
	}
	return e.result(v)
}

// function makes a function of the engine from one of Go's.
func (e *engine) function(f native) value {
	e.natives = append(e.natives, func(_ *libc.TLS, _ uintptr, _ value, _ int32, argv uintptr) value {
		return f(unsafe.Slice(pointer[value](argv), maxArgs)) // the engine fills up with undefined
	})
	name := e.arena.copyIn(nil)
	defer e.arena.freeCopy(name)
	return lib.XJS_NewCFunction2(e.tls, e.ctx, address(&e.natives[len(e.natives)-1]), name, maxArgs, lib.EJS_CFUNC_generic, 0)
}

// job runs the next promise job; more is false if there was none. The error of a job is dropped.
func (e *engine) job() (more bool) {
	switch n := lib.XJS_ExecutePendingJob(e.tls, e.rt, 0); {
	case n == 0:
		return false
	case n < 0:
		e.free(lib.XJS_GetException(e.tls, e.ctx))
	}
	return true
}

// hurry makes the engine check whether to stop before it does anything else. By default it checks
// every ten thousand steps.
func (e *engine) hurry() { pointer[lib.TJSContext](e.ctx).Finterrupt_counter = 0 }

func (e *engine) newString(b []byte) value {
	p := e.arena.copyIn(b)
	defer e.arena.freeCopy(p)
	return lib.XJS_NewStringLen(e.tls, e.ctx, p, lib.Tsize_t(len(b)))
}

func (e *engine) newInt(n int32) value { return lib.XNewInt32(e.tls, e.ctx, n) }

func (e *engine) buffer(b []byte) value {
	p := e.arena.copyIn(b)
	defer e.arena.freeCopy(p)
	return lib.XJS_NewArrayBufferCopy(e.tls, e.ctx, p, lib.Tsize_t(len(b)))
}

// pair is [text, buffer], both freed.
func (e *engine) pair(text, buffer value) value {
	list := lib.XJS_NewArray(e.tls, e.ctx)
	if tagOf(list) == lib.EJS_TAG_EXCEPTION {
		return list
	}
	lib.XJS_DefinePropertyValueUint32(e.tls, e.ctx, list, 0, text, lib.MJS_PROP_C_W_E)
	lib.XJS_DefinePropertyValueUint32(e.tls, e.ctx, list, 1, buffer, lib.MJS_PROP_C_W_E)
	return list
}

// throw throws v, from a native.
func (e *engine) throw(v value) value { return lib.XJS_Throw(e.tls, e.ctx, v) }

// toText copies a string out, with U+FFFD for halves of characters; ok is false if that threw, the
// exception is then pending.
func (e *engine) toText(v value) (b []byte, ok bool) {
	n := e.tls.Alloc(int(wordSize))
	defer e.tls.Free(int(wordSize))
	p := lib.XJS_ToCStringLen2(e.tls, e.ctx, n, v, 0)
	if p == 0 {
		return nil, false
	}
	defer lib.XJS_FreeCString(e.tls, e.ctx, p)
	return wellFormed(copyOut(p, int(*pointer[lib.Tsize_t](n)))), true
}

func (e *engine) toNumber(v value) (f float64, ok bool) {
	p := e.tls.Alloc(8)
	defer e.tls.Free(8)
	if lib.XJS_ToFloat64(e.tls, e.ctx, p, v) < 0 {
		return 0, false
	}
	return *pointer[float64](p), true
}

func (e *engine) truthy(v value) bool { return lib.XJS_ToBool(e.tls, e.ctx, v) > 0 }

// toBytes copies an ArrayBuffer or a typed array out; nil for undefined. If ok is false an
// exception is pending.
func (e *engine) toBytes(v value) (b []byte, ok bool) {
	if tagOf(v) == lib.EJS_TAG_UNDEFINED || tagOf(v) == lib.EJS_TAG_NULL {
		return nil, true
	}
	n := e.tls.Alloc(int(3 * wordSize))
	defer e.tls.Free(int(3 * wordSize))
	p := lib.XJS_GetArrayBuffer(e.tls, e.ctx, n, v)
	if p != 0 || lib.XJS_HasException(e.tls, e.ctx) == 0 {
		return copyOut(p, int(*pointer[lib.Tsize_t](n))), true
	}
	e.free(lib.XJS_GetException(e.tls, e.ctx))
	whole := lib.XJS_GetTypedArrayBuffer(e.tls, e.ctx, v, n+wordSize, n+2*wordSize, 0)
	if tagOf(whole) == lib.EJS_TAG_EXCEPTION {
		return nil, false
	}
	defer e.free(whole)
	p = lib.XJS_GetArrayBuffer(e.tls, e.ctx, n, whole)
	if p == 0 && lib.XJS_HasException(e.tls, e.ctx) != 0 {
		return nil, false
	}
	from, size := *pointer[lib.Tsize_t](n + wordSize), *pointer[lib.Tsize_t](n + 2*wordSize)
	return copyOut(p+uintptr(from), int(size)), true
}
