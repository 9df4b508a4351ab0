package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/files"
	"github.com/helve-dev/helve/internal/server"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/internal/web"
	"github.com/helve-dev/helve/permission"
)

func (a *app) permissionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "permission",
		Short: "Explain, list, revoke and test permissions",
		Long: `Permission answers questions about the rules that hold here: what would happen
and why, which rules and approvals there are, and whether a table of decisions
still comes out as written.`,
		Example: `  helve permission explain read .env
  helve permission list
  helve permission test decisions.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"helve permission\"", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.explainCommand(), a.permissionListCommand(), a.revokeCommand(), a.permissionTestCommand())
	return c
}

func (a *app) explainCommand() *cobra.Command {
	var agent, session string
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain PERMISSION PATTERN",
		Short: "Say what would happen, and which rule decides",
		Long: `Explain says whether something would be allowed, asked about or denied, and
which rule decides, with its file and line. Of a file (read, edit, list) it shows
everything that a call would ask for: leaving the workspace, and the file under
the name you give and under its real one where a link leads elsewhere. What glob
and grep are to look for, where it is a path as in /etc or ../other, is taken for
the place to search too. A URL (webfetch) is judged as far as it can be without
looking its host up. Of a bash command it shows every command in it and every file
it is redirected to. The strictest decides.

A rule that is called a limit can only make an answer stricter, whatever rules of
yours say: it is of a file that you have not trusted ('helve trust'), of a part of
one that has a mistake ('helve config check'), of the agent itself, or under the
name of a tool that asks for another permission, as write asks for edit.`,
		Example: `  helve permission explain read .env
  helve permission explain bash 'git status && git push'
  helve permission explain webfetch http://localhost:3000/
  helve permission explain edit src/main.go --agent plan --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return usagef("%d words are too many: "+quoteIt, len(args))
			}
			if len(args) != 2 {
				return usagef("give a permission and what it is about, as in: read .env")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			a.warn(s.cfg)
			who, err := s.agent(agent)
			if err != nil {
				return err
			}
			x, err := a.explain(s, who, permission.Request{Permission: args[0], Patterns: args[1:2], Session: session})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(x)
			}
			a.printExplained(x)
			return nil
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "under the rules of this agent")
	c.Flags().StringVar(&session, "session", "", "with what this session approved")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c.Flags().NArg() > 0 {
			return usagef("%w: "+quoteIt, err)
		}
		return usageError{err}
	})
	a.completeFlags(c)
	return c
}

// quoteIt is the advice for a command that was given as several words.
const quoteIt = "what it is about is one word, so put a command in quotes, as in: bash 'rm -rf build'"

// explain decides as a call would, approvals counted in.
func (a *app) explain(s *setup, who agent.Spec, req permission.Request) (*server.Explained, error) {
	opt := a.options(s)
	if !hasStore(s.data) {
		opt.DataDir = "" // looking makes no file
	}
	rt, err := helve.Open(opt)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	return s.explainIn(rt, who, req)
}

// broken says why everything is denied; "" if it is not.
func (s *setup) broken() string {
	if s.cfg.PolicyError != nil {
		return s.cfg.PolicyError.Error()
	}
	// A file that was trusted and has changed may have enabled the sandbox, or hooks or plugins
	// that every call requires.
	for _, src := range s.cfg.Sources {
		if !src.Guarded || !src.Changed {
			continue
		}
		for _, w := range s.cfg.Withheld {
			if w.File != src.Path {
				continue
			}
			if guard := s.guardOf(w); guard != "" {
				return src.Path + " has changed since it was trusted, or a file that it names has, and it says that " + guard + ": look at it and run 'helve trust'"
			}
		}
	}
	return ""
}

// explainIn is explain with a runtime that there is.
func (s *setup) explainIn(rt *helve.Runtime, who agent.Spec, req permission.Request) (*server.Explained, error) {
	x := &server.Explained{Agent: who.Name, Policy: s.broken()}
	given := permission.Decision{Permission: req.Permission, Pattern: req.Patterns[0]}
	asks := cmp.Or(rt.Permissions().Asks(req.Permission), req.Permission)
	if req.Permission = asks; asks != given.Permission {
		x.Note = fmt.Sprintf("the tool %s asks for %s", given.Permission, asks)
	}
	one := func(req permission.Request) (permission.Decision, error) {
		if req.Permission == asks {
			req.Permission = given.Permission // rules under the tool's own name count too
		}
		ds, err := rt.Permissions().Decide(who.Name, req)
		if err != nil {
			return permission.Decision{}, err
		}
		return ds[0], nil
	}
	r := decisionReader{Dir: s.opt.Dir, Policy: who.Policy.Of(given.Permission, asks), Files: &files.Workspace{Worktree: s.opt.Worktree, Own: append(s.configDirs(), s.data)}}
	r.Decide = func(about permission.Request) (permission.Decision, error) {
		about.Session = req.Session
		return one(about)
	}
	var err error
	switch req.Permission {
	case "bash":
		var got judged
		got, err = r.Command(given.Pattern)
		x.Units, x.Opaque, x.Decision = got.Units, got.Opaque, strictestDecision(got.Units)
	case "read", "edit", "list":
		x.Units, err = r.File(req.Permission, given.Pattern)
		x.Decision = strictestDecision(x.Units)
	case "glob", "grep":
		x.Units, err = r.Search(req.Permission, given.Pattern)
		x.Decision = strictestDecision(x.Units)
	case "webfetch":
		at, wrong := web.Read(given.Pattern)
		if wrong != nil {
			return nil, usagef("%w", wrong)
		}
		x.Decision, x.Note, err = decideAddress(at, req, one)
	default:
		x.Decision, err = one(req)
	}
	if err != nil {
		return nil, err
	}
	if x.Policy != "" {
		x.Decision = permission.Decision{Action: permission.Deny}
	}
	x.Permission, x.Pattern = given.Permission, given.Pattern
	var more int
	if x.Units, more = fewDecisions(x.Units); more > 0 {
		x.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d more that are no stricter are left out", x.Note, more), "; ")
	}
	return x, nil
}

func (a *app) printExplained(x *server.Explained) {
	fmt.Fprintf(a.Stdout, "%s  %s %s (agent %s)\n", a.action(x.Action), text.VisibleLine(x.Permission), text.VisibleLine(x.Pattern), x.Agent)
	limits := func(d permission.Decision) bool { return d.Ceiling && d.Approval == nil }
	if x.Policy == "" && (limits(x.Decision) || slices.ContainsFunc(x.Units, limits)) {
		defer fmt.Fprintln(a.Stdout, "  A limit is a rule of a file that is not trusted or has a mistake, of the agent, or under the name of the tool itself: it can only make an answer stricter.")
	}
	switch {
	case x.Policy != "":
		fmt.Fprintf(a.Stdout, "  because the config is broken: %s\n", safe(x.Policy))
		return
	case x.Opaque != "":
		fmt.Fprintf(a.Stdout, "  has to be asked about at least: %s\n", safe(x.Opaque))
	case x.Note != "":
		defer fmt.Fprintf(a.Stdout, "  %s\n", safe(x.Note))
	}
	if len(x.Units) == 0 && x.Permission == "bash" {
		fmt.Fprintln(a.Stdout, "  nothing in it has to be asked about")
		return
	}
	if len(x.Units) == 0 || len(x.Units) == 1 && x.Permission != "bash" {
		fmt.Fprintf(a.Stdout, "  %s\n", because(x.Decision))
		return
	}
	for _, u := range x.Units {
		fmt.Fprintf(a.Stdout, "  %s  %s %s\n         %s\n", a.action(u.Action), u.Permission, text.VisibleLine(u.Pattern), because(u))
	}
}

func strictness(a permission.Action) int {
	return slices.Index([]permission.Action{permission.Allow, permission.Ask, permission.Deny}, a)
}

func (a *app) action(act permission.Action) string {
	st := a.style(a.Stdout)
	padded := fmt.Sprintf("%-5s", act)
	switch act {
	case permission.Allow:
		return st.Green(padded)
	case permission.Deny:
		return st.Red(padded)
	}
	return st.Yellow(padded)
}

// because says in words what decided.
func because(d permission.Decision) string {
	if d.Approval != nil {
		return fmt.Sprintf("approval %s (%s, %s): %s %s", d.Approval.ID, d.Approval.Scope,
			d.Approval.Created.Local().Format("2006-01-02 15:04"), d.Approval.Permission, text.VisibleLine(d.Approval.Pattern))
	}
	if d.Opaque != "" && d.Action == permission.Ask {
		return "it is not known what it does: " + text.VisibleLine(d.Opaque)
	}
	if d.Rule == nil && d.Action == permission.Deny {
		return "no rule can allow it"
	}
	if d.Rule == nil && d.Guarded {
		return d.Caution() + ", so only a rule that names it allows it"
	}
	if d.Rule == nil {
		return "no rule matches, so it is asked about"
	}
	kind := "rule"
	if d.Ceiling {
		kind = "limit"
	}
	return fmt.Sprintf("%s %s, %s", kind, text.VisibleLine(ruleText(*d.Rule)), text.VisibleLine(d.Source))
}

// listed is what helve permission list --json prints.
type listed struct {
	Agent     string                `json:"agent"`
	Rules     []listedRule          `json:"rules"`
	Ceilings  [][]listedRule        `json:"ceilings"`
	Approvals []permission.Approval `json:"approvals"`
	Policy    string                `json:"policyError,omitempty"`
}

type listedRule struct {
	permission.Rule
	From permission.Source `json:"from"`
}

func withSources(rs permission.Ruleset) []listedRule {
	out := make([]listedRule, len(rs))
	for i, r := range rs {
		out[i] = listedRule{r, r.From}
	}
	return out
}

func (a *app) permissionListCommand() *cobra.Command {
	var agent string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the rules and approvals in force",
		Long: `List prints the rules that hold for an agent, in order: the last one that
matches decides. Limits come from files that are not trusted or have a mistake,
and can only make an answer stricter. Approvals are what somebody has answered with always.`,
		Example: `  helve permission list
  helve permission list --agent plan --json`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			a.warn(s.cfg)
			who, err := s.agent(agent)
			if err != nil {
				return err
			}
			l := listed{Agent: who.Name, Rules: withSources(who.Policy.Rules), Ceilings: [][]listedRule{}, Approvals: []permission.Approval{}}
			for _, c := range who.Policy.Ceilings {
				l.Ceilings = append(l.Ceilings, withSources(c))
			}
			if s.cfg.PolicyError != nil {
				l.Policy = s.cfg.PolicyError.Error()
			}
			err = a.reading(func(s *store.Store) error {
				kept, err := s.Approvals()
				l.Approvals = append(l.Approvals, kept...)
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(l)
			}
			return a.printListed(l)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "the rules of this agent")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.completeFlags(c)
	return c
}

func (a *app) printListed(l listed) error {
	tw := columns(a.Stdout)
	row := func(r listedRule) {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", r.Action, text.VisibleLine(r.Permission), text.VisibleLine(r.Pattern), text.VisibleLine(r.From.String()))
	}
	fmt.Fprintf(tw, "Rules of agent %s, the last match decides:\n", l.Agent)
	for _, r := range l.Rules {
		row(r)
	}
	for _, c := range l.Ceilings {
		fmt.Fprintln(tw, "Limit:")
		for _, r := range c {
			row(r)
		}
	}
	if len(l.Approvals) > 0 {
		fmt.Fprintln(tw, "Approvals:")
	}
	for _, p := range l.Approvals {
		scope := string(p.Scope)
		if p.Project != "" {
			scope += " " + p.Project
		}
		exact := ""
		if p.Exact {
			exact = " (exactly)"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s%s\t%s\t%s\n", p.ID, text.VisibleLine(p.Permission), text.VisibleLine(p.Pattern), exact,
			text.VisibleLine(scope), p.Created.Local().Format("2006-01-02 15:04"))
	}
	if l.Policy != "" {
		fmt.Fprintf(tw, "Everything is denied: %s\n", safe(l.Policy))
	}
	return tw.Flush()
}

func (a *app) revokeCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "revoke ID …",
		Short: "Take approvals back",
		Long:  "Revoke takes approvals back, by the ids that 'helve permission list' shows, or all of them.",
		Example: `  helve permission revoke per_…
  helve permission revoke --all`,
		ValidArgsFunction: a.completeApproval,
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("give ids, or --all")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, ids []string) error {
			var missing []string
			err := a.reading(func(s *store.Store) error {
				if all {
					kept, err := s.Approvals()
					if err != nil {
						return err
					}
					for _, p := range kept {
						ids = append(ids, p.ID)
					}
				}
				for _, id := range ids {
					ok, err := s.ForgetApproval(id)
					if err != nil {
						return err
					}
					if !ok {
						missing = append(missing, id)
						continue
					}
					fmt.Fprintf(a.Stdout, "revoked %s\n", safe(id))
				}
				return nil
			})
			if err != nil {
				return err
			}
			if data, derr := a.dataDir(); derr == nil && !hasStore(data) {
				missing = ids
			}
			if len(missing) > 0 {
				return fmt.Errorf("there is no approval %s", strings.Join(missing, ", "))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "take all of them back")
	return c
}
