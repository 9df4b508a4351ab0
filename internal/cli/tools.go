package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/plugin"
	"github.com/helve-dev/helve/tool"
)

// toolsFlags are the options of helve tools.
type toolsFlags struct {
	agent, model, provider string
	all, asJSON            bool
	tokens, compact        bool
	wait                   time.Duration // for what is still starting
	builtin                bool          // start nothing for tools of other programs, and load no files
	quiet                  bool          // say nothing about the config files

	own map[string]plugin.File // tools from files of the user, by name; known after specs
}

// forTools is how long a list of tools waits for what is still starting: longer than lists that can
// be requested again.
const forTools = 3 * time.Second

// A shownTool is a tool as --json prints it.
type shownTool struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Permission  string             `json:"permission"`
	ReadOnly    bool               `json:"readOnly"`
	External    bool               `json:"external,omitempty"`
	Tokens      int                `json:"tokens"`           // about so many, with its schema
	Source      *shownFile         `json:"source,omitempty"` // of a tool of the user's own
	Schema      *jsonschema.Schema `json:"schema"`
}

func (a *app) toolsCommand() *cobra.Command {
	var f toolsFlags
	c := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools, or show one",
		Long: `Tools lists the tools that are offered here, in the order a model is shown
them. With a name it shows that tool: its description, how it is called, and
the schema of its arguments. Tools marked with r change nothing, those marked
with x come from an MCP server of the config, which is started for it, and
those marked with u from files of your own (see 'helve plugins'). What does
not start in time is named, and holds up nothing else.

A model reads all of it before it has read anything else: --tokens shows about
what each tool costs, and --compact what is left with the tools of other
programs behind a search.`,
		Example: `  helve tools
  helve tools read
  helve tools --tokens --compact
  helve tools --json --agent plan`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeTool,
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return a.tools(c.Context(), &f, name)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.agent, "agent", "", "the tools that this agent is shown")
	fs.StringVar(&f.model, "model", "", "the tools that this model is shown")
	fs.StringVar(&f.provider, "provider", "", "whose model it is")
	fs.BoolVar(&f.all, "all", false, "also tools that are switched off or hidden by rules")
	fs.BoolVar(&f.tokens, "tokens", false, "show about how many tokens each costs a model")
	fs.BoolVar(&f.compact, "compact", false, "as 'helve mcp --compact' offers them")
	fs.BoolVar(&f.builtin, "builtin", false, "only those that helve has: start no MCP server, load no files")
	fs.DurationVar(&f.wait, "wait", forTools, "how long to wait for servers and files that are still starting")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	a.completeFlags(c)
	c.AddCommand(a.toolsNewCommand(), a.toolsTestCommand())
	return c
}

func (a *app) tools(ctx context.Context, f *toolsFlags, name string) error {
	specs, err := a.specs(ctx, f)
	if err != nil {
		return err
	}
	if name != "" {
		return a.oneTool(ctx, f, specs, name)
	}
	if f.asJSON {
		out := make([]shownTool, len(specs))
		for i, s := range specs {
			out[i] = f.toShown(s)
		}
		return a.printJSON(out)
	}
	tw := columns(a.Stdout)
	total := 0
	for _, s := range specs {
		first, _, _ := strings.Cut(strings.TrimSpace(s.Description), "\n")
		if short, cut := text.Cut(first, 200); cut { // at the end of a word
			first = strings.TrimRight(short[:max(strings.LastIndexByte(short, ' '), 0)], " ,;:") + " …"
		}
		if !f.tokens {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", s.Name, f.marks(s), text.VisibleLine(first))
			continue
		}
		cost := tokens(s)
		total += cost
		fmt.Fprintf(tw, "%s\t%s\t%d\t%s\n", s.Name, f.marks(s), cost, text.VisibleLine(first))
	}
	if err := tw.Flush(); err != nil || !f.tokens {
		return err
	}
	fmt.Fprintf(a.Stdout, "\nabout %d tokens for %d tools\n", total, len(specs))
	return nil
}

// marks returns the letters that describe a tool.
func (f *toolsFlags) marks(s tool.Spec) string {
	out := ""
	if _, ok := f.own[s.Name]; ok {
		out += "u"
	}
	if s.ReadOnly {
		out += "r"
	}
	if s.External {
		out += "x"
	}
	return cmp.Or(out, " ")
}

// tokens is about what a tool costs a model that is offered it.
func tokens(s tool.Spec) int {
	schema, err := json.Marshal(s.Schema)
	if err != nil {
		return 0 // a schema of ours always encodes
	}
	return text.Tokens(fmt.Sprintf(`{"name":%q,"description":%s,"input_schema":%s}`, s.Name, quoted(s.Description), schema))
}

// specs returns the tools that are offered.
func (a *app) specs(ctx context.Context, f *toolsFlags) ([]tool.Spec, error) {
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
		opt.Flags["batch"], opt.Flags["question"], opt.Flags["exa"] = true, true, true
		audience.Agent = ""
	} else {
		agent, err := s.agent(f.agent)
		if err != nil {
			return nil, err
		}
		audience.Agent = agent.Name
	}
	opt.Flags["compact"] = f.compact
	if f.builtin {
		opt.MCP.Servers, opt.Plugins = nil, plugin.Options{}
	}
	rt, err := helve.Open(opt)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	a.loadTools(ctx, rt, f.wait)
	f.own = sources(rt.Plugins().Files())
	return rt.Tools(audience), nil
}

// loadTools loads the tools of MCP servers and of files, and reports what could not be loaded or
// has not started in time.
func (a *app) loadTools(ctx context.Context, rt *helve.Runtime, wait time.Duration) {
	stop := a.progress("waiting for servers and files")
	ctx, cancel := context.WithTimeout(ctx, wait)
	rt.Gather(ctx)
	late := ctx.Err() != nil
	cancel()
	stop()
	for _, s := range rt.MCP().Status() {
		switch {
		case s.Error != "":
			a.printNote(fmt.Sprintf("MCP server %s: %s: %s", s.Name, s.State, s.Error))
		case s.State == "connecting", late && s.State == "idle":
			a.printNote(fmt.Sprintf("MCP server %s: still starting after %s, so its tools are missing here", s.Name, wait))
		}
	}
	files := rt.Plugins().Files()
	for _, f := range files {
		if late && f.State == "not loaded" && len(f.Notes) == 0 { // a note says why it never will be
			a.printNote(fmt.Sprintf("%s: still loading after %s, so its tools are missing here", f.Path, wait))
		}
	}
	for _, f := range slices.DeleteFunc(files, func(f plugin.File) bool { return f.State != "failed" }) {
		a.printNote(fmt.Sprintf("%s could not be loaded: %s", f.Path, strings.TrimPrefix(f.Problem, f.Path+": ")))
	}
}

func (f *toolsFlags) toShown(s tool.Spec) shownTool {
	out := shownTool{Name: s.Name, Description: s.Description, Permission: s.Permission, ReadOnly: s.ReadOnly, External: s.External, Tokens: tokens(s), Schema: s.Schema}
	if file, ok := f.own[s.Name]; ok {
		out.Source = &shownFiles([]plugin.File{file})[0]
	}
	return out
}

func (a *app) oneTool(ctx context.Context, f *toolsFlags, specs []tool.Spec, name string) error {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
		if s.Name != name {
			continue
		}
		if f.asJSON {
			return a.printJSON(f.toShown(s))
		}
		st := a.style(a.Stdout)
		fmt.Fprintf(a.Stdout, "%s  permission %s", st.Bold(s.Name), s.Permission)
		if s.ReadOnly {
			fmt.Fprint(a.Stdout, ", changes nothing")
		}
		if file, ok := f.own[s.Name]; ok {
			fmt.Fprintf(a.Stdout, "\nfrom %s (%s, sha256 %.12s, loaded in %.1f ms)", safe(file.Path), file.Engine, file.Hash, float64(file.LoadTime.Microseconds())/1000)
		}
		fmt.Fprintf(a.Stdout, "\n\n%s\n\n%s\n", safe(strings.TrimSpace(s.Description)), safe(teach(s)))
		return a.printJSON(s.Schema)
	}
	e := &tool.Error{Kind: tool.UnknownTool, Code: "unknown-tool", Tool: name, Err: fmt.Errorf("there is no tool called %q here", name)}
	all, err := a.specs(ctx, &toolsFlags{model: f.model, provider: f.provider, all: true, builtin: true, quiet: true})
	if i := slices.IndexFunc(all, func(s tool.Spec) bool { return s.Name == name }); err == nil && i >= 0 {
		e.Err = fmt.Errorf("the tool %q is switched off for this caller, or hidden by a rule", name)
		e.Hint = fmt.Sprintf("'helve tools --all %s' shows it; 'helve permission list' shows the rules.", name)
		if why := a.whyOff(f, all[i]); why != "" {
			e.Err, e.Hint = fmt.Errorf("the tool %q is switched off", name), fmt.Sprintf("%s 'helve tools --all %s' shows the tool.", why, name)
		}
		return e
	}
	if near, ok := text.Nearest(name, names); ok {
		e.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return e
}

// whyOff returns the reason why a tool is off, if it gives one.
func (a *app) whyOff(f *toolsFlags, s tool.Spec) string {
	if s.Offer == nil {
		return ""
	}
	said, on := s.Offer(tool.Audience{Model: f.model, Provider: f.provider, Agent: f.agent, Flags: map[string]bool{"exa": a.searches()}})
	if on || said == s.Description {
		return ""
	}
	return said
}
