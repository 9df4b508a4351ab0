// Package command parses Bash command lines and determines which permissions
// they need. It never runs anything.
//
// # Parsing
//
// [Parse] finds every simple command in a text, at any depth, so that each can be
// checked on its own. [Spellings] lists the ways to write the same command, so
// that a different spelling cannot evade a restriction, and [Line.Suggest] lists
// the rules that may be offered to the user for later calls.
//
// What cannot be parsed is never assumed to be harmless: the result then says
// that the text is opaque, and why.
//
// # Permissions
//
// [ReadLine] turns a command line into the permission requests to make before it
// runs: the folders it reaches outside the worktree, the files it reads and
// changes, and the commands it runs.
//
// It decides nothing itself. Restrictions match the meaning of a command,
// permissions match its text. A request therefore holds each command as written,
// its other spellings, and the parts whose value is unknown; the rules decide.
// Files are requested in the same way as by the file tools, so one rule applies
// to both.
package command
