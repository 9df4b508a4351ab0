package permission_test

import (
	"fmt"
	"log"

	"github.com/helve-dev/helve/permission"
)

// The last rule that matches wins.
func ExampleEvaluate() {
	rules, err := permission.ParseConfig([]byte(`{
		"bash": {"*": "ask", "git *": "allow", "git push *": "deny"}
	}`), permission.ConfigOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range []string{"git status", "git push", "make"} {
		fmt.Println(command, "→", permission.Evaluate("bash", command, rules).Action)
	}
	// Output:
	// git status → allow
	// git push → deny
	// make → ask
}

// A ceiling can restrict and never loosen.
func ExamplePolicy_Decide() {
	own := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
	stranger := permission.Ruleset{{Permission: "edit", Pattern: "*", Action: permission.Deny}}
	policy := permission.Policy{Rules: own, Ceilings: []permission.Ruleset{stranger}}
	fmt.Println(policy.Decide("edit", "a.go").Action, policy.Decide("read", "a.go").Action)
	// Output: deny allow
}
