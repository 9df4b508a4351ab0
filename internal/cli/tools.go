package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"helve"
	"helve/internal/text"
	"helve/tool"
)

// toolsFlags are the options of helve tools.
type toolsFlags struct {
	agent, model, provider string
	all, asJSON            bool
	quiet                  bool // say nothing about the config files
}

// A shownTool is a tool as --json prints it.
type shownTool struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Permission  string             `json:"permission"`
	ReadOnly    bool               `json:"readOnly"`
	Schema      *jsonschema.Schema `json:"schema"`
}

func (a *app) toolsCommand() *cobra.Command {
	var f toolsFlags
	c := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools, or show one",
		Long: `Tools lists the tools that are offered here, in the order a model is shown
them. With a name it shows that tool: its description, how it is called, and
the schema of its arguments. Tools marked with r change nothing.`,
		Example: `  helve tools
  helve tools read
  helve tools --json --agent plan`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeTool,
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return a.tools(&f, name)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.agent, "agent", "", "the tools that this agent is shown")
	fs.StringVar(&f.model, "model", "", "the tools that this model is shown")
	fs.StringVar(&f.provider, "provider", "", "whose model it is")
	fs.BoolVar(&f.all, "all", false, "also tools that are switched off or hidden by rules")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	a.completeFlags(c)
	return c
}

func (a *app) tools(f *toolsFlags, name string) error {
	specs, err := a.specs(f)
	if err != nil {
		return err
	}
	if name != "" {
		return a.oneTool(f, specs, name)
	}
	if f.asJSON {
		out := make([]shownTool, len(specs))
		for i, s := range specs {
			out[i] = shown(s)
		}
		return a.printJSON(out)
	}
	tw := columns(a.Stdout)
	for _, s := range specs {
		mark := " "
		if s.ReadOnly {
			mark = "r"
		}
		first, _, _ := strings.Cut(strings.TrimSpace(s.Description), "\n")
		fmt.Fprintf(tw, "%s\t%s\t%s\n", s.Name, mark, text.VisibleLine(first))
	}
	return tw.Flush()
}

// specs returns the tools that are offered.
func (a *app) specs(f *toolsFlags) ([]tool.Spec, error) {
	s, err := a.load()
	if err != nil {
		return nil, err
	}
	if !f.quiet {
		a.warn(s.cfg)
	}
	opt := a.options(s)
	audience := tool.Audience{Model: f.model, Provider: f.provider, Agent: f.agent}
	if f.all {
		opt.Flags = map[string]bool{"batch": true, "question": true}
		audience.Agent = ""
	} else {
		agent, err := s.agent(f.agent)
		if err != nil {
			return nil, err
		}
		audience.Agent = agent.Name
	}
	rt, err := helve.New(opt)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	return rt.Tools(audience), nil
}

func shown(s tool.Spec) shownTool {
	return shownTool{Name: s.Name, Description: s.Description, Permission: s.Permission, ReadOnly: s.ReadOnly, Schema: s.Schema}
}

func (a *app) oneTool(f *toolsFlags, specs []tool.Spec, name string) error {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
		if s.Name != name {
			continue
		}
		if f.asJSON {
			return a.printJSON(shown(s))
		}
		st := a.style(a.Stdout)
		fmt.Fprintf(a.Stdout, "%s  permission %s", st.bold(s.Name), s.Permission)
		if s.ReadOnly {
			fmt.Fprint(a.Stdout, ", changes nothing")
		}
		fmt.Fprintf(a.Stdout, "\n\n%s\n\n%s\n", safe(strings.TrimSpace(s.Description)), safe(teach(s)))
		return a.printJSON(s.Schema)
	}
	e := &tool.Error{Kind: tool.UnknownTool, Code: "unknown-tool", Tool: name, Err: fmt.Errorf("there is no tool called %q here", name)}
	if all, err := a.specs(&toolsFlags{model: f.model, provider: f.provider, all: true, quiet: true}); err == nil &&
		slices.ContainsFunc(all, func(s tool.Spec) bool { return s.Name == name }) {
		e.Err = fmt.Errorf("the tool %q is switched off for this caller, or hidden by a rule", name)
		e.Hint = fmt.Sprintf("'helve tools --all %s' shows it; 'helve permission list' shows the rules.", name)
		return e
	}
	if near, ok := text.Nearest(name, names); ok {
		e.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return e
}
