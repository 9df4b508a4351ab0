package permission

import (
	"cmp"
	"maps"
	"slices"
)

// A Request asks whether something may be done.
type Request struct {
	ID         string         `json:"id"`
	Session    string         `json:"sessionID"`
	Permission string         `json:"permission"`
	Patterns   []string       `json:"patterns"` // what it is about; allowed when empty
	Always     []string       `json:"always"`   // what "always" would approve
	Metadata   map[string]any `json:"metadata"` // for the prompt: a diff, a path
	Call       *CallRef       `json:"tool,omitempty"`

	// Parts are what else the call asks for with this question, filled in by
	// the engine: one reply answers all of it.
	Parts []RelatedRequest `json:"parts,omitempty"`

	// Forms gives other names of the things in Patterns, by pattern: the path
	// from the worktree beside the absolute one. A rule about any name of a
	// thing is a rule about the thing.
	Forms map[string][]string `json:"-"`

	// Spellings gives, by pattern, other ways to write the same thing. What
	// denies or asks is tried on them too, and what allows is not: restrictions
	// match meaning, permissions match text. A NUL in one stands for any text,
	// also none. A restriction that matches whatever stands there holds; one
	// that matches for some text makes the answer at least ask.
	Spellings map[string][]string `json:"-"`

	// Uncertainties says, by pattern, what in it could be anything.
	Uncertainties map[string][]Uncertainty `json:"-"`

	// Guards gives, by pattern, the words of which a rule has to hold one to
	// allow it. What changes what runs later is not covered by a rule about
	// everything: a rule has to name it.
	Guards map[string][]string `json:"-"`

	// Addresses says that the patterns are URLs in their plain form: scheme and
	// host in lower case, no default port, no fragment. Rules are then read part by part: a
	// star of a rule that allows ends where its part of the URL ends.
	Addresses bool `json:"-"`

	// Place says where guarded addresses lead, in a form that stays the same.
	// An approval holds for the place that it was given for.
	Place string `json:"-"`

	// Fingerprint is the shape of the tool that asks, where it comes from
	// outside and may change.
	Fingerprint string `json:"-"`

	// Changed says how the tool that asks differs from what it was when it
	// was first used, for people; empty where it does not. A rule that allows
	// is then no answer, and neither is an approval of the old shape.
	Changed string `json:"changed,omitempty"`

	// Asked is what has to be answered for, and why, of this request and of its
	// parts, filled in by the engine: what a prompt shows first. Each says its
	// permission.
	Asked []Decision `json:"asked,omitempty"`

	// Store is what an answer of "always" would keep, filled in by the
	// engine, so that a prompt can show it.
	Store []Approval `json:"store,omitempty"`
}

// A RelatedRequest is another request of the same call, answered with it.
type RelatedRequest struct {
	Permission string         `json:"permission"`
	Patterns   []string       `json:"patterns"`
	Always     []string       `json:"always"`
	Metadata   map[string]any `json:"metadata"`
}

// Permissions are those that have to be answered for, each once.
func (r Request) Permissions() []string {
	var names []string
	for _, d := range r.Asked {
		if name := cmp.Or(d.Permission, r.Permission); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = append(names, r.Permission)
	}
	return names
}

// Details are those of the request, and what its parts say besides.
func (r Request) Details() map[string]any {
	out := map[string]any{}
	for _, p := range r.Parts {
		maps.Copy(out, p.Metadata)
	}
	maps.Copy(out, r.Metadata)
	return out
}

// A CallRef names the call a request belongs to.
type CallRef struct {
	Message string `json:"messageID"`
	Call    string `json:"callID"`
}

// A Verdict is how a request is answered.
type Verdict string

// The verdicts.
const (
	ReplyOnce   Verdict = "once"
	ReplyAlways Verdict = "always"
	ReplyReject Verdict = "reject"
	// Withdrawn ends a request whose asker gave up; nobody can reply it.
	Withdrawn Verdict = "withdrawn"
)

// A Reply answers a request.
type Reply struct {
	Verdict Verdict `json:"reply"`
	Message string  `json:"message,omitempty"` // feedback that goes with a reject
	Scope   Scope   `json:"scope,omitempty"`   // how far "always" reaches; the session when empty
	// Store is what "always" keeps where the person has changed what the
	// request offered: only Permission, Pattern and Exact count, each has to be
	// for a permission that the request would store. As offered when nil.
	Store []Approval `json:"store,omitempty"`
}
