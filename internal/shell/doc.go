// Package shell reads a command line of bash; it never runs anything.
//
// [Parse] finds every simple command in a text, wherever it stands, so that
// each can be judged on its own. [Spellings] says in which ways one command
// may be written, so that a restriction on it can not be spelled around, and
// [Line.Suggest] says what may be offered to be allowed from now on.
//
// What can not be read is never taken for harmless: the answer then says that
// the text is opaque, and why.
package shell
