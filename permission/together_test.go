package permission_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/helve-dev/helve/permission"
)

// Everything that a call asks for is decided before anybody is asked, and asked
// with one question.
func TestAskAll(t *testing.T) {
	rules := func(bash permission.Action) permission.Policy {
		return permission.Policy{Rules: permission.Ruleset{
			{Permission: "external_directory", Pattern: "*", Action: permission.Ask},
			{Permission: "bash", Pattern: "*", Action: bash},
		}}
	}
	reqs := []permission.Request{
		{Session: "s", Permission: "external_directory", Patterns: []string{"/opt/*"}, Always: []string{"/opt/*"}, Metadata: map[string]any{"parentDir": "/opt"}},
		{Session: "s", Permission: "bash", Patterns: []string{"rm -rf /opt/x"}, Always: []string{"rm *"}, Metadata: map[string]any{"command": "rm -rf /opt/x"}},
	}
	asked := make(chan permission.Request, 9)
	e := permission.NewEngine(permission.EngineOptions{OnAsk: func(r permission.Request) { asked <- r }})

	if err := e.AskAll(t.Context(), reqs, rules(permission.Deny)); !errors.Is(err, permission.ErrDenied) || len(asked) != 0 {
		t.Errorf("a deny after an ask: %v, after %d questions", err, len(asked))
	}

	done := make(chan error)
	go func() { done <- e.AskAll(t.Context(), reqs, rules(permission.Ask)) }()
	r := <-asked
	if r.Permission != "bash" || len(r.Parts) != 1 || r.Parts[0].Permission != "external_directory" || r.Parts[0].Metadata["parentDir"] != "/opt" {
		t.Errorf("the question is %+v", r)
	}
	if got := r.Permissions(); !slices.Equal(got, []string{"external_directory", "bash"}) || len(r.Store) != 2 {
		t.Errorf("it is about %q, and always would keep %+v", got, r.Store)
	}
	if got := r.Details(); got["parentDir"] != "/opt" || got["command"] != "rm -rf /opt/x" {
		t.Errorf("its details are %v", got)
	}
	if err := e.Reply(r.ID, permission.Reply{Verdict: permission.ReplyAlways}); err != nil || <-done != nil {
		t.Errorf("after always: %v", err)
	}
	if err := e.AskAll(t.Context(), reqs, rules(permission.Ask)); err != nil || len(asked) != 0 {
		t.Errorf("what always has kept does not cover both: %v", err)
	}

	e.Leave()
	reqs[0].Session, reqs[1].Session = "other", "other"
	err := e.AskAll(t.Context(), reqs, rules(permission.Ask))
	nobody, ok := errors.AsType[*permission.UnattendedError](err)
	want := `{"permission": {"external_directory": {"/opt/*": "allow"}, "bash": {"rm -rf /opt/x": "allow"}}}`
	if !ok || nobody.Rule() != want {
		t.Errorf("without anybody: %v", err)
	}
}

type asker func(...permission.Request) error

func (a asker) Ask(_ context.Context, reqs ...permission.Request) error { return a(reqs...) }

// What fails before it was asked is told to who may know it, and a refusal is
// not asked about.
func TestGathering(t *testing.T) {
	var asked int
	var answer error
	g := permission.NewBatch(asker(func(reqs ...permission.Request) error { asked += len(reqs); return answer }))
	note := permission.Request{Permission: "read", Patterns: []string{"/etc/x"}}
	fails := errors.New("there is no such file")

	_ = g.Ask(t.Context(), note)
	if err := g.Fail(t.Context(), &permission.DeniedError{}); !errors.Is(err, permission.ErrDenied) || asked != 0 {
		t.Errorf("a refusal: %v after %d requests", err, asked)
	}
	answer = permission.ErrRejected
	if err := g.Fail(t.Context(), fails); err != answer {
		t.Errorf("told although it was refused: %v", err)
	}
	answer = nil
	_ = g.Ask(t.Context(), note)
	if err := g.Fail(t.Context(), fails); err != fails || asked != 2 {
		t.Errorf("%v after %d requests", err, asked)
	}
	_ = g.Ask(t.Context(), note)
	if err := g.Submit(t.Context()); err != nil || asked != 2 {
		t.Errorf("asked twice for the same: %d, %v", asked, err)
	}
}
