package cli

import (
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helve-dev/helve/permission"
)

func TestTable(t *testing.T) {
	other := "windows"
	if runtime.GOOS == other {
		other = "linux"
	}
	asked := 0
	table := decisionTable{Dir: t.TempDir(), Policy: func() (permission.Policy, error) {
		asked++
		return permission.Policy{Rules: permission.Ruleset{{Permission: "read", Pattern: "*", Action: permission.Allow}, {Permission: "look", Pattern: "b", Action: permission.Deny}}}, nil
	}, Asks: func(tool string) string { return map[string]string{"look": "read"}[tool] },
		Shows: func(tool string) (bool, error) { return tool == "look", nil }}
	for _, c := range []struct {
		line    string
		want    tableFinding
		inForce bool // what is in force is asked for
	}{
		{`{"permission":"read","pattern":"a","expect":"allow"}`, tableFinding{"", Passed, ""}, true},
		{`{"permission":"look","pattern":"a","expect":"allow"}`, tableFinding{"", Passed, ""}, true}, // a tool that asks for read
		{`{"permission":"look","pattern":"b","expect":"deny"}`, tableFinding{"", Passed, ""}, true},
		{`{"permission":"read","pattern":"b","expect":"allow"}`, tableFinding{"", Passed, ""}, true},
		{`{"permission":"look","pattern":"a","expect":"ask","rules":[["read","*","deny"]]}`, tableFinding{"", Passed, ""}, false},
		{`{"id":"x","permission":"read","pattern":"a","expect":"deny","reason":"it is so"}`, tableFinding{"x", Failed, "got allow, want deny: decided by read * = allow, a rule of the line itself (it is so)"}, true},
		{`{"permission":"read","pattern":"a","expect":"deny","rules":[["read","*","deny"]]}`, tableFinding{"", Passed, ""}, false},
		{`{"permission":"read","pattern":"a","expect":"ask","accept":["deny"],"rules":[["read","*","deny"]]}`, tableFinding{"", Passed, ""}, false},
		{`{"command":"git push","expect":"deny","mode":"headless","rules":[["bash","*","ask"]]}`, tableFinding{"", Passed, ""}, false},
		{`{"permission":"webfetch","pattern":"http://1/","expect":"error","rules":[]}`, tableFinding{"", Passed, ""}, false},
		{`{"tools":["look","read"],"expect_visible":["look"]}`, tableFinding{"", Passed, ""}, true}, // as tools are shown here
		{`{"rules":[["read","*","deny"]],"tools":["look","read","other"],"expect_visible":["other"]}`, tableFinding{"", Passed, ""}, false},
		{`{"rules":[["*","*","allow"],["look","*","deny"]],"tools":["look","read"],"expect_visible":["read"]}`, tableFinding{"", Passed, ""}, false}, // under its own name
		{`{"config":{"read":"maybe"},"expect":"error"}`, tableFinding{"", Passed, ""}, false},
		{`{"id":"y","platform":"` + other + `","permission":"read","pattern":"a","expect":"deny"}`, tableFinding{"y", Skipped, "for " + other}, false},
		{`{"id":"z","permision":"read"}`, tableFinding{"z", Failed, `unknown key "permision": did you mean "permission"?`}, false},
		{`{"id":"z","permission":"read","pattern":"a"}`, tableFinding{"z", Failed, `what is to come out? give "expect": allow, ask, deny or error`}, false},
		{`nothing`, tableFinding{"", Failed, "not JSON: invalid character 'o' in literal null (expecting 'u')"}, false},
	} {
		asked = 0
		if diff := cmp.Diff(c.want, table.Judge([]byte(c.line))); diff != "" || (asked > 0) != c.inForce {
			t.Errorf("%s, which asked %d times: %s", c.line, asked, diff)
		}
	}
	table.Policy = func() (permission.Policy, error) { return permission.Policy{}, errors.New("no config") }
	if got := table.Judge([]byte(`{"permission":"read","pattern":"a","expect":"error"}`)); got != (tableFinding{"", Failed, "no config"}) {
		t.Errorf("%+v", got)
	}
}
