package config

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/helve-dev/helve/internal/builtin"
)

// A folder is trusted by what it holds when it is asked about.
func TestTrustedFolder(t *testing.T) {
	_, opt := project(t)
	folder := filepath.Join(opt.Dir, ".opencode")
	write(t, filepath.Join(folder, "tool/x.ts"), "one")
	check := func(when, path string, want bool) {
		t.Helper()
		if got := TrustedFolder(opt, path); got != want {
			t.Errorf("%s: %s is trusted: %t", when, path, got)
		}
	}
	check("before", folder, false)
	if _, err := trustNow(opt); err != nil {
		t.Fatal(err)
	}
	check("trusted", folder, true)
	check("trusted", folder+"/", true)
	write(t, filepath.Join(folder, "helve.json"), "{}") // has a hash of its own
	check("with a config file", folder, true)
	write(t, filepath.Join(folder, "tool/y.ts"), "two")
	check("changed", folder, false)
	if _, err := Untrust(opt); err != nil {
		t.Fatal(err)
	}
	check("untrusted", folder, false)

	check("of nobody", filepath.Join(opt.Dir, ".claude"), false)
	check("not there", filepath.Join(opt.Dir, "sub/.opencode"), false)
	for _, own := range []string{".config/opencode", ".config/helve", ".opencode", ".helve"} {
		check("own", filepath.Join(opt.Home, own), true)
	}
	env := map[string]string{"HELVE_CONFIG_DIR": filepath.Join(opt.Home, "more"), "OPENCODE_CONFIG_DIR": folder}
	opt.Env = func(name string) string { return env[name] }
	check("named", filepath.Join(opt.Home, "more"), true)
	check("named, and the project's", folder, false)
	env["HELVE_DISABLE_PROJECT_CONFIG"] = "1"
	check("named, without a project", folder, true)
	if TrustedFolder(Options{Dir: "relative"}, folder) {
		t.Error("a relative directory was accepted")
	}
}

// What Load says of a folder and what TrustedFolder says are the same.
func TestFoldersAgree(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Dir, ".opencode/tool/x.ts"), "one")
	write(t, filepath.Join(opt.Dir, ".helve/tools/x"), "two")
	write(t, filepath.Join(opt.Home, ".helve/tools/x"), "three")
	if _, err := trustNow(opt, filepath.Join(opt.Dir, ".helve")); err != nil {
		t.Fatal(err)
	}
	c := load(t, opt)
	seen := map[bool]int{}
	for _, f := range c.Folders {
		if got := TrustedFolder(opt, f.Path); got != f.Trusted {
			t.Errorf("%s: loaded as %t, asked %t", f.Path, f.Trusted, got)
		}
		seen[f.Trusted]++
	}
	if seen[true] < 2 || seen[false] != 1 {
		t.Errorf("got %+v", c.Folders)
	}
}

// Which of two lists of hooks is meant is not known, so nothing may be done.
func TestDoubleHooks(t *testing.T) {
	_, opt := project(t)
	write(t, filepath.Join(opt.Home, ".config/helve/helve.json"), `{"hooks": {"before": [], "before": []}}`)
	if c := load(t, opt); c.PolicyError == nil {
		t.Error("the policy holds")
	}
}

// The lists that names are held against have every tool that there is.
func TestKnownTools(t *testing.T) {
	for _, made := range builtin.All(builtin.Rooms{}) {
		if spec := made.Spec(); !spec.Catches && !slices.Contains(knownTools(), spec.Name) {
			t.Errorf("%s is not known", spec.Name)
		}
	}
}
