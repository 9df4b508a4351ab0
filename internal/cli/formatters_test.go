package cli

import "testing"

// A formatter that is still being tried out is used where somebody says so.
func TestExperimentalFormatters(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{nil, false},
		{[]string{"OPENCODE_EXPERIMENTAL_OXFMT=1"}, true},
		{[]string{"HELVE_EXPERIMENTAL_OXFMT=true"}, true},
		{[]string{"OPENCODE_EXPERIMENTAL=1"}, true},
		{[]string{"OPENCODE_EXPERIMENTAL_OXFMT=0"}, false},
	} {
		for _, config := range []string{`{"formatter": true}`, `{"formatter": {"gofmt": {"disabled": true}}}`} {
			a, s, _ := loaded(t, config, c.env...)
			if got := a.formatters(s.cfg.Formatter); got == nil || !got.Builtin || got.Experimental != c.want {
				t.Errorf("%s %v: %+v", config, c.env, got)
			}
		}
		a, s, _ := loaded(t, `{"formatter": false}`, c.env...)
		if got := a.formatters(s.cfg.Formatter); got != nil {
			t.Errorf("%v: %+v", c.env, got)
		}
	}
}
