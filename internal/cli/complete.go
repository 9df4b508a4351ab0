package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/record"
)

// atMost refuses a command line with too many arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("%q is too much here", args[n])
		}
		return nil
	}
}

// atLeast refuses a command line with too few arguments.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("missing: %s", what)
		}
		return nil
	}
}

// completeTool offers the names of tools, and then the keys of their
// arguments.
func (a *app) completeTool(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	specs, err := a.specs(c.Context(), &toolsFlags{builtin: true, quiet: true})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, s := range specs {
		switch {
		case len(args) == 0:
			first, _, _ := strings.Cut(strings.TrimSpace(s.Description), "\n")
			out = append(out, s.Name+"\t"+first)
		case args[0] == s.Name && c.Name() == "call":
			for _, key := range propertyNames(s.Schema) {
				out = append(out, key+"=")
			}
			return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFlags offers values for the flags that commands share.
func (a *app) completeFlags(c *cobra.Command) {
	for name, f := range map[string]cobra.CompletionFunc{
		"session": a.completeSession, "agent": a.completeAgent, "state": completeState, "tool": a.completeToolName,
	} {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, f) // fails for flags that are not there
		}
	}
}

func (a *app) completeAgent(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	s, err := a.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, agent := range s.agents() {
		if !agent.Hidden {
			out = append(out, agent.Name+"\t"+agent.Description)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func completeState(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{
		record.Running, record.Completed, record.Failed, record.Interrupted,
	}, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeToolName(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return a.completeTool(c, nil, word)
}

// completeApproval offers the approvals that were not named yet.
func (a *app) completeApproval(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	err := a.reading(func(s *store.Store) error {
		kept, err := s.Approvals()
		for _, p := range kept {
			if !slices.Contains(named, p.ID) {
				out = append(out, p.ID+"\t"+text.VisibleLine(p.Permission+" "+p.Pattern))
			}
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeSession(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	err := a.reading(func(s *store.Store) error {
		sessions, err := s.Sessions(commandContext(c), 50)
		for _, v := range sessions {
			out = append(out, v.ID+"\t"+v.Dir)
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeCall(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	err := a.reading(func(s *store.Store) error {
		calls, err := s.Calls(commandContext(c), record.CallQuery{Limit: 50, Brief: true})
		for _, v := range calls {
			out = append(out, v.ID+"\t"+v.Tool)
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// commandContext is the context of a command, also while it is completed.
func commandContext(c *cobra.Command) context.Context {
	if ctx := c.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
