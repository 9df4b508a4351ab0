// Package command reads command lines of bash, and tells what a line needs
// permission for. It never runs anything.
//
// # Reading
//
// [Parse] finds every simple command in a text, wherever it stands, so that
// each can be judged on its own. [Spellings] says in which ways one command
// may be written, so that a restriction on it cannot be spelled around, and
// [Line.Suggest] says what may be offered to be allowed from now on.
//
// What cannot be read is never taken for harmless: the answer then says that
// the text is opaque, and why.
//
// # What a line needs
//
// [ReadLine] turns a command line into what has to be asked before it may
// run: which folders outside it reaches, which files it reads and changes, and
// the commands it runs.
//
// It decides nothing itself. Restrictions match meaning and permissions match
// text: a request gives each command as it is written, the other ways to write
// it, and what in it could be anything; the rules do the rest. Files are asked
// about through the door of the file tools, so that one rule binds both.
package command
