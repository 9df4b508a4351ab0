//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/helve-dev/helve/client"
)

// A worker does one thing after the other, by chance.
type worker struct {
	*world
	number  int
	rand    *rand.Rand
	api     *client.Client
	session string
}

// An action is something that a worker can do, and how often it does, beside
// others: calls one after the other, one of several command lines of helve, or
// something else.
type action struct {
	Name   string
	Weight int
	Calls  []call
	Helve  [][]string
	Env    string // of the command
	Kill   bool   // the command does not come to its end
	do     func(*worker, context.Context) error
}

// doing is an action that is not data.
func doing(name string, weight int, do func(*worker, context.Context) error) action {
	return action{Name: name, Weight: weight, do: do}
}

// A call is one of a tool, with one of several inputs. Where it may fail, what
// follows is done all the same.
type call struct {
	Tool, Agent string
	Inputs      []json.RawMessage
	Fails       bool
}

// A pool is a number of workers that do the same kind of things.
type pool struct {
	workers int
	actions []action
}

func pools() ([]pool, error) {
	text, err := data.ReadFile("calls.json")
	if err != nil {
		return nil, err
	}
	var all []action
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	prompts, err := promptActions()
	calls := []action{
		doing("undo", 4, (*worker).undo), doing("job", 4, (*worker).job), doing("look", 2, (*worker).look), doing("end the session", 3, (*worker).endSession),
	}
	commands := []action{
		doing("helve call --jsonl", 4, func(w *worker, ctx context.Context) error { return w.lines(ctx, false) }),
		doing("helve call --jsonl, killed", 2, func(w *worker, ctx context.Context) error { return w.lines(ctx, true) }),
	}
	for _, a := range all {
		if len(a.Helve) > 0 {
			commands = append(commands, a)
		} else {
			calls = append(calls, a)
		}
	}
	return []pool{
		{4, calls}, {2, []action{doing("mcp connection", 1, (*worker).connect)}}, {1, commands}, {2, prompts}, {2, streamActions()},
		{1, []action{doing("answer", 1, (*worker).answer)}},
	}, err
}

func newWorker(w *world, number int) (*worker, error) {
	api, err := client.New(w.subject.url, w.subject.token)
	k := &worker{world: w, number: number, rand: rand.New(rand.NewPCG(w.s.seed, uint64(number))), api: api}
	k.renew()
	return k, err
}

// renew gives the worker a session that nobody has used.
func (w *worker) renew() { w.session = fmt.Sprintf("ses_worker_%d_%s", w.number, w.id()) }

// work does what has to be done once, by any of the pool, even if it takes
// longer; then others by chance until the load ends.
func (w *worker) work(ctx context.Context, actions []action, first chan action, ends time.Time) {
	var often []action
	for _, a := range actions {
		often = append(often, slices.Repeat([]action{a}, a.Weight)...)
	}
	for ctx.Err() == nil {
		select {
		case a := <-first:
			w.act(ctx, a)
		default:
			if time.Now().After(ends) {
				w.act(ctx, doing("end the session", 1, (*worker).endSession))
				w.api.Close()
				return
			}
			w.act(ctx, pick(w, often...))
		}
		w.pause(ctx, 20*time.Millisecond)
	}
}

// act does an action and counts it.
func (w *worker) act(ctx context.Context, a action) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer in %s", patience))
	defer cancel()
	var err error
	fill := strings.NewReplacer("{own}", w.own(""), "{source}", w.source(), "{n}", fmt.Sprint(w.rand.IntN(shared)), "{id}", w.id(),
		"{text}", strings.Repeat(w.id()+`\n`, w.rand.IntN(4000)), "{pages}", w.pages.URL)
	for _, c := range a.Calls {
		in := json.RawMessage(fill.Replace(string(pick(w, c.Inputs...))))
		if _, err = w.call(ctx, client.CallRequest{Tool: c.Tool, Agent: c.Agent, Input: in}); err != nil && !c.Fails {
			break
		}
	}
	if len(a.Helve) > 0 {
		args := slices.Clone(pick(w, a.Helve...))
		for i := range args {
			args[i] = fill.Replace(args[i])
		}
		err = w.helve(ctx, a, args)
	}
	if a.do != nil {
		err = a.do(w, ctx)
	}
	w.did(a.Name, w.outcome(ctx, a.Name, err))
}

// pause lets up to some time pass.
func (w *worker) pause(ctx context.Context, most time.Duration) {
	sleep(ctx, time.Duration(w.rand.Int64N(int64(most))+1))
}

// chance is true once in so many times.
func (w *worker) chance(of int) bool { return w.rand.IntN(of) == 0 }

func pick[T any](w *worker, from ...T) T { return from[w.rand.IntN(len(from))] }

// own is a file of this worker alone, source one that nobody changes.
func (w *worker) own(name string) string { return path.Join("workers", fmt.Sprint(w.number), name) }
func (w *worker) source() string {
	i := w.rand.IntN(sources)
	return fmt.Sprintf("src/d%d/f%d.go", i%12, i)
}

// shell is the input of a command.
func shell(command string) input { return input{"command": command, "description": "Part of a soak"} }

// call calls a tool over HTTP and notes how it ended. Now and then it is ended
// at a moment that chance picks: by cancelling, by hanging up, or by going on in
// the background.
func (w *worker) call(ctx context.Context, r client.CallRequest) (client.Called, error) {
	at := callKey{w.session, w.id()}
	r.Session, r.ID = at.session, at.id
	inner, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if w.chance(15) {
		end := pick(w, func() {
			w.did("hang up", "ok")
			hangUp()
		}, func() { // it is refused where the call is not there, or not any more
			err := w.api.CancelCall(ctx, at.session, at.id)
			w.did("cancel", w.outcome(ctx, "cancel", err))
		}, func() {
			err := w.api.BackgroundCall(ctx, at.session, at.id)
			w.did("move to the background", w.outcome(ctx, "background", err))
		})
		defer time.AfterFunc(time.Duration(w.rand.IntN(300))*time.Millisecond, end).Stop()
	}
	out, err := w.api.Call(inner, r)
	p := problem(err)
	switch {
	case err == nil:
		w.ended(at, completed)
	case inner.Err() != nil: // also where the answer was on its way
		w.ended(at, unheard)
		if ctx.Err() == nil {
			return out, nil // as was meant
		}
	case p == nil || p.Call == "": // it is not about a call that was made
	default:
		if p.Kind == "internal" {
			w.ours("%s: %s: %.300s", r.Tool, p.Code, p.Detail)
		}
		w.ended(at, failed)
	}
	return out, err
}

// undo takes back what this worker did last, if it did something.
func (w *worker) undo(ctx context.Context) error {
	_, err := w.api.Undo(ctx, client.UndoRequest{Session: w.session, Last: 1, Preview: w.chance(3)})
	return err
}

// job starts something in the background, looks at it, and mostly stops it.
func (w *worker) job(ctx context.Context) error {
	in := shell("for i in $(seq 40); do echo tick $i; sleep 0.1; done")
	in["background"] = true
	if _, err := w.call(ctx, client.CallRequest{Tool: "bash", Input: in}); err != nil {
		return err
	}
	list, err := w.api.ListJobs(ctx, client.ListJobsQuery{})
	for _, j := range list.Jobs {
		if err != nil {
			break
		}
		if j.State != "running" || j.Session != w.session {
			continue
		}
		if _, err = w.api.ReadJobOutput(ctx, j.ID, client.ReadJobOutputQuery{}); err != nil {
			break
		}
		_, err = w.call(ctx, client.CallRequest{Tool: "job", Input: input{"action": "wait", "id": j.ID, "until": "tick 3", "timeout": 500}})
		if err == nil && !w.chance(4) {
			_, err = w.api.StopJob(ctx, j.ID)
		}
	}
	return err
}

// look asks for all that can be looked at.
func (w *worker) look(ctx context.Context) error {
	_, sessions := w.api.ListSessions(ctx, client.ListSessionsQuery{Limit: 20})
	_, own := w.api.ListSessionCalls(ctx, w.session, client.ListSessionCallsQuery{})
	_, calls := w.api.ListCalls(ctx, client.ListCallsQuery{Limit: 50})
	_, changes := w.api.ListChanges(ctx, client.ListChangesQuery{Limit: 20})
	_, tools := w.api.ListTools(ctx, client.ListToolsQuery{})
	_, rules := w.api.GetRules(ctx, client.GetRulesQuery{})
	_, why := w.api.Explain(ctx, client.ExplainQuery{Permission: "bash", Pattern: "git push"})
	_, file := w.api.ReadFile(ctx, client.ReadFileQuery{Path: w.source()})
	_, servers := w.api.ListMCP(ctx)
	_, languages := w.api.GetLSP(ctx)
	_, todos := w.api.ListTodos(ctx, w.session)
	_, info := w.api.GetInfo(ctx)
	return cmp.Or(sessions, own, calls, changes, tools, rules, why, file, servers, languages, todos, info)
}

// endSession ends the session with all that it has running, and begins another.
func (w *worker) endSession(ctx context.Context) error {
	err := w.api.EndSession(ctx, w.session)
	if p := problem(err); p != nil && p.Status == 404 {
		err = nil // nothing was done in it
	}
	w.renew()
	return err
}

// answer answers some of what a person is asked, in all ways, and leaves the
// rest.
func (w *worker) answer(ctx context.Context) error {
	waiting, err := w.api.ListRequests(ctx)
	if err != nil {
		return err
	}
	for _, p := range waiting.Permissions {
		reply := client.PermissionReply{Reply: pick(w, "once", "once", "always", "reject", "left")}
		if reply.Reply == "left" {
			continue
		}
		if reply.Reply == "reject" {
			reply.Message = "not now"
		}
		err := w.api.ReplyPermission(ctx, p.ID, reply)
		w.did("permission "+reply.Reply, w.outcome(ctx, "reply", err))
	}
	for _, q := range waiting.Questions {
		if w.chance(3) {
			continue
		}
		err, how := error(nil), pick(w, "question answered", "question dismissed")
		if how == "question dismissed" {
			err = w.api.DismissQuestion(ctx, q.ID)
		} else {
			err = w.api.AnswerQuestion(ctx, q.ID, client.QuestionAnswer{Answers: [][]string{{"Tea"}}})
		}
		w.did(how, w.outcome(ctx, how, err))
	}
	w.pause(ctx, 300*time.Millisecond)
	return nil
}

// promptActions are those of a person who lets agents work.
func promptActions() ([]action, error) {
	all := []action{
		doing("prompt", 6, func(w *worker, ctx context.Context) error { return w.prompt(ctx, "work alone") }),
		doing("prompt with subagents", 4, func(w *worker, ctx context.Context) error { return w.prompt(ctx, "hand it on") }),
		doing("prompt that writes", 3, func(w *worker, ctx context.Context) error { return w.prompt(ctx, "write something") }),
		doing("prompt, cancelled", 3, func(w *worker, ctx context.Context) error {
			turn, err := w.api.Prompt(ctx, client.PromptRequest{Text: pick(w, "take long", "hand it on", "work alone")})
			if err != nil {
				return err
			}
			w.pause(ctx, 600*time.Millisecond)
			if err := w.api.CancelTurn(ctx, turn.Session); err != nil && problem(err) == nil {
				return err
			}
			return w.api.EndSession(ctx, turn.Session)
		}),
	}
	model, err := readModel()
	for name := range model.Faults {
		all = append(all, doing("prompt, "+name, 1, func(w *worker, ctx context.Context) error {
			w.fault(name, nil)
			return w.prompt(ctx, fmt.Sprintf("%s %d.", name, w.rand.IntN(variants)))
		}))
	}
	return all, err
}

// prompt lets an agent work in a session of its own, and sees it to its end.
func (w *worker) prompt(ctx context.Context, text string) error {
	ref := &client.MessageModelRef{ProviderID: pick(w, "open", "other"), ModelID: "script"}
	turn, err := w.api.Prompt(ctx, client.PromptRequest{Text: text, Model: ref, Wait: true})
	if err != nil {
		return err
	}
	w.did("turn", turn.End)
	if _, err := w.api.ListMessages(ctx, turn.Session, client.ListMessagesQuery{}); err != nil {
		return err
	}
	if w.chance(3) {
		if _, err := w.api.Resume(ctx, turn.Session, client.TurnRequest{Wait: true}); err != nil {
			return err
		}
	}
	return w.api.EndSession(ctx, turn.Session)
}
