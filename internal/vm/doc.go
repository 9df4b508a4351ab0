// Package vm runs JavaScript in an engine of its own, with nothing of the world in it but what a [Host] answers.
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
// The end of its context, [Options.Turn], [Options.Memory], [Options.Stack] and [VM.Close]. A script that was stopped leaves the
// engine usable, except after it ran out of memory or could not be stopped: the VM is then lost ([ErrLost]) and gives back all of
// its memory at once.
package vm
