// Package script runs JavaScript. It has an engine with limits, and the modules
// of Node and Bun that tools and plugins expect.
//
// # The engine
//
// A [VM] runs JavaScript that reaches the machine only through a [Host].
//
// One goroutine owns the engine. Go loads scripts ([VM.Load]) and calls global
// functions ([VM.Call]). Several calls may be in progress at once, because a
// script that waits for an operation yields.
//
// # What a script sees
//
// Beside the language there are five global functions, meant to be captured and
// deleted by the first script that is loaded:
//
//	__now(op, json, raw?)         asks the host and waits: json back, or [json, ArrayBuffer] if the host gave bytes
//	__later(op, json, raw?, key?) the same as a promise; key, a number, names the request for __drop
//	__drop(key)                   cancels a request: its context ends, its promise never settles
//	__text(raw, encoding?)        text from UTF-8 or "latin1" bytes
//	__bytes(text, encoding?)      an ArrayBuffer with the text in UTF-8 or "latin1"
//
// json is JSON text; raw is an ArrayBuffer or a typed array. Bytes are copied, so
// both sides may modify their own. Long text is better sent as bytes: the engine
// reads and writes JSON at some ten megabytes a second, and bytes a hundred times
// as fast. A [Failure] of the host is thrown as an Error with its fields as
// properties, of the class it names, such as TypeError or RangeError.
//
// The engine itself serves two operations of __later: "timer" {ms}, and
// "cancelled", which settles when the call that made the request ends early (its
// listeners then have a moment to run).
//
// # Which call code belongs to
//
// Every entry into JavaScript belongs to one call: its start, or a result or
// timer of it. All promise jobs run before the next entry. The host gets the
// context of that call. Calls of different owners ([WithOwner]) do not overlap:
// one waits for the other, unless a host made it on behalf of the other. When a
// call ends, its pending operations and timers are dropped; see [Lasting] for
// calls that set something up.
//
// # What stops a script
//
// The end of its context, [VMOptions.Turn], [VMOptions.Memory],
// [VMOptions.Stack] and [VM.Close]. The engine stays usable after it stopped a
// script, unless the script ran out of memory or could not be stopped: the VM is
// then lost ([ErrLost]) and releases all of its memory at once.
//
// # The modules
//
// The modules of Node and Bun are implemented on top of the host's operations.
// An engine loads [Prelude] first, which defines the global objects and one
// function that finds modules. An import in a program is only a reference to it
// ([Modules]), so all programs share one instance of each module. Modules that a
// program is known to use are compiled with it ([Parts] of [Uses]). The others
// are loaded on first use by the request "module.source", which a host answers
// with [Source]. Both ways give the same module and differ only in speed.
//
// The requests that modules send to the host are listed in OPS.md.
package script
