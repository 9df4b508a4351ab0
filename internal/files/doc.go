// Package files is the door to the disk: the paths that tools may open, their
// changes, all or nothing, the history that undoes them, and formatters.
//
// # Paths
//
// A [Workspace] opens files. A name becomes a [Path] by
// asking about it, and only a Path can be opened, so a tool can not touch
// what was not asked about.
//
// # History
//
// A [History] keeps what files held before tools changed them, so that it
// can be put back.
//
// A [ChangeSet] is what one call changed. [History.Begin] keeps the contents that are
// about to be replaced ([History.Keep] those that are too many for memory),
// [PendingSet.Done] records what is there afterwards, and
// [History.Plan] says what taking sets back would do to the files as they are
// now. The package never touches the files themselves: the caller looks at
// them and writes them, and records an undo as a set of its own, which can be
// undone like any other.
//
// Everything lies below one folder, outside any project:
//
//	blobs/ab/<sha256>     contents, each kept once, checked by hash when read
//	sets/<id>.json        what was changed; <id>.undo.json if it took sets back
//	pending/<id>.json     a change under way, locked while its process lives
//	tmp/                  files on their way to one of the above
//	lock, sweep           OS locks; the first holds the count of bytes
//
// Any number of processes may use the folder at once, and any of them may be
// killed at any moment. A set file is never rewritten.
//
// # Formatters
//
// [Formatters] run on a file after it was changed. Nothing is
// ever downloaded: a formatter that is not installed does not run.
package files
