// Package files gives tools access to the disk: the paths that they may open,
// their changes, all or nothing, the history that undoes them, and formatters.
//
// # Paths
//
// A [Workspace] opens files. [Workspace.Resolve] asks for permission and turns
// a name into a [Path], and only a Path can be opened, so a tool cannot touch
// a file without permission.
//
// # History
//
// A [History] keeps the earlier contents of files that tools change, so that
// they can be restored.
//
// A [ChangeSet] is what one call changed. [History.Begin] keeps the contents
// that are about to be replaced ([History.Keep] those that are too large for
// memory), [PendingSet.Done] records the contents afterwards, and
// [History.Plan] returns what undoing sets would do to the current files. A
// History never touches the files themselves: its caller reads and writes
// them, and records an undo as a set of its own, which can be undone in turn.
//
// Everything is kept below one folder, outside any project:
//
//	blobs/ab/<sha256>     contents, each kept once, checked by hash when read
//	sets/<id>.json        what was changed; <id>.undo.json if it undid sets
//	pending/<id>.json     a change in progress, locked while its process lives
//	tmp/                  files that will become one of the above
//	lock, sweep           OS locks; the first holds the number of bytes
//
// Any number of processes may use the folder at once, and any of them may be
// killed at any moment. A set file is never rewritten.
//
// # Formatters
//
// [Formatters] run on a file after it was changed. Nothing is ever downloaded:
// a formatter that is not installed does not run.
package files
