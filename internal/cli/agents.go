package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/permission"
)

// A shownAgent is an agent as --json prints it. The fields from Prompt on are set only for an agent
// requested by name.
type shownAgent struct {
	Name        string   `json:"name"`
	Mode        string   `json:"mode"`
	Description string   `json:"description,omitempty"`
	Default     bool     `json:"default"`
	Hidden      bool     `json:"hidden"`
	Native      bool     `json:"native"`
	Locked      bool     `json:"locked"`
	ReadOnly    bool     `json:"readOnly"`
	Model       string   `json:"model,omitempty"` // empty: the session's
	From        []string `json:"from"`            // the files that say something about it
	Allowed     []string `json:"allowed"`         // permissions, in short
	Asked       []string `json:"asked"`
	Denied      []string `json:"denied"`
	Others      string   `json:"others"` // what happens to permissions that no rule names

	Prompt      string          `json:"prompt,omitempty"`
	Steps       int             `json:"steps,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
	Color       string          `json:"color,omitempty"`
	Options     json.RawMessage `json:"options,omitempty"` // without what looks like a secret
	Rules       []listedRule    `json:"rules,omitempty"`
	Ceilings    [][]listedRule  `json:"ceilings,omitempty"`
}

func (a *app) agentsCommand() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "agents [NAME]",
		Short: "List the agents, or show one",
		Long: `Agents lists who can work here: the agents that helve has and those of your
config, the default one first, with their model and, in short, what the rules
deny them or ask about. With a name it shows that agent: how its prompt begins,
its settings, and its rules with the places they come from.

"(some)" behind a permission says that it holds for a part only, "(not all)"
that there are exceptions.`,
		Example: `  helve agents
  helve agents plan
  helve agents --all --json`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeAgent,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			a.warn(s.cfg)
			if len(args) > 0 {
				return a.oneAgent(s, args[0], asJSON)
			}
			return a.listAgents(s, all, asJSON)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those that are hidden")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) listAgents(s *setup, all, asJSON bool) error {
	shown := []shownAgent{}
	for i, agent := range s.agents() {
		if all || !agent.Hidden {
			shown = append(shown, s.shownAgent(agent, i == 0))
		}
	}
	if asJSON {
		return a.printJSON(shown)
	}
	for _, v := range shown {
		fmt.Fprintf(a.Stdout, "%-16s  %-18s  %s\n", text.VisibleLine(v.Name), v.kind(), text.VisibleLine(v.origin()))
		about, cut := text.Cut(v.Description, 200)
		if cut {
			about += "…"
		}
		for _, line := range []string{about, v.model(), v.rulesLine()} {
			if line != "" {
				fmt.Fprintf(a.Stdout, "    %s\n", text.VisibleLine(line))
			}
		}
	}
	return nil
}

// kind describes the kind of an agent in a few words.
func (v shownAgent) kind() string {
	out := v.Mode
	for _, w := range []struct {
		word string
		is   bool
	}{{"default", v.Default}, {"locked", v.Locked}, {"hidden", v.Hidden}} {
		if w.is {
			out += ", " + w.word
		}
	}
	return out
}

func (v shownAgent) model() string {
	if v.Model == "" {
		return ""
	}
	return "model: " + v.Model
}

// origin says where an agent is defined.
func (v shownAgent) origin() string {
	from := strings.Join(v.From, ", ")
	switch {
	case !v.Native:
		return from
	case from == "":
		return "built in"
	}
	return "built in, changed by " + from
}

// rulesLine summarizes an agent's rules in one line.
func (v shownAgent) rulesLine() string {
	var out []string
	for _, group := range []struct {
		verb  string
		names []string
	}{{"allows", v.Allowed}, {"asks about", v.Asked}, {"denies", v.Denied}} {
		if len(group.names) > 0 {
			out = append(out, group.verb+" "+strings.Join(group.names, ", "))
		}
	}
	return strings.Join(append(out, map[string]string{
		"allow": "allows all else", "ask": "asks about all else", "deny": "denies all else",
	}[v.Others]), "; ")
}

// shownAgent is what a list shows of an agent.
func (s *setup) shownAgent(agent agent.Spec, first bool) shownAgent {
	v := shownAgent{
		Name: agent.Name, Mode: agent.Mode, Description: agent.Description, Default: first, Hidden: agent.Hidden, Native: agent.Native,
		Locked: agent.Locked, ReadOnly: agent.ReadOnly, Model: agent.Model.String(), From: s.mentions(agent.Name),
		Allowed: []string{}, Asked: []string{}, Denied: []string{},
	}
	// What the rules say is grouped by outcome. A permission with several outcomes is listed with a
	// note.
	all := slices.Concat(append([]permission.Ruleset{agent.Policy.Rules}, agent.Policy.Ceilings...)...)
	named := map[string]bool{}
	for _, r := range all {
		if !strings.ContainsAny(r.Permission, "*?") {
			named[r.Permission] = true
		}
	}
	const nobody = "a permission that no rule names"
	others := agent.Policy.Decide(nobody, "*").Action
	v.Others = string(others)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		base, note := agent.Policy.Decide(name, "*").Action, ""
		parts := map[permission.Action]bool{}
		for _, r := range all.About(name) {
			if r.Pattern == "*" {
				continue
			}
			if act := agent.Policy.Decide(name, r.Pattern).Action; act != base {
				parts[act] = true
			}
		}
		for act := range parts {
			if base != others && strictness(act) < strictness(base) {
				note = " (not all)"
			} else {
				v.put(act, name+" (some)")
			}
		}
		if base != others {
			v.put(base, name+note)
		}
	}
	return v
}

// mentions returns the files that configure an agent.
func (s *setup) mentions(agent string) []string {
	key, files := "agent."+agent, map[string]bool{}
	for name, from := range s.cfg.Origins {
		if name == key || strings.HasPrefix(name, key+".") {
			files[from.File] = true
		}
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(files))))
}

func (v *shownAgent) put(act permission.Action, what string) {
	group := &v.Allowed
	switch act {
	case permission.Ask:
		group = &v.Asked
	case permission.Deny:
		group = &v.Denied
	}
	*group = append(*group, what)
}

// oneAgent prints an agent with all its settings.
func (a *app) oneAgent(s *setup, name string, asJSON bool) error {
	agent, err := s.agent(name)
	if err != nil {
		return err
	}
	v := s.shownAgent(agent, agent.Name == s.agents()[0].Name)
	v.Prompt, v.Steps, v.Temperature, v.TopP, v.Color = agent.Prompt, agent.Steps, agent.Temperature, agent.TopP, agent.Color
	if len(agent.Options) > 0 {
		raw, err := json.Marshal(agent.Options)
		if err != nil {
			return fmt.Errorf("writing the options of agent %s: %w", name, err)
		}
		v.Options = redactJSON(raw)
	}
	v.Rules = withSources(agent.Policy.Rules)
	for _, c := range agent.Policy.Ceilings {
		v.Ceilings = append(v.Ceilings, withSources(c))
	}
	if asJSON {
		return a.printJSON(v)
	}
	a.printAgent(v)
	return a.printListed(listed{Agent: text.VisibleLine(v.Name), Rules: v.Rules, Ceilings: v.Ceilings})
}

// promptLines is how much of a prompt is shown.
const promptLines = 10

func (a *app) printAgent(v shownAgent) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.Stdout, "%-12s  %s\n", name, text.VisibleLine(value))
		}
	}
	number := func(n *float64) string {
		if n == nil {
			return ""
		}
		return fmt.Sprint(*n)
	}
	row("name", v.Name)
	row("mode", v.kind())
	row("description", v.Description)
	row("from", v.origin())
	row("model", cmp.Or(v.Model, "that of the session"))
	if v.Steps > 0 {
		row("steps", fmt.Sprint(v.Steps))
	}
	row("temperature", number(v.Temperature))
	row("top_p", number(v.TopP))
	row("color", v.Color)
	row("options", string(v.Options))
	switch {
	case v.Locked:
		row("files", "locked: no rule can let it change more than its limit below says")
	case v.ReadOnly:
		row("files", "its commands run with the worktree read-only")
	}
	if v.Prompt == "" {
		row("prompt", "helve's own")
		fmt.Fprintln(a.Stdout)
		return
	}
	lines := strings.Split(v.Prompt, "\n")
	fmt.Fprintln(a.Stdout, "prompt")
	for _, line := range lines[:min(len(lines), promptLines)] {
		fmt.Fprintf(a.Stdout, "    %s\n", text.VisibleLine(line))
	}
	if more := len(lines) - promptLines; more > 0 {
		fmt.Fprintf(a.Stdout, "    … and %d more lines\n", more)
	}
	fmt.Fprintln(a.Stdout)
}
