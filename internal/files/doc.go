// Package files opens and changes the files that tools work on. It resolves
// paths, applies changes all or nothing, keeps the history that undoes them, and
// runs formatters.
//
// # Paths
//
// A [Workspace] opens files. Only a [Path] can be opened, and only a permission
// request turns a name into a Path, so a tool cannot touch a file without
// permission.
//
// # History
//
// A [History] keeps the contents that files had before tools changed them, so
// that they can be restored.
//
// A [ChangeSet] is what one call changed. [History.Begin] stores the contents
// that are about to be replaced, [History.Keep] those that are too large for
// memory, and [PendingSet.Done] records the contents afterwards. [History.Plan]
// reports what undoing sets would do to the files in their current state. The
// History never reads or writes the files themselves: its caller does, and
// records an undo as a set of its own, which can be undone like any other.
//
// Everything is stored in one folder, outside any project:
//
//	blobs/ab/<sha256>     contents, each stored once, verified by hash when read
//	sets/<id>.json        what was changed; <id>.undo.json if it undid other sets
//	pending/<id>.json     a change in progress, locked while its process lives
//	tmp/                  files being written, before they move to one of the above
//	lock, sweep           OS locks; the first also stores the total size
//
// Any number of processes may use the folder at once, and any of them may be
// killed at any moment. A set file is never rewritten.
//
// # Formatters
//
// [Formatters] run on a file after a change. Nothing is downloaded: a formatter
// that is not installed does not run.
package files
