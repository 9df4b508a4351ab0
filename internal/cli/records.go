package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/store"
	"github.com/helve-dev/helve/internal/terminal"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/model"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/record"
)

// reading opens the records, where there are any, and hands them to f.
func (a *app) reading(f func(*store.Store) error) error {
	s, err := a.openStore()
	if err != nil || s == nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

func (a *app) sessionsCommand() *cobra.Command {
	var f sessionFlags
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List recorded sessions",
		Long: `Sessions lists the sessions that models worked in and calls were made in, those
used last first: id, last use, folder, title, agent, and model, tokens and cost of
those that a model worked in. One without a title is known by its first call. How
many sessions a session started for other agents stands behind it; --all lists
them below it.`,
		Example: `  helve sessions
  helve sessions --here
  helve sessions --limit 5 --json
  helve sessions resume --last "and now the tests"`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.listSessions(c.Context(), f)
		},
	}
	fs := c.Flags()
	fs.IntVar(&f.limit, "limit", 0, "list at most so many (default 20, with --json all)")
	fs.BoolVar(&f.here, "here", false, "only those of this folder")
	fs.BoolVar(&f.all, "all", false, "also those that other sessions started; with --json they always are")
	fs.BoolVar(&f.asJSON, "json", false, "print JSON")
	c.AddCommand(a.resumeCommand(), a.sessionShowCommand())
	return c
}

// sessionFlags are the options of helve sessions.
type sessionFlags struct {
	limit             int
	here, all, asJSON bool
}

// listSessions prints the sessions there are.
func (a *app) listSessions(ctx context.Context, f sessionFlags) error {
	switch {
	case f.limit > 0:
	case f.asJSON:
		f.limit = math.MaxInt32
	default:
		f.limit = 20
	}
	var all []record.Session
	most := f.limit
	if f.here || !f.asJSON {
		most = math.MaxInt32 // not all of them are listed
	}
	err := a.reading(func(s *store.Store) (err error) {
		all, err = s.Sessions(ctx, most)
		return err
	})
	if err != nil {
		return err
	}
	if f.here {
		all = slices.DeleteFunc(all, func(s record.Session) bool { return s.Dir != a.workDir() })
	}
	if f.asJSON {
		shown := []shownSession{}
		for _, s := range all[:min(len(all), f.limit)] {
			shown = append(shown, toShownSession(s))
		}
		return a.printJSON(shown)
	}
	rows := family(all, f.all)
	tw := columns(a.Stdout)
	if len(rows) > 0 {
		fmt.Fprintln(tw, "SESSION\tLAST USE\tFOLDER\tTITLE\tAGENT\tMODEL")
	}
	for _, s := range rows[:min(len(rows), f.limit)] {
		below := ""
		if s.below > 0 && !f.all {
			below = fmt.Sprintf("%d below", s.below)
		}
		fmt.Fprintln(tw, strings.TrimRight(strings.Join([]string{
			strings.Repeat("  ", s.depth) + text.VisibleLine(s.ID), formatTime(s.Time.Updated), text.VisibleLine(s.Dir), terminal.Clip(text.VisibleLine(cmp.Or(s.Title, s.First)), 60),
			text.VisibleLine(s.Agent), text.VisibleLine(s.Model.String()), tokenCount(s.Tokens), cost(s.Cost), below,
		}, "\t"), "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(rows) > f.limit {
		more := fmt.Sprintf("%d of %d sessions are listed: --limit %d lists all", f.limit, len(rows), len(rows))
		if !f.here {
			more += ", --here those of this folder"
		}
		a.printNote(more)
	}
	return nil
}

// A shownSession is a session as --json prints it.
type shownSession struct {
	ID      string             `json:"id"`
	Dir     string             `json:"dir"`
	Project string             `json:"project,omitempty"`
	Agent   string             `json:"agent,omitempty"`
	Parent  string             `json:"parent,omitempty"`
	Title   string             `json:"title,omitempty"`
	Created int64              `json:"created"`
	Updated int64              `json:"updated"`
	Slug    string             `json:"slug,omitempty"`
	Model   model.Ref          `json:"model,omitzero"`
	Rules   permission.Ruleset `json:"rules,omitempty"`
	Tokens  model.Tokens       `json:"tokens,omitzero"`
	Cost    float64            `json:"cost,omitempty"`
	First   string             `json:"first,omitempty"`
}

func toShownSession(s record.Session) shownSession {
	return shownSession{
		ID: s.ID, Dir: s.Dir, Project: s.Project, Agent: s.Agent, Parent: s.Parent, Title: s.Title,
		Created: s.Time.Created, Updated: s.Time.Updated, Slug: s.Slug, Model: s.Model,
		Rules: s.Rules, Tokens: s.Tokens, Cost: s.Cost, First: s.First,
	}
}

// A kin is a session among those that it was started by and has started.
type kin struct {
	record.Session
	depth, below int
}

// family lists sessions below their parents, or drops those below others. One whose parent is
// missing is listed by itself.
func family(all []record.Session, whole bool) []kin {
	known, children := map[string]bool{}, map[string][]record.Session{}
	for _, s := range all {
		known[s.ID] = true
	}
	var roots []record.Session
	for _, s := range all {
		if known[s.Parent] && s.Parent != s.ID {
			children[s.Parent] = append(children[s.Parent], s)
		} else {
			roots = append(roots, s)
		}
	}
	var out []kin
	var add func(s record.Session, depth int) int
	add = func(s record.Session, depth int) int {
		at := len(out)
		out = append(out, kin{Session: s, depth: depth})
		below := 0
		for _, child := range children[s.ID] {
			below += 1 + add(child, depth+1)
		}
		out[at].below = below
		return below
	}
	for _, s := range roots {
		add(s, 0)
	}
	if !whole {
		out = slices.DeleteFunc(out, func(r kin) bool { return r.depth > 0 })
	}
	return out
}

func (a *app) callsCommand() *cobra.Command {
	var q record.CallQuery
	var state string
	var here, asJSON bool
	c := &cobra.Command{
		Use:   "calls",
		Short: "List recorded calls",
		Long: `Calls lists the calls that were made, the newest first: id, time, tool, state,
what it was about or why it failed, and the folder of its session. They are those
of all folders, unless --here is given. Their state is running, completed, error
or interrupted; interrupted is a call whose process ended before it did.`,
		Example: `  helve calls --tool read --limit 10
  helve calls --here
  helve calls --state error
  helve calls --session ses_… --json`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			states := []string{record.Running, record.Completed, record.Failed, record.Interrupted}
			if state != "" && !slices.Contains(states, state) {
				return usagef("%q is no state; there are %s", state, strings.Join(states, ", "))
			}
			q.State, q.Brief = state, !asJSON
			l := callList{calls: []record.Call{}}
			if here {
				l.of = a.workDir()
			}
			if err := a.reading(func(s *store.Store) error { return l.read(c.Context(), s, q) }); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(l.calls)
			}
			return a.printCalls(l)
		},
	}
	fs := c.Flags()
	fs.StringVar(&q.Session, "session", "", "of this session")
	fs.StringVar(&q.Tool, "tool", "", "of this tool")
	fs.StringVar(&state, "state", "", "in this state: running, completed, error or interrupted")
	fs.IntVar(&q.Limit, "limit", 100, "list at most so many")
	fs.BoolVar(&here, "here", false, "only those of this folder")
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	a.completeFlags(c)
	return c
}

// A callList is calls, with the folders that their sessions belong to.
type callList struct {
	of    string // only those of this folder; all for ""
	calls []record.Call
	dirs  map[string]string // by session
}

// read reads the calls to list.
func (l *callList) read(ctx context.Context, s *store.Store, q record.CallQuery) error {
	sessions, err := s.Sessions(ctx, math.MaxInt32)
	if err != nil {
		return err
	}
	l.dirs = make(map[string]string, len(sessions))
	for _, s := range sessions {
		l.dirs[s.ID] = s.Dir
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	for len(l.calls) < q.Limit {
		page, err := s.Calls(ctx, q)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, c := range page {
			if len(l.calls) < q.Limit && (l.of == "" || l.dirs[c.Session] == l.of) {
				l.calls = append(l.calls, c)
			}
		}
		q.Before = page[len(page)-1].Cursor
	}
	return nil
}

// endedBy says how a failed command ended; "" for others.
func endedBy(code int64) string {
	switch {
	case code < 0:
		return "killed"
	case code > 0:
		return fmt.Sprintf("exit %d", code)
	}
	return ""
}

func (a *app) printCalls(l callList) error {
	tw := columns(a.Stdout)
	for _, c := range l.calls {
		what := ""
		if c.Result != nil {
			what = c.Result.Title
		}
		if c.Error != nil {
			what, _, _ = strings.Cut(terminal.Reason(c.Error.Message, c.Error.Hint), "\n")
		}
		what, cut := text.Cut(what, 80)
		if cut {
			what += "…"
		}
		row := []string{text.VisibleLine(c.ID), formatTime(c.Started), text.VisibleLine(c.Tool), cmp.Or(endedBy(c.Exit), string(c.State)), text.VisibleLine(what)}
		if l.of == "" && l.dirs != nil {
			row = append(row, text.VisibleLine(l.dirs[c.Session]))
		}
		fmt.Fprintln(tw, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	return tw.Flush()
}

func (a *app) showCommand() *cobra.Command {
	var session string
	var asJSON bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show the whole record of a call or a session",
		Long: `Show prints everything that is recorded about a call, or a session and its
calls. Where several sessions have a call of that id, it is the newest, or with
--session that of the session.`,
		Example: `  helve show call_…
  helve show ses_…
  helve show 1 --session ses_…
  helve show call_… --json`,
		Args:              oneID,
		ValidArgsFunction: a.completeCall,
		RunE: func(c *cobra.Command, args []string) error {
			found := false
			err := a.reading(func(s *store.Store) error {
				var err error
				if session == "" {
					found, err = a.showRecord(c.Context(), s, args[0], asJSON)
					return err
				}
				call, err := callOf(c.Context(), s, session, args[0])
				if err == nil {
					found, err = true, a.showCall(call, asJSON)
				} else if errors.Is(err, record.ErrNotFound) {
					err = nil
				}
				return err
			})
			switch {
			case err == nil && !found && session != "":
				err = fmt.Errorf("no call %q is recorded in session %q", args[0], session)
			case err == nil && !found:
				err = fmt.Errorf("nothing is recorded under %q", args[0])
			}
			return err
		},
	}
	c.Flags().StringVar(&session, "session", "", "the call of this session")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.completeFlags(c)
	return c
}

func oneID(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("which one? Give the id of one call or session")
	}
	return nil
}

// showRecord prints the call or session of an id, and reports whether there
// is one.
func (a *app) showRecord(ctx context.Context, s *store.Store, id string, asJSON bool) (bool, error) {
	call, err := s.Call(ctx, id)
	switch {
	case err == nil:
		return true, a.showCall(call, asJSON)
	case !errors.Is(err, record.ErrNotFound):
		return false, err
	}
	session, err := s.Session(ctx, id)
	if errors.Is(err, record.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	calls, err := s.Calls(ctx, record.CallQuery{Session: id, Limit: 1000, Brief: !asJSON})
	if err != nil {
		return false, err
	}
	if asJSON {
		return true, a.printJSON(struct {
			shownSession
			Calls []record.Call `json:"calls"`
		}{toShownSession(session), append([]record.Call{}, calls...)})
	}
	a.fields("session", session.ID, "folder", session.Dir, "project", session.Project, "agent", session.Agent,
		"title", session.Title, "created", formatTime(session.Time.Created), "updated", formatTime(session.Time.Updated))
	return true, a.printCalls(callList{calls: calls})
}

func (a *app) showCall(c record.Call, asJSON bool) error {
	if asJSON {
		return a.printJSON(c)
	}
	took := ""
	if c.Ended > 0 {
		took = (time.Duration(c.Ended-c.Started) * time.Millisecond).String()
	}
	a.fields("call", c.ID, "session", c.Session, "made by", c.Parent, "tool", c.Tool, "agent", c.Agent, "model", c.Model,
		"state", string(c.State), "started", formatTime(c.Started), "took", took)
	a.printBlock("input", c.Input)
	if e := c.Error; e != nil {
		a.fields("error", fmt.Sprintf("%s (%s)", e.Kind, cmp.Or(e.Code, "no code")))
		why := terminal.Reason(e.Message, e.Hint)
		a.printBlock("message", why)
		if why == strings.TrimSpace(e.Message) { // else it says so itself
			a.printBlock("hint", e.Hint)
		}
	}
	if r := c.Result; r != nil {
		a.fields("title", r.Title)
		a.printBlock("output", r.Output)
		if len(r.Metadata) > 0 {
			fmt.Fprintln(a.Stdout, "metadata:")
			if err := a.printJSON(r.Metadata); err != nil {
				return err
			}
		}
		for i, at := range r.Attachments {
			fmt.Fprintf(a.Stdout, "attachment %d: %s, %d bytes\n", i+1, text.VisibleLine(at.Mime), attachmentSize(at))
		}
	}
	return nil
}

// callOf returns the call of an id in a session. A store finds the newest of
// an id; where that is of another session, this one is looked through.
func callOf(ctx context.Context, s *store.Store, session, id string) (record.Call, error) {
	newest, err := s.Call(ctx, id)
	if err != nil || newest.Session == session {
		return newest, err
	}
	all, err := s.Calls(ctx, record.CallQuery{Session: session, Limit: math.MaxInt32, Brief: true})
	if err != nil {
		return record.Call{}, err
	}
	i := slices.IndexFunc(all, func(c record.Call) bool { return c.ID == id })
	if i < 0 {
		return record.Call{}, record.ErrNotFound
	}
	like := 0 // calls of the same tool down to this one
	for _, c := range all[:i+1] {
		if c.Tool == all[i].Tool {
			like++
		}
	}
	whole, err := s.Calls(ctx, record.CallQuery{Session: session, Tool: all[i].Tool, Limit: like})
	if err != nil {
		return record.Call{}, err
	}
	i = slices.IndexFunc(whole, func(c record.Call) bool { return c.ID == id })
	if i < 0 {
		return record.Call{}, record.ErrNotFound
	}
	return whole[i], nil
}

// fields prints names and values, leaving out empty ones.
func (a *app) fields(pairs ...string) {
	tw := columns(a.Stdout)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(tw, "%s\t%s\n", pairs[i], text.VisibleLine(pairs[i+1]))
		}
	}
	_ = tw.Flush() // what follows fails in the same way
}

// printBlock prints a text of several lines under its name.
func (a *app) printBlock(name, body string) {
	if body != "" {
		fmt.Fprintf(a.Stdout, "%s:\n%s\n", name, safe(strings.TrimSuffix(body, "\n")))
	}
}

// formatTime formats a recorded time for people.
func formatTime(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04:05")
}
