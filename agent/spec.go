package agent

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
)

// SpecOptions configure the agents of a runtime.
type SpecOptions struct {
	DataDir  string // the data directory, with kept outputs and plans
	Worktree string
	// User are the rules that the person configured. They come after the defaults of every agent
	// and before the agent's own rules.
	User permission.Ruleset
	// Ceilings are limits for every agent: rules that can only restrict.
	Ceilings []permission.Ruleset
	// Own adds agents and changes built-in ones.
	Own []SpecChange
	// Default names the default agent; "build" when empty.
	Default string
}

// A SpecChange changes a built-in agent or adds another.
type SpecChange struct {
	Name, Description, Mode string // empty and nil fields change nothing
	Hidden                  *bool
	Disable                 bool
	ReadOnly, Locked        bool // as in [Spec]; cannot be switched off for a built-in agent
	Rules                   permission.Ruleset
	Ceilings                []permission.Ruleset

	Prompt            string
	Model             model.Ref
	Steps             int
	Temperature, TopP *float64
	Color             string
	Options           map[string]any // merged with the existing ones, objects key by key
}

// Specs returns the built-in and the configured agents, the default one first.
func Specs(o SpecOptions) []Spec {
	m := specMaker{o}
	var agents []Spec
	for _, b := range m.builtin() {
		a := m.make(b)
		a.Native = true
		agents = append(agents, a)
	}
	for _, own := range o.Own {
		i := slices.IndexFunc(agents, func(a Spec) bool { return a.Name == own.Name })
		switch {
		case own.Disable:
			if i >= 0 {
				agents = slices.Delete(agents, i, i+1)
			}
		case i >= 0:
			agents[i] = m.applyConfig(agents[i], own)
		default:
			if own.Mode == "" {
				own.Mode = "all"
			}
			agents = append(agents, m.applyConfig(m.make(SpecChange{Name: own.Name}), own))
		}
	}
	for i := range agents {
		agents[i].Policy.Rules = append(agents[i].Policy.Rules, m.tail(agents[i].Policy.Rules)...)
		agents[i].Policy.Ceilings = slices.Concat(o.Ceilings, agents[i].Policy.Ceilings)
	}
	first := o.defaultAgent(agents)
	if i := slices.IndexFunc(agents, func(a Spec) bool { return a.Name == first }); i > 0 {
		a := agents[i]
		agents = slices.Insert(slices.Delete(agents, i, i+1), 0, a)
	}
	return agents
}

// defaultAgent returns the name of the default agent: the configured one, else build, else the
// first one that people talk to.
func (o SpecOptions) defaultAgent(agents []Spec) string {
	for _, a := range agents {
		if a.Name == cmp.Or(o.Default, "build") {
			return a.Name
		}
	}
	for _, a := range agents {
		if a.Mode != "subagent" && !a.Hidden {
			return a.Name
		}
	}
	return ""
}

// Validate returns an error unless the configured default agent exists and is one that people can
// talk to.
func (o SpecOptions) Validate() error {
	agents := Specs(o)
	if o.Default == "" {
		for _, a := range agents {
			if a.Mode != "subagent" && !a.Hidden {
				return nil
			}
		}
		return errors.New("no primary visible agent found")
	}
	i := slices.IndexFunc(agents, func(a Spec) bool { return a.Name == o.Default })
	switch {
	case i < 0:
		return fmt.Errorf("default agent %q not found", o.Default)
	case agents[i].Mode == "subagent":
		return fmt.Errorf("default agent %q is a subagent", o.Default)
	case agents[i].Hidden:
		return fmt.Errorf("default agent %q is hidden", o.Default)
	}
	return nil
}

type specMaker struct{ SpecOptions }

func (m specMaker) make(b SpecChange) Spec {
	return Spec{
		Name: b.Name, Description: b.Description, Mode: b.Mode, Hidden: b.Hidden != nil && *b.Hidden,
		ReadOnly: b.ReadOnly || b.Locked, Locked: b.Locked, Temperature: b.Temperature,
		Policy: permission.Policy{Rules: slices.Concat(m.defaults(), b.Rules, m.User), Ceilings: b.Ceilings},
	}
}

func (m specMaker) applyConfig(a Spec, own SpecChange) Spec {
	if own.Description != "" {
		a.Description = own.Description
	}
	if own.Mode != "" {
		a.Mode = own.Mode
	}
	if own.Hidden != nil {
		a.Hidden = *own.Hidden
	}
	a.Locked = a.Locked || own.Locked
	a.ReadOnly = a.ReadOnly || own.ReadOnly || a.Locked
	a.Prompt, a.Color = cmp.Or(own.Prompt, a.Prompt), cmp.Or(own.Color, a.Color)
	a.Model, a.Steps = cmp.Or(own.Model, a.Model), cmp.Or(own.Steps, a.Steps)
	a.Temperature, a.TopP = cmp.Or(own.Temperature, a.Temperature), cmp.Or(own.TopP, a.TopP)
	a.Options = merged(a.Options, own.Options)
	a.Policy.Rules = append(a.Policy.Rules, own.Rules...)
	a.Policy.Ceilings = append(a.Policy.Ceilings, own.Ceilings...)
	return a
}

// merged returns a copy of below with the values of above merged in: objects key by key, anything
// else replaced.
func merged(below, above map[string]any) map[string]any {
	if len(below) == 0 {
		return above
	}
	out := maps.Clone(below)
	for key, v := range above {
		if under, ok := out[key].(map[string]any); ok {
			if over, ok := v.(map[string]any); ok {
				v = merged(under, over)
			}
		}
		out[key] = v
	}
	return out
}

// rules makes rules with one origin from permission, pattern, action triples.
func rules(origin string, triples ...string) permission.Ruleset {
	var rs permission.Ruleset
	for i := 0; i+2 < len(triples); i += 3 {
		rs = append(rs, permission.Rule{
			Permission: triples[i], Pattern: triples[i+1], Action: permission.Action(triples[i+2]),
			From: permission.Source{File: origin},
		})
	}
	return rs
}

func (m specMaker) outputs() (dir, glob string) {
	dir = filepath.Join(m.DataDir, "tool-output")
	return dir, filepath.Join(dir, "*")
}

func (m specMaker) defaults() permission.Ruleset {
	dir, glob := m.outputs()
	return rules("default rules",
		"*", "*", "allow",
		"doom_loop", "*", "ask",
		"external_directory", "*", "ask",
		"external_directory", dir, "allow",
		"external_directory", glob, "allow",
		"question", "*", "deny",
		"plan_enter", "*", "deny",
		"plan_exit", "*", "deny",
		"read", "*", "allow",
		"read", "*.env", "ask",
		"read", "*.env.*", "ask",
		"read", "*.env.example", "allow",
		"worker", "*", "ask",
	)
}

// tail appends rules that let kept outputs be read, unless another rule denies exactly that.
func (m specMaker) tail(rs permission.Ruleset) permission.Ruleset {
	dir, glob := m.outputs()
	for _, r := range rs {
		if r.Permission == "external_directory" && r.Action == permission.Deny && (r.Pattern == dir || r.Pattern == glob) {
			return nil
		}
	}
	return readableFolder(dir)
}

// readableFolder returns the rules that allow reading the outputs kept in dir.
func readableFolder(dir string) permission.Ruleset {
	return rules("default rules",
		"external_directory", dir, "allow", "external_directory", filepath.Join(dir, "*"), "allow")
}

func (m specMaker) builtin() []SpecChange {
	plans := filepath.Join(m.DataDir, "plans")
	planFiles := filepath.Join(plans, "*.md")
	if rel, err := filepath.Rel(m.Worktree, planFiles); err == nil {
		planFiles = rel
	}
	dir, glob := m.outputs()
	// No rule of a person can widen these: planning changes nothing.
	planning := rules("agent plan", "edit", "*", "deny", "edit", ".opencode/plans/*.md", "allow", "edit", planFiles, "allow")
	nothing, hidden, half := rules("agent default", "*", "*", "deny"), true, 0.5
	return []SpecChange{
		{Name: "build", Mode: "primary", Description: "Does the work: may use every tool the rules allow.",
			Rules: rules("agent build", "question", "*", "allow", "plan_enter", "*", "allow")},
		{Name: "plan", Mode: "primary", Locked: true, Description: "Looks and plans: may edit nothing but its plan.",
			Rules: append(rules("agent plan",
				"question", "*", "allow",
				"plan_exit", "*", "allow",
				"external_directory", filepath.Join(plans, "*"), "allow"), planning...),
			Ceilings: []permission.Ruleset{slices.Concat(planning, rules("agent plan", "worker", "*", "deny"))}},
		{Name: "general", Mode: "subagent", Description: "Researches a question or carries out a task of several steps on its own.",
			Rules: rules("agent general", "todoread", "*", "deny", "todowrite", "*", "deny")},
		{Name: "explore", Mode: "subagent", ReadOnly: true, Description: "Finds its way through a code base quickly: searches and reads, changes nothing.",
			Rules: rules("agent explore",
				"*", "*", "deny",
				"grep", "*", "allow", "glob", "*", "allow", "list", "*", "allow", "bash", "*", "allow",
				"webfetch", "*", "allow", "websearch", "*", "allow", "codesearch", "*", "allow",
				"read", "*", "allow",
				// OpenCode drops these three here, and with them the protection of secrets.
				"read", "*.env", "ask", "read", "*.env.*", "ask", "read", "*.env.example", "allow",
				"external_directory", "*", "ask",
				"external_directory", dir, "allow", "external_directory", glob, "allow")},
		{Name: "compaction", Mode: "primary", Hidden: &hidden, Rules: nothing},
		{Name: "title", Mode: "primary", Hidden: &hidden, Temperature: &half, Rules: nothing},
		{Name: "summary", Mode: "primary", Hidden: &hidden, Rules: nothing},
	}
}

// A Spec describes an agent: its name, its model and the rules for its calls.
type Spec struct {
	Name        string
	Description string
	Mode        string // "primary", "subagent" or "all"
	Hidden      bool   // not offered by name to people or models
	ReadOnly    bool   // its commands run with a read-only worktree, where the system supports that
	// Locked prevents every change: it hides tools that change files and external tools that do not
	// declare themselves read-only, and runs commands in the sandbox or not at all. It implies
	// ReadOnly.
	Locked bool
	Native bool // built into helve
	Policy permission.Policy

	Prompt            string    // the system prompt; helve's own when empty
	Model             model.Ref // the session's model when empty
	Steps             int       // how many answers its model may give in one turn; 0 for no limit
	Temperature, TopP *float64
	Color             string
	Options           map[string]any // for its model's provider
}
