package permission

import "time"

// A Scope says how far an approval reaches.
type Scope string

// The scopes of an approval, from the narrowest to the widest. Once is not
// kept at all; the others last for the session, for the project, or for
// everything the user does.
const (
	Once    Scope = "once"
	Session Scope = "session"
	Project Scope = "project"
	User    Scope = "user"
)

// An Approval is a kept "always": it turns an ask into an allow and nothing
// else. It never beats a deny, and it never swallows a configured ask that
// is narrower than itself.
type Approval struct {
	ID         string `json:"id,omitempty"`
	Permission string `json:"permission"` // literal, never a pattern
	Pattern    string `json:"pattern"`
	Exact      bool   `json:"exact"` // Pattern is literal text: a * in it is a star
	Scope      Scope  `json:"scope"`
	Session    string `json:"session,omitempty"` // where Scope is Session
	Project    string `json:"project,omitempty"` // where Scope is Project

	// Fingerprint is the shape of the tool that was approved. An approval
	// does not hold for a tool whose shape has changed.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Place is where the approved address led; empty for one on the public
	// network, and for all that are no addresses.
	Place   string    `json:"place,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

// Covers reports whether the approval speaks about pattern under permission.
func (a Approval) Covers(permission, pattern string) bool {
	if a.Permission != permission {
		return false
	}
	if a.Exact {
		return a.Pattern == pattern
	}
	return Match(pattern, a.Pattern)
}

// An ApprovalStore keeps approvals beyond the life of a process. Its methods may be
// called from several goroutines.
type ApprovalStore interface {
	KeepApproval(Approval) error
	// Approvals returns every kept approval, oldest first.
	Approvals() ([]Approval, error)
	// ForgetApproval removes one; it reports whether there was one.
	ForgetApproval(id string) (bool, error)
}
