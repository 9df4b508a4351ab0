package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/catalog"
	"github.com/helve-dev/helve/internal/config"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
)

// catalog returns the models of the config and the environment.
func (s *setup) catalog(a *app) *catalog.Catalog {
	o := catalog.Options{
		Env: a.Getenv, Disabled: s.cfg.DisabledProviders, Enabled: s.cfg.EnabledProviders, File: s.userFile(), Note: a.printNote,
	}
	for _, p := range s.cfg.Providers {
		out := catalog.Provider{
			ID: p.ID, Name: p.Name, NPM: p.NPM, URL: cmp.Or(p.BaseURL, p.API), Env: p.Env, Key: p.Key, Headers: p.Headers,
			Timeout: milliseconds(p.TimeoutMS), Disabled: p.Disabled, From: p.From.String(),
		}
		for _, m := range p.Models {
			out.Models = append(out.Models, catalog.Model{
				ID: m.ID, Name: m.Name, Serves: m.Serves, Context: m.Context, Output: m.Output,
				Price: m.Price, Images: m.Images, Options: optionsOf(m.Options),
			})
		}
		o.Providers = append(o.Providers, out)
	}
	return catalog.New(o)
}

// optionsOf reads an object of the config; nil if there is none.
func optionsOf(raw json.RawMessage) map[string]any {
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil // absent: the config checks what is there
	}
	return out
}

// userFile returns the path of the user's own config file.
func (s *setup) userFile() string {
	base := s.opt.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		if s.opt.Home == "" {
			return ""
		}
		base = filepath.Join(s.opt.Home, ".config")
	}
	return filepath.Join(base, "helve", "helve.json")
}

// models returns the source of models for prompts. If no model is set and none can be chosen, only
// a prompt that names one works.
func (s *setup) models(a *app) (agent.Models, error) {
	c := s.catalog(a)
	out := agent.Models{Find: func(ref model.Ref) (model.Model, error) {
		provider, info, fit, err := c.Find(ref)
		if err != nil {
			return model.Model{}, err
		}
		return model.Model{Provider: provider, Info: info, Fit: fit}, nil
	}}
	out.SignIn = func(provider string, ask func() (json.RawMessage, error)) error {
		return c.SignIn(provider, func() (catalog.Login, error) {
			raw, err := ask()
			if err != nil {
				return catalog.Login{}, err
			}
			login := struct {
				catalog.Login
				Fetch bool `json:"fetch"`
			}{}
			if err := json.Unmarshal(raw, &login); err != nil {
				return catalog.Login{}, err
			}
			if login.Fetch {
				a.printNote(fmt.Sprintf("the plugin that signs in to %s brings a fetch of its own, which helve does not use", provider))
			}
			return login.Login, nil
		})
	}
	main, err := c.Default(s.cfg.Model)
	if err != nil {
		return out, nil // Find says the same of no name
	}
	out.Default, out.Small = main, c.Small(s.cfg.SmallModel, main)
	if out.Small != (model.Ref{}) {
		if _, _, _, err := c.Find(out.Small); err != nil {
			a.printNote(fmt.Sprintf("sessions get no titles by small_model: %v", err))
			out.Small = model.Ref{}
		}
	}
	return out, nil
}

// loopOptions returns the options of the agent loop.
func (s *setup) loopOptions(a *app) agent.Loop {
	set := func(name string) bool { return a.truth("OPENCODE_"+name) || a.truth("HELVE_"+name) }
	off := func(b *bool) bool { return b != nil && !*b }
	x := s.cfg.Experimental
	out := agent.Loop{
		NoPrune:             off(s.cfg.Compaction.Prune) || set("DISABLE_PRUNE"),
		NoCompact:           off(s.cfg.Compaction.Auto) || set("DISABLE_AUTOCOMPACT"),
		ContinueAfterReject: x.ContinueLoopOnDeny, PrimaryTools: x.PrimaryTools,
		PlanTools: x.PlanMode || set("EXPERIMENTAL_PLAN_MODE") || set("EXPERIMENTAL"),
		Child:     budgetOf(s.cfg.Task), Session: budgetOf(s.cfg.Session), Instructions: s.instructions(a),
	}
	if depth := s.cfg.SubagentDepth; depth != nil {
		if out.Depth = *depth; out.Depth == 0 {
			out.Depth = -1 // none may
		}
	}
	return out
}

func budgetOf(b config.Budget) agent.Budget {
	return agent.Budget{
		Time: lasting(b.TimeS, time.Second), Idle: lasting(b.IdleS, time.Second),
		Tokens: b.Tokens, Cost: b.Cost, Steps: b.Steps, Calls: b.Calls,
	}
}

// A modelReport is what helve models --json prints.
type modelReport struct {
	Default   string            `json:"default,omitempty"`
	Small     string            `json:"small,omitempty"`
	From      string            `json:"from,omitempty"`  // who chose the default
	Error     string            `json:"error,omitempty"` // why the default cannot be used
	Providers []catalog.Listing `json:"providers"`
}

func (a *app) modelsCommand() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "models [PROVIDER]",
		Short: "List the models and who serves them",
		Long: `Models lists the providers that can be used, with the place their key was found
in, and the models that are configured or known: tokens of context, tokens of an
answer, and US dollars for a million tokens in and out. "-" is not known. Other
models of a provider can be named too. Nothing is asked over the network.`,
		Example: `  helve models
  helve models anthropic
  helve models --all --json`,
		Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			a.warn(s.cfg)
			r := s.modelReport(a)
			if len(args) > 0 {
				r.Providers = slices.DeleteFunc(r.Providers, func(l catalog.Listing) bool { return args[0] == "" || l.ID != args[0] && l.Also != args[0] })
				if len(r.Providers) == 0 {
					_, _, _, err := s.catalog(a).Find(model.Ref{Provider: args[0], Model: "any"})
					return cmp.Or(err, usagef("there is no provider called %q", args[0]))
				}
				all = true
			}
			if asJSON {
				return a.printJSON(r)
			}
			return a.printModels(r, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also the models of providers that can not be used")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (s *setup) modelReport(a *app) modelReport {
	c := s.catalog(a)
	r := modelReport{Providers: c.List()}
	for i, l := range r.Providers {
		address, _, _ := strings.Cut(l.URL, "#")
		r.Providers[i].URL = redactText(address)
	}
	main, err := c.Default(s.cfg.Model)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.Default, r.Small = main.String(), c.Small(s.cfg.SmallModel, main).String()
	switch {
	case a.Getenv("HELVE_MODEL") != "":
		r.From = "HELVE_MODEL"
	case s.cfg.Model != "":
		r.From = s.cfg.Origins["model"].String()
	default:
		r.From = "the first provider with a key"
	}
	if _, _, _, err := c.Find(main); err != nil {
		r.Error = err.Error()
	}
	return r
}

func (a *app) printModels(r modelReport, all bool) error {
	if r.Default != "" {
		fmt.Fprintf(a.Stdout, "default  %s (%s)\n", text.VisibleLine(r.Default), text.VisibleLine(r.From))
	}
	if r.Small != "" {
		fmt.Fprintf(a.Stdout, "small    %s\n", text.VisibleLine(r.Small))
	}
	if r.Error != "" {
		fmt.Fprintln(a.Stdout, text.VisibleLine(r.Error))
	}
	var rest []string
	for _, l := range r.Providers {
		if l.State != catalog.Ready && l.State != catalog.Broken && !all {
			why := string(l.State)
			switch l.State {
			case catalog.NoKey:
				why = "set " + strings.Join(l.Env, " or ")
			case catalog.Local:
				why = "on this machine, " + l.URL + ": name a model, such as --model " + l.ID + "/NAME"
			}
			rest = append(rest, fmt.Sprintf("%-14s  %s", text.VisibleLine(l.ID), text.VisibleLine(why)))
			continue
		}
		if err := a.printProvider(l); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		fmt.Fprintf(a.Stdout, "\nnot in use:\n  %s\n", strings.Join(rest, "\n  "))
	}
	return nil
}

func (a *app) printProvider(l catalog.Listing) error {
	what := string(l.State)
	if l.Key != "" {
		what += ", key from " + l.Key
	}
	if l.URL != "" {
		what += ", " + redactText(l.URL)
	}
	fmt.Fprintf(a.Stdout, "\n%s  %s\n", a.style(a.Stdout).Bold(text.VisibleLine(l.ID)), text.VisibleLine(what))
	if l.Error != "" {
		fmt.Fprintf(a.Stdout, "  %s\n", text.VisibleLine(l.Error))
	}
	tw := columns(a.Stdout)
	for _, m := range l.Models {
		price := "-"
		if m.Price != (model.Price{}) {
			price = fmt.Sprintf("$%g in, $%g out", m.Price.Input, m.Price.Output)
		}
		if m.Configured {
			price += "  (configured)"
		}
		fmt.Fprintf(tw, "  %s/%s\t%s\t%s\t%s\n", text.VisibleLine(l.ID), text.VisibleLine(m.ID), thousands(m.Context), thousands(m.Output), price)
	}
	return tw.Flush()
}

// thousands writes a number of tokens short.
func thousands(n int) string {
	switch {
	case n == 0:
		return "-"
	case n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}
