package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// shownConfig is what helve config --json prints.
type shownConfig struct {
	Config   json.RawMessage              `json:"config"`
	Origins  map[string]permission.Source `json:"origins"`
	Limits   []limit                      `json:"limits"`
	Sources  []config.Source              `json:"sources"`
	Problems []config.Problem             `json:"problems"`
	Withheld []config.Withheld            `json:"withheld"`
	Policy   string                       `json:"policyError,omitempty"`
}

func (a *app) configCommand() *cobra.Command {
	var asJSON, secrets bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration that holds here, and where it comes from",
		Long: `Config prints the merged configuration with the file and line each key was
written in, the limits that files set which are not trusted, then what is wrong
with the files, and what is not in force because its file is not trusted. Values
that look like secrets are left out unless --secrets is given.`,
		Example: `  helve config
  helve config --json
  helve config check`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			raw := s.cfg.Raw
			if !secrets {
				raw = redactJSON(raw)
				s.cfg.Withheld = redactedValues(s.cfg.Withheld)
			}
			if asJSON {
				return a.printJSON(shownOf(s.cfg, raw))
			}
			return a.printConfig(s.cfg, raw)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&secrets, "secrets", false, "print secrets too")
	c.AddCommand(a.configCheckCommand())
	return c
}

// checkedConfig is what helve config check --json prints.
type checkedConfig struct {
	OK       bool             `json:"ok"`
	Problems []config.Problem `json:"problems"`
	Policy   string           `json:"policyError,omitempty"`
}

func (a *app) configCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the config files; exit 1 on errors",
		Long: `Check prints every mistake in the config files with its place and the key that
was probably meant, rules that can not do what they say, and, as notes, what they
loosen. Files that are not trusted are checked too, as if they were; nothing of
them is put into force, and their references to the environment and to files are
not followed.`,
		Example: `  helve config check
  helve config check --json
  helve config check --dir ../other`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			cfg, err := config.Check(s.opt)
			if err != nil {
				return err
			}
			if s.choice != nil {
				cfg.Problems = append(cfg.Problems, *s.choice)
			}
			return a.checked(cfg, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) checked(cfg *config.Config, asJSON bool) error {
	out := checkedConfig{OK: cfg.PolicyError == nil, Problems: append([]config.Problem{}, cfg.Problems...)}
	if cfg.PolicyError != nil {
		out.Policy = cfg.PolicyError.Error()
	}
	warnings := 0
	for i := range cfg.Problems {
		p := &cfg.Problems[i]
		out.OK = out.OK && p.Severity != config.Error
		if p.Severity == config.Warning {
			warnings++
		}
		if !asJSON {
			fmt.Fprintf(a.Stdout, "%s: %s\n", p.Severity, safe(p.Error()))
		}
	}
	switch {
	case asJSON:
		if err := a.printJSON(out); err != nil {
			return err
		}
	case out.OK:
		fmt.Fprintf(a.Stdout, "ok: %s, %s\n", text.Count(len(cfg.Sources), "source", "sources"), text.Count(warnings, "warning", "warnings"))
	}
	if !out.OK {
		return &silent{exitFailed}
	}
	return nil
}

// A limit is the rules of a file that is untrusted or partly invalid: they can only make a decision
// stricter, for one agent or, without a name, for all.
type limit struct {
	Agent string       `json:"agent,omitempty"`
	Rules []listedRule `json:"rules"`
}

// limits returns the limits in force, in order. It omits those that a void policy denies.
func limits(cfg *config.Config) []limit {
	all := []limit{}
	general := cfg.Ceilings
	if cfg.PolicyError != nil && len(general) > 0 {
		general = general[:len(general)-1] // the last one denies everything
	}
	for _, rules := range general {
		all = append(all, limit{Rules: withSources(rules)})
	}
	for _, agent := range cfg.Agents {
		for _, rules := range agent.Ceilings {
			all = append(all, limit{agent.Name, withSources(rules)})
		}
	}
	return all
}

// restricts reports whether a limit limits anything.
func (l limit) restricts() bool {
	return slices.ContainsFunc(l.Rules, func(r listedRule) bool { return r.Action != permission.Allow })
}

// voiding returns the problem that makes the policy void, for commands that report it themselves.
func voiding(cfg *config.Config) []config.Problem {
	if p, ok := errors.AsType[*config.Problem](cfg.PolicyError); ok {
		return []config.Problem{*p}
	}
	return nil
}

// shownOf converts a config for programs; raw is the shown part of its keys.
func shownOf(cfg *config.Config, raw json.RawMessage) shownConfig {
	out := shownConfig{
		Config: raw, Origins: cfg.Origins, Limits: limits(cfg), Sources: append([]config.Source{}, cfg.Sources...),
		Problems: append([]config.Problem{}, cfg.Problems...), Withheld: append([]config.Withheld{}, cfg.Withheld...),
	}
	if len(raw) == 0 {
		out.Config = json.RawMessage("{}")
	}
	if cfg.PolicyError != nil {
		out.Policy = cfg.PolicyError.Error()
	}
	return out
}

func (a *app) printConfig(cfg *config.Config, raw json.RawMessage) error {
	members, err := ordered(raw)
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := a.printKey(cfg, m); err != nil {
			return err
		}
	}
	limited := false
	for _, l := range limits(cfg) {
		if !l.restricts() {
			continue
		}
		limited = true
		who := ""
		if l.Agent != "" {
			who = " for the agent " + text.VisibleLine(l.Agent)
		}
		fmt.Fprintf(a.Stdout, "%s%s  %s\n", a.style(a.Stdout).Bold("limit"), who,
			a.style(a.Stdout).Dim("(of a file that is not trusted or has a mistake: it can only make an answer stricter)"))
		for _, r := range l.Rules {
			fmt.Fprintf(a.Stdout, "  %s  %s\n", text.VisibleLine(ruleText(r.Rule)), a.where(r.From))
		}
	}
	switch {
	case cfg.PolicyError != nil:
		fmt.Fprintf(a.Stdout, "%s %s\n", a.style(a.Stdout).Red("Everything is denied:"), safe(cfg.PolicyError.Error()))
	case len(members) == 0 && limited:
		fmt.Fprintln(a.Stdout, "No configuration of yours: the default rules hold, within these limits.")
	case len(members) == 0:
		fmt.Fprintln(a.Stdout, "No configuration: the default rules hold.")
	}
	for _, s := range cfg.Sources {
		state := ""
		switch {
		case s.Changed:
			state = ", changed since it was trusted"
		case s.Guarded && !s.Trusted:
			state = ", not trusted"
		case s.Guarded:
			state = ", trusted"
		}
		fmt.Fprintf(a.Stdout, "source: %s (%s%s)\n", safe(s.Path), s.Kind, state)
	}
	a.warn(cfg, voiding(cfg)...)
	return nil
}

// where is the place that something was written in.
func (a *app) where(from permission.Source) string {
	return a.style(a.Stdout).Dim("(" + text.VisibleLine(from.String()) + ")")
}

// printKey prints a key with its place, and where several files gave a part
// of it, every part with its own.
func (a *app) printKey(cfg *config.Config, m jsonMember) error {
	from, known := cfg.Origins[m.key]
	title := a.style(a.Stdout).Bold(safe(m.key))
	p := partPrinter{app: a, origins: cfg.Origins}
	if known && p.isOtherFile(m.key, from.File) {
		fmt.Fprintf(a.Stdout, "%s  %s\n", title, a.style(a.Stdout).Dim("(of several files)"))
		if err := p.printValue(m.key, m.value, ""); err != nil {
			return err
		}
		fmt.Fprintln(a.Stdout)
		return nil
	}
	if known {
		title += "  " + a.where(from)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, m.value, "", "  "); err != nil {
		return fmt.Errorf("printing the config: %w", err)
	}
	fmt.Fprintf(a.Stdout, "%s\n%s\n", title, safe(b.String()))
	return nil
}

// A partPrinter prints a value whose parts come from several files.
type partPrinter struct {
	app     *app
	origins map[string]permission.Source
}

// isOtherFile reports whether anything below a key comes from another file.
func (p partPrinter) isOtherFile(key, file string) bool {
	for name, from := range p.origins {
		if strings.HasPrefix(name, key+".") && from.File != file {
			return true
		}
	}
	return false
}

// printValue prints a value after the current text of its line, up to the comma that may follow it.
func (p partPrinter) printValue(name string, raw json.RawMessage, indent string) error {
	open, end := "{", "}"
	var members []jsonMember
	var err error
	switch raw[0] {
	case '{':
		members, err = ordered(raw)
	case '[':
		open, end = "[", "]"
		var elems []json.RawMessage
		err = json.Unmarshal(raw, &elems)
		for i, e := range elems {
			members = append(members, jsonMember{strconv.Itoa(i), e})
		}
	}
	if err != nil {
		return fmt.Errorf("printing the config: %w", err)
	}
	out := p.app.Stdout
	if len(members) == 0 {
		fmt.Fprint(out, safe(string(raw)))
		return nil
	}
	fmt.Fprintln(out, open)
	for i, m := range members {
		fmt.Fprint(out, indent+"  ")
		if open == "{" {
			fmt.Fprintf(out, "%s: ", safe(string(quoted(m.key))))
		}
		sub := name + "." + m.key
		if err := p.printValue(sub, m.value, indent+"  "); err != nil {
			return err
		}
		if i < len(members)-1 {
			fmt.Fprint(out, ",")
		}
		leaf := m.value[0] != '{' && m.value[0] != '[' || len(m.value) == len("{}")
		if from, ok := p.origins[sub]; ok && leaf {
			fmt.Fprint(out, "  "+p.app.where(from))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprint(out, indent+end)
	return nil
}

// A jsonMember is a member of an object.
type jsonMember struct {
	key   string
	value json.RawMessage
}

// ordered reads an object in its written order.
func ordered(raw json.RawMessage) ([]jsonMember, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("reading the config: %w", err)
	}
	var out []jsonMember
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("reading the config: %w", err)
		}
		m := jsonMember{key: fmt.Sprint(tok)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("reading the config: %w", err)
		}
		out = append(out, m)
	}
	return out, nil
}

// redactedValues returns withheld values without secrets. A value with a truncated end is dropped
// entirely.
func redactedValues(all []config.Withheld) []config.Withheld {
	all = slices.Clone(all)
	for i := range all {
		w := &all[i]
		w.Value = string(redactMember(w.Key, json.RawMessage(w.Value)))
	}
	return all
}
