package sandbox

import "fmt"

// A Helper is a program that calls [Main] when it is started with Args, and
// what is wanted of it after them. It is this program, as a rule.
type Helper struct {
	Path string
	Args []string
}

// A Verdict says what was found out about a promise.
type Verdict string

// What a promise can turn out to be.
const (
	Held        Verdict = "held"
	NotHeld     Verdict = "not held"
	NotPromised Verdict = "not promised" // at this level
)

// A Promise is one thing the sandbox must prevent or allow, and what happened when it was tried.
type Promise struct {
	Name    string  `json:"name"`
	Text    string  `json:"text"` // in words
	Verdict Verdict `json:"verdict"`
	// Measured is what the kernel answered, an errno by name, "allowed" where
	// it let it happen.
	Measured string `json:"measured"`
}

// A State is what was measured in a sandbox.
type State struct {
	Level Level `json:"level"`
	// Kind is "namespaces" for the complete sandbox, "landlock" for the sandbox without namespaces,
	// and empty for none.
	Kind     string    `json:"kind,omitempty"`
	Promises []Promise `json:"promises,omitempty"`
	// Reason says why the sandbox is not complete, and what could be done.
	Reason string `json:"reason,omitempty"`
}

// Complete tells whether all that the level promises holds.
func (s State) Complete() bool {
	for _, p := range s.Promises {
		if p.Verdict == NotHeld {
			return false
		}
	}
	return s.Kind != ""
}

// Broken returns the promises that do not hold.
func (s State) Broken() (broken []Promise) {
	for _, p := range s.Promises {
		if p.Verdict == NotHeld {
			broken = append(broken, p)
		}
	}
	return broken
}

// String says in a line how it stands.
func (s State) String() string {
	held, promised := 0, 0
	for _, p := range s.Promises {
		if p.Verdict == Held {
			held++
		}
		if p.Verdict != NotPromised {
			promised++
		}
	}
	if s.Kind == "" {
		return fmt.Sprintf("wall %s: none", s.Level)
	}
	return fmt.Sprintf("wall %s (%s): %d of %d promises hold", s.Level, s.Kind, held, promised)
}

// A Machine is what this system offers to build a sandbox from.
type Machine struct {
	Landlock   int  `json:"landlock"`   // version of its interface; 0: none
	Namespaces bool `json:"namespaces"` // whether this user may make them
	Seccomp    bool `json:"seccomp"`
	// Missing says, a sentence each, what is missing, which setting of the
	// kernel or the container it hangs on, and what to do.
	Missing []string `json:"missing,omitempty"`
}
