package process

import (
	"slices"
	"strconv"
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
		if _, forced := unattended()[name]; !forced && !strings.HasPrefix(name, "GIT_CONFIG_") {
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

// Settings that keep git from running what a tool may have written come behind
// those of the person, and what the person has set counts.
func TestGitSettings(t *testing.T) {
	for name, c := range map[string]struct {
		base []string
		set  map[string]string
		want []string
	}{
		"none": {nil, nil, []string{"safe.bareRepository=explicit", "core.fsmonitor=false"}},
		"not passed on": {[]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=all"}, nil,
			[]string{"safe.bareRepository=explicit", "core.fsmonitor=false"}},
		"of the person": {[]string{"GIT_CONFIG_COUNT=9"}, map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ann"},
			[]string{"user.name=Ann", "safe.bareRepository=explicit", "core.fsmonitor=false"}},
		"the same setting": {nil, map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.barerepository", "GIT_CONFIG_VALUE_0": "all"},
			[]string{"safe.barerepository=all", "core.fsmonitor=false"}},
		"let through": {[]string{"XGIT=1"}, map[string]string{"GIT_CONFIG_COUNT": "x"}, nil},
	} {
		env, _ := Environment{Set: c.set}.Build(c.base)
		vars := map[string]string{}
		for _, kv := range env {
			key, value, _ := strings.Cut(kv, "=")
			vars[key] = value
		}
		var got []string
		count, _ := strconv.Atoi(vars["GIT_CONFIG_COUNT"])
		for i := range count {
			n := strconv.Itoa(i)
			got = append(got, vars["GIT_CONFIG_KEY_"+n]+"="+vars["GIT_CONFIG_VALUE_"+n])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	passed := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Ann"}
	env, secrets := Environment{Pass: []string{"GIT_CONFIG_*"}}.Build(passed)
	if len(secrets) > 0 || !slices.Contains(env, "GIT_CONFIG_KEY_0=user.name") || !slices.Contains(env, "GIT_CONFIG_COUNT=3") {
		t.Errorf("the names of settings are no secrets: %q, %q", env, secrets)
	}
}
