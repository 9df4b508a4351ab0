package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tooltest"
)

func TestMain(m *testing.M) { tooltest.Main(m) }

// ask starts a request and returns where its end will show.
func ask(e *permission.Engine, ctx context.Context, req permission.Request, rules permission.Ruleset) <-chan error {
	done := make(chan error, 1)
	go func() { done <- e.Ask(ctx, req, permission.Policy{Rules: rules}) }()
	return done
}

func bash(session string, patterns ...string) permission.Request {
	return permission.Request{Session: session, Permission: "bash", Patterns: patterns, Always: []string{"*"}}
}

var asking = permission.Ruleset{{Permission: "bash", Pattern: "*", Action: permission.Ask}}

func TestAsk(t *testing.T) {
	rules := triples([][3]string{{"bash", "*", "allow"}, {"bash", "maybe *", "ask"}, {"bash", "rm *", "deny"}})
	e := permission.NewEngine(permission.EngineOptions{Unattended: true})
	for _, c := range []struct {
		patterns []string
		want     error
	}{
		{nil, nil},
		{[]string{"ls"}, nil},
		{[]string{"ls", "pwd", "id"}, nil},
		{[]string{"rm -rf /"}, permission.ErrDenied},
		{[]string{"echo hello", "rm -rf /"}, permission.ErrDenied},
		{[]string{"maybe", "rm x"}, permission.ErrDenied}, // a deny beats an ask that comes first
		{[]string{"maybe x"}, permission.ErrUnattended},
	} {
		err := e.Ask(t.Context(), bash("s", c.patterns...), permission.Policy{Rules: rules})
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("ask %q: got %v, want %v", c.patterns, err, c.want)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	rules := triples([][3]string{{"*", "*", "allow"}, {"edit", "*", "deny"}, {"bash", "rm *", "deny"}})
	err := permission.NewEngine(permission.EngineOptions{}).Ask(t.Context(), bash("s", "rm x"), permission.Policy{Rules: rules})
	want := `The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules ` +
		`[{"permission":"*","pattern":"*","action":"allow"},{"permission":"bash","pattern":"rm *","action":"deny"}]`
	if err == nil || err.Error() != want {
		t.Errorf("denied: got %v", err)
	}
	un := permission.NewEngine(permission.EngineOptions{Unattended: true}).Ask(t.Context(), bash("s", `say "hi"`), permission.Policy{})
	if un == nil || !strings.Contains(un.Error(), `{"permission": {"bash": {"say \"hi\"": "allow"}}}`) {
		t.Errorf("unattended: got %v", un)
	}
	// The file to write it in is the user's, unless the rule that asks stands in
	// another, which may come after that one.
	asks := permission.Rule{Permission: "bash", Pattern: "*", Action: permission.Ask, From: permission.Source{File: "default rules"}}
	for from, want := range map[string]string{"default rules": "add this rule to /u/helve.json, after", "/p/helve.json": "add this rule to /p/helve.json, after"} {
		asks.From.File = from
		e := permission.NewEngine(permission.EngineOptions{Unattended: true, File: "/u/helve.json"})
		if err := e.Ask(t.Context(), bash("s", "ls"), permission.Policy{Rules: permission.Ruleset{asks}}); err == nil || filepath.IsAbs("/u") && !strings.Contains(err.Error(), want) {
			t.Errorf("unattended, %s: got %v", from, err)
		}
	}
	hidden := &permission.UnattendedError{Permission: "read", Asked: []permission.Decision{{Pattern: "a\u200b<\U000e0041>"}}}
	var rule map[string]map[string]map[string]string
	if err := json.Unmarshal([]byte(hidden.Rule()), &rule); err != nil || rule["permission"]["read"]["a\u200b<\U000e0041>"] != "allow" {
		t.Errorf("the rule to add: %s (%v)", hidden.Rule(), err)
	}
	if !strings.Contains(hidden.Rule(), `a\u200b<\udb40\udc41>`) {
		t.Errorf("the rule to add hides something: %s", hidden.Rule())
	}
	if got := (&permission.RejectedError{Message: "no"}).Error(); got != "The user rejected permission to use this specific tool call with the following feedback: no" {
		t.Errorf("rejected: got %s", got)
	}
}

func TestReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := permission.NewEngine(permission.EngineOptions{})
		first := ask(e, t.Context(), bash("s", "ls"), asking)
		synctest.Wait()
		second, other := ask(e, t.Context(), bash("s", "pwd"), asking), ask(e, t.Context(), bash("other", "ls"), asking)
		synctest.Wait()
		pending := e.Pending()
		if len(pending) != 3 {
			t.Fatalf("%d requests wait, want 3", len(pending))
		}
		// always settles the session's other requests, not another session's
		if err := e.Reply(pending[0].ID, permission.Reply{Verdict: permission.ReplyAlways}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-first, <-second); err != nil {
			t.Error(err)
		}
		rest := e.Pending()
		if len(rest) != 1 || rest[0].Session != "other" {
			t.Fatalf("after always %v wait", rest)
		}
		if err := e.Reply(rest[0].ID, permission.Reply{Verdict: permission.ReplyOnce}); err != nil {
			t.Error(err)
		}
		if err := <-other; err != nil {
			t.Error(err)
		}
		for _, id := range []string{pending[0].ID, "per_nobody"} {
			if err := e.Reply(id, permission.Reply{Verdict: permission.ReplyOnce}); !errors.Is(err, permission.ErrNotFound) {
				t.Errorf("answering %s again: got %v", id, err)
			}
		}
		// when nobody is left, what waits fails and so does what would wait
		last := ask(e, t.Context(), bash("third", "ls"), asking)
		synctest.Wait()
		e.Leave()
		if err := <-last; !errors.Is(err, permission.ErrUnattended) {
			t.Errorf("after leaving: %v", err)
		}
		if err := e.Ask(t.Context(), bash("third", "ls"), permission.Policy{Rules: asking}); !errors.Is(err, permission.ErrUnattended) {
			t.Errorf("after leaving: %v", err)
		}
	})
}

// TestLeaveWhileDeciding lets everybody leave while requests are decided, for
// the race detector.
func TestLeaveWhileDeciding(t *testing.T) {
	e := permission.NewEngine(permission.EngineOptions{})
	ended := ask(e, t.Context(), bash("s", "ls"), asking)
	e.Leave()
	if err := <-ended; !errors.Is(err, permission.ErrUnattended) {
		t.Errorf("after leaving: %v", err)
	}
}

func TestRejectRejectsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := permission.NewEngine(permission.EngineOptions{})
		a := ask(e, t.Context(), bash("s", "ls"), asking)
		synctest.Wait()
		b := ask(e, t.Context(), bash("s", "pwd"), asking)
		c := ask(e, t.Context(), bash("t", "pwd"), asking)
		synctest.Wait()
		if err := e.Reply(e.Pending()[0].ID, permission.Reply{Verdict: permission.ReplyReject, Message: "use make"}); err != nil {
			t.Fatal(err)
		}
		if err := <-a; !strings.HasSuffix(err.Error(), "feedback: use make") {
			t.Errorf("the rejected one: %v", err)
		}
		if err := <-b; !errors.Is(err, permission.ErrRejected) || strings.Contains(err.Error(), "feedback") {
			t.Errorf("the session's other one: %v", err)
		}
		if len(e.Pending()) != 1 {
			t.Error("another session's request was touched")
		}
		e.Close()
		if err := <-c; !errors.Is(err, permission.ErrClosed) {
			t.Errorf("at the end: %v", err)
		}
	})
}

func TestCancelledRequestIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := permission.NewEngine(permission.EngineOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := ask(e, ctx, bash("s", "ls"), asking)
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if len(e.Pending()) != 0 {
			t.Error("the request still waits")
		}
	})
}

// What "always" keeps is what the request shows, and it holds next time.
func TestStored(t *testing.T) {
	env := triples([][3]string{{"read", "*", "allow"}, {"read", "*.env", "ask"}})
	for _, c := range []struct {
		name  string
		rules permission.Ruleset
		req   permission.Request
		want  string
	}{
		{"as suggested", asking, permission.Request{Permission: "bash", Patterns: []string{"git push"}, Always: []string{"git push *"}}, "git push *"},
		{"exact below a narrower ask", env, permission.Request{Permission: "read", Patterns: []string{"/w/.env"}, Always: []string{"*"}}, "=/w/.env"},
		{"exact without a suggestion", asking, permission.Request{Permission: "bash", Patterns: []string{"echo *"}}, "=echo *"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := permission.NewEngine(permission.EngineOptions{})
			c.req.Session = "s"
			done := ask(e, t.Context(), c.req, c.rules)
			synctest.Wait()
			req := e.Pending()[0]
			got := ""
			for _, a := range req.Store {
				if a.Exact {
					got += "="
				}
				got += a.Pattern
			}
			if got != c.want {
				t.Errorf("%s: would store %q, want %q", c.name, got, c.want)
			}
			if err := e.Reply(req.ID, permission.Reply{Verdict: permission.ReplyAlways}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if err := e.Ask(t.Context(), c.req, permission.Policy{Rules: c.rules}); err != nil {
				t.Errorf("%s: asked again: %v", c.name, err)
			}
		})
	}
}

func TestExactApprovalIsNoPattern(t *testing.T) {
	keep := &memory{{ID: "1", Permission: "bash", Pattern: "echo *", Exact: true, Scope: permission.User}}
	e := permission.NewEngine(permission.EngineOptions{Approvals: keep, Unattended: true})
	if err := e.Ask(t.Context(), bash("s", "echo *"), permission.Policy{Rules: asking}); err != nil {
		t.Error(err)
	}
	if err := e.Ask(t.Context(), bash("s", "echo x"), permission.Policy{Rules: asking}); !errors.Is(err, permission.ErrUnattended) {
		t.Errorf("a star in an exact approval matched: %v", err)
	}
	if ok, err := e.Revoke("1"); !ok || err != nil {
		t.Errorf("revoke: %v %v", ok, err)
	}
	if err := e.Ask(t.Context(), bash("s", "echo *"), permission.Policy{Rules: asking}); err == nil {
		t.Error("a revoked approval still holds")
	}
}

func TestScopes(t *testing.T) {
	for _, scope := range []permission.Scope{permission.Once, permission.Session, permission.Project, permission.User} {
		synctest.Test(t, func(t *testing.T) {
			keep := &memory{}
			opt := permission.EngineOptions{Approvals: keep, Project: "p"}
			e := permission.NewEngine(opt)
			done := ask(e, t.Context(), bash("s", "ls"), asking)
			synctest.Wait()
			if err := e.Reply(e.Pending()[0].ID, permission.Reply{Verdict: permission.ReplyAlways, Scope: scope}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			holds := func(project, session string) bool {
				opt := permission.EngineOptions{Approvals: keep, Project: project, Unattended: true}
				in := e
				if session != "s" || project != "p" {
					in = permission.NewEngine(opt)
				}
				ds, err := in.Decide(bash(session, "ls"), permission.Policy{Rules: asking})
				return err == nil && ds[0].Action == permission.Allow
			}
			got := fmt.Sprint(holds("p", "s"), holds("p", "later"), holds("q", "later"))
			want := map[permission.Scope]string{
				permission.Once: "false false false", permission.Session: "true false false",
				permission.Project: "true true false", permission.User: "true true true",
			}[scope]
			if got != want {
				t.Errorf("%s: same session, same project, elsewhere: got %s, want %s", scope, got, want)
			}
		})
	}
}

// Every request gets its own answer, once, in whatever order they come.
func TestManyWaiting(t *testing.T) {
	const n = 10_000
	answered := make([]int32, n)
	var wg sync.WaitGroup
	asked := make(chan permission.Request, n)
	e := permission.NewEngine(permission.EngineOptions{OnAsk: func(r permission.Request) { asked <- r }})
	for i := range n {
		wg.Go(func() {
			err := e.Ask(t.Context(), bash(fmt.Sprint("s", i), fmt.Sprint("cmd ", i)), permission.Policy{Rules: asking})
			rejected := errors.Is(err, permission.ErrRejected)
			if rejected != (i%3 == 0) {
				t.Errorf("request %d got another's answer: %v", i, err)
			}
			answered[i]++
		})
	}
	reqs := make([]permission.Request, n)
	for i := range reqs {
		reqs[i] = <-asked
	}
	rand.Shuffle(n, func(i, j int) { reqs[i], reqs[j] = reqs[j], reqs[i] })
	for _, r := range reqs {
		var i int
		fmt.Sscanf(r.Session, "s%d", &i)
		v := permission.ReplyOnce
		if i%3 == 0 {
			v = permission.ReplyReject
		}
		wg.Go(func() {
			if err := e.Reply(r.ID, permission.Reply{Verdict: v}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, c := range answered {
		if c != 1 {
			t.Fatalf("request %d was answered %d times", i, c)
		}
	}
}

func TestCeilings(t *testing.T) {
	loose := triples([][3]string{{"*", "*", "allow"}})
	p := permission.Policy{Rules: loose, Ceilings: []permission.Ruleset{
		triples([][3]string{{"bash", "rm *", "deny"}, {"bash", "git *", "allow"}}),
		triples([][3]string{{"edit", "*", "ask"}}),
	}}
	for _, c := range []struct{ permission, pattern, want string }{
		{"bash", "rm x", "deny"}, {"bash", "ls", "allow"}, {"edit", "a", "ask"}, {"read", "a", "allow"},
	} {
		if got := p.Decide(c.permission, c.pattern); string(got.Action) != c.want {
			t.Errorf("%s %s: got %s, want %s", c.permission, c.pattern, got.Action, c.want)
		}
	}
	strict := permission.Policy{Rules: triples([][3]string{{"*", "*", "deny"}}), Ceilings: []permission.Ruleset{loose}}
	if got := strict.Decide("bash", "ls"); got.Action != permission.Deny {
		t.Error("a ceiling loosened an answer")
	}
}

// A tool that is not what it was is asked about although a rule allows it,
// until its new shape is approved.
func TestChangedToolAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := permission.NewEngine(permission.EngineOptions{Approvals: &memory{}})
		all := permission.Ruleset{{Permission: "*", Pattern: "*", Action: permission.Allow}}
		req := permission.Request{
			Session: "s", Permission: "box_open", Patterns: []string{"*"}, Always: []string{"*"},
			Fingerprint: "new", Changed: "- opens a box\n+ opens every box",
		}
		done := ask(e, t.Context(), req, all)
		synctest.Wait()
		waiting := e.Pending()
		if len(waiting) != 1 || !waiting[0].Asked[0].Changed || waiting[0].Changed != req.Changed {
			t.Fatalf("waiting: %+v", waiting)
		}
		if err := e.Reply(waiting[0].ID, permission.Reply{Verdict: permission.ReplyAlways}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err := e.Ask(t.Context(), req, permission.Policy{Rules: all}); err != nil {
			t.Errorf("the approved shape is asked about again: %v", err)
		}
		req.Fingerprint = "newer"
		if ds, err := e.Decide(req, permission.Policy{Rules: all}); err != nil || ds[0].Action != permission.Ask {
			t.Errorf("another change: %v %v", ds, err)
		}
	})
}

// A pattern that is asked for twice stands in the advised rule once: two keys
// of one name would make the policy void.
func TestAdvisedRuleHasNoDoubles(t *testing.T) {
	e := &permission.UnattendedError{Permission: "edit", Asked: []permission.Decision{{Pattern: "logs"}, {Pattern: "logs"}, {Pattern: "x"}}}
	if got, want := e.Rule(), `{"permission": {"edit": {"logs": "allow", "x": "allow"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if strings.Contains(e.Error(), "logs, logs") {
		t.Errorf("got %s", e)
	}
}

// A slowKeeper says when it keeps, and waits.
type slowKeeper struct {
	begun, free chan struct{}
	mu          sync.Mutex
	kept        []permission.Approval
}

func (k *slowKeeper) KeepApproval(a permission.Approval) error {
	k.begun <- struct{}{}
	<-k.free
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, a)
	return nil
}

func (k *slowKeeper) all() []permission.Approval {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.kept)
}

func (k *slowKeeper) Approvals() ([]permission.Approval, error) { return k.all(), nil }

func (k *slowKeeper) ForgetApproval(id string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := len(k.kept)
	k.kept = slices.DeleteFunc(k.kept, func(a permission.Approval) bool { return a.ID == id })
	return len(k.kept) < before, nil
}

// Nothing stays of an answer whose request ends while it is being kept.
func TestAlwaysThatComesTooLate(t *testing.T) {
	for name, end := range map[string]func(e *permission.Engine, cancel context.CancelFunc){
		"withdrawn": func(_ *permission.Engine, cancel context.CancelFunc) { cancel() },
		"closed":    func(e *permission.Engine, _ context.CancelFunc) { e.Close() },
		"session ended": func(e *permission.Engine, _ context.CancelFunc) {
			if err := e.EndSession("s"); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &slowKeeper{begun: make(chan struct{}), free: make(chan struct{})}
			asked := make(chan permission.Request, 1)
			e := permission.NewEngine(permission.EngineOptions{Approvals: k, OnAsk: func(r permission.Request) { asked <- r }})
			defer e.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := ask(e, ctx, bash("s", "ls"), asking)
			req := <-asked
			replied := make(chan error, 1)
			go func() {
				replied <- e.Reply(req.ID, permission.Reply{Verdict: permission.ReplyAlways, Scope: permission.User})
			}()
			<-k.begun
			end(e, cancel)
			if err := <-done; err == nil {
				t.Error("the request was allowed")
			}
			close(k.free)
			if err := <-replied; !errors.Is(err, permission.ErrNotFound) || len(k.all()) != 0 {
				t.Errorf("%v, kept %v", err, k.all())
			}
		})
	}
}

// A brokenKeeper keeps one approval and no more.
type brokenKeeper struct{ slowKeeper }

func (k *brokenKeeper) KeepApproval(a permission.Approval) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) > 0 {
		return errors.New("the disk is full")
	}
	k.kept = append(k.kept, a)
	return nil
}

// Of an answer that can not be kept whole nothing is.
func TestAlwaysIsKeptWhole(t *testing.T) {
	k := &brokenKeeper{}
	asked := make(chan permission.Request, 1)
	e := permission.NewEngine(permission.EngineOptions{Approvals: k, OnAsk: func(r permission.Request) { asked <- r }})
	done := ask(e, t.Context(), bash("s", "ls"), asking)
	req := <-asked
	two := []permission.Approval{{Permission: "bash", Pattern: "ls"}, {Permission: "bash", Pattern: "cat"}}
	if err := e.Reply(req.ID, permission.Reply{Verdict: permission.ReplyAlways, Store: two}); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Error(err)
	}
	if len(k.all()) != 0 || len(e.Pending()) != 1 {
		t.Errorf("kept %v, waiting %v", k.all(), e.Pending())
	}
	e.Close()
	<-done
}

// An answer of always that is being kept is the answer: nothing is kept of one
// that lost.
func TestAlwaysIsNotOvertaken(t *testing.T) {
	k := &slowKeeper{begun: make(chan struct{}), free: make(chan struct{})}
	asked := make(chan permission.Request, 1)
	e := permission.NewEngine(permission.EngineOptions{Approvals: k, OnAsk: func(r permission.Request) { asked <- r }})
	defer e.Close()
	done := make(chan error, 1)
	policy := permission.Policy{Rules: permission.Ruleset{{Permission: "edit", Pattern: "*", Action: permission.Ask}}}
	go func() {
		done <- e.Ask(t.Context(), permission.Request{Session: "s", Permission: "edit", Patterns: []string{"a"}, Always: []string{"a"}}, policy)
	}()
	req := <-asked
	replied := make(chan error, 1)
	go func() { replied <- e.Reply(req.ID, permission.Reply{Verdict: permission.ReplyAlways}) }()
	<-k.begun
	for _, v := range []permission.Verdict{permission.ReplyReject, permission.ReplyOnce, permission.ReplyAlways} {
		if err := e.Reply(req.ID, permission.Reply{Verdict: v}); !errors.Is(err, permission.ErrNotFound) {
			t.Errorf("%s: %v", v, err)
		}
	}
	if err := e.Expire(req.ID, "late"); !errors.Is(err, permission.ErrNotFound) {
		t.Error(err)
	}
	close(k.free)
	if err := <-replied; err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil || len(k.all()) != 1 {
		t.Errorf("%v, kept %v", err, k.all())
	}
}

// What a program declines is rejected with all that its session waits for, and
// the rule to add is told: it may be that nobody was asked.
func TestDecline(t *testing.T) {
	asked := make(chan permission.Request, 2)
	e := permission.NewEngine(permission.EngineOptions{OnAsk: func(r permission.Request) { asked <- r }, File: "/h/helve.json"})
	defer e.Close()
	policy := permission.Policy{Rules: permission.Ruleset{{Permission: "edit", Pattern: "*", Action: permission.Ask}}}
	ends := map[string]chan error{"a": make(chan error, 1), "b": make(chan error, 1)}
	for name, end := range ends {
		go func() {
			end <- e.Ask(t.Context(), permission.Request{Session: "s", Permission: "edit", Patterns: []string{name}}, policy)
		}()
	}
	one, two := <-asked, <-asked
	if err := e.Decline(one.ID); err != nil {
		t.Fatal(err)
	}
	err := <-ends[one.Patterns[0]]
	if !errors.Is(err, permission.ErrRejected) || !strings.Contains(err.Error(), "declined, by the user or by a program that did not ask the user: the edit permission for "+one.Patterns[0]+". To allow it, add this rule to /h/helve.json, after the rule that asks (") {
		t.Error(err)
	}
	if err := <-ends[two.Patterns[0]]; !errors.Is(err, permission.ErrRejected) {
		t.Error(err)
	}
	if err := e.Decline(one.ID); !errors.Is(err, permission.ErrNotFound) {
		t.Error(err)
	}
}

// A request expires alone, as one that there was nobody to ask about.
func TestExpire(t *testing.T) {
	asked := make(chan permission.Request, 2)
	e := permission.NewEngine(permission.EngineOptions{OnAsk: func(r permission.Request) { asked <- r }})
	defer e.Close()
	policy := permission.Policy{Rules: permission.Ruleset{{Permission: "edit", Pattern: "*", Action: permission.Ask}}}
	ends := map[string]chan error{"a": make(chan error, 1), "b": make(chan error, 1)}
	for name, end := range ends {
		go func() {
			end <- e.Ask(t.Context(), permission.Request{Session: "s", Permission: "edit", Patterns: []string{name}}, policy)
		}()
	}
	one, two := <-asked, <-asked
	if err := e.Expire(one.ID, "nobody came"); err != nil {
		t.Fatal(err)
	}
	if err := <-ends[one.Patterns[0]]; !errors.Is(err, permission.ErrUnattended) || !strings.HasPrefix(err.Error(), "nobody came To allow it, add this rule to ") || !strings.HasSuffix(err.Error(), `{"permission": {"edit": {"`+one.Patterns[0]+`": "allow"}}}`) {
		t.Error(err)
	}
	if got := e.Pending(); len(got) != 1 || got[0].ID != two.ID {
		t.Errorf("%v", got)
	}
	if err := e.Expire(one.ID, "again"); !errors.Is(err, permission.ErrNotFound) {
		t.Error(err)
	}
}

// What people are told of a rule are its words and its place, no JSON, and
// nothing in it that a terminal would obey.
func TestToldRules(t *testing.T) {
	from := permission.Source{File: "/h/helve.json", Line: 3}
	ask := permission.Rule{Permission: "bash", Pattern: "git \x1b[2J*", Action: permission.Ask, From: from}
	deny := permission.Rule{Permission: "edit", Pattern: "*", Action: permission.Deny, From: from}
	unattended := &permission.UnattendedError{Permission: "bash", Asked: []permission.Decision{{Pattern: "git x", Rule: &ask, Source: from.String()}}}
	hider, hidden := permission.Policy{Rules: permission.Ruleset{deny}}.Hider("edit")
	for got, want := range map[string]string{
		unattended.Error(): `(bash "git \u001b[2J*" = ask, /h/helve.json:3)`,
		hider:              "edit * = deny, /h/helve.json:3",
	} {
		if !hidden || !strings.Contains(got, want) || strings.Contains(got, `"action"`) {
			t.Errorf("%q does not tell of %q", got, want)
		}
	}
}
