// Package command parses bash command lines and finds out what permissions they
// need. It never runs anything.
//
// # Reading
//
// [Parse] finds every simple command in a text, wherever it is, so that each
// can be decided on its own. [Spellings] returns the ways in which a command
// may be written, so that another spelling cannot evade a restriction, and
// [Line.Suggest] returns the patterns that may be offered for an approval.
//
// What cannot be parsed never counts as harmless: the result then says that
// the text is opaque, and why.
//
// # Permissions
//
// [ReadLine] turns a command line into the permission requests that it needs
// before it may run: for outside folders that it reaches, files that it reads
// and changes, and the commands that it runs.
//
// It decides nothing itself. Restrictions match meaning and permissions match
// text: a request has each command as written, the other ways to write it, and
// its parts whose meaning is not known; the rules do the rest. The requests for
// files are those of the file tools, so that the same rules apply to both.
package command
