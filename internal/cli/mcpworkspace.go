package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/mcpserve"
	"github.com/helve-dev/helve/permission"
)

// openWorkspace opens the runtime for the folders of a client, with their config. Restrictions of
// the folder that helve was started in, and of the further folders, apply here too: naming another
// folder must not evade a project's rules.
func (a *app) openWorkspace(f *mcpFlags, home *setup, w mcpserve.Workspace) (*helve.Runtime, error) {
	s, there, err := a.loadAt(w.Dir)
	if err != nil {
		return nil, err
	}
	news := *s.cfg // the rest was reported at the start
	news.Withheld = slices.DeleteFunc(slices.Clone(news.Withheld), func(w config.Withheld) bool { return slices.Contains(home.cfg.Withheld, w) })
	there.warn(&news, home.cfg.Problems...)
	if err := s.checkReady(f.agent); err != nil {
		return nil, err
	}
	if err := home.lets(f.agent, w.Dir); err != nil {
		return nil, err
	}
	others := []*setup{home}
	for _, dir := range w.Also {
		other, _, err := a.loadAt(dir)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
	}
	// The restrictions of other projects hold here too.
	for _, o := range others {
		if o.opt.Dir == s.opt.Dir {
			continue
		}
		for _, rules := range append(slices.Clone(o.cfg.Ceilings), o.projectRules()) {
			if rules = o.abroad(rules); len(rules) > 0 {
				s.cfg.Ceilings = append(s.cfg.Ceilings, rules)
			}
		}
		if s.cfg.PolicyError == nil {
			s.cfg.PolicyError = o.cfg.PolicyError
		}
	}
	if closed := home.closed(w.Dir); len(closed) > 0 {
		s.cfg.Ceilings = append(s.cfg.Ceilings, closed)
	}
	s.cfg.Rules = append(a.also(w.Also), s.cfg.Rules...)
	opt := there.options(s)
	opt.Client, opt.Model, opt.Provider = "mcp", f.model, f.provider
	opt.Unattended = !w.Attended
	opt.Flags["question"] = w.Attended
	opt.Flags["compact"] = f.compact
	opt.Search.Stateless = s.cfg.Search.Keep != nil && !*s.cfg.Search.Keep // calls follow each other here
	opt.Shell.Ephemeral = false
	opt.Plugins.Watch = watchFiles
	opt.Repair = s.cfg.Repair != nil && *s.cfg.Repair
	return helve.Open(opt)
}

// loadAt reads the config of a folder.
func (a *app) loadAt(dir string) (*setup, *app, error) {
	there := *a
	there.dirFlag = dir
	s, err := there.load()
	return s, &there, err
}

// lets reports whether a client may work in a folder: not if a rule denies it as an outside folder.
func (s *setup) lets(agent, dir string) error {
	for _, own := range []string{s.opt.Dir, s.opt.Worktree} {
		if disk.Within(own, dir) && own != string(filepath.Separator) {
			return nil
		}
	}
	who, err := s.agent(agent)
	if err != nil {
		return err
	}
	if d := who.Policy.Decide("external_directory", filepath.Join(dir, "*")); d.Action == permission.Deny && d.Rule != nil {
		return fmt.Errorf("the rule %s of %s denies working in %s", permission.Ruleset{*d.Rule}, d.Source, dir)
	}
	return nil
}

// closed returns the parts of a folder that the user's rules deny as outside folders. They stay
// denied when the folder becomes the worktree and nothing in it is outside any more.
func (s *setup) closed(dir string) (out permission.Ruleset) {
	if inFolder(s.opt.Dir, dir) {
		return nil
	}
	for _, r := range s.cfg.Rules {
		if r.Permission != "external_directory" || r.Action != permission.Deny || !filepath.IsAbs(r.Pattern) {
			continue
		}
		for _, name := range []string{"read", "edit"} {
			r.Permission = name
			out = append(out, r)
		}
	}
	return out
}

// projectRules are the rules that come with the project.
func (s *setup) projectRules() (out permission.Ruleset) {
	for _, r := range s.cfg.Rules {
		for _, dir := range []string{s.opt.Worktree, s.opt.Dir} {
			if disk.Within(dir, r.From.File) && dir != string(filepath.Separator) {
				out = append(out, r)
				break
			}
		}
	}
	return out
}

// abroad gives rules that name files from the project's folder the whole name
// too, since elsewhere the short one means another file.
func (s *setup) abroad(rules permission.Ruleset) (out permission.Ruleset) {
	for _, r := range rules {
		out = append(out, r)
		if !filepath.IsAbs(r.Pattern) && !strings.HasPrefix(r.Pattern, "*") && r.Permission != "bash" {
			r.Pattern = filepath.Join(s.opt.Worktree, r.Pattern)
			out = append(out, r)
		}
	}
	return out
}

// also returns rules that let agents reach the further folders of a client. They precede the user's
// own, which may deny some of it.
func (a *app) also(dirs []string) (out permission.Ruleset) {
	for _, dir := range dirs {
		if strings.ContainsAny(dir, "*?") {
			a.printNote(dir + " is not opened as a further folder: its name would match others")
			continue
		}
		out = append(out, permission.Rule{
			Permission: "external_directory", Pattern: filepath.Join(dir, "*"), Action: permission.Allow,
			From: permission.Source{File: "the folders of the MCP client"},
		})
	}
	return out
}
