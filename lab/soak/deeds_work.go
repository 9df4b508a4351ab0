package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/helve-dev/helve/client"
)

// workDeeds are about commands, the web, and what users and others bring.
func workDeeds() []deed {
	return []deed{
		{"bash", 10, (*hand).bash},
		{"bash, long", 3, (*hand).bashLong},
		{"bash, too long", 1, (*hand).bashTimeout},
		{"bash, flood", 2, (*hand).bashFlood},
		{"bash, setsid", 3, (*hand).bashSetsid},
		{"bash, behind the wall", 2, (*hand).bashWall},
		{"bash, deletes", 2, (*hand).bashDeletes},
		{"job", 4, (*hand).job},
		{"webfetch", 5, (*hand).fetch},
		{"todo", 3, (*hand).todo},
		{"custom tool", 5, (*hand).custom},
		{"custom tool, bad", 1, (*hand).customBad},
		{"program tool", 2, (*hand).program},
		{"mcp tool", 6, (*hand).things},
		{"mcp tool that dies", 1, (*hand).thingsDie},
		{"question", 2, (*hand).question},
		{"asked about", 5, (*hand).asked},
		{"denied", 1, (*hand).denied},
		{"skill", 1, (*hand).skill},
		{"bad input", 3, (*hand).bad},
		{"look", 8, (*hand).look},
		{"end the session", 2, (*hand).endSession},
	}
}

// shell runs a command.
func (w *hand) shell(ctx context.Context, command string) (client.Called, error) {
	return w.call(ctx, "bash", input{"command": command, "description": "Part of a soak"})
}

func (w *hand) bash(ctx context.Context) error {
	_, err := w.shell(ctx, []string{"echo hello", "ls src | wc -l", "false", "cat src/d1/f1.go | grep -c func", "echo out; echo err >&2"}[w.rand.IntN(5)])
	return err
}

func (w *hand) bashLong(ctx context.Context) error {
	_, err := w.shell(ctx, "for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done")
	return err
}

func (w *hand) bashTimeout(ctx context.Context) error {
	return w.just(ctx, "bash", input{"command": "sleep 30 & sleep 30", "description": "Waits", "timeout": 500})
}

func (w *hand) bashFlood(ctx context.Context) error {
	_, err := w.shell(ctx, fmt.Sprintf("yes 'a line that is printed often' | head -c %d", 100_000+w.rand.IntN(4_000_000)))
	return err
}

// bashSetsid leaves something behind that hides, and ends it by its session or
// its job.
func (w *hand) bashSetsid(ctx context.Context) error {
	_, err := w.shell(ctx, "setsid -f sleep 20; (sleep 20 &) ; echo left something")
	if w.chance(2) {
		return w.endSession(ctx)
	}
	return err
}

// bashWall runs a command as an agent that may change nothing.
func (w *hand) bashWall(ctx context.Context) error {
	_, err := w.request(ctx, client.CallRequest{Tool: "bash", Agent: "plan", Input: input{
		"command": "echo seen; ls src | wc -l", "description": "Looks",
	}})
	return err
}

func (w *hand) bashDeletes(ctx context.Context) error {
	name := w.own("doomed.txt")
	_, _ = w.call(ctx, "read", input{"filePath": name}) // may not be there
	_, _ = w.call(ctx, "write", input{"filePath": name, "content": w.words(20)})
	_, err := w.shell(ctx, "rm -f "+name)
	return err
}

// job starts something in the background, looks at it, and mostly stops it.
func (w *hand) job(ctx context.Context) error {
	_, err := w.call(ctx, "bash", input{"command": "for i in $(seq 40); do echo tick $i; sleep 0.1; done", "description": "Ticks", "background": true})
	if err != nil {
		return err
	}
	list, err := w.api.ListJobs(ctx, client.ListJobsQuery{})
	if err != nil {
		return err
	}
	for _, j := range list.Jobs {
		if j.State != "running" || j.Session != w.session {
			continue
		}
		if _, err := w.api.ReadJobOutput(ctx, j.ID, client.ReadJobOutputQuery{}); err != nil {
			return err
		}
		if err := w.just(ctx, "job", input{"action": "wait", "id": j.ID, "until": "tick 3", "timeout": 500}); err != nil {
			return err
		}
		if w.chance(4) {
			continue // it ends by itself
		}
		if _, err := w.api.StopJob(ctx, j.ID); err != nil {
			return err
		}
	}
	return nil
}

func (w *hand) fetch(ctx context.Context) error {
	paths := pagePaths()
	format := []string{"markdown", "text", "html"}[w.rand.IntN(3)]
	return w.just(ctx, "webfetch", input{"url": w.pages.url + paths[w.rand.IntN(len(paths))], "format": format, "timeout": 1})
}

func (w *hand) todo(ctx context.Context) error {
	if err := w.just(ctx, "todowrite", input{"todos": []input{{"content": w.words(1), "status": "pending", "priority": "high", "id": "1"}}}); err != nil {
		return err
	}
	return w.just(ctx, "todoread", input{})
}

func (w *hand) custom(ctx context.Context) error {
	if w.chance(4) {
		return w.just(ctx, "sulk", input{"how": "wait"})
	}
	return w.just(ctx, "lines", input{"path": w.source()})
}

// customBad lets a tool do what ends its engine.
func (w *hand) customBad(ctx context.Context) error {
	how := []string{"throw", "throw", "throw", "eat"}[w.rand.IntN(4)]
	if !w.s.quick && w.chance(20) {
		how = "loop" // it takes five seconds
	}
	return w.just(ctx, "sulk", input{"how": how})
}

func (w *hand) program(ctx context.Context) error {
	return w.just(ctx, "shout", input{"text": []string{"hello", "refused"}[w.rand.IntN(2)]})
}

func (w *hand) things(ctx context.Context) error {
	switch w.rand.IntN(4) {
	case 0:
		return w.just(ctx, "things_slow", input{"text": "later", "ms": w.rand.IntN(1500)})
	case 1:
		return w.just(ctx, "things_echo", input{"text": "much", "size": w.rand.IntN(300_000)})
	}
	return w.just(ctx, "things_echo", input{"text": w.words(2)})
}

func (w *hand) thingsDie(ctx context.Context) error {
	return w.just(ctx, "things_die", input{"text": "now"})
}

func (w *hand) question(ctx context.Context) error {
	return w.just(ctx, "question", input{"questions": []input{{
		"question": "Tea or coffee?", "header": "Drink", "options": []input{{"label": "Tea", "description": "hot"}, {"label": "Coffee", "description": "hot too"}},
	}}})
}

// asked does what a person has to be asked about. Somebody answers, or nobody.
func (w *hand) asked(ctx context.Context) error {
	if w.chance(2) {
		return w.just(ctx, "read", input{"filePath": ".env"})
	}
	_, err := w.shell(ctx, "touch asked"+fmt.Sprint(w.rand.IntN(3)))
	return err
}

func (w *hand) denied(ctx context.Context) error {
	_, err := w.shell(ctx, "touch denied")
	return err
}

func (w *hand) skill(ctx context.Context) error { return w.just(ctx, "skill", input{"name": "tidy"}) }

// bad is what no program should send.
func (w *hand) bad(ctx context.Context) error {
	switch w.rand.IntN(6) {
	case 0:
		return w.just(ctx, "nothing_of_that_name", input{})
	case 1:
		return w.just(ctx, "read", input{"filePath": 7, "more": true})
	case 2:
		return w.just(ctx, "read", input{"filePath": "../../../etc/shadow\x00"})
	case 3:
		return w.raw(ctx, `{"tool":"read","input":{"filePath":`)
	case 4:
		return w.raw(ctx, `{"tool":`+strings.Repeat("[", 20_000))
	}
	_, err := w.request(ctx, client.CallRequest{Tool: "read", Agent: "nobody", Input: input{"filePath": "x"}})
	return err
}

// look asks for all that can be looked at.
func (w *hand) look(ctx context.Context) (err error) {
	switch w.rand.IntN(12) {
	case 0:
		_, err = w.api.ListSessions(ctx, client.ListSessionsQuery{Limit: 20})
	case 1:
		_, err = w.api.ListSessionCalls(ctx, w.session, client.ListSessionCallsQuery{})
	case 2:
		_, err = w.api.ListCalls(ctx, client.ListCallsQuery{Limit: 50})
	case 3:
		_, err = w.api.ListChanges(ctx, client.ListChangesQuery{Limit: 20})
	case 4:
		_, err = w.api.ListTools(ctx, client.ListToolsQuery{})
	case 5:
		_, err = w.api.GetRules(ctx, client.GetRulesQuery{})
	case 6:
		_, err = w.api.Explain(ctx, client.ExplainQuery{Permission: "bash", Pattern: "git push"})
	case 7:
		_, err = w.api.ReadFile(ctx, client.ReadFileQuery{Path: w.source()})
	case 8:
		_, err = w.api.ListMCP(ctx)
	case 9:
		_, err = w.api.GetLSP(ctx)
	case 10:
		_, err = w.api.ListTodos(ctx, w.session)
	case 11:
		_, err = w.api.GetInfo(ctx)
	}
	return err
}

// endSession ends the session with all that it has running, and begins another.
func (w *hand) endSession(ctx context.Context) error {
	err := w.api.EndSession(ctx, w.session)
	if p := problem(err); p != nil && p.Status == 404 {
		err = nil // nothing was done in it
	}
	w.renew()
	return err
}
