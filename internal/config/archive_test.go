package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/plugin"
)

var update = flag.Bool("update", false, "write the want part of the archives")

// TestArchives lays out each archive in an empty folder, loads it and compares
// what came out with the archive's own want. The comment of an archive says
// what it is about and sets things up:
//
//	dir NAME        the instance directory; proj when not said
//	worktree NAME   where the project starts; proj when not said
//	env NAME=VALUE  a variable; $ROOT is the folder
//	trust [NAME…]   trust these, or everything, before loading
//	link NAME TO    a symbolic link
//	mkdir NAME      an empty folder
//	write NAME TEXT a change made after trusting
func TestArchives(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			cfg := runArchive(t, ar, root)
			got := strings.ReplaceAll(dump(cfg), root, "$ROOT")
			for i, f := range ar.Files {
				if f.Name != "want" {
					continue
				}
				if *update {
					ar.Files[i].Data = []byte(got)
					if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("want -, got +:\n%s", diff)
				}
				return
			}
			t.Fatal("the archive has no want")
		})
	}
}

func runArchive(t *testing.T, ar *txtar.Archive, root string) *Config {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, data string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		must(os.WriteFile(path, []byte(data), 0o644))
	}
	for _, f := range ar.Files {
		if f.Name != "want" {
			write(f.Name, string(f.Data))
		}
	}
	env := map[string]string{}
	opt := Options{
		Dir: filepath.Join(root, "proj"), Worktree: filepath.Join(root, "proj"), Home: filepath.Join(root, "home"),
		Env:       func(name string) string { return env[name] },
		TrustFile: filepath.Join(root, "state", "trust.json"),
		Managed:   []string{filepath.Join(root, "etc/opencode"), filepath.Join(root, "etc/helve")},
	}
	must(os.MkdirAll(opt.Dir, 0o755))
	for line := range strings.Lines(string(ar.Comment)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		first, second, _ := strings.Cut(rest, " ")
		switch word {
		case "dir":
			opt.Dir = filepath.Join(root, rest)
		case "worktree":
			opt.Worktree = filepath.Join(root, rest)
		case "env":
			name, value, _ := strings.Cut(rest, "=")
			env[name] = strings.ReplaceAll(value, "$ROOT", root)
		case "trust":
			var names []string
			for _, name := range strings.Fields(rest) {
				names = append(names, filepath.Join(root, name))
			}
			_, err := trustNow(opt, names...)
			must(err)
		case "link":
			must(os.Symlink(strings.ReplaceAll(second, "$ROOT", root), filepath.Join(root, first)))
		case "mkdir":
			must(os.MkdirAll(filepath.Join(root, rest), 0o755))
		case "write":
			write(first, second+"\n")
		}
	}
	cfg, err := Load(opt)
	must(err)
	return cfg
}

// dump writes what a config holds, leaving out what is empty.
func dump(c *Config) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	rules := func(what string, rs permission.Ruleset) {
		for _, r := range rs {
			p("%s %s | %s | %s <%s>", what, r.Permission, r.Pattern, r.Action, r.From)
		}
	}
	rules("rule", c.Rules)
	for i, rs := range c.Ceilings {
		rules(fmt.Sprintf("ceiling %d", i), rs)
	}
	for _, a := range c.Agents {
		p("agent %s title=%q mode=%q model=%q steps=%d prompt=%q options=%s flags=%s <%s>", a.Name, a.Title, a.Mode, a.Model,
			a.Steps, a.Prompt, a.Options, flags(a), a.From)
		if a.Description != "" {
			p("  description %q", a.Description)
		}
		rules("  rule", a.Permission)
		for i, rs := range a.Ceilings {
			rules(fmt.Sprintf("  ceiling %d", i), rs)
		}
	}
	for _, e := range c.Plugins {
		p("plugin %s from %s <%s>", e.Value, e.Dir, e.From)
	}
	dumpBrought(c, p)
	dumpModels(c, p)
	for _, e := range c.Instructions {
		p("instruction %s <%s>", e.Value, e.From)
	}
	p("raw %s", c.Raw)
	for _, d := range c.Dirs {
		p("dir %s", d)
	}
	for _, s := range c.Sources {
		p("source %s %s guarded=%t trusted=%t changed=%t", s.Kind, s.Path, s.Guarded, s.Trusted, s.Changed)
	}
	for _, pr := range c.Problems {
		p("%s %s", pr.Severity, pr.Error())
	}
	for _, w := range c.Withheld {
		rules := ""
		if w.Rules > 0 {
			rules = fmt.Sprintf(" (%d rules)", w.Rules)
		}
		p("withheld %s %s: %s%s", w.File, w.Key, w.Why, rules)
	}
	if c.PolicyError != nil {
		p("void %v", c.PolicyError)
	}
	return b.String()
}

// dumpBrought writes what is about the code that users bring.
func dumpBrought(c *Config, p func(format string, args ...any)) {
	for _, kind := range []struct {
		name  string
		hooks []HookCommand
	}{{"before", c.Hooks.Before}, {"after", c.Hooks.After}, {"event", c.Hooks.Event}} {
		for _, h := range kind.hooks {
			p("hook %s %q line=%q tools=%q events=%q timeout=%d required=%t from %s <%s>", kind.name, h.Command, h.Line,
				h.Tools, h.Events, h.Timeout.Milliseconds(), h.Required, h.Base, h.Source)
		}
	}
	if x := c.Custom; !cmp.Equal(x, plugin.Options{}) {
		p("custom memory=%d load=%d hook=%d full=%q required=%q also=%q worker=%q", x.Memory, x.LoadTimeout.Milliseconds(), x.HookTimeout.Milliseconds(),
			x.Full, x.Required, x.Also, x.Worker)
	}
	for _, path := range c.SkillPaths {
		p("skills %s", path)
	}
	for _, f := range c.Folders {
		if f.Guarded && !f.Missing {
			p("folder %s trusted=%t changed=%t", f.Path, f.Trusted, f.Changed)
		}
	}
}

// dumpModels writes what is about models.
func dumpModels(c *Config, p func(format string, args ...any)) {
	if c.Model+c.SmallModel != "" {
		p("model %q small %q", c.Model, c.SmallModel)
	}
	for _, x := range c.Providers {
		p("provider %s name=%q npm=%q api=%q env=%q url=%q key=%q headers=%v timeout=%d disabled=%t <%s>", x.ID, x.Name, x.NPM, x.API,
			x.Env, x.BaseURL, x.Key, x.Headers, x.TimeoutMS, x.Disabled, x.From)
		for _, m := range x.Models {
			images, price := "", ""
			if m.Images != nil {
				images = fmt.Sprint(*m.Images)
			}
			if m.Price != nil {
				price = fmt.Sprint(*m.Price)
			}
			p("  model %s serves=%q name=%q context=%d output=%d price=%s images=%s options=%s", m.ID, m.Serves, m.Name, m.Context,
				m.Output, price, images, m.Options)
		}
	}
	if c.DisabledProviders != nil || c.EnabledProviders != nil {
		p("providers disabled=%q enabled=%q", c.DisabledProviders, c.EnabledProviders)
	}
	if x := (Budget{}); c.Task != x || c.Session != x {
		p("task %+v session %+v", c.Task, c.Session)
	}
}

func flags(a Agent) string {
	var all []string
	add := func(name string, set bool) {
		if set {
			all = append(all, name)
		}
	}
	add("disable", a.Disable)
	add("hidden", a.Hidden != nil && *a.Hidden)
	add("untrusted", a.Untrusted)
	return strings.Join(all, ",")
}
