package permission

import "testing"

// Rules under a tool's own name limit what it asks for, and loosen nothing.
func TestPolicyOf(t *testing.T) {
	p := Policy{
		Rules: Ruleset{
			{Permission: "*", Pattern: "*", Action: Allow}, {Permission: "edit", Pattern: "*.lock", Action: Deny},
			{Permission: "write", Pattern: "*.go", Action: Ask}, {Permission: "write", Pattern: "*.lock", Action: Allow},
		},
		Ceilings: []Ruleset{{{Permission: "multiedit", Pattern: "*", Action: Deny}}},
	}
	for _, c := range []struct {
		tool, pattern string
		want          Action
	}{
		{"edit", "a.go", Allow}, {"write", "a.go", Ask}, {"write", "a.txt", Allow}, {"write", "a.lock", Deny},
		{"multiedit", "a.txt", Deny}, {"apply_patch", "a.go", Allow},
	} {
		if got := p.Of(c.tool, "edit").Decide("edit", c.pattern).Action; got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.pattern, got, c.want)
		}
	}
	if p.Of("write", "edit").Hides("edit") || !p.Of("multiedit", "edit").Hides("edit") {
		t.Error("only what is denied whole is hidden")
	}
	if got := p.Decide("edit", "a.txt").Action; got != Allow || len(p.Ceilings) != 1 {
		t.Error("the policy itself has changed:", got, p.Ceilings)
	}
}
