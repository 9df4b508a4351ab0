package permission_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/helve-dev/helve/permission"
)

// A filter says what the policy says, but for what is asked about everything.
func TestFilterAgreesWithPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"*", "*.env", "*.env.*", "*.env.example", "src/*", "a?", "*\\b", ".env", "* *", "* x", "*/a b"})
		rule := rapid.Custom(func(t *rapid.T) permission.Rule {
			return permission.Rule{
				Permission: rapid.SampledFrom([]string{"read", "*", "edit", "r*"}).Draw(t, "permission"),
				Pattern:    word.Draw(t, "pattern"),
				Action:     rapid.SampledFrom([]permission.Action{permission.Allow, permission.Ask, permission.Deny}).Draw(t, "action"),
			}
		})
		rules := rapid.SliceOfN(rule, 0, 6)
		policy := permission.Policy{Rules: rules.Draw(t, "rules")}
		if rapid.Bool().Draw(t, "limited") {
			policy.Ceilings = []permission.Ruleset{rules.Draw(t, "ceiling")}
		}
		name := rapid.SampledFrom([]string{".env", "src/.env", "src/a b", "ab", "/w/src/x.env.example", `c\b`, "x x", ""})
		names := []string{name.Draw(t, "name"), name.Draw(t, "form")}
		filter, _ := policy.Filter("read")
		got := filter == nil || filter(names...)
		if want := passes(policy, names); got != want {
			t.Fatalf("passes is %v, and the policy says %v", got, want)
		}
	})
}

// passes is what a filter is to say, put together from single decisions: an ask
// about everything counts as not there.
func passes(p permission.Policy, names []string) bool {
	for _, rules := range append([]permission.Ruleset{p.Rules}, p.Ceilings...) {
		for asked := false; len(rules) > 0; asked = true {
			d := permission.Policy{Rules: rules}.Decide("read", names[0], names[1:]...)
			if d.Rule == nil || d.Action == permission.Allow || asked && d.Rule.Pattern == "*" && d.Action == permission.Deny {
				break // a later word about everything replaces an earlier one
			}
			if d.Action == permission.Deny || d.Rule.Pattern != "*" {
				return false
			}
			rules = rules[:lastWide(rules)]
		}
	}
	return true
}

// lastWide is the place of the last ask about everything.
func lastWide(rules permission.Ruleset) int {
	for i := len(rules) - 1; i > 0; i-- {
		if rules[i].Pattern == "*" && rules[i].Action == permission.Ask && permission.Match("read", rules[i].Permission) {
			return i
		}
	}
	return 0
}

func TestFilterIsNilWhereAllPasses(t *testing.T) {
	policy := permission.Policy{Rules: permission.Ruleset{
		{Permission: "*", Pattern: "*", Action: permission.Ask},
		{Permission: "read", Pattern: "*.go", Action: permission.Allow},
		{Permission: "edit", Pattern: "*.go", Action: permission.Deny},
	}}
	if filter, key := policy.Filter("read"); filter != nil {
		t.Errorf("there is a filter: %s", key)
	}
}

func BenchmarkFilter(b *testing.B) {
	policy := permission.Policy{Rules: permission.Ruleset{
		{Permission: "*", Pattern: "*", Action: permission.Allow},
		{Permission: "read", Pattern: "*.env", Action: permission.Deny},
		{Permission: "read", Pattern: "*.env.*", Action: permission.Deny},
		{Permission: "read", Pattern: "*.env.example", Action: permission.Allow},
	}}
	filter, _ := policy.Filter("read")
	for b.Loop() {
		filter("/home/me/project/internal/search/walker.go", "internal/search/walker.go")
	}
}
