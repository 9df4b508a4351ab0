package command_test

import (
	"slices"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// TestPoured: what a folder holds and is put into another one is asked about
// where it changes there what runs later.
func TestPoured(t *testing.T) {
	s := newStage(t, "t/.claude/settings.json", "wf/.github/workflows/x.yml", "plain/a/b", "plain/c", "sub/x")
	for _, c := range []struct {
		line, edit string
	}{
		{"cp -r t/. .", ".claude"},
		{"cp -rT t .", ".claude"},
		{"cp -a t/. sub", "sub/.claude"},
		{"rsync -a t/ sub", "sub/.claude"},
		{"cp -r wf/. .", ".github/workflows"},
		{"cp -r plain/. .", ""},
		{"rsync -a plain/ sub", ""},
		{"cp -r t new", ""},
	} {
		got := s.decide(t, rulesOf([][3]string{{"*", "*", "allow"}}), c.line)
		asked := slices.ContainsFunc(got.decisions, func(d permission.Decision) bool { return d.Permission == "edit" && d.Pattern == c.edit })
		if asked != (c.edit != "") {
			t.Errorf("%s: %q\n%s", c.line, c.edit, shown(got))
		}
	}
}
