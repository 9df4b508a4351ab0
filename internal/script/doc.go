// Package script runs JavaScript: an engine with limits, and the modules of Node
// and Bun that tools and plugins find around them.
//
// # The engine
//
// A [VM] runs JavaScript with nothing of the world in it but what a [Host] answers.
//
// One goroutine owns the engine. Go hands it scripts ([VM.Load]) and calls of global functions ([VM.Call]); several calls may be
// under way at once, since a script that waits for an answer gives control back.
//
// # What a script sees
//
// Beside the language there are five global functions, meant to be captured and deleted by the first script that is loaded:
//
//	__now(op, json, raw?)         asks the host and waits: json back, or [json, ArrayBuffer] if the host gave bytes
//	__later(op, json, raw?, key?) the same as a promise; key, a number, names the request for __drop
//	__drop(key)                   takes a request back: its context ends, its promise never settles
//	__text(raw, encoding?)        text from UTF-8 or "latin1" bytes
//	__bytes(text, encoding?)      an ArrayBuffer with the text in UTF-8 or "latin1"
//
// json is JSON text, raw an ArrayBuffer or a typed array; bytes are copied, so either side may go on with its own. Much text is
// better sent as bytes: the engine reads and writes JSON at some ten megabytes a second, and bytes a hundred times as fast. A [Failure] of
// the host is thrown as an Error with its fields as properties; TypeError, RangeError and the like are of that class.
//
// Two operations of __later are answered by the engine itself: "timer" {ms}, and "cancelled", which settles when the call that
// asks ends before its time (its listeners then have a moment to run).
//
// # Whose work it is
//
// What runs from one entry into JavaScript to the next is the work of one call: an entry is the start of a call, or an answer or
// timer of it, and all promise jobs are run before the next. The context a host gets is that of this call. Calls of different
// owners ([WithOwner]) do not overlap: they wait for each other, unless one was made by a host on behalf of the other. When a call
// ends, what it still waits for is dropped, its timers too; see [Lasting] for calls that set something up.
//
// # What stops a script
//
// The end of its context, [VMOptions.Turn], [VMOptions.Memory], [VMOptions.Stack] and [VM.Close]. A script that was stopped leaves the
// engine usable, except after it ran out of memory or could not be stopped: the VM is then lost ([ErrLost]) and gives back all of
// its memory at once.
//
// # The modules
//
// The modules of Node and Bun are written anew on top of what a host answers. An engine loads [Prelude] first. It leaves the global objects and one function that finds modules. What a program of tools imports
// is only a reference to that ([Modules]), so that all share one instance. The modules themselves come in two ways: those that a
// program is known to use are compiled with it ([Parts] of [Uses]), the others are asked for when they are first needed, by the
// request "module.source", which a host answers with [Source]. Both are the same but for the time it takes.
//
// The requests modules make of a host are in OPS.md.
package script
