package permission_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/helve-dev/helve/permission"
)

// No approval overrules a deny: not beside a question about something else, not
// for a tool that is known by its shape, and not under a ceiling.
func TestApprovalsOverruleNoDeny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"*", "git *", "git push *", "rm *", "ls", "git push x"})
		rule := rapid.Custom(func(t *rapid.T) permission.Rule {
			return permission.Rule{
				Permission: rapid.SampledFrom([]string{"bash", "*", "b*", "edit"}).Draw(t, "permission"),
				Pattern:    word.Draw(t, "pattern"),
				Action:     rapid.SampledFrom([]permission.Action{permission.Allow, permission.Ask, permission.Deny}).Draw(t, "action"),
			}
		})
		shape := rapid.SampledFrom([]string{"", "one", "two"})
		approval := rapid.Custom(func(t *rapid.T) permission.Approval {
			return permission.Approval{
				Permission: "bash", Pattern: word.Draw(t, "approved"), Exact: rapid.Bool().Draw(t, "exact"),
				Scope: permission.User, Fingerprint: shape.Draw(t, "shape approved"),
			}
		})
		kept := memory(rapid.SliceOfN(approval, 0, 4).Draw(t, "approvals"))
		policy := permission.Policy{Rules: rapid.SliceOfN(rule, 0, 5).Draw(t, "rules")}
		if rapid.Bool().Draw(t, "limited") {
			policy.Ceilings = []permission.Ruleset{rapid.SliceOfN(rule, 1, 3).Draw(t, "ceiling")}
		}
		req := bash("s", rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ls", "rm x", "git push x", "git status"}), 1, 3, rapid.ID).Draw(t, "asked")...)
		req.Fingerprint = shape.Draw(t, "shape")

		e := permission.NewEngine(permission.EngineOptions{Approvals: &kept})
		decisions, err := e.Decide(req, policy)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range decisions {
			if want := policy.Judge(req, d.Pattern).Action; want == permission.Deny && d.Action != permission.Deny {
				t.Fatalf("%q is denied, and an approval made it %s", d.Pattern, d.Action)
			}
		}
	})
}
