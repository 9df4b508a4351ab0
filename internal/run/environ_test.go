package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironment(t *testing.T) {
	base := []string{
		"PATH=/bin", "HOME=/home/u", "LC_ALL=C", "LD_PRELOAD=/x.so", "BASH_ENV=/evil", "BASH_FUNC_ls%%=() { rm; }", "MY_VAR=1",
		"MY_API_KEY=0123456789", "SHORT_TOKEN=1", "GITHUB_TOKEN=abcdefghij", "EDITOR=vim", "odd", "=C:=x",
	}
	env, secrets := Environment{Pass: []string{"MY_*", "GITHUB_TOKEN"}, Set: map[string]string{"ADDED": "yes"}}.Build(base)
	var own []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if _, forced := unattended()[name]; !forced {
			own = append(own, kv)
		}
	}
	want := []string{"ADDED=yes", "GITHUB_TOKEN=abcdefghij", "HOME=/home/u", "LC_ALL=C", "MY_VAR=1", "PATH=/bin"}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Secret{{"MY_API_KEY", "0123456789"}}, secrets); diff != "" {
		t.Errorf("secrets: %s", diff)
	}
	if !slices.Contains(env, "EDITOR=false") || !slices.Contains(env, "PAGER=cat") {
		t.Errorf("something may wait for a person: %q", env)
	}
}
