package permission

import (
	"cmp"
	"maps"
	"slices"
)

// A Request asks whether a call may do something.
type Request struct {
	ID         string         `json:"id"`
	Session    string         `json:"sessionID"`
	Permission string         `json:"permission"`
	Patterns   []string       `json:"patterns"` // what it is about; without patterns, the request is allowed
	Always     []string       `json:"always"`   // the patterns that "always" would approve
	Metadata   map[string]any `json:"metadata"` // details for the prompt, such as a diff or a path
	Call       *CallRef       `json:"tool,omitempty"`

	// Parts are the other requests of the same question, filled in by the engine. One reply answers
	// them all.
	Parts []RelatedRequest `json:"parts,omitempty"`

	// Forms gives other names of the things in Patterns, by pattern, such as the path relative to
	// the worktree beside the absolute one. A rule that matches any of the names applies.
	Forms map[string][]string `json:"-"`

	// Spellings gives, by pattern, other ways to write the same thing. Only rules that deny or ask
	// are tried on them: restrictions match meaning, permissions match text. A NUL in a spelling
	// stands for any text, including none. A restriction that matches for every such text applies;
	// one that matches for some makes the answer at least ask.
	Spellings map[string][]string `json:"-"`

	// Uncertainties lists, by pattern, the parts whose meaning is not known.
	Uncertainties map[string][]Uncertainty `json:"-"`

	// Guards gives, by pattern, words of which an allowing rule must contain one. They protect
	// files that change what runs later: a rule that allows everything does not cover those, a rule
	// has to name them.
	Guards map[string][]string `json:"-"`

	// Addresses says that the patterns are URLs in their plain form: scheme and host in lower case,
	// no default port, no fragment. Rules then match part by part: in an allowing rule, a star ends
	// where its part of the URL ends.
	Addresses bool `json:"-"`

	// Place identifies where guarded addresses lead, in a stable form. An approval holds only for
	// the same place.
	Place string `json:"-"`

	// Fingerprint identifies the definition of the tool that asks, if it comes from outside and may
	// change.
	Fingerprint string `json:"-"`

	// Changed says, for people, how the tool that asks differs from what it was at its first use;
	// empty if it does not. Rules that allow, and approvals of the old definition, then no longer
	// count.
	Changed string `json:"changed,omitempty"`

	// Asked lists what has to be answered and why, for the request and its parts, filled in by the
	// engine. A prompt shows it first.
	Asked []Decision `json:"asked,omitempty"`

	// Store is what an answer of "always" would store, filled in by the engine so that a prompt can
	// show it.
	Store []Approval `json:"store,omitempty"`
}

// A RelatedRequest is another request of the same call, answered together with the first.
type RelatedRequest struct {
	Permission string         `json:"permission"`
	Patterns   []string       `json:"patterns"`
	Always     []string       `json:"always"`
	Metadata   map[string]any `json:"metadata"`
}

// Permissions returns the permissions that have to be answered for, each once.
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

// Details returns the metadata of the request, with what its parts add.
func (r Request) Details() map[string]any {
	out := map[string]any{}
	for _, p := range r.Parts {
		maps.Copy(out, p.Metadata)
	}
	maps.Copy(out, r.Metadata)
	return out
}

// A CallRef names the call that a request belongs to.
type CallRef struct {
	Message string `json:"messageID"`
	Call    string `json:"callID"`
}

// A Verdict is the answer to a request.
type Verdict string

// The verdicts.
const (
	ReplyOnce   Verdict = "once"
	ReplyAlways Verdict = "always"
	ReplyReject Verdict = "reject"
	// Withdrawn ends a request whose call gave up; it cannot be used in a reply.
	Withdrawn Verdict = "withdrawn"
)

// A Reply answers a request.
type Reply struct {
	Verdict Verdict `json:"reply"`
	Message string  `json:"message,omitempty"` // feedback that goes with a reject
	Scope   Scope   `json:"scope,omitempty"`   // how far "always" reaches; Session when empty
	// Store is what "always" stores if the person has changed the offer. Only Permission, Pattern
	// and Exact count, and each Permission must be one that the request would store. When Store is
	// nil, the offer is stored.
	Store []Approval `json:"store,omitempty"`
}
