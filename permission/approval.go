package permission

import "time"

// A Scope says how far an approval reaches.
type Scope string

// The scopes of an approval, from the narrowest to the widest. Once is not kept at all; the others
// hold for the session, for the project, or for everything the user does.
const (
	Once    Scope = "once"
	Session Scope = "session"
	Project Scope = "project"
	User    Scope = "user"
)

// An Approval is a kept answer of "always": it turns an ask into an allow and does nothing else. It
// never overrides a deny, nor a configured ask that is narrower than the approval.
type Approval struct {
	ID         string `json:"id,omitempty"`
	Permission string `json:"permission"` // literal, never a pattern
	Pattern    string `json:"pattern"`
	Exact      bool   `json:"exact"` // Pattern is literal text: a * in it is no wildcard
	Scope      Scope  `json:"scope"`
	Session    string `json:"session,omitempty"` // set where Scope is Session
	Project    string `json:"project,omitempty"` // set where Scope is Project

	// Fingerprint identifies the tool definition that was approved. The approval does not hold once
	// the tool has another fingerprint.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Place is where the approved address led. It is empty for an address on the public network,
	// and for anything that is not an address.
	Place   string    `json:"place,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

// Covers reports whether the approval applies to pattern under permission.
func (a Approval) Covers(permission, pattern string) bool {
	if a.Permission != permission {
		return false
	}
	if a.Exact {
		return a.Pattern == pattern
	}
	return Match(pattern, a.Pattern)
}

// An ApprovalStore keeps approvals longer than a process lives. Its methods must be safe for
// concurrent use.
type ApprovalStore interface {
	KeepApproval(Approval) error
	// Approvals returns every kept approval, oldest first.
	Approvals() ([]Approval, error)
	// ForgetApproval removes an approval and reports whether it existed.
	ForgetApproval(id string) (bool, error)
}
