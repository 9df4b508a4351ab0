package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// TestAdvisedRule copies the rule out of what a person sees, and wants it to be
// the rule that was meant.
func TestAdvisedRule(t *testing.T) {
	for _, name := range []string{
		"plain", "日本 é", "l\u200bs", "a\u2800\u3164b", "tag\U000e0041", "two\nlines\u202e", "tab\tbed\x1b[2J", `back\slash\x\n\u{1}` + "\u200b",
		"<12 spaces>\u200b", "wide" + strings.Repeat(" ", 30) + "b\u200b", `"quoted"`,
	} {
		u := &permission.UnattendedError{Permission: "read", Asked: []permission.Decision{{Pattern: name}}}
		got := safe(shownError(fmt.Errorf("around it: %w", u)))
		if text.HasHidden(got) || strings.ContainsAny(got, "\n\t") || strings.Contains(got[strings.Index(got, "{"):], "   ") {
			t.Errorf("%q: it holds what can not be seen: %q", name, got)
		}
		_, rule, _ := strings.Cut(got, "configuration: ")
		var v struct {
			Permission map[string]map[string]string
		}
		if err := json.NewDecoder(strings.NewReader(rule)).Decode(&v); err != nil {
			t.Errorf("%q: %v: %s", name, err, rule)
		}
		if v.Permission["read"][name] != "allow" {
			t.Errorf("%q became %v", name, v)
		}
	}
}
