// Package plugin says, as data, what became of the files that users bring:
// tools, plugins and hooks. Runtime.Plugins reaches them.
package plugin

import "time"

// State is where a file stands.
type State string

// The states of a file.
const (
	Ready      State = "ready"       // its tools or hooks are there
	Failed     State = "failed"      // Problem says why
	NotTrusted State = "not trusted" // nothing of it was read
	NotLoaded  State = "not loaded"  // nobody needed it yet
)

// File is what is known about one file or package a user brought.
type File struct {
	Path   string // absolute; of a package that is not installed its name
	Name   string // by which settings name it: the file's name without ending, or that of the npm package
	Folder string // the config folder, or that of the package
	Kind   string // tool, plugin or program
	// Project says that the folder comes with the project.
	Project bool
	Engine  string // embedded, bun, node or program
	Tools   []string
	Hooks   []string
	Hash    string // of its contents, as far as they were read
	// LoadTime is how long it took to load.
	LoadTime time.Duration
	State    State
	Problem  string   // what is wrong with it, a line each
	Notes    []string // what is worth knowing, a sentence each
	Needs    []string // what it uses that the embedded engine does not have
}
