// Package plugin has the files that users add, as data: how tools, plugins and hooks are configured
// ([Options]), and what became of each file ([File]).
package plugin

import "time"

// State is the state of a file.
type State string

// The states of a file.
const (
	Ready      State = "ready"       // its tools or hooks can be used
	Failed     State = "failed"      // Problem says why
	NotTrusted State = "not trusted" // nothing of it was read
	NotLoaded  State = "not loaded"  // not needed yet
)

// File describes one file or package that a user added.
type File struct {
	Path   string // absolute; the name of a package that is not installed
	Name   string // the name in settings: the file name without its ending, or the npm package name
	Folder string // the config folder, or the package's folder
	Kind   string // tool, plugin or program
	// Project says that the folder belongs to the project.
	Project bool
	Engine  string // embedded, bun, node or program
	Tools   []string
	Hooks   []string
	Hash    string // of the contents read
	// LoadTime is how long it took to load.
	LoadTime time.Duration
	State    State
	Problem  string   // what is wrong with it, one problem a line
	Notes    []string // remarks, one sentence each
	Needs    []string // the modules and features it uses that the embedded engine lacks
}
