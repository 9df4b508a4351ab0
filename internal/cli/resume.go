package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/agent"
	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/record"
)

func (a *app) resumeCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "resume ID [PROMPT …]",
		Short: "Go on with a session",
		Long: `Resume goes on with a session, in the folder that it belongs to. The beginning of
its id is enough; with --last it is the last one of this folder.

With a prompt it is 'helve run --session ID'. Without one a turn that broke off,
because it was cancelled or its process ended, goes on: a call that had begun is
not made again, and the model is told so. At a terminal that is done in 'helve
chat', where the talk goes on, unless a flag says how to go on.`,
		Example: `  helve sessions resume ses_…
  helve sessions resume --last "and now the tests"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.last {
				return usagef("which session? Give its id, or --last; 'helve sessions' lists them")
			}
			return nil
		},
		ValidArgsFunction: a.completeSession,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			if !f.last {
				f.session, args = args[0], args[1:]
			}
			return a.resume(c.Context(), &f, args)
		},
	}
	c.Flags().BoolVar(&f.last, "last", false, "the last session of this folder")
	f.register(c)
	a.completeFlags(c)
	return c
}

// resume resumes a session.
func (a *app) resume(ctx context.Context, f *runFlags, words []string) error {
	if len(words) > 0 {
		return a.run(ctx, f, words)
	}
	if a.talkative(f) && len(f.files) == 0 {
		if f.agent != "" || f.model != "" {
			return a.chat(ctx, f, "") // what broke off does not go on with others
		}
		return a.chat(ctx, f, "/resume")
	}
	if f.agent != "" || f.model != "" || len(f.files) > 0 {
		return usagef("--agent, --model and --file go with a prompt: what broke off goes on as it began")
	}
	s, err := a.findSession(ctx, f.session)
	if err != nil {
		return err
	}
	a.resumeSession(s, f)
	return a.runTurn(ctx, f, func(ctx context.Context, rt *helve.Runtime) (*agent.Turn, error) {
		t, err := rt.Turns().Resume(ctx, s.ID)
		if err == nil && t.End == agent.EndDone && t.Steps == 0 {
			a.printNote("nothing broke off in this session: give a prompt to go on with it")
		}
		return t, err
	})
}

// talkative reports whether a person is at a terminal, and no flag says how to continue.
func (a *app) talkative(f *runFlags) bool {
	return !f.asJSON && !f.quiet && !f.noInput && f.budget == (agent.Budget{}) &&
		a.attended() && isTerminal(a.Stdout) && a.Getenv("TERM") != "dumb"
}

// resumeSession selects the session to resume, and works in its folder, unless another was
// requested.
func (a *app) resumeSession(s record.Session, f *runFlags) {
	f.session, f.before = s.ID, s.Model
	if a.dirFlag == "" && s.Dir != "" && s.Dir != a.workDir() {
		a.printNote("working in " + s.Dir)
		a.dirFlag = s.Dir
	}
}

// findSession returns the session with an id or a prefix of one; the last conversation of this
// folder for "".
func (a *app) findSession(ctx context.Context, word string) (record.Session, error) {
	var found record.Session
	err := a.reading(func(s *store.Store) (err error) {
		if word != "" {
			if found, err = s.Session(ctx, word); !errors.Is(err, record.ErrNotFound) {
				return err
			}
		}
		all, err := s.Sessions(ctx, math.MaxInt32)
		if err != nil {
			return err
		}
		if word == "" {
			found = lastOf(all, a.workDir())
			return nil
		}
		found, err = sessionByPrefix(all, word)
		return err
	})
	switch {
	case err != nil || found.ID != "":
		return found, err
	case word == "":
		return found, usagef("there is no session of %s to go on with; 'helve sessions' lists all there are", a.workDir())
	}
	return found, usagef("no session is called %q; 'helve sessions' lists them", word)
}

// lastOf returns the conversation of a folder that was used last.
func lastOf(all []record.Session, dir string) record.Session {
	i := slices.IndexFunc(all, func(s record.Session) bool {
		return s.Dir == dir && s.Parent == "" && s.Model != model.Ref{}
	})
	if i < 0 {
		return record.Session{}
	}
	return all[i]
}

// sessionByPrefix returns the only session whose id has a prefix.
func sessionByPrefix(all []record.Session, word string) (found record.Session, err error) {
	for _, s := range all {
		switch {
		case !strings.HasPrefix(s.ID, word):
		case found.ID != "":
			return record.Session{}, usagef("%q is the beginning of %s and %s: give more of it", word, found.ID, s.ID)
		default:
			found = s
		}
	}
	return found, nil
}

func (a *app) sessionShowCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show a conversation",
		Long: `Show prints what was said in a session: by the person, by the model, and the calls
that it made with the end of what they brought. The beginning of the id is enough.
With --json it is all that is kept. 'helve show' has the whole record of a call.`,
		Example: `  helve sessions show ses_…
  helve sessions show ses_… --json`,
		Args:              oneID,
		ValidArgsFunction: a.completeSession,
		RunE: func(c *cobra.Command, args []string) error {
			found, err := a.findSession(c.Context(), args[0])
			if err != nil {
				return err
			}
			said := []message.Message{}
			err = a.reading(func(s *store.Store) error {
				got, err := s.Messages(c.Context(), found.ID)
				said = append(said, got...)
				return cmp.Or(err, s.EndCalls(c.Context(), said))
			})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					shownSession
					Messages []message.Message `json:"messages"`
				}{toShownSession(found), said})
			}
			return a.showConversation(found, said)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// showConversation prints a conversation in order.
func (a *app) showConversation(s record.Session, said []message.Message) error {
	a.fields("session", s.ID, "folder", s.Dir, "title", s.Title, "created", formatTime(s.Time.Created), "updated", formatTime(s.Time.Updated))
	bold := a.style(a.Stdout).Bold
	for _, m := range said {
		who := m.Info.Role
		if who == message.Assistant {
			who = fmt.Sprintf("%s (%s)", m.Info.Agent, m.Info.Model)
		}
		var lines []string
		for _, p := range m.Parts {
			if line := terminal.PartText(p); line != "" {
				lines = append(lines, line)
			}
		}
		if e := m.Info.Error; e != nil {
			lines = append(lines, fmt.Sprintf("[%s] %s", text.VisibleLine(e.Name), text.VisibleLine(e.Data.Message)))
		}
		if len(lines) == 0 && m.Info.Role == message.User {
			continue // no person wrote it
		}
		fmt.Fprintf(a.Stdout, "\n%s\n", bold(text.VisibleLine(strings.TrimSpace(who+"  "+formatTime(m.Info.Time.Created)))))
		for _, line := range lines {
			fmt.Fprintln(a.Stdout, line)
		}
	}
	if used := strings.Trim(tokenCount(s.Tokens)+", "+cost(s.Cost), ", "); used != "" {
		fmt.Fprintf(a.Stdout, "\n%s\n", used)
	}
	return nil
}

// tokenCount is how many tokens were used; "" for none.
func tokenCount(t model.Tokens) string {
	if n := t.Usage().Total(); n > 0 {
		return text.Count(int(n), "token", "tokens")
	}
	return ""
}

// cost is an amount of US dollars; "" for none.
func cost(dollars float64) string {
	switch {
	case dollars <= 0:
		return ""
	case dollars < 0.0001:
		return "<$0.0001"
	case dollars < 0.01:
		return fmt.Sprintf("$%.4f", dollars)
	}
	return fmt.Sprintf("$%.2f", dollars)
}
