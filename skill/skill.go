// Package skill describes skills as data: where they are searched for, and what was found. A skill
// is a folder with a file SKILL.md, which teaches a model how to do something. Runtime.Skills
// returns the files that were found.
package skill

import "github.com/helve-dev/helve/permission"

// Options configure where skills are searched. The folders .claude/skills and .agents/skills are
// searched too, from the working directory up to the root of the project, and in Home.
type Options struct {
	Home    string   // the user's home folder; not searched when empty
	Folders []Folder // config folders whose skill/ and skills/ are searched, the lowest priority first
	// Paths are further folders, searched as a whole: ~/ is Home, and relative ones start at the
	// working directory.
	Paths []string
	// ClaudeOff leaves out .claude, OthersOff .agents as well.
	ClaudeOff, OthersOff bool
	// Trusted reports whether the user trusts a folder of the project; when nil, none is trusted. A
	// skill in an untrusted folder is marked as guarded and does not replace one of the user's. Each
	// search asks again.
	Trusted func(path string) bool
}

// A Folder is a config folder.
type Folder struct {
	Path    string // absolute
	Guarded bool   // it belongs to the project
}

// A File is a SKILL.md, or what looks like one.
type File struct {
	Path        string   `json:"path"`
	From        string   `json:"from"` // the kind of folder it is in: project, home, config or path
	Name        string   `json:"name,omitempty"`
	Description string   `json:"description,omitempty"`
	Guarded     bool     `json:"guarded,omitempty"` // it belongs to an untrusted project
	Code        string   `json:"code,omitempty"`    // why it is not used, as a code; empty for one that is
	Why         string   `json:"why,omitempty"`     // the same in words
	Line        int      `json:"line,omitempty"`    // where in the file, from 1; 0 for nowhere
	Notes       []string `json:"notes,omitempty"`   // what may be unexpected about it

	// Action is what the rules of an agent say about a skill that is used. Entry is its line in the
	// list that the agent is shown.
	Action permission.Action `json:"action,omitempty"`
	Entry  string            `json:"entry,omitempty"`
}

// A Problem is the reason why a place could not be searched completely.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}
